#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every tests/model/*.pml by spin: each protocol between two parties, in all interleavings.

A model says in its comments what is expected of it, one line for each way to run it:

    model: holds
    model: holds -DWRITERS=3
    model: fails -DREAD_FIRST      why that has to fail

`holds`: spin went through all states and found no violated assertion and no invalid end state.
`fails`: it found one, which shows that the model would notice such a mistake in the code. Words
that begin with -D go to spin; whatever follows them is for the reader. Each model needs a line of
either sort.

What was found as expected is not looked for again while the model's text, the words, this file and
the programs are the same: scripts/kept.py has a file for each, or build/models where it cannot.

crest-test: timeout=1000 slow
"""

import hashlib
import os
import pathlib
import re
import shutil
import sys

from checklib import ROOT, Rules, command, skip, temporary_folder

sys.path.insert(0, str(ROOT / "scripts"))
import kept  # noqa: E402  (needs the path above)

LINE = re.compile(r"^[\s/*]*model: (holds|fails)\b((?:\s+-D\w+(?:=\w+)?)*)", re.M)
KNOWN = kept.folder("models") or ROOT / "build/models"
DEPTH = 1000000
MEMORY_MB = 2000


def known(model, expected, flags, programs):
    """The file that is there when this variant was found as expected."""
    digest = hashlib.sha256()
    for part in (model.read_bytes(), pathlib.Path(__file__).read_bytes(), programs.encode(),
                 " ".join([expected, *flags]).encode()):
        digest.update(hashlib.sha256(part).digest())
    return KNOWN / f"{model.stem}-{digest.hexdigest()[:32]}"


def run(rules, rule, model, expected, flags, folder):
    """Translates, compiles and runs one variant in the folder; whether it is as expected."""
    for name in os.listdir(folder):
        os.unlink(pathlib.Path(folder, name))
    shutil.copy(model, folder)
    status, output = command(["spin", *flags, "-a", model.name], cwd=folder)
    if status != 0 or not pathlib.Path(folder, "pan.c").exists():
        rules.broken(rule, f"spin does not take it: {output}")
        return False
    # What is violated is found soon, and compiling takes longer then. -w: what is made by spin is
    # not ours to warn about.
    status, output = command(["gcc", "-O0" if expected == "fails" else "-O1", "-w", "-DSAFETY",
                              f"-DMEMLIM={MEMORY_MB}", "-o", "pan", "pan.c"], cwd=folder)
    if status != 0:
        rules.broken(rule, f"what spin made of it does not compile: {output}")
        return False
    _, output = command(["./pan", f"-m{DEPTH}"], cwd=folder)
    errors = re.search(r"errors: (\d+)", output)
    if errors is None:
        rules.broken(rule, f"the search ended without a result: {output}")
    elif expected == "fails" and errors.group(1) == "0":
        rules.broken(rule, "nothing is violated")
    elif expected == "holds" and errors.group(1) != "0":
        _, trail = command(["spin", *flags, "-t", "-p", "-g", "-l", model.name], cwd=folder)
        rules.broken(rule, "\n".join(output.splitlines()[:3] + trail.splitlines()[-35:]))
    elif expected == "holds" and re.search("not completed|max search depth|MEMLIM", output):
        rules.broken(rule, f"not all states were searched: {output}")
    else:
        return True
    return False


def main():
    rules = Rules()
    for program in ("spin", "gcc"):
        if shutil.which(program) is None:
            skip(f"there is no {program} (make deps installs it)")
    models = sorted((ROOT / "tests/model").glob("*.pml"))
    programs = command(["spin", "-V"])[1] + command(["gcc", "--version"])[1]
    KNOWN.mkdir(parents=True, exist_ok=True)
    rule = rules.rule("there are models")
    if not models:
        rules.broken(rule, "none in tests/model")
    with temporary_folder() as folder:
        for model in models:
            lines = LINE.findall(model.read_text(encoding="utf-8"))
            rule = rules.rule(f"{model.name} says what is to hold, and what would be noticed")
            for kind in {"holds", "fails"} - {expected for expected, _ in lines}:
                rules.broken(rule, f"it has no line 'model: {kind}'")
            for expected, flags in lines:
                rule = rules.rule(f"{model.name} {expected} {' '.join(flags.split())}".rstrip())
                before = known(model, expected, flags.split(), programs)
                if before.exists() or run(rules, rule, model, expected, flags.split(), folder):
                    before.touch()
    rules.finish()


if __name__ == "__main__":
    main()
