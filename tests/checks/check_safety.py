#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/safety.md has every public function once, and agrees with the comments in the headers.

A function is what a header declares with CREST_API or CREST_INLINE, a macro what it defines with
parameters and without a _ at the end. Names in the table may have alternatives in braces, as in a
shell: `crest_gauge_{set,add}`.
"""

import re

from checklib import ROOT, Rules, read

PAGE = "docs/safety.md"
THREADS = ("any", "own")
HANDLERS = ("yes", "no", "resolved")
COSTS = ("inline", "call", "locks", "allocates", "blocks", "as ", "at file scope")

DECLARATION = re.compile(r"(?:/\*((?:(?!\*/).)*)\*/\s*)?"
                         r"^(?:CREST_API|CREST_INLINE)\b[^;{(]*?\b(crest_\w+)\s*\(", re.S | re.M)
MACRO = re.compile(r"^#define (CREST_\w*[A-Z0-9])\(", re.M)


def declared():
    """Each public function: its header, and the comment right before it ('' if there is none)."""
    functions = {}
    for header in sorted((ROOT / "include/crest").glob("*.h")):
        for name in MACRO.findall(header.read_text(encoding="utf-8")):
            functions[name] = (header.name, "")
        for comment, name in DECLARATION.findall(header.read_text(encoding="utf-8")):
            comment = re.sub(r"\s*\n \* ?", " ", comment or "")
            if name not in functions or comment:
                functions[name] = (header.name, comment)
    return functions


def expand(name):
    """The names that a{b,c}d stands for."""
    match = re.search(r"\{([^}]*)\}", name)
    if not match:
        return [name]
    return [expanded for word in match.group(1).split(",")
            for expanded in expand(name[:match.start()] + word + name[match.end():])]


def rows():
    """(names, threads, handlers, cost) of each row of the table."""
    found = []
    for line in read(PAGE).splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        names = re.findall(r"`((?:crest|CREST)_[^`]*)`", cells[0])
        if line.startswith("| ") and len(cells) == 4 and names:
            found.append(([each for name in names for each in expand(name)], *cells[1:]))
    return found


def main():
    rules = Rules()
    whole = rules.rule(f"{PAGE} has every public function, once")
    words = rules.rule(f"{PAGE} says how each may be called, in its own words")
    agrees = rules.rule(f"{PAGE} and the headers' comments say the same of signal handlers")
    functions, seen = declared(), {}
    for names, threads, handlers, cost in rows():
        for name in names:
            if name in seen:
                rules.broken(whole, f"{name} is there twice")
            elif name not in functions:
                rules.broken(whole, f"{name}: no header declares it; take it from the table")
            seen[name] = handlers
        if threads not in THREADS or handlers.split(",")[0] not in HANDLERS or \
                not cost.startswith(COSTS):
            rules.broken(words, f"{names[0]}: {threads} | {handlers} | {cost}")
    for name, (header, comment) in functions.items():
        if name not in seen:
            rules.broken(whole, f"{name} of <crest/{header}> is missing. Add it to a row that "
                                f"behaves alike, or a row of its own:\n"
                                f"| `{name}` | any or own | yes, no or resolved | cost |")
            continue
        text = comment.lower()
        if "any handler" in text and not seen[name].startswith("yes"):
            rules.broken(agrees, f"{name}: <crest/{header}> says 'any handler', the table no")
        if "not for signal handlers" in text and seen[name].startswith("yes"):
            rules.broken(agrees, f"{name}: <crest/{header}> says 'not for signal handlers'")
    if not functions:
        rules.broken(whole, "no header declares any")
    rules.finish()


if __name__ == "__main__":
    main()
