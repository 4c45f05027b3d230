# SPDX-License-Identifier: Apache-2.0
"""The shape of C code, guessed from columns and brackets: functions, their heads, calls.

    function_head(file, at)     ("send", ["peer", "name"]) anywhere inside of void send(...) { }

It relies on the layout of formatters: functions begin and end in the first column. Each file is
walked once; after that every query costs a binary search.
"""

import bisect
import re

FUNCTION_HEAD = re.compile(r"\b([A-Za-z_]\w*)\s*\(([^(){};]*)\)[^(){};]*$")
LAST_WORD = re.compile(r"(\w+)\s*(?:\[\s*\w*\s*\])?\s*$")
BRACKETS = re.compile(r"[(){}\[\]]")
HEAD_CHARS_MAX = 2000


class Shape:
    """The places where brackets open and functions end."""

    def __init__(self, code):
        self.places, self.tops = [0], [-1]      # from a place on, the innermost open bracket
        self.closes, self.opens, self.heads = [], [], {}
        stack = []
        for match in BRACKETS.finditer(code):
            c, at = match.group(), match.start()
            first = at == 0 or code[at - 1] == "\n"
            if c in "({[":
                # A brace in the first column begins a function, whatever #if left open before.
                stack = [at] if first and c == "{" else stack + [at] if len(stack) < 50 else stack
                if c == "{":
                    self.opens.append(at)
            elif first and c == "}":
                stack = []
                self.closes.append(at)
            elif stack:
                stack = stack[:-1]
            self.places.append(at + 1)
            self.tops.append(stack[-1] if stack else -1)


def shape_of(file):
    if "shape" not in file.facts:
        file.facts["shape"] = Shape(file.code)
    return file.facts["shape"]


def enclosing_bracket(file, at):
    """The place where the innermost bracket around a place opens, or -1."""
    shape = shape_of(file)
    return shape.tops[bisect.bisect_right(shape.places, at) - 1]


def in_spans(spans, at):
    """Whether a place is in one of some sorted (start, end)."""
    index = bisect.bisect_right(spans, (at, float("inf"))) - 1
    return index >= 0 and spans[index][0] <= at < spans[index][1]


def function_scope(file, at):
    """From the } in the first column before a place to the next one."""
    closes = shape_of(file).closes
    index = bisect.bisect_left(closes, at)
    start = closes[index - 1] if index else -1
    return start, closes[index] if index < len(closes) else len(file.code)


def at_file_scope(file, at):
    """Whether the line of a place begins in the first column, outside all brackets."""
    line = file.code.rfind("\n", max(0, at - HEAD_CHARS_MAX), at) + 1
    return not file.code[line:line + 1].isspace() and enclosing_bracket(file, at) < 0


def function_head(file, at):
    """(name, parameters) of the function around a place, or None."""
    shape, scope = shape_of(file), function_scope(file, at)[0]
    index = bisect.bisect_right(shape.opens, scope)
    if index >= len(shape.opens) or shape.opens[index] >= at:
        return None
    opening = shape.opens[index]
    for later in shape.opens[index:index + 50]:
        if later < at and file.code[later - 1:later] == "\n":
            opening = later
            break
    if opening not in shape.heads:
        head = FUNCTION_HEAD.search(file.code, max(scope, 0, opening - HEAD_CHARS_MAX), opening)
        names = [LAST_WORD.search(word) for word in head.group(2).split(",")] if head else []
        shape.heads[opening] = (head.group(1), [name.group(1) if name else "" for name in names]) \
            if head else None
    return shape.heads[opening]


def is_declarator(file, match):
    """Whether name( is declared or defined, not called: a type stands before it."""
    code = file.code
    before = code[max(0, match.start() - 200):match.start()].rstrip(" \t")
    if not before or before[-1] not in "*&\n" and not (before[-1].isalnum() or before[-1] == "_"):
        return False
    if before[-1] == "\n":
        return match.group(0)[:1].islower() and at_file_scope(file, match.start())
    word = re.search(r"(\w+)[\s*&]*$", before)
    return bool(word) and word.group(1) not in ("return", "else", "do", "case", "in")
