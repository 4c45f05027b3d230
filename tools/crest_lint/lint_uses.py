# SPDX-License-Identifier: Apache-2.0
"""The output of the scanners: uses of names, and texts that may be one of several.

A scanner turns each call site into a Use. It does not judge: lint_source.py does.
"""

import dataclasses
import re

# Texts that one expression may have; one with more counts as unknown.
TEXTS_MAX = 64
# How far a text is followed, through constants, parameters, macros; and how many such steps are
# spent on one name.
FOLLOW_MAX = 16
STEPS_MAX = 2000
# Characters and brackets of one call that are read.
ARGUMENTS_CHARS_MAX = 16 << 10
# Use.buckets for bounds that are no set of the library.
OWN_BUCKETS = "own"
BRACKETS = re.compile(r"[(){}\[\],;]")
CLOSES = {"(": ")", "{": "}", "[": "]"}


@dataclasses.dataclass(frozen=True)
class Text:
    """A text that an expression may have. `literal` is the only string literal that it comes from,
    as written; None if it is joined from several, or comes from elsewhere."""

    value: str
    file: object = None
    literal: object = None


@dataclasses.dataclass
class Use:
    """A name at a call site. None: the fact is unknown there."""

    file: object
    at: int                     # where in the file
    names: list                 # of Text: the whole name, or each possible one
    kind: str = None            # counter gauge histogram range-sampler timer stages mutex
    unit: str = None
    labels: tuple = None
    stages: tuple = None
    buckets: str = None         # the named set, OWN_BUCKETS, or "" for none
    description: str = None
    variable: str = None        # the variable that it declares
    linkage: str = ""           # static, define, get, by-name, literal
    keyed: bool = False         # begun by its operation
    how: str = ""               # as written: crest_set_gauge, CREST_COUNTER
    ambiguous: bool = False     # only one of the names need be meant
    short: str = ""             # the name as written where its source is not known
    reads: bool = False         # only looks a name up


@dataclasses.dataclass
class Unknown:
    """A call whose name is built at run time."""

    file: object
    at: int
    how: str
    pattern: str = "*"


class Steps:
    """Counts the steps spent on one name, so that a tangle of constants ends."""

    def __init__(self):
        self.left = STEPS_MAX

    def again(self):
        self.left = STEPS_MAX

    def spent(self):
        self.left -= 1
        return self.left < 0


def combine(parts):
    """The texts of a concatenation; None if one part is unknown, or there are too many."""
    texts = [("", None, None)]
    for part in parts:
        if not part or len(texts) * len(part) > TEXTS_MAX:
            return None
        alone = len(parts) == 1
        texts = [(value + text.value, text.file if alone else None, text.literal if alone else None)
                 for value, _, _ in texts for text in part]
    return [Text(*text) for text in texts]


def arguments(code, open_at, most=None):
    """(start, end) of each argument of the bracket that opens at `open_at`, trimmed, and where it
    closes; None when it does not close. Reads at most `most` arguments, if given."""
    found, start, stack = [], open_at + 1, [CLOSES[code[open_at]]]
    limit = open_at + ARGUMENTS_CHARS_MAX
    for match in BRACKETS.finditer(code, open_at + 1, limit):
        c, at = match.group(), match.start()
        if c in CLOSES:
            stack.append(CLOSES[c])
        elif c == stack[-1]:
            stack.pop()
            if not stack:
                found.append(trim(code, start, at))
                return ([] if found == [(at, at)] else found), at
        elif c == "," and len(stack) == 1:
            found.append(trim(code, start, at))
            start = at + 1
            if most is not None and len(found) >= most:
                return found, at
        elif c in ")}]" or (c == ";" and stack[-1] != "}"):
            return None, at
    return None, limit


def trim(code, start, end):
    while start < end and code[start] in " \t\r\n\\":
        start += 1
    while end > start and code[end - 1] in " \t\r\n\\":
        end -= 1
    return start, end
