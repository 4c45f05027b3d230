#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# crest-test: timeout=300
"""`crest`: its help lists the commands that there are, each can be started, by a link too, and what
there is not gets a sentence and status 2."""

import os
import re
import subprocess

import toolslib
from toolslib import TOOLS, contains, equal

CREST = TOOLS / "crest"
MANUALS = toolslib.ROOT / "docs/man"


def crest(*arguments, program=CREST, **environment):
    """(status, standard output, standard error)."""
    done = subprocess.run([program, *arguments], capture_output=True, text=True, check=False,
                          env={**os.environ, "CREST_LIBEXEC": str(toolslib.BUILD / "libexec"),
                               **environment}, cwd="/", timeout=300)
    return done.returncode, done.stdout, done.stderr


def listed():
    status, out, err = crest("--help")
    equal((status, err), (0, ""), "--help")
    return out, re.findall(r"^  (\w+)  ", out, re.M)


def lists_its_commands(_):
    text, names = listed()
    equal(names, sorted(names), "the order of commands")
    manuals = {path.stem.removeprefix("crest-") for path in MANUALS.glob("crest-*.1")}
    equal(set(names), manuals, "commands, and those with a manual")
    equal(max(map(len, text.splitlines())) <= 100 and len(text.splitlines()) <= 24, True,
          "the list fits a screen")
    for same in (["help"], ["-h"]):
        equal(crest(*same), (0, text, ""), str(same))
    manual = (MANUALS / "crest.1").read_text(encoding="utf-8")
    for name in names:
        contains(manual, f".BR {name} ", "crest(1)")


def starts_each(_):
    for name in listed()[1]:
        for arguments in ([name, "--help"], ["help", name]):
            status, out, err = crest(*arguments)
            equal((status, err), (0, ""), str(arguments))
            contains(out, f"crest {name}", str(arguments))


def speaks_through_links(place):
    for link in TOOLS.glob("crest-*"):
        equal(os.readlink(link), "crest", link.name)
        status, out, _ = crest("--help", program=link)
        equal((status, f"crest {link.name.removeprefix('crest-')}" in out), (0, True), link.name)
    link = place / "crest-lint"
    link.symlink_to(CREST)
    contains(crest("--rules", program=link)[1], "crest lint", "a link elsewhere")


def says_what_is_wrong(place):
    status, out, err = crest("nope")
    equal((status, out), (2, ""), "an unknown command")
    contains(err, "crest: there is no command 'nope'; 'crest --help' lists them")
    equal(crest("lin")[0], 2, "a part of a name")
    equal(crest("")[0], 2, "an empty name")
    equal(crest("lint python")[0], 2, "a name with more in it")
    status, out, err = crest()
    equal((status, out, err.startswith("usage: crest COMMAND")), (2, "", True), "no command")
    status, _, err = crest("lint", PATH=str(place))
    equal(status in (2, 127), True, "without any program")


def says_its_version(_):
    makefile = (toolslib.ROOT / "Makefile").read_text(encoding="utf-8")
    version = re.search(r"^VERSION\s*:=\s*(\S+)", makefile, re.M).group(1)
    equal(crest("--version"), (0, f"crest {version}\n", ""), "--version")


toolslib.main([lists_its_commands, starts_each, speaks_through_links, says_what_is_wrong,
               says_its_version])
