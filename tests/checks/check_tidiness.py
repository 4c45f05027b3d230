#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Keeps the tree tidy: unique names, bounded files, licence lines, nothing left for later.

Unique file names and static names are what an amalgamation into one source file needs; that it
would compile is tried here too.
"""

import re

from checklib import C_SUFFIXES, CC, ROOT, Rules, command, read, tree, without_comments

LINES_MAX = 650
COLUMNS_MAX = 100
SLASHED_SUFFIXES = {".java", ".scala", ".go", ".rs"}
CODE_SUFFIXES = C_SUFFIXES | SLASHED_SUFFIXES | {".py", ".sh"}
LIBRARY_FOLDERS = ("src", "reporters")
PACKAGES = {"__init__.py", "package-info.java"}  # Python and Java ask for these names

# Spelled in two parts, or this file would break its own rule.
LEFT_FOR_LATER = re.compile(r"\b(" + "|".join(["TO" + "DO", "FIX" + "ME", "X" + "XX"]) + r")\b")

# A function or variable that a file keeps to itself: `static`, then its name before ( [ = or ;.
STATIC = re.compile(r"^(?:__attribute__\(\(\w+\)\) )?static\b(?!_)[^;={}()]*?"
                    r"(?:__attribute__\(\(.*?\)\)[^;={}()]*?)*\b(\w+)(?:\[[^\]]*\])*\s*[(=;]", re.M)

FILE_NAMES = "file names of sources are unique in the tree"
STATICS = "static names are unique in src and reporters"
ONE_SOURCE = "src and reporters compile as one source file"
LENGTH = f"sources have at most {LINES_MAX} lines"
WIDTH = f"lines of sources have at most {COLUMNS_MAX} columns and no tabs"
SPACES = "no line ends in spaces, and files end with one line feed"
LICENCE = "sources begin with their licence, C files go on with what they are"
LATER = "nothing is left for later"


def check_names(rules, sources):
    seen = {}
    for name in sources:
        if name.suffix in CODE_SUFFIXES and name.name not in PACKAGES:
            if name.name in seen:
                rules.broken(FILE_NAMES, f"{name} and {seen[name.name]}")
            seen[name.name] = name
    seen = {}
    for name in sources:
        if name.parts[0] in LIBRARY_FOLDERS and name.suffix in C_SUFFIXES:
            own = set()
            for match in STATIC.finditer(without_comments(read(name))):
                own.add(match.group(1))
            for static in sorted(own):
                if static in seen:
                    rules.broken(STATICS, f"{static}: {name} and {seen[static]}")
                seen[static] = name


def check_one_source(rules, sources):
    """inline_symbols.c redefines how headers are read, so it can only be a file of its own."""
    parts = [name for name in sources if name.parts[0] in LIBRARY_FOLDERS and name.suffix == ".c"
             and name.name != "inline_symbols.c"]
    text = "".join(f'#include "{ROOT}/{name}"\n' for name in parts)
    status, output = command(
        [*CC, "-x", "c", "-std=gnu11", "-D_GNU_SOURCE", "-DCREST_BUILDING", "-w", "-fsyntax-only",
         '-DCREST_BUILD_VERSION="0"', f"-I{ROOT}/include", f"-I{ROOT}/src",
         f"-I{ROOT}/reporters", "-"], input=text.encode())
    if status != 0:
        rules.broken(ONE_SOURCE, output.strip())


def is_code(name, text):
    """Sources by their suffix, and scripts without one by their first line."""
    return name.suffix in CODE_SUFFIXES or text.startswith("#!")


def check_text(rules, name, text):
    lines = text.split("\n")
    if is_code(name, text):
        if len(lines) - 1 > LINES_MAX:
            rules.broken(LENGTH, f"{name}: {len(lines) - 1}")
        for number, line in enumerate(lines, 1):
            if len(line) > COLUMNS_MAX:
                rules.broken(WIDTH, f"{name}:{number}: {len(line)} columns")
            if "\t" in line.lstrip("\t" if name.suffix == ".go" else ""):  # gofmt indents by tabs
                rules.broken(WIDTH, f"{name}:{number}: a tab")
        check_licence(rules, name, lines)
    if (is_code(name, text) or name.suffix in {".md", ".yml", ".in", ".xml"}
            or name.name == "Makefile"):
        for number, line in enumerate(lines, 1):
            if line != line.rstrip():
                rules.broken(SPACES, f"{name}:{number}")
        if not text.endswith("\n") or text.endswith("\n\n"):
            rules.broken(SPACES, f"{name}: its end")
    for number, line in enumerate(lines, 1):
        if LEFT_FOR_LATER.search(line):
            rules.broken(LATER, f"{name}:{number}: {line.strip()}")


def check_licence(rules, name, lines):
    if name.suffix in C_SUFFIXES:
        if lines[0] != "/* SPDX-License-Identifier: Apache-2.0 */":
            rules.broken(LICENCE, f"{name}: the first line is not the SPDX line")
        elif not lines[1].startswith(("/*", "//")):
            rules.broken(LICENCE, f"{name}: no opening comment after the SPDX line")
    else:
        head = lines[1] if lines[0].startswith("#!") else lines[0]
        mark = "//" if name.suffix in SLASHED_SUFFIXES else "#"
        if head != f"{mark} SPDX-License-Identifier: Apache-2.0":
            rules.broken(LICENCE, f"{name}: no SPDX line on top")


def main():
    rules = Rules()
    for rule in (FILE_NAMES, STATICS, ONE_SOURCE, LENGTH, WIDTH, SPACES, LICENCE, LATER):
        rules.rule(rule)
    sources = tree()
    for name in sources:
        try:
            check_text(rules, name, read(name))
        except UnicodeDecodeError:
            if name.suffix in CODE_SUFFIXES:
                rules.broken(WIDTH, f"{name}: not UTF-8")
    check_names(rules, sources)
    check_one_source(rules, sources)
    rules.finish()


if __name__ == "__main__":
    main()
