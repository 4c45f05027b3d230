# SPDX-License-Identifier: Apache-2.0
"""Tables of metrics in Markdown, and their insertion into a page between two comments.

    <!-- catalogue:comm:begin -->            the table of team comm
    <!-- catalogue:comm:end -->
    <!-- catalogue:comm:same-as:begin -->    the names that other systems have for its metrics
    <!-- catalogue:comm:same-as:end -->

The rest of the page stays as it is.
"""

import re

from .exported_names import exported_names, parts
from .manifest_model import TIMERS

UNITS = {"none": "", "nanoseconds": "ns", "microseconds": "µs", "milliseconds": "ms",
         "seconds": "s"}
MARKER = re.compile(r"^<!-- catalogue:([a-z0-9-]+)(?::(same-as))?:(begin|end) -->$")
HEADS = ("canonical name", "instrument", "unit", "labels", "meaning", "exported")
GONE_HEADS = ("canonical name", "instrument", "since", "last", "instead", "meaning")


class Misplaced(Exception):
    """A marker that is missing or misplaced; begins with line:column."""


def cell(text):
    """A text as the cell of a table: on one line, and with no bar that would end it."""
    return re.sub(r"(?<!\\)\|", r"\\|", " ".join(text.split()))


def row(cells):
    return "|" + "|".join(f" {text} " if text else " " for text in map(cell, cells)) + "|\n"


def rows(heads, lines):
    return row(heads) + "|" + " --- |" * len(heads) + "\n" + "".join(map(row, lines))


def label_text(label):
    """`kind`: `a`, `b`; or a description of unlisted values, and how many there may be."""
    text = f"`{label.key}`"
    said = [label.meaning] if label.meaning else []
    if label.values:
        listed = ", ".join(f"`{value}`" for value in label.values)
        said.append(f"({listed})" if said else listed)
    else:
        most = f"at most {label.bound:,}"
        said.append(f"{label.values_text}, {most}" if label.values_text and not said else
                    f"({label.values_text}; {most})" if label.values_text else most)
    joined = said[0] if len(said) == 1 else (
        " ".join(said) if said[1].startswith("(") else ", ".join(said))
    return f"{text}: {joined}"


def exported_text(metric):
    """The names of a metric's samples, short: X_{bucket,sum,count}."""
    texts = []
    for part in parts(metric):
        first = [name for name in exported_names(metric, ()) if name.part == part]
        if part.kind in ("histogram", "timer"):
            texts.append(f"`{first[0].name[:-len('_bucket')]}_{{bucket,sum,count}}`")
        else:
            texts.append(f"`{first[0].name}`")
        if part.kind == "range-sampler" and part.windows:
            texts += [f"`…_{word}1m{'_' + part.base_unit if part.base_unit else ''}`"
                      for word in ("min", "avg", "max")]
    return ", ".join(texts)


def meaning_text(metric):
    said = [metric.meaning]
    if metric.instrument == "stages":
        said.append("Stages: " + ", ".join(f"`{stage}`" for stage in metric.stages))
    if metric.deadline_ms:
        said.append(f"What has not ended after {duration(metric.deadline_ms)} is a `timeout`")
    if metric.span:
        said.append(f"**Span** of {metric.span}")
    if metric.optional:
        said.append(f"Not everywhere: {metric.optional}")
    if metric.status == "planned":
        said.append("**Planned**: not recorded yet")
    if len(said) == 1:
        return said[0]
    return " ".join(text if text[-1] in ".!?" else text + "." for text in said)


def duration(ms):
    for unit, length in (("h", 3600000), ("min", 60000), ("s", 1000)):
        if ms % length == 0:
            return f"{ms // length} {unit}"
    return f"{ms} ms"


def metric_row(metric):
    unit = "s" if metric.instrument in TIMERS else UNITS.get(metric.unit, metric.unit)
    return (f"`{metric.name}`", metric.instrument.replace("-", " "), unit,
            "; ".join(map(label_text, metric.labels)), meaning_text(metric), exported_text(metric))


def gone_row(metric):
    instead = ", ".join(f"`{name}`" for name in metric.replaced_by)
    return (f"`{metric.name}`", metric.instrument.replace("-", " "), metric.since, metric.last,
            instead, metric.meaning)


def table(manifest):
    """The owner and its prefixes, the metrics there are, and those no longer recorded."""
    prefixes = ", ".join(f"`{prefix}`" for prefix in manifest.prefixes)
    text = f"Team `{manifest.team}`, owner of {prefixes}. {manifest.about}".strip() + "\n"
    there = [metric for metric in manifest.metrics if metric.status in ("active", "planned")]
    if there:
        text += "\n" + rows(HEADS, map(metric_row, there))
    for status, about in (("lost", "Lost: once recorded, and no longer:"),
                          ("retired", "Retired; these names are not used again:")):
        gone = [metric for metric in manifest.metrics if metric.status == status]
        if gone:
            text += f"\n{about}\n\n" + rows(GONE_HEADS, map(gone_row, gone))
    return text


def same_as_table(manifest):
    """The names that other systems have for the team's metrics, a column for each system."""
    others = sorted({who for metric in manifest.metrics for who in metric.same_as})
    lines = [(f"`{metric.name}`", *(", ".join(f"`{name}`" for name in metric.same_as.get(who, ()))
                                    for who in others))
             for metric in manifest.metrics if metric.same_as]
    return rows(("here", *others), lines) if lines else "No other system has these metrics.\n"


def replace_tables(page, manifests, placed=False):
    """The page with the tables of these manifests in their places. Each manifest must have a place
    unless `placed`: then those without one are left out. Another team's markers stay as they
    are."""
    teams = {manifest.team: manifest for manifest in manifests}
    lines, kept, inside, seen = page.split("\n"), [], None, set()
    for number, line in enumerate(lines, 1):
        match = MARKER.match(line.strip())
        if match is None:
            if inside is None or inside[0] not in teams:
                kept.append(line)
            continue
        team, kind, end = match.groups()
        if (end == "begin") == (inside is not None) or \
                (inside is not None and inside != (team, kind)):
            raise Misplaced(f"{number}:1: found {line.strip()}; expected " + (
                "a begin before it" if inside is None else "the end of "
                f"{':'.join(filter(None, inside))} first"))
        if end == "begin":
            inside = (team, kind)
            seen.add(team)
            kept.append(line)
            if team in teams:
                made = same_as_table(teams[team]) if kind else table(teams[team])
                kept.append(made.rstrip("\n"))
        else:
            inside = None
            kept.append(line)
    if inside is not None:
        raise Misplaced(f"{len(lines)}:1: found the end of the page; expected "
                        f"<!-- catalogue:{':'.join(filter(None, inside))}:end -->")
    for team in teams:
        if team not in seen and not placed:
            raise Misplaced(f"{len(lines)}:1: found no place for team {team}; expected "
                            f"<!-- catalogue:{team}:begin --> and <!-- catalogue:{team}:end -->")
    return "\n".join(kept)
