#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# crest-test: timeout=200
"""`crest lint events`: each rule of events speaks on one text and keeps silent on its neighbour,
and the files of rules that the library refuses are refused."""

import re

import toolslib
from lintlib import lint, place_files, rules, run_lint
from toolslib import contains, equal

C = "#include <crest/event.h>\n"
GOOD = C + '''CREST_EVENT(block_seen, "casper.block-seen", CREST_INFO, "A block came in.", x);
/* CREST_EVENT(none, "casper.none", CREST_INFO, "x") */
#define CREST_EVENT(variable, name, ...) nothing
CREST_EVENT(
    lost, "comm."
    "peer-lost", CREST_WARNING,
    "A peer, of (any) kind, "
    "went.", CREST_FIELD(id));
void f(void) { CREST_EMIT(block_seen, 1); CREST_EMIT(lost); }
'''

# (what, source, findings as (rule, line, words))
CASES = [
    ("nothing wrong", GOOD, []),
    ("capitals", 'CREST_EVENT(a, "casper.blockSeen", CREST_INFO, "X."); f(a);',
     [("event-name", 2, "it has capitals")]),
    ("an underscore", 'CREST_EVENT(a, "casper.block_seen", CREST_INFO, "X."); f(a);',
     [("event-name", 2, "it has an underscore")]),
    ("no name", 'CREST_EVENT(a, "casper..seen", CREST_INFO, "X."); f(a);',
     [("event-name", 2, "two separators in a row, at byte 7")]),
    ("twice", 'CREST_EVENT(a, "casper.seen", CREST_INFO, "X.");\n'
     'CREST_EVENT(b, "casper.seen", CREST_INFO, "X."); f(a, b);',
     [("event-twice", 3, "'casper.seen' is declared in a.c:2:16 too")]),
    ("twice in two spellings", 'CREST_EVENT(a, "casper.seen-now", CREST_INFO, "X.");\n'
     'CREST_EVENT(b, "casper.seen.now", CREST_INFO, "X."); f(a, b);',
     [("event-twice", 3, "spelled 'casper.seen-now'")]),
    ("a leaf that is a branch", 'CREST_EVENT(a, "casper.block", CREST_INFO, "X.");\n'
     'CREST_EVENT(b, "casper.block.seen", CREST_INFO, "X."); f(a, b);',
     [("event-branch", 2, "the namespace of 'casper.block.seen'")]),
    ("neighbours", 'CREST_EVENT(a, "casper.block", CREST_INFO, "X.");\n'
     'CREST_EVENT(b, "casper.block-seen", CREST_INFO, "X."); f(a, b);', []),
    ("no description", 'CREST_EVENT(a, "casper.seen", CREST_INFO, ""); f(a);',
     [("event-doc", 2, "has no description")]),
    ("no sentence", 'CREST_EVENT(a, "casper.seen", CREST_INFO, "block"); f(a);',
     [("event-doc", 2, "described as 'block'; a sentence is wanted")]),
    ("unused", 'CREST_EVENT(a, "casper.seen", CREST_INFO, "X."); /* a */ f("a", ab);',
     [("event-unused", 2, "nothing emits 'a'")]),
]

EVENTS = ["casper.block-seen", "comm.peer-lost"]

# (rules, findings as (line, column, words))
RULES = [
    ("*: warning\ncasper: debug limit=100/s to=log:json # all\n\ncomm.peer-lost: off", []),
    ("casper.block: minimal; comm: to=ring", []),
    ("caspar: debug", [(1, 1, "holds for no event; did you mean 'casper'?")]),
    ("*: error;\n  casper.bloc: debug", [(2, 3, "holds for no event")]),
    ("casper debug", [(1, 1, "has no colon")]),
    ("casper: loud", [(1, 1, "says 'loud', which is not known")]),
    ("casper: debug info", [(1, 1, "says 'info' a second time")]),
    ("casper:", [(1, 1, "says nothing")]),
    ("casper..x: debug", [(1, 1, "two separators in a row")]),
    ("casper: debug; casper: minimal", [(1, 16, "'casper' has a rule already")]),
    ("casper: limit=0/s", [(1, 1, "says 'limit=0/s'")]),
    ("casper: limit=1/d", [(1, 1, "says 'limit=1/d'")]),
    ("casper: to=log:", [(1, 1, "says 'to=log:'")]),
    ("#" * 32769, [(0, 0, "more than 32768 bytes")]),
]


def judges_declarations(place):
    for what, source, wanted in CASES:
        place_files(place, {"a.c": source if source.startswith(C) else C + source})
        found = lint(place, "events", "a.c", status=1 if wanted else 0)
        equal([(rule, line) for rule, _, line, _, _ in found],
              [(rule, line) for rule, line, _ in wanted], what)
        for (_, _, _, _, message), (_, _, words) in zip(found, wanted):
            contains(message, words, what)


def judges_rules(place):
    place_files(place, {"a.c": GOOD})
    for text, wanted in RULES:
        place_files(place, {"node.rules": text})
        found = lint(place, "events", "--with", "node.rules", "a.c", status=1 if wanted else 0)
        equal([(rule, path, line, column) for rule, path, line, column, _ in found],
              [("event-rule", "node.rules", line, column) for line, column, _ in wanted], text)
        for (_, _, _, _, message), (_, _, words) in zip(found, wanted):
            contains(message, words, text)


def knows_the_words_of_the_library(_):
    """Those that src/events/event_rules.c has, and no other."""
    from crest_lint import lint_events
    source = (toolslib.ROOT / "src/events/event_rules.c").read_text(encoding="utf-8")
    lists = re.findall(r"crest_event_(\w+)_words\[\] = \{([^}]*)\}", source)
    words = {name: re.findall(r'"(\w+)"', text) for name, text in lists}
    equal(sorted(lint_events.WORDS), sorted(words["severity"] + words["detail"]), "words")
    for output in words["output"]:
        equal(bool(lint_events.OUTPUTS.fullmatch(f"to={output}")), True, output)


def takes_what_cannot_be_read(place):
    place_files(place, {"a.c": GOOD, "b.rules": b"\xff\xfe: debug"})
    equal(rules(lint(place, "events", "--with", "b.rules", "a.c", status=1)), ["event-rule"],
          "bytes that are no text")
    _, _, said = run_lint(place, "events", "--with", "none.rules", "a.c", status=2)
    contains(said, "none.rules: No such file or directory")
    lint(place, "events", "--exclude", "a.c", ".", status=0)


toolslib.main([judges_declarations, judges_rules, knows_the_words_of_the_library,
               takes_what_cannot_be_read])
