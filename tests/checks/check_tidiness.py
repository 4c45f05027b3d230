#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Keeps the tree tidy: unique names, bounded files, licence lines, nothing left for later, no file
that nothing refers to, no public symbol that is defined twice.

Unique file names and static names are what an amalgamation into one source file needs; that it
would compile is tried here too.
"""

import fnmatch
import pathlib
import re

from checklib import C_SUFFIXES, CC, ROOT, Rules, command, read, tree, without_comments

LINES_MAX = 650
COLUMNS_MAX = 100
SLASHED_SUFFIXES = {".java", ".scala", ".go", ".rs"}
CODE_SUFFIXES = C_SUFFIXES | SLASHED_SUFFIXES | {".py", ".sh"}
LIBRARY_FOLDERS = ("src", "reporters")
PACKAGES = {"__init__.py", "package-info.java"}  # Python and Java ask for these names

BYTES_MAX = 256 * 1024
# Where a file may be larger: what was recorded, and views that are generated for Grafana.
LARGE_FOLDERS = ("bench/results/*", "tests/fuzz/corpus/*", "share/*")
# Found by their place or name, so that no file has to name them.
FOUND = (
    "src/*.c", "reporters/*.c", "jvm-shim/native/*.c", "examples/[0-9][0-9]_*", "examples/node/*.c",
    "tests/unit/*/test_*", "tests/concurrency/test_*", "tests/faults/test_*",
    "tests/tools/test_*", "tests/jvm/test_*",
    "tests/integration/test_*", "tests/programs/*.c", "tests/checks/check_*",
    "tests/fuzz/fuzz_*.c", "tests/fuzz/corpus/*", "tests/mutation/parts/*", "tests/model/*",
    "bench/side/*.cc", "bench/crest/*.c*", "bench/whole/*.c*", "bench/peers/*", "bench/profiles/*",
    "bench/overlays/*", "bench/results/*", "bench/daemon/*.h", "bench/gate/gate_*.c",
    "bench/otlp/*", "bench/spans/*", "examples/jvm/*", "*Test.java", "tools/*/*.c",
    "tests/servers/*/go.*", "tests/servers/*/*.go",
    "debian/*", ".*", "LICENSE", "README.md", "Makefile")

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
LARGE = f"files have at most {BYTES_MAX // 1024} KiB, but recorded and generated ones"
REFERRED = "something refers to every file"
ONCE = "each public symbol is defined once"


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


def check_sizes(rules, names):
    for name in names:
        size = (ROOT / name).stat().st_size
        if size > BYTES_MAX and not any(fnmatch.fnmatch(name, place) for place in LARGE_FOLDERS):
            rules.broken(LARGE, f"{name}: {size} bytes")


def check_references(rules, names, texts):
    """By their names in another file: an #include, a link, a command, a table. What is no header
    and no page may be named without its suffix, as modules are."""
    places = {}
    for name, text in texts.items():
        for word in set(re.findall(r"[\w-]+(?:\.[\w-]+)*", text)):
            places.setdefault(word, set()).add(name)
            for part in word.split("."):
                places.setdefault(part, set()).add(name)
    for name in names:
        words = [name.name] if name.suffix in (".h", ".md") else \
            [name.name, name.name.split(".")[0]]
        if not any(fnmatch.fnmatch(name, place) for place in FOUND) and \
                not any(places.get(word, set()) - {name} for word in words):
            rules.broken(REFERRED, f"{name}")


def check_definitions(rules, texts):
    """Functions and variables that the libraries export, in the text of all C and C++."""
    public = {symbol for name in ("libcrest", "libcrest-reporters")
              for symbol in texts.get(pathlib.PurePath(f"tests/checks/{name}.symbols"), "").split()}
    made = re.compile(r"^(?!static\b|extern\b|typedef\b)[A-Za-z_][^;={}()\n]*?\b(crest_\w+)"
                            r"(?:\((?:[^(){};]|\([^()]*\))*\)\s*\{|(?:\[[^\]]*\])*\s*=)",
                      re.M)
    seen = {}
    for name, text in texts.items():
        if name.suffix in C_SUFFIXES and name.parts[0] != "scripts":
            for symbol in {match[1] for match in made.finditer(without_comments(text))}:
                if symbol in public and symbol in seen:
                    rules.broken(ONCE, f"{symbol}: {name} and {seen[symbol]}")
                seen[symbol] = name


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
            # gofmt and make indent by tabs
            if "\t" in line.lstrip("\t" if name.suffix == ".go" or name.name == "rules" else ""):
                rules.broken(WIDTH, f"{name}:{number}: a tab")
        check_licence(rules, name, lines)
    if (is_code(name, text) or name.suffix in {".md", ".yml", ".in", ".xml", ".mk"}
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
    for rule in (FILE_NAMES, STATICS, ONE_SOURCE, LENGTH, WIDTH, SPACES, LICENCE, LATER, LARGE,
                 REFERRED, ONCE):
        rules.rule(rule)
    sources, texts = tree(), {}
    for name in sources:
        try:
            texts[name] = read(name)
            check_text(rules, name, texts[name])
        except UnicodeDecodeError:
            if name.suffix in CODE_SUFFIXES:
                rules.broken(WIDTH, f"{name}: not UTF-8")
    check_names(rules, sources)
    check_one_source(rules, sources)
    check_sizes(rules, sources)
    check_references(rules, sources, texts)
    check_definitions(rules, texts)
    rules.finish()


if __name__ == "__main__":
    main()
