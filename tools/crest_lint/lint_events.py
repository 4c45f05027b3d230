# SPDX-License-Identifier: Apache-2.0
"""`crest lint events`: events that sources declare, and rules of events that name them.

    check_events(["src"], report, excluded=[], rules=["node.rules"])

An event is declared at file scope, CREST_EVENT(variable, "name", …), so its declarations are all
there is to know of it: no manifest repeats them.
"""

import re

from crest_lint.lint_findings import Place
from crest_lint.lint_names import name_fault, nearest, split_key
from crest_lint.lint_source import read_files
from crest_lint.lint_uses import arguments

DECLARED = re.compile(r"\bCREST_EVENT(?:_WITH)?\s*\(")
DEFINE = re.compile(r"^[ \t]*#[ \t]*define\b(?:\\\r?\n|[^\n])*", re.M)
LITERAL = re.compile(r'"[^"]*"')
SENTENCE = re.compile(r"[A-Z0-9`'].*[.!?]", re.S)
RULE = re.compile(r"[^;\n]+")
WORDS = {word: "severity" for word in
         ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency",
          "off")}
WORDS |= {word: "detail" for word in ("minimal", "normal", "detailed", "maximum")}
LIMIT = re.compile(r"limit=(?:off|0*[1-9][0-9]{0,6}/[smh])")
OUTPUTS = re.compile(r"to=(?:ring|log|text|json)(?::(?:ring|log|text|json))*")
RULES_BYTES_MAX = 32768


class Event:
    """One declaration."""

    def __init__(self, file, at, variable, name, name_at, doc):
        self.file, self.at, self.variable = file, at, variable
        self.name, self.name_at, self.doc = name, name_at, doc

    @property
    def place(self):
        return self.file.place(self.name_at)


def text_of(file, start, end):
    """The text of an expression that is literals one after the other, or None."""
    if not re.fullmatch(r'(?:"[^"]*"\s*)+', file.code[start:end]):
        return None
    return "".join(file.strings[start + match.start()].value
                   for match in LITERAL.finditer(file.code[start:end]))


def declared(file):
    """The events of a file: arguments are the variable, the name, the severity, the doc, fields."""
    macros = [match.span() for match in DEFINE.finditer(file.code)]
    for match in DECLARED.finditer(file.code):
        if any(start <= match.start() < end for start, end in macros):
            continue
        parts, _ = arguments(file.code, match.end() - 1)
        texts = [(part, text) for part in parts or []
                 if (text := text_of(file, *part)) is not None]
        if len(parts or []) < 2 or not texts or texts[0][0] != parts[1]:
            continue
        yield Event(file, match.start(), file.code[slice(*parts[0])], texts[0][1], texts[0][0][0],
                    texts[1][1] if len(texts) > 1 else "")


def check_names(events, report):
    seen = {}
    for event in events:
        fault = name_fault(event.name)
        if not fault and event.name != event.name.lower():
            fault = "it has capitals"
        if not fault and "_" in event.name:
            fault = "it has an underscore: dots are for hierarchy, dashes join words"
        if fault:
            report.add("event-name", event.place, f"'{event.name}': {fault}")
        first = seen.setdefault(split_key(event.name), event)
        if first is not event:
            report.add("event-twice", event.place,
                       f"'{event.name}' is declared in {first.place} too"
                       + ("" if first.name == event.name else f", spelled '{first.name}'"))
    for event in events:
        below = next((other for other in events if other.name.startswith(event.name + ".")), None)
        if below:
            report.add("event-branch", event.place,
                       f"'{event.name}' is an event and the namespace of '{below.name}', so a rule "
                       "of it holds for both: name it apart")


def check_docs(events, report):
    for event in events:
        if not SENTENCE.fullmatch(event.doc.strip()):
            report.add("event-doc", event.place,
                       f"'{event.name}' is described as '{event.doc}'; a sentence is wanted"
                       if event.doc.strip() else f"'{event.name}' has no description")


def check_use(events, files, report):
    """A variable that is named nowhere but where it is declared."""
    for event in events:
        word = re.compile(rf"\b{re.escape(event.variable)}\b")
        uses = sum(len(word.findall(file.code)) for file in files)
        if uses < 2:
            report.add("event-unused", event.file.place(event.at),
                       f"'{event.name}' is declared, and nothing emits '{event.variable}'")


def check_rule(text, place, names, report):
    """One rule, as src/events/event_rules.c reads it."""
    def wrong(message):
        report.add("event-rule", place, f"the rule '{text}' {message}")

    space, colon, rest = text.partition(":")
    space = space.strip()
    if not colon:
        wrong("has no colon behind its namespace")
        return None
    if space != "*" and name_fault(space):
        wrong(f"has no namespace: {name_fault(space)}")
        return None
    said = set()
    for word in rest.split():
        what = WORDS.get(word) or ("limit" if LIMIT.fullmatch(word) else
                                   "to" if OUTPUTS.fullmatch(word) else None)
        if what is None or what in said:
            wrong(f"says '{word}'" + (" a second time" if what else ", which is not known"))
            return None
        said.add(what)
    if not said:
        wrong("says nothing")
    held = re.compile(re.escape(space) + r"(?:[.-]|\Z)")
    if space != "*" and not any(held.match(name) for name in names):
        near = nearest(space, {end for name in names
                               for end in (name, *(name[:match.start()] for match in
                                                   re.finditer("[.-]", name)))})
        wrong("holds for no event" + (f"; did you mean '{near}'?" if near else ""))
    return space


def check_rules(path, names, report):
    """A file of rules: every one is right, and holds for an event that there is."""
    try:
        with open(path, "rb") as file:
            data = file.read(RULES_BYTES_MAX + 1)
    except (OSError, ValueError) as error:
        report.cannot_use(f"{path}: {getattr(error, 'strerror', None) or error}")
        return
    if len(data) > RULES_BYTES_MAX:
        report.add("event-rule", Place(path), f"it has more than {RULES_BYTES_MAX} bytes")
        return
    seen = set()
    for number, line in enumerate(data.decode("utf-8", "replace").split("\n"), 1):
        for match in RULE.finditer(line.partition("#")[0]):
            text = match.group().strip()
            if not text:
                continue
            blanks = len(match.group()) - len(match.group().lstrip())
            place = Place(path, number, match.start() + blanks + 1)
            space = check_rule(text, place, names, report)
            if space in seen:
                report.add("event-rule", place, f"'{space}' has a rule already")
            seen.add(space)
            seen.discard(None)


def check_events(paths, report, excluded=(), rules=()):
    """Reads the sources, and judges their events; then the files of rules. Returns the events."""
    files = [file for file in read_files(paths, report, excluded) if file.language == "c"]
    events = [event for file in files if "CREST_EVENT" in file.text for event in declared(file)]
    check_names(events, report)
    check_docs(events, report)
    check_use(events, files, report)
    for path in rules:
        check_rules(path, [event.name for event in events], report)
    return events
