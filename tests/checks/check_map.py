#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The maps of README.md and docs/architecture.md are what scripts/make-map draws, each room has its
section, and the first screen of README.md has what a newcomer asks for first. The texts of the live
page, the other thing that a script makes for the tree, are what it makes."""

import pathlib
import sys

from checklib import ROOT, Rules, command, read, temporary_folder
from rooms import SRC

SCREEN_LINES = 40
CURRENT = "the maps are what scripts/make-map draws"
SECTIONS = "docs/architecture.md has a section with the files of each room of src"
SCREEN = f"the first {SCREEN_LINES} lines of README.md have map, commands and the whole example"
LIVE = "reporters/live has what scripts/make-live makes of share/live (make live)"
MAKE_MAP = pathlib.Path(__file__).resolve().parents[2] / "scripts/make-map"


def check_live(rules):
    with temporary_folder() as folder:
        status, output = command([ROOT / "scripts/make-live", folder])
        made = sorted(pathlib.Path(folder).iterdir())
        if status != 0 or len(made) != 3:
            rules.broken(LIVE, f"status {status}, {len(made)} files: {output.strip()}")
        for file in made:
            if read(f"reporters/live/{file.name}") != file.read_text(encoding="utf-8"):
                rules.broken(LIVE, file.name)


def main():
    rules = Rules()
    for rule in (CURRENT, SECTIONS, SCREEN, LIVE):
        rules.rule(rule)
    status, output = command([sys.executable, MAKE_MAP, "--check"])
    if status != 0:
        rules.broken(CURRENT, output.strip())
    page = read("docs/architecture.md")
    for room, _ in SRC:
        if f"<!-- map: files src/{room} -->\n" not in page:
            rules.broken(SECTIONS, f"src/{room}")
    first = read("README.md").split("\n")[:SCREEN_LINES]
    wanted = ["<!-- map: short -->", "make demo", "make check", "```c"]
    for words in wanted:
        if not any(line.startswith(words) for line in first):
            rules.broken(SCREEN, f"no {words!r}")
    if "```c" in first and "```" not in first[first.index("```c"):]:
        rules.broken(SCREEN, f"the example does not end by line {SCREEN_LINES}")
    check_live(rules)
    rules.finish()


if __name__ == "__main__":
    main()
