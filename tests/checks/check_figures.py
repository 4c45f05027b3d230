#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the figures of README.md and docs/ with the results files that they are from.

`make bench-readme` writes them; what is changed by hand, or in the results only, is found here.
"""

import pathlib
import sys

from checklib import ROOT, Rules, read, skip, tree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench/report"))
sys.dont_write_bytecode = True

import read_results  # noqa: E402
import readme_figures  # noqa: E402

PLACES = "pages that say how fast it is have figures of results files"
SAME = "figures of pages are those of their results files"
SMALL = f"results files that are kept have at most {readme_figures.KEPT_BYTES_MOST:,} bytes"
RIGHT = "results files that are kept can be read, and their totals were right"
WANTED = ("README.md", "docs/performance.md")


def check_results(rules, sources):
    """Results by their names, those that can be read."""
    found = {}
    for name in sources:
        if name.parent != pathlib.Path(readme_figures.KEPT) or name.suffix != ".json":
            continue
        if (ROOT / name).stat().st_size > readme_figures.KEPT_BYTES_MOST:
            rules.broken(SMALL, f"{name}: {(ROOT / name).stat().st_size:,} bytes")
        try:
            found[str(name)] = read_results.read(ROOT / name)
        except read_results.Unreadable as why:
            rules.broken(RIGHT, str(why))
            continue
        if found[str(name)].part("checks").get("wrong"):
            rules.broken(RIGHT, f"{name}: totals were wrong")
    return found


def check_page(rules, page, results):
    text = read(page)
    try:
        places = readme_figures.places(text, page)
    except readme_figures.Unusable as why:
        rules.broken(PLACES, str(why))
        return
    if str(page) in WANTED and not places:
        rules.broken(PLACES, f"{page}: it has none")
    for match in readme_figures.BLOCK.finditer(text):
        name, table = match[1], match[2]
        if name not in results:
            rules.broken(SAME, f"{page}: {name} is no results file that was kept")
            continue
        try:
            wanted = readme_figures.block(results[name], name, table)
        except readme_figures.Unusable as why:
            rules.broken(SAME, f"{page}: {why}")
            continue
        for line, other in zip(match[0].splitlines(), wanted.splitlines()):
            if line != other:
                rules.broken(SAME, f"{page}: it says\n{line}\nwhere {name} gives\n{other}\n"
                                   "`make bench-readme RESULTS=...` writes it")
                break
        else:
            if match[0] != wanted:
                rules.broken(SAME, f"{page}: the table {table} of {name} has other lines")


def main():
    if not any((ROOT / page).exists() for page in WANTED):
        skip(f"there is neither {' nor '.join(WANTED)}")
    rules = Rules()
    for rule in (PLACES, SAME, SMALL, RIGHT):
        rules.rule(rule)
    sources = tree()
    results = check_results(rules, sources)
    for page in sources:
        if str(page) == "README.md" or (page.parts[0] == "docs" and page.suffix == ".md"):
            check_page(rules, page, results)
    rules.finish()


if __name__ == "__main__":
    main()
