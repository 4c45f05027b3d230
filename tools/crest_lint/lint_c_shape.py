# SPDX-License-Identifier: Apache-2.0
"""The shape of C code, guessed from columns and brackets: functions, their heads, what is called.

    function_head(code, at)     ("send", ["peer", "name"]) anywhere inside of void send(...) { }

It assumes what formatters make of code: functions begin and end in the first column.
"""

import re

from crest_lint.lint_uses import enclosing_bracket

FUNCTION_HEAD = re.compile(r"\b([A-Za-z_]\w*)\s*\(([^(){};]*)\)[^(){};]*$")
LAST_WORD = re.compile(r"(\w+)\s*(?:\[\s*\w*\s*\])?\s*$")


def in_spans(spans, at):
    return any(start <= at < end for start, end in spans)


def function_scope(code, at):
    """From the } in the first column before a place to the next one."""
    start, end = code.rfind("\n}", 0, at), code.find("\n}", at)
    return start, len(code) if end < 0 else end


def at_file_scope(code, at):
    """Whether the line of a place begins in the first column."""
    line = code.rfind("\n", 0, at) + 1
    return not code[line:line + 1].isspace() and enclosing_bracket(code, at) < 0


def function_head(code, at):
    """(name, parameters) of the function around a place."""
    scope = function_scope(code, at)[0]
    opening = code.find("\n{", max(scope, 0), at)
    if opening < 0:
        opening = code.find("{", scope + 2, at)
    if opening < 0:
        return None
    head = FUNCTION_HEAD.search(code, max(scope, 0, opening - 2000), opening)
    if not head:
        return None
    names = [LAST_WORD.search(parameter) for parameter in head.group(2).split(",")]
    return head.group(1), [name.group(1) if name else "" for name in names]


def is_declarator(code, match):
    """Whether name( is being declared or defined, not called: a type stands before it."""
    before = code[max(0, match.start() - 200):match.start()].rstrip(" \t")
    if not before or before[-1] not in "*&\n" and not (before[-1].isalnum() or before[-1] == "_"):
        return False
    if before[-1] == "\n":
        line = code[match.start():code.find("\n", match.start())]
        return not line[:1].isspace() and match.group(0)[:1].islower() and \
            at_file_scope(code, match.start())
    word = re.search(r"(\w+)[\s*&]*$", before)
    return bool(word) and word.group(1) not in ("return", "else", "do", "case", "in")
