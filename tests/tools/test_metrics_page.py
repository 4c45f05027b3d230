#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""METRICS.md and crest lint agree: the page says for each id that crest lint can print which of its
rules is broken, and names no id that there is not; and what it numbers is there. Each of Kamon's
system metrics has its place in the table of what others call ours.

Not here: that the tables are up to date (make catalogue), and that links lead somewhere
(check_links.py)."""

import re

import toolslib
from toolslib import ROOT, Failure, equal

from crest_catalogue import load
from crest_lint.lint_rules import RULES

# Kamon's system metrics, as its 2.x records them; what is the JVM's is planned in examples/rnode.
KAMON = """
    host.cpu.usage host.load.average
    host.memory.{used,usage,free,total} host.swap.{used,usage,free,total}
    host.storage.mount.space.{used,usage,free,total}
    host.storage.device.data.{read,write} host.storage.device.ops.{read,write}
    host.network.data.{read,write} host.network.packets.{read,write}.{total,failed}
    process.cpu.usage process.ulimit.file-descriptors.{max,used} process.hiccups
"""

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
    equal(sorted(set(said) - set(RULES)), [], "ids that crest lint does not have")
    equal(sorted({rule for rule in said if said.count(rule) > 1}), [], "ids that are there twice")


def each_is_filed_under_what_checks_it(place):
    """Ids of `crest lint source` and `live` follow the words that say so."""
    for line in section(CHECKED).splitlines():
        where = "manifest"
        for match in re.finditer(r"in (source(?=s)|events)|(live)(?= `)|`([a-z-]+)`", line):
            word, rule = match.group(1) or match.group(2), match.group(3)
            where = word or where
            if rule in RULES and RULES[rule].command != where and not line.startswith("| what "):
                raise Failure(f"{rule} is checked by crest lint {RULES[rule].command}, and "
                              f"METRICS.md says {where}: {line}")


def rules_are_numbered_through(place):
    numbers = [int(n) for n in re.findall(r"^(\d+)\. ", section(NAMING), re.M)]
    equal(numbers, list(range(1, len(numbers) + 1)), "numbers of the naming rules")
    for first, _ in rows():
        found = re.match(r"(\d+),", first)
        if found and int(found.group(1)) not in numbers:
            raise Failure(f"there is no rule {found.group(1)}: {first}")


def expanded(pattern):
    braces = re.search(r"\{([^{}]*)\}", pattern)
    if not braces:
        return [pattern]
    before, after = pattern[:braces.start()], pattern[braces.end():]
    return [name for word in braces.group(1).split(",") for name in expanded(before + word + after)]


def each_name_of_kamon_has_a_counterpart(place):
    """In the tables of what others call our metrics."""
    manifests, problems = load(sorted((ROOT / "catalogue").glob("*.metrics.yaml")))
    equal(problems, [], "problems")
    mapped = {name for manifest in manifests for metric in manifest.metrics
              for name in metric.same_as.get("kamon", ())}
    kamon = {name for pattern in KAMON.split() for name in expanded(pattern)}
    equal(sorted(kamon - mapped), [], "Kamon's names that nothing here is")
    equal(sorted(mapped - kamon), [], "names that Kamon does not have")
    for name in kamon:
        if f"`{name}`" not in section("## What Kamon and node_exporter call them"):
            raise Failure(f"{name} is not in the tables of METRICS.md (make catalogue)")


toolslib.main([each_id_is_explained_once, each_is_filed_under_what_checks_it,
               rules_are_numbered_through, each_name_of_kamon_has_a_counterpart])
