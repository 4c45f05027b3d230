#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""METRICS.md and crest-lint agree: the page says for each id that crest-lint can print which of its
rules is broken, and names no id that there is not; and what it numbers is there.

Not here: that the tables are up to date (make catalogue), and that links lead somewhere
(check_links.py)."""

import re

import toolslib
from toolslib import ROOT, Failure, equal

from crest_lint.lint_rules import RULES

PAGE = (ROOT / "METRICS.md").read_text(encoding="utf-8")
CHECKED = "## What is checked"
NAMING = "## Naming rules"


def section(title):
    begin = PAGE.index(title + "\n")
    end = PAGE.find("\n## ", begin + 1)
    return PAGE[begin:end if end >= 0 else len(PAGE)]


def rows():
    """(first cell, ids) of the table."""
    for line in section(CHECKED).splitlines():
        cells = line.strip("|").split(" | ")
        if line.startswith("| ") and "---" not in line and cells[0].strip() != "rule of this page":
            yield cells[0].strip(), re.findall(r"`([a-z-]+)`", cells[1])


def each_id_is_explained_once(place):
    said = [rule for _, ids in rows() for rule in ids]
    equal(sorted(set(RULES) - set(said)), [], "ids that METRICS.md does not have")
    equal(sorted(set(said) - set(RULES)), [], "ids that crest-lint does not have")
    equal(sorted({rule for rule in said if said.count(rule) > 1}), [], "ids that are there twice")


def each_is_filed_under_what_checks_it(place):
    """Ids of `crest-lint source` and `live` follow the words that say so."""
    for line in section(CHECKED).splitlines():
        where = "manifest"
        for match in re.finditer(r"in (source)s|(live)(?= `)|`([a-z-]+)`", line):
            word, rule = match.group(1) or match.group(2), match.group(3)
            where = word or where
            if rule in RULES and RULES[rule].command != where and not line.startswith("| what "):
                raise Failure(f"{rule} is checked by crest-lint {RULES[rule].command}, and "
                              f"METRICS.md says {where}: {line}")


def rules_are_numbered_through(place):
    numbers = [int(n) for n in re.findall(r"^(\d+)\. ", section(NAMING), re.M)]
    equal(numbers, list(range(1, len(numbers) + 1)), "numbers of the naming rules")
    for first, _ in rows():
        found = re.match(r"(\d+),", first)
        if found and int(found.group(1)) not in numbers:
            raise Failure(f"there is no rule {found.group(1)}: {first}")


toolslib.main([each_id_is_explained_once, each_is_filed_under_what_checks_it,
               rules_are_numbered_through])
