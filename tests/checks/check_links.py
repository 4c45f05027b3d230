#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Follows the links of every page to files and headings of this tree, and none that leave it."""

import re

from checklib import ROOT, Rules, read, tree

LINK = re.compile(r"(?<!!)\[[^\]\[]*\]\(([^)\s]+)\)|!\[[^\]]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^(```|~~~).*?^\1", re.M | re.S)
CODE = re.compile(r"`[^`\n]+`")
HEADING = re.compile(r"^#{1,6} +(.+?) *#*$", re.M)
FILES = "links of pages lead to files that there are"
HEADINGS = "links to headings lead to headings that there are"


def anchors(text):
    """The anchors that GitHub makes of a page's headings."""
    found = {}
    for title in HEADING.findall(FENCE.sub("", text)):
        title = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title).replace("`", "").lower()
        anchor = re.sub(r"[^\w\- ]", "", title).replace(" ", "-")
        found[anchor] = found.get(anchor, -1) + 1
    return {anchor + (f"-{n}" if n else "") for anchor, most in found.items()
            for n in range(most + 1)}


def main():
    rules = Rules()
    for rule in (FILES, HEADINGS):
        rules.rule(rule)
    for page in (name for name in tree() if name.suffix == ".md"):
        text = FENCE.sub("", read(page))
        for match in LINK.finditer(CODE.sub("", text)):
            target = match.group(1) or match.group(2)
            if re.match(r"[a-z]+:", target):
                continue
            path, _, anchor = target.partition("#")
            place = (ROOT / page.parent / path).resolve() if path else ROOT / page
            if not place.exists():
                rules.broken(FILES, f"{page}: {target}")
            elif anchor and place.suffix == ".md" and \
                    anchor not in anchors(place.read_text(encoding="utf-8")):
                rules.broken(HEADINGS, f"{page}: {target}")
    rules.finish()


if __name__ == "__main__":
    main()
