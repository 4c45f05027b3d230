#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""SECURITY.md names a test for each claim, and each of these is in the tree and is run."""

import re

from checklib import ROOT, Rules, read

PAGE = "SECURITY.md"
RUN = re.compile(r"tests/(checks/check_|(unit/.*|concurrency|faults|integration|tools|jvm)/test_"
                 r"|fuzz/fuzz_)\w+\.(c|cc|py)$")
CLAIMS_LEAST = 15


def main():
    rules = Rules()
    tested = rules.rule(f"each claim of {PAGE} names a test")
    there = rules.rule("each test that it names is in the tree, and make check runs it")
    enough = rules.rule(f"it has {CLAIMS_LEAST} claims or more")
    claims = 0
    table = read(PAGE).split("## Claims")[1].split("\n## ")[0]
    for line in table.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not line.startswith("| ") or len(cells) != 2 or cells[0].startswith(("**", "claim")):
            continue
        if set(cells[0]) <= set("- "):
            continue
        claims += 1
        names = re.findall(r"`([^`]+)`", cells[1])
        if not any(RUN.match(name) for name in names):
            rules.broken(tested, cells[0])
        for name in names:
            if not (ROOT / name).is_file():
                rules.broken(there, f"{name} is not in the tree; it was to show: {cells[0]}")
    if claims < CLAIMS_LEAST:
        rules.broken(enough, f"it has {claims}")
    for name in re.findall(r"`(tests/[^`]+)`", read(PAGE)):
        if not (ROOT / name).is_file():
            rules.broken(there, f"{name} is not in the tree")
    rules.finish()


if __name__ == "__main__":
    main()
