# SPDX-License-Identifier: Apache-2.0
"""YAML nodes with their places, and readers that report what they found and what they
expected.

    reading = Reading("comm.metrics.yaml")
    root = reading.document(text)
    for key, node in reading.mapping(root, "a manifest", {"team", "metrics"}).items(): ...

A reader that finds a problem returns None (or leaves an entry out) and goes on, so that all
problems of a file are reported at once. It knows YAML, not manifests.

PyYAML's loader is not used, because it drops places, and keeps the last of two equal keys.
"""

import difflib
import math
import re

import yaml

from .manifest_model import Position, Problem

# Far above any manifest that people write, and low enough that reading it takes no minutes.
MANIFEST_BYTES_MAX = 4 * 1024 * 1024
FOUND_SHOWN = 60
# libyaml's composer recurses at each level, and crashes at a hundred thousand.
NESTING_MAX = 32

# libyaml's parser where PyYAML has it: ten times as fast, with the same places.
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
TAG = "tag:yaml.org,2002:"
# Characters that YAML refuses, and those that it takes for a line end where editors show none.
UNPRINTABLE = re.compile("[^\t\r\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufffd"
                         "\U00010000-\U0010ffff]|\r(?!$)")
DURATION = re.compile(r"(\d+)(ms|s|m|h|d)")
DURATION_MS = {"ms": 1, "s": 1000, "m": 60000, "h": 3600000, "d": 86400000}


def nearest(word, known):
    """`; did you mean X?` for a word that looks like a known one, else nothing."""
    close = difflib.get_close_matches(word.lower(), sorted(known), 1, 0.6)
    return f"; did you mean {close[0]}?" if close else ""


def one_of(words):
    words = list(words)
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " or " + words[-1]


def shown(text):
    """A word of the file in a form fit for a message: short, on one line, and printable."""
    text = "".join(c if c.isprintable() else "\\x%02x" % ord(c) for c in text)
    return text if len(text) <= FOUND_SHOWN else text[:FOUND_SHOWN] + "…"


def describe(node):
    """A node in words, for `found …`."""
    if isinstance(node, yaml.MappingNode):
        return "a mapping" if node.value else "an empty mapping"
    if isinstance(node, yaml.SequenceNode):
        return "a list" if node.value else "an empty list"
    kinds = {"int": "the number", "float": "the number", "bool": "the truth value",
             "null": "nothing", "timestamp": "the date", "str": "the text"}
    kind = kinds.get(node.tag.removeprefix(TAG), f"a value with the tag {shown(node.tag)}:")
    if kind == "nothing" and not node.value:
        return kind
    return f"{kind} {shown(node.value)!r}" if kind == "the text" else f"{kind} {shown(node.value)}"


def deepest(text):
    """The place where a text is nested too deeply; None if it is not."""
    depth = 0
    for event in yaml.parse(text, Loader=LOADER):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > NESTING_MAX:
                return event.start_mark
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
    return None


