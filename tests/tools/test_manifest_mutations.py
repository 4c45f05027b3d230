#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# crest-test: timeout=300
"""Damaged manifests: words, lines and bytes of good ones are dropped, doubled, exchanged and
replaced, always the same way. Reading them ends in a manifest or in problems that have a place in
the file, never in a trace; and from what has no problems everything can be generated.

More of it:  tests/tools/test_manifest_mutations.py TIMES SEED
"""

import random
import re
import sys

import toolslib
from toolslib import ROOT, Failure

from crest_catalogue import exported_names, load_file
from crest_catalogue.make_dashboard import dashboard
from crest_catalogue.make_header import header
from crest_catalogue.make_rules import rules
from crest_catalogue.make_tables import same_as_table, table

TIMES, SEED = 400, 1
WORDS = ["", "~", "no", "1", "-1", "1e999", ".nan", "0x7f", "2026-11-22", "[]", "{}", "[[x]]",
         "{a: b}", "*x", "&x", "!!binary aGk=", "!!set {x}", "|", ">", "'", '"', "\\", ": ", "- ",
         "a.b", "stages", "mutex", "keyed-timer", "range-sampler", "counter", "60s",
         "999999999999d", "é", "\u2028", "\u0000", "x" * 300, "<<", "?", "%", "@", "`", "#", "---",
         "..."]
TOKEN = re.compile(r"[\w.-]+|\s+|.")


def damaged(text, draw):
    """One to four changes."""
    tokens = TOKEN.findall(text)
    for _ in range(draw.randint(1, 4)):
        at = draw.randrange(len(tokens))
        kind = draw.randrange(6)
        if kind == 0:
            tokens[at] = draw.choice(WORDS)
        elif kind == 1:
            del tokens[at:at + draw.randint(1, 30)]
        elif kind == 2:
            tokens.insert(at, draw.choice(WORDS))
        elif kind == 3:
            other = draw.randrange(len(tokens))
            tokens[at], tokens[other] = tokens[other], tokens[at]
        elif kind == 4:
            tokens[at:at] = tokens[at:at + draw.randint(1, 30)]
        else:
            lines = "".join(tokens).split("\n")
            at = draw.randrange(len(lines))
            lines[at] = " " * draw.randint(0, 6) + lines[at].strip()
            tokens = TOKEN.findall("\n".join(lines))
        tokens = tokens or ["x"]
    return "".join(tokens)


def try_one(path, text):
    """Returns whether it was taken for a good one."""
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    manifest, problems = load_file(path)
    lines = text.count("\n") + 2
    for problem in problems:
        at = problem.position
        if at.file != str(path) or not 1 <= at.line <= lines or at.column < 1 or \
                "\n" in str(problem) or len(problem.message) > 2000:
            raise Failure(f"{problem!r}")
    if problems:
        return False
    for metric in manifest.metrics:
        exported_names(metric)
    for made in (header(manifest, "x.h"), table(manifest), same_as_table(manifest),
                 rules([manifest])):
        made.encode("utf-8")
    dashboard([manifest])
    return True


def damaged_manifests_are_taken_or_told(place):
    times, seed = [int(word) for word in sys.argv[1:3]] or (TIMES, SEED)
    draw = random.Random(seed)
    sources = [ROOT / "tests/tools/everything.metrics.yaml",
               ROOT / "examples/28_catalogue.metrics.yaml"]
    texts = [source.read_text(encoding="utf-8") for source in sources]
    taken = 0
    for number in range(times):
        text = damaged(draw.choice(texts), draw)
        try:
            taken += try_one(place / "x.metrics.yaml", text)
        except Exception as error:
            (ROOT / "build" / "damaged.metrics.yaml").write_text(text, errors="replace")
            raise Failure(f"number {number} of seed {seed}: {error!r}; it is in "
                          "build/damaged.metrics.yaml") from error
    if not 0 < taken < times:
        raise Failure(f"{taken} of {times} were taken: the damage is none, or too much")


toolslib.main([damaged_manifests_are_taken_or_told])
