# SPDX-License-Identifier: Apache-2.0
"""The collection of mutants: how its files are read, and how a mutant finds its place in a source.

parts/PART.mutants begins with `tests:`, the programs that are asked about every mutant of the part.
Then each mutant is a block, parted from the next by an empty line:

    # name-in-lower-case
    file: windows.c
    why: what a user would suffer
    tests: test_windows
    - if (ticks >= wanted)
    + if (ticks > wanted)

The `-` lines are its anchor: text that stands exactly once in the file, which is found by its name
wherever it lies, for names of sources are unique. Spaces and line breaks do not count, so code
may be formatted anew or moved. Several pairs of `-` and `+` make one mutant; another `file:`
between them leads to another file. `equivalent:` gives the reason why no test can notice it.
`sanitizer: thread` has it judged in a build with that sanitizer. Longer texts go on in lines that
begin with two spaces.
"""

import pathlib
import re

FOLDER = pathlib.Path(__file__).resolve().parent
PARTS_FOLDER = FOLDER / "parts"
TREE = FOLDER.parents[1]
SOURCE_FOLDERS = ("src", "reporters", "include/crest")
TEST_FOLDERS = ("tests/unit", "tests/concurrency", "tests/integration", "tests/tools",
                "tests/checks", "tests/fuzz")
TEST_SUFFIXES = (".c", ".cc", ".py")
FIELDS = {"file", "why", "tests", "equivalent", "sanitizer"}
MUTANTS_AT_LEAST = 200
PARTS = ("base", "record", "shards", "cells", "range", "windows", "ticker", "snapshot", "lives",
         "in_flight", "pages", "native", "otlp", "hdr", "distribution", "options", "reporting",
         "reporters", "otlp_http", "system", "latency", "contexts", "headers",
         "span_exporters", "tracing", "profiling", "event_rules", "events",
         "orders", "state")

TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|\w+|\S')


class Malformed(Exception):
    """What is wrong with the text of a collection."""


class Hunk:
    """One replacement in one file."""

    def __init__(self, file):
        self.file = file
        self.before = []
        self.after = []

    def pattern(self):
        """The anchor as a regular expression that does not mind how the text is laid out."""
        pattern, last = "", ""
        for token in TOKEN.findall("\n".join(self.before)):
            both_words = re.match(r"\w", token) and re.match(r"\w", last[-1:])
            pattern += (r"\s+" if both_words else r"\s*" if last else "") + re.escape(token)
            last = token
        first, final = (r"\b" if re.match(r"\w", edge) else "" for edge in (pattern, last[-1:]))
        return re.compile(first + pattern + final)

    def places(self, text):
        return list(self.pattern().finditer(text))

    def apply(self, text):
        (place,) = self.places(text)
        return text[:place.start()] + "\n".join(self.after) + text[place.end():]


class Mutant:
    """One change of the library that a test should notice, or the reason why none can."""

    def __init__(self, part, name):
        self.part = part
        self.name = name
        self.fields = {}
        self.hunks = []

    @property
    def tests(self):
        return self.fields.get("tests", "").split()

    @property
    def equivalent(self):
        return self.fields.get("equivalent", "")

    @property
    def sanitizer(self):
        return self.fields.get("sanitizer", "")

    def change(self, sources):
        """{path: mutated text} over `sources`, a Sources. Every anchor must match once."""
        changed = {}
        for hunk in self.hunks:
            path = sources.find(hunk.file)
            changed[path] = hunk.apply(changed.get(path) or sources.text(path))
        return changed


class Sources:
    """The library's sources below `root`, by their names."""

    def __init__(self, root=TREE):
        self.root = root
        self.by_name = {}
        for folder in SOURCE_FOLDERS:
            for path in sorted((root / folder).rglob("*.[ch]")):
                self.by_name[path.name] = path
        self.texts = {}

    def find(self, name):
        return self.by_name.get(name)

    def text(self, path):
        if path not in self.texts:
            self.texts[path] = path.read_text(encoding="utf-8")
        return self.texts[path]


