# SPDX-License-Identifier: Apache-2.0
"""The rows of crest top: a series each, with its rate, its latest figures and how it went.

    rows = Rows()
    rows.take(look)
    for row in rows.chosen("casper", order="rate"):
        print(row.name, row.rate, row.low, row.high, row.trend)

A rate is that of the last seconds, by the difference of two pages. Quantiles are those of what was
recorded in between, within a bucket by a straight line, as Prometheus computes them; of the first
page they are those since the start of the process.
"""

import bisect
import collections
import dataclasses
import math
import re

KEPT = 60               # looks that a trend has
SPAN_S = 10.0           # what a rate is taken over, once there are looks that old
CANONICAL = re.compile(r"\[([^\]\s]+)\]\s*$")
UNITS = (("_seconds", "s"), ("_bytes", "B"))
OWN = ("crest.", "crest_")


@dataclasses.dataclass
class Figure:
    """A series in one look. `value` counts, or is a level; of buckets, (le, cumulative count)."""

    value: float = 0.0
    sum: float = 0.0
    buckets: list = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Row:
    """A series, and how it went."""

    name: str
    labels: dict
    kind: str                       # counter, gauge or histogram
    unit: str = ""
    looks: collections.deque = dataclasses.field(
        default_factory=lambda: collections.deque(maxlen=KEPT))     # (time_s, Figure)
    trend: collections.deque = dataclasses.field(
        default_factory=lambda: collections.deque(maxlen=KEPT))
    lowest: float = math.nan        # of the last minute, where the node says it
    highest: float = math.nan

    @property
    def own(self):
        return self.name.startswith(OWN)

    @property
    def shown(self):
        values = ",".join(self.labels.values())
        return f"{self.name}{{{values}}}" if values else self.name

    def before(self):
        """The look that rates are taken against: the oldest of the last SPAN_S; None if none."""
        if len(self.looks) < 2:
            return None
        newest = self.looks[-1][0]
        return next(look for look in self.looks if newest - look[0] <= SPAN_S or
                    look is self.looks[-2])

    @property
    def rate(self):
        """A second; NaN for levels, and of the first look."""
        before = self.before()
        if before is None or self.kind == "gauge":
            return math.nan
        seconds = self.looks[-1][0] - before[0]
        return (self.looks[-1][1].value - before[1].value) / seconds if seconds > 0 else math.nan

    @property
    def value(self):
        return self.looks[-1][1].value

    def quantile(self, part):
        """Of what was recorded lately; of all when nothing was."""
        newest, before = self.looks[-1][1], self.before()
        buckets = newest.buckets
        if before is not None and len(before[1].buckets) == len(buckets):
            lately = [(le, count - old) for (le, count), (_, old) in zip(buckets,
                                                                        before[1].buckets)]
            if lately and lately[-1][1] > 0:
                buckets = lately
        return quantile(buckets, part)

    def take(self, time_s, figure):
        if self.looks and self.kind != "gauge" and figure.value < self.looks[-1][1].value:
            self.looks.clear()      # the process has begun anew
        last = self.looks[-1] if self.looks else None
        self.looks.append((time_s, figure))
        if self.kind == "gauge":
            self.trend.append(figure.value)
        elif last is not None and time_s > last[0]:
            if self.kind == "histogram" and figure.value > last[1].value:
                self.trend.append((figure.sum - last[1].sum) / (figure.value - last[1].value))
            elif self.kind == "counter":
                self.trend.append((figure.value - last[1].value) / (time_s - last[0]))
            else:
                self.trend.append(math.nan)


def quantile(buckets, part):
    """Of cumulative buckets; NaN without a record, the last bound for what lies beyond it."""
    if not buckets or not buckets[-1][1] > 0:
        return math.nan
    rank = part * buckets[-1][1]
    at = bisect.bisect_left([count for _, count in buckets], rank)
    bound, count = buckets[at]
    if math.isinf(bound):
        return buckets[at - 1][0] if at else math.nan
    low, below = buckets[at - 1] if at else (min(0.0, bound), 0)
    return low + (bound - low) * (rank - below) / max(count - below, 1e-300)


def named(page, family):
    """The canonical name, which Crest writes at the end of the help; else the exported one."""
    found = CANONICAL.search(page.helps.get(family, ("",))[0])
    return found.group(1) if found else family


class Rows:
    """All series that were seen, by name and labels."""

    def __init__(self):
        self.rows = {}
        self.gone = 0

    def take(self, look):
        """Adds a look; series that it does not have any more go."""
        page, figures = look.page, {}
        for sample in page.samples:
            family = page.family_of(sample.name)
            kind = page.types.get(family, "gauge")
            if kind in ("info", "stateset") or sample.name.endswith("_created"):
                continue
            labels = {key: value for key, value in sample.labels.items() if key not in ("le",)}
            key = (family, tuple(labels.items()))
            figure = figures.setdefault(key, (kind, labels, Figure()))[2]
            if kind in ("histogram", "gaugehistogram"):
                part_of_histogram(figure, sample, family)
            else:
                figure.value = sample.value
        self.extremes(page, figures)
        for (family, _), (kind, labels, figure) in figures.items():
            self.row(page, family, kind, labels).take(look.time_s, figure)
        self.rows = {key: row for key, row in self.rows.items()
                     if row.looks and row.looks[-1][0] == look.time_s}

    def row(self, page, family, kind, labels):
        key = (family, tuple(labels.items()))
        kind = {"histogram": "histogram", "gaugehistogram": "histogram",
                "counter": "counter"}.get(kind, "gauge")
        if key not in self.rows or self.rows[key].kind != kind:
            bare = family.removesuffix("_total")
            unit = next((unit for end, unit in UNITS if bare.endswith(end)), "")
            self.rows[key] = Row(named(page, family), labels, kind, unit)
        return self.rows[key]

    def extremes(self, page, figures):
        """Takes the rows `X_min1m`, `X_avg1m`, `X_max1m` into the one of the level X."""
        for (family, labels), (_, _, figure) in list(figures.items()):
            base, end = family[:-6], family[-6:]
            if end not in ("_min1m", "_avg1m", "_max1m") or (base, labels) not in figures:
                continue
            row = self.row(page, base, "gauge", figures[base, labels][1])
            if end == "_min1m":
                row.lowest = figure.value
            elif end == "_max1m":
                row.highest = figure.value
            del figures[family, labels]

    def chosen(self, words="", order="name", own=False):
        """The rows that have all the words, in an order; Crest's own only on demand."""
        wanted = words.lower().split()
        rows = [row for row in self.rows.values() if (own or not row.own) and
                all(word in row.shown.lower() for word in wanted)]
        rows.sort(key=lambda row: row.shown)
        measure = {"rate": lambda row: row.rate, "p99": lambda row: row.quantile(0.99)
                   if row.kind == "histogram" else math.nan}.get(order)
        if measure is not None:
            rows.sort(key=lambda row: (math.isnan(measure(row)), -measure(row)
                                       if not math.isnan(measure(row)) else 0))
        return rows


def part_of_histogram(figure, sample, family):
    if sample.name == family + "_bucket":
        try:
            bound = float(sample.labels.get("le", ""))
        except ValueError:
            return
        if not math.isnan(bound):
            figure.buckets.append((bound, sample.value))
    elif sample.name == family + "_sum":
        figure.sum = sample.value
    elif sample.name == family + "_count":
        figure.value = sample.value
