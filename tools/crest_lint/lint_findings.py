# SPDX-License-Identifier: Apache-2.0
"""The findings of crest lint and their output: lines for people, JSON, annotations for GitHub.

It knows no metric and judges nothing: the rules are in lint_manifest.py, lint_source.py and
lint_live.py, and lint_rules.py lists them.

    report = Report()
    report.add("split-name", Place("src/a.c", 12, 5), "'comm.pingTime' is declared as ...")
    report.write(sys.stdout, "text")
    sys.exit(report.status())
"""

import dataclasses
import json

from crest_lint.lint_rules import RULES

EXIT_CLEAN = 0
EXIT_FINDINGS = 1
EXIT_UNUSABLE = 2

# Findings that are printed; further ones are only counted.
FINDINGS_MAX = 10_000
FORMATS = ("text", "json", "github")
GITHUB_WORDS = {"error": "error", "warning": "warning", "note": "notice"}


@dataclasses.dataclass(frozen=True, order=True)
class Place:
    """A place: a file or URL, and line and column from 1; 0 where there is none."""

    path: str
    line: int = 0
    column: int = 0

    def __str__(self):
        parts = [self.path] + [str(n) for n in (self.line, self.column) if n]
        return ":".join(parts)


@dataclasses.dataclass(frozen=True, order=True)
class Finding:
    """One violation of a rule."""

    place: Place
    rule: str
    message: str
    severity: str = dataclasses.field(compare=False)


class Report:
    """Findings without repetition, the changes of --fix, and unreadable inputs."""

    def __init__(self):
        self.findings = set()
        self.unusable = []
        self.fixed = []
        self.notes_shown = True

    def add(self, rule, place, message):
        self.findings.add(Finding(place, rule, message, RULES[rule].severity))

    def cannot_use(self, message):
        """Reports an input that could not be read: on stderr, with exit status 2."""
        if message not in self.unusable:
            self.unusable.append(message)

    def count(self, severity):
        return sum(finding.severity == severity for finding in self.findings)

    def status(self):
        if self.unusable:
            return EXIT_UNUSABLE
        return EXIT_FINDINGS if self.count("error") + self.count("warning") else EXIT_CLEAN

    def summary(self):
        counts = [f"{self.count(word)} {word}{'' if self.count(word) == 1 else 's'}"
                  for word in ("error", "warning", "note") if self.count(word)]
        fixed = [f"{len(self.fixed)} fixed"] if self.fixed else []
        unread = [f"{len(self.unusable)} not read"] if self.unusable else []
        return ", ".join(counts + fixed + unread) or "nothing found"

    def write(self, out, form):
        shown = [finding for finding in sorted(self.findings)
                 if self.notes_shown or finding.severity != "note"]
        left_out = len(shown) - FINDINGS_MAX
        shown = shown[:FINDINGS_MAX]
        if form == "json":
            json.dump(self.as_json(shown), out, indent=2)
            out.write("\n")
            return
        for change in self.fixed:
            out.write(f"fixed: {one_line(change)}\n")
        for finding in shown:
            out.write(LINES[form](finding) + "\n")
        if left_out > 0:
            out.write(f"... and {left_out} findings more\n")
        out.write(f"crest lint: {self.summary()}\n")

    def as_json(self, shown):
        return {
            "findings": [{"path": finding.place.path, "line": finding.place.line,
                          "column": finding.place.column, "severity": finding.severity,
                          "rule": finding.rule, "message": finding.message}
                         for finding in shown],
            "fixed": self.fixed,
            "unusable": self.unusable,
            "counts": {word: self.count(word) for word in ("error", "warning", "note")},
        }


def one_line(text):
    """A text that cannot break out of its line, whatever the file had in it."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def text_line(finding):
    return (f"{one_line(str(finding.place))}: {finding.severity}: {one_line(finding.message)} "
            f"[{finding.rule}]")


def github_line(finding):
    def escape(text, also=""):
        for c in "%\r\n" + also:
            text = text.replace(c, f"%{ord(c):02X}")
        return text
    place = finding.place
    where = [f"file={escape(place.path, ':,')}"]
    where += [f"line={place.line}"] if place.line else []
    where += [f"col={place.column}"] if place.column else []
    return (f"::{GITHUB_WORDS[finding.severity]} {','.join(where)},title={finding.rule}"
            f"::{escape(finding.message)}")


LINES = {"text": text_line, "github": github_line}
