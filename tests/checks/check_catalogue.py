#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What is generated from manifests and checked in is what the manifests say now: the tables of
METRICS.md and of examples/rnode, C headers, the node's dashboard and rules. A difference is shown;
`make catalogue` mends it. And every manifest is sound, apart and beside those it is used with."""

import os
import re
import shlex
import sys

from checklib import ROOT, Rules, command, read, skip, tree

TOOL = [ROOT / "tools/crest", "catalogue"]
RNODE = "examples/rnode"
UNLISTED = ("examples", "examples/jvm", "tests/tools")
SOUND = "manifests have no errors"
PLACED = "every team's table has a place on a page"
FRESH = "tables, headers, dashboard and rules are up to date (make catalogue)"


def check_places(rules, names):
    """RNode's teams, which have the node's names, are on the page of their folder; what examples
    and tests record is on none."""
    pages = [name for name in names if name.suffix == ".md"]
    for name in names:
        folder = name.parent.as_posix()
        if not name.name.endswith(".metrics.yaml") or folder in UNLISTED:
            continue
        team = re.search(r"^team: *(\S+)", read(name), re.M)
        own = [page for page in pages
               if (page.parent.as_posix() == RNODE) == (folder == RNODE)]
        place = f"<!-- catalogue:{team.group(1) if team else ''}:begin -->"
        if not any(place in read(page) for page in own):
            rules.broken(PLACED, f"{name}: no page has {place}")


def main():
    if command([sys.executable, "-c", "import yaml"])[0] != 0:
        skip("PyYAML is not installed (make deps)")
    rules = Rules()
    rules.rule(SOUND)
    rules.rule(PLACED)
    rules.rule(FRESH)
    names = tree()
    check_places(rules, names)
    for name in names:
        if name.name.endswith(".metrics.yaml"):
            status, output = command([*TOOL, "list", ROOT / name])
            if status != 0:
                rules.broken(SOUND, output.strip())
    settings = shlex.split(os.environ.get("CREST_MAKE_SETTINGS", ""))
    status, output = command([os.environ.get("MAKE", "make"), "-C", ROOT, "--no-print-directory",
                              "catalogue", *settings, "CATALOGUE_CHECK=--check"])
    if status != 0:
        rules.broken(FRESH, output.strip())
    rules.finish()


if __name__ == "__main__":
    main()
