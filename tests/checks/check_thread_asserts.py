#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Keeps cmocka's assertions on the main thread: on another, one that fails ends the program, or
leaves it hanging, and says not which test it was. tests/support/thread_asserts.h has what
functions of threads may use. What such a function calls is looked at too, in its file and in the
tests' headers.
"""

import re

from checklib import Rules, read, tree, without_comments

ALLOWED = "thread_asserts.h"  # its functions know which thread they are on
MAIN_ONLY = "functions of threads use no assertion of cmocka"

# The function that a call of pthread_create names, or of a test's own wrapper around one.
CREATED = re.compile(r"\bpthread_create\(\s*[^;]*?,[^;]*?,\s*\(?(\w+)\)?\s*,[^;]*?\)\s*[;,)!=]")
BEGUN = re.compile(r"\bvoid \*\s*(\w+)\((?:void \*|)\s*\w*\)\s*\n?\{")
FUNCTION = re.compile(r"^(?:[A-Za-z_][^;{}#\n=]*[\s*])?(\w+)\(([^;{}]*?)\)\s*\n?\{\n(.*?)^\}",
                      re.M | re.S)
INCLUDE = re.compile(r'^#include "(\S+)"', re.M)
CALL = re.compile(r"\b(\w+)\(")
ASSERTION = re.compile(r"assert_\w+|fail|fail_msg|skip|check_expected\w*|mock\w*")


def functions_of(text):
    """{name: (its body, the line it begins at)}"""
    return {match.group(1): (match.group(3), text.count("\n", 0, match.start()) + 1)
            for match in FUNCTION.finditer(text)}


def included(text, texts):
    """The tests' headers that a source includes, directly or not, by their names."""
    found, left = set(), [text]
    while left:
        for name in INCLUDE.findall(left.pop()):
            name = name.rsplit("/", 1)[-1]
            if name in texts and name not in found | {ALLOWED}:
                found.add(name)
                left.append(texts[name])
    return found


def way_to_an_assertion(name, functions, seen):
    """The calls that lead from a function to an assertion, or None."""
    if name in seen or name not in functions:
        return None
    seen.add(name)
    for called in CALL.findall(functions[name][0]):
        if ASSERTION.fullmatch(called):
            return [name, called]
        way = way_to_an_assertion(called, functions, seen)
        if way:
            return [name, *way]
    return None


def main():
    rules = Rules()
    rules.rule(MAIN_ONLY)
    texts = {name: without_comments(read(name)) for name in tree()
             if name.parts[0] == "tests" and name.suffix in (".c", ".cc", ".h")}
    headers = {name.name: text for name, text in texts.items() if name.suffix == ".h"}
    for name, text in texts.items():
        if name.name == ALLOWED:
            continue
        functions = {}
        for header in included(text, headers):
            functions.update(functions_of(headers[header]))
        functions.update(functions_of(text))
        for thread in sorted(set(CREATED.findall(text)) | set(BEGUN.findall(text))):
            way = way_to_an_assertion(thread, functions, set())
            if way:
                rules.broken(MAIN_ONLY, f"{name}:{functions[thread][1]}: {' -> '.join(way)}")
    rules.finish()


if __name__ == "__main__":
    main()