class Part:
    """The mutants of one file of the collection."""

    def __init__(self, name):
        self.name = name
        self.tests = []
        self.mutants = []


def read_block(part, lines):
    """One mutant from its lines, each with its number."""
    number, head = lines[0]
    if not re.fullmatch(r"# [a-z0-9][a-z0-9-]*", head):
        raise Malformed(f"line {number}: a mutant begins with '# its-name', not {head!r}")
    mutant, hunk, field = Mutant(part, head[2:]), None, None
    for number, line in lines[1:]:
        key, colon, rest = line.partition(":")
        if line[:1] == "-":
            if hunk is None or hunk.after:
                hunk = Hunk(mutant.fields.get("file", ""))
                mutant.hunks.append(hunk)
            hunk.before.append(line[2:])
        elif line[:1] == "+" and hunk is not None:
            hunk.after.append(line[2:])
        elif line.startswith("  ") and field:
            mutant.fields[field] += " " + line.strip()
        elif colon and key in FIELDS:
            field, mutant.fields[key] = key, rest.strip()
        else:
            raise Malformed(f"line {number}: neither a field nor a change: {line!r}")
    return mutant


def read_part(path):
    """A Part from its file; raises Malformed."""
    part, block = Part(path.stem), []
    lines = path.read_text(encoding="utf-8").split("\n")
    for number, line in enumerate([*lines, ""], 1):
        if line:
            block.append((number, line))
        elif block and block[0][1].startswith("tests:"):
            part.tests = " ".join(text for _, text in block).removeprefix("tests:").split()
            block = []
        elif block:
            part.mutants.append(read_block(part.name, block))
            block = []
    return part


def read_parts(names=PARTS):
    return [read_part(PARTS_FOLDER / f"{name}.mutants") for name in names
            if (PARTS_FOLDER / f"{name}.mutants").exists()]


def find_test(name, root=TREE):
    """The source of a test by its name without a suffix, or None."""
    for folder in TEST_FOLDERS:
        for suffix in TEST_SUFFIXES:
            for found in (root / folder).rglob(name + suffix):
                return found
    return None


def problems_of(mutant, sources):
    """What is wrong with a mutant in the tree as it is, in sentences."""
    where = f"tests/mutation/parts/{mutant.part}.mutants: {mutant.name}"
    if not mutant.fields.get("why"):
        yield f"{where}: says not why it matters"
    for test in mutant.tests:
        if not find_test(test, sources.root):
            yield f"{where}: there is no test {test}; name the program that took its place"
    if not mutant.hunks:
        yield f"{where}: changes nothing"
    for hunk in mutant.hunks:
        path = sources.find(hunk.file)
        anchor = " ".join(" ".join(hunk.before).split())
        if TOKEN.findall(" ".join(hunk.before)) == TOKEN.findall(" ".join(hunk.after)):
            yield f"{where}: what it puts in is what it takes out: {anchor}"
        elif not path:
            yield (f"{where}: there is no {hunk.file} any more. Write the file that has "
                   f"`{anchor}` now after `file:`, or remove the mutant if the mechanism is gone.")
        else:
            yield from anchor_problems(where, hunk, path, anchor, sources)


def anchor_problems(where, hunk, path, anchor, sources):
    count = len(hunk.places(sources.text(path)))
    shown = path.relative_to(sources.root)
    if count == 1:
        return
    if count > 1:
        yield (f"{where}: its anchor stands {count} times in {shown}: `{anchor}`. Add words from "
               "beside the place that is meant to its `-` and its `+` lines.")
        return
    elsewhere = [str(other.relative_to(sources.root)) for other in sources.by_name.values()
                 if other != path and hunk.places(sources.text(other))]
    what_to_do = (f"It stands in {', '.join(elsewhere)} now: write that name after `file:`."
                  if elsewhere else
                  "If the code was rewritten, write the same mistake into the new code (`-` what "
                  "stands there now, `+` what it would become); if the mechanism is gone, remove "
                  "the mutant.")
    yield f"{where}: its anchor is no longer in {shown}: `{anchor}`. {what_to_do}"