class Reading:
    """One file being read, and the problems found so far."""

    def __init__(self, path):
        self.path = str(path)
        self.problems = []
        self.licence = ""

    def place(self, mark):
        return Position(self.path, mark.line + 1, mark.column + 1)

    def at(self, node):
        return self.place(node.start_mark)

    def wrong(self, where, message):
        """Records a problem of a node or at a position; returns None."""
        position = where if isinstance(where, Position) else self.at(where)
        self.problems.append(Problem(position, message))

    def expected(self, node, what):
        """`what` continues the sentence after "expected"."""
        hint = ""
        if isinstance(node, yaml.ScalarNode) and "text" in what and node.value and \
                node.tag != TAG + "str":
            hint = f': put it in quotes, "{shown(node.value)}"'
        return self.wrong(node, f"found {describe(node)}; expected {what}{hint}")

    # ---- the document ----

    def file(self):
        """The root node of the file; None when there is none, which is reported."""
        top = Position(self.path, 1, 1)
        try:
            with open(self.path, "rb") as stream:
                data = stream.read(MANIFEST_BYTES_MAX + 1)
        except OSError as error:
            return self.wrong(top, f"cannot be read: {error.strerror}")
        if len(data) > MANIFEST_BYTES_MAX:
            return self.wrong(top, f"is longer than {MANIFEST_BYTES_MAX} bytes; split the manifest")
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as error:
            lines = data[:error.start].decode("utf-8").split("\n")
            return self.wrong(Position(self.path, len(lines), len(lines[-1]) + 1),
                              f"found the byte 0x{data[error.start]:02x}; expected UTF-8")
        return self.document(text)

    def document(self, text):
        """The root node of a text that is one YAML document."""
        top = Position(self.path, 1, 1)
        licence = re.search(r"\A(?:#.*\n)*?# *SPDX-License-Identifier: *(\S[^\n]*)", text)
        self.licence = licence.group(1).strip() if licence else ""
        for number, line in enumerate(text.split("\n"), 1):
            bad = UNPRINTABLE.search(line)
            if bad and not (number == 1 and bad.start() == 0 and bad.group() == "\ufeff"):
                return self.wrong(Position(self.path, number, bad.start() + 1),
                                  f"found the character U+{ord(bad.group()):04X}; expected a "
                                  "printable one, as YAML asks")
        try:
            deep = deepest(text)
            root = yaml.compose(text, Loader=LOADER) if deep is None else None
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            said = ": ".join(part for part in (error.context, error.problem) if part)
            if error.problem and "mapping values are not allowed" in error.problem:
                said += "; a text that has a colon and a blank in it: put it in quotes"
            return self.wrong(self.place(mark) if mark else top, f"this is not YAML: {said}")
        except yaml.YAMLError as error:
            return self.wrong(top, f"this is not YAML: {shown(str(error))}")
        if deep is not None:
            return self.wrong(self.place(deep), f"found more than {NESTING_MAX} levels of lists "
                                                "and mappings; expected a manifest, which has six")
        if root is None:
            return self.wrong(top, "found an empty file; expected a manifest, which begins with "
                                   "manifest: 1")
        return root

    # ---- readers ----

    def pairs(self, node, what):
        """Keys and nodes of a mapping whose keys are free: [(key, key node, node)]."""
        if not isinstance(node, yaml.MappingNode):
            self.expected(node, what)
            return []
        seen, found = {}, []
        for key_node, value in node.value:
            key = key_node.value if isinstance(key_node, yaml.ScalarNode) else None
            if key is None or key_node.tag not in (TAG + "str",):
                self.wrong(key_node, f"found {describe(key_node)} as a key; expected a text"
                           + (f': put it in quotes, "{shown(key)}"' if key else ""))
            elif key in seen:
                self.wrong(key_node, f"found the key {shown(key)} again; the first is in line "
                                     f"{seen[key]}, and YAML would silently keep the last")
            else:
                seen[key] = self.at(key_node).line
                found.append((key, key_node, value))
        return found

    def mapping(self, node, what, known):
        """Nodes by key, of a mapping with known keys; others are reported, with the nearest."""
        found = {}
        for key, key_node, value in self.pairs(node, what):
            if key in known:
                found[key] = value
            else:
                self.wrong(key_node, f"found the key {shown(key)}; expected a key of {what}"
                           f"{nearest(key, known) or ': ' + one_of(sorted(known))}")
        return found

    def items(self, node, what):
        """Nodes of a list."""
        if not isinstance(node, yaml.SequenceNode):
            self.expected(node, what)
            return []
        return node.value

    def text(self, node, what="a text"):
        """A text that is not empty; for numbers and yes/no the report says to quote them."""
        if not isinstance(node, yaml.ScalarNode) or node.tag != TAG + "str" or \
                not node.value.strip():
            return self.expected(node, what)
        return node.value.strip()

    def texts(self, node, what):
        """One text or a list of texts, as a tuple."""
        if isinstance(node, yaml.SequenceNode):
            found = [self.text(item) for item in node.value]
            if not found:
                self.expected(node, what)
            return tuple(text for text in found if text is not None)
        text = self.text(node, what)
        return () if text is None else (text,)

    def choice(self, node, words):
        """One of these words."""
        value = node.value if isinstance(node, yaml.ScalarNode) else None
        if value in words:
            return value
        return self.wrong(node, f"found {describe(node)}; expected {one_of(words)}"
                          + (nearest(value, words) if value else ""))

    def boolean(self, node):
        truth = {"yes": True, "true": True, "on": True, "no": False, "false": False, "off": False}
        if isinstance(node, yaml.ScalarNode) and node.tag == TAG + "bool":
            return truth[node.value.lower()]
        return self.expected(node, "yes or no")

    def integer(self, node, what, lowest, highest):
        found = None
        if isinstance(node, yaml.ScalarNode) and node.tag == TAG + "int" and \
                re.fullmatch(r"[+-]?\d+", node.value) and len(node.value) < 30:
            found = int(node.value)
        if found is None or not lowest <= found <= highest:
            return self.expected(node, f"{what}, a whole number from {lowest} to {highest}")
        return found

    def number(self, node, what):
        if isinstance(node, yaml.ScalarNode):
            try:
                # YAML 1.1 takes 1e-5 for a text; authors mean a number
                found = float(node.value) if not node.style else math.nan
                if math.isfinite(found) and re.fullmatch(r"[-+.0-9eE]+", node.value):
                    return found
            except ValueError:
                pass
        return self.expected(node, what)

    def duration_ms(self, node, most_ms, whole_ms=1):
        """60s, 500ms, 5m, 1h, 7d, in milliseconds; at most most_ms, a multiple of whole_ms."""
        match = None
        if isinstance(node, yaml.ScalarNode):
            match = DURATION.fullmatch(node.value)
        if match is None or len(match.group(1)) > 12:
            return self.expected(node, "a duration: a whole number and ms, s, m, h or d, as in 60s")
        found = int(match.group(1)) * DURATION_MS[match.group(2)]
        if found == 0 or found > most_ms or found % whole_ms:
            unit = "second" if whole_ms == 1000 else "millisecond"
            return self.expected(node, f"a duration of whole {unit}s from 1 {unit} to "
                                       f"{most_ms // 86400000} days")
        return found
