# SPDX-License-Identifier: Apache-2.0
"""The final comparison: each series that a node counted itself, in plain variables apart from
Crest, against the last value Prometheus has of it.

Counts must be equal, to the last one. Sums of durations are read from another clock by the node,
which knows how long after each other the two were read; they must agree within that. Durations
between two nodes are corrected by estimates of clocks; they must be as near to the truth as these
estimates say of themselves.
"""

import re
import time

from figures import JOB
from table import small

SCRAPED_S = 240
LOOK_EVERY_S = 0.3
SHOWN_MOST = 12
# The rates of two clocks, and that sums are printed in nanoseconds.
CLOCKS_S_PER_S = 1e-4
ROUNDING_S = 1e-9
SERIES = re.compile(r"^(\w+)(?:\{(.*)\})?$")
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
DURATIONS = "_seconds_sum"


def key_of(series):
    """'x_total{kind="a"}' as (name, labels in no order)."""
    name, labels = SERIES.match(series).groups()
    return name, frozenset(LABEL.findall(labels or ""))


def own_series(exits):
    """{(node, name, labels): value} from the exit reports."""
    return {(node, *key_of(series)): value for node, report in exits.items()
            for series, value in report["series"].items()}


def own_errors(exits):
    """{(node, name, labels): seconds} that an exported value may be from the truth."""
    return {(node, *key_of(series)): value for node, report in exits.items()
            for series, value in report.get("within", {}).items()}


def answered_series(prometheus):
    found = {}
    for labels, value in prometheus.instant(f"{{{JOB}}}"):
        name, node = labels.pop("__name__"), labels.pop("instance", "")
        labels.pop("job", None)
        found[(node, name, frozenset(labels.items()))] = value
    return found


class Verdict:
    """What was compared, and what differs."""

    def __init__(self, own, answered, errors):
        self.before = self.counts = self.equal = self.sums = self.sums_near = 0
        self.different = []
        for key, value in own.items():
            node, name, labels = key
            found = answered.get(key)
            if name.endswith(DURATIONS):
                self.sums += 1
                allowed = ROUNDING_S + CLOCKS_S_PER_S * value + errors.get(key, 0)
                near = found is not None and abs(found - value) <= allowed
                self.sums_near += near
            else:
                self.counts += 1
                # both sides print shortest round-trip doubles: fractions are compared as such
                near = found is not None and abs(found - value) <= 1e-12 * abs(value)
                self.equal += near
            if not near:
                self.different.append((node, name, labels, value, found))

    def add(self, counts, equal):
        """Further counts, which were compared before."""
        self.counts += counts
        self.equal += equal
        self.before += counts

    @property
    def good(self):
        return not self.different and 0 < self.counts == self.equal and self.sums > 0


def reconcile(exits, look, seconds=SCRAPED_S):
    """Compares until all agree: the last push may not have been scraped yet. `look` returns the
    other side's series."""
    own, errors = own_series(exits), own_errors(exits)
    until = time.monotonic() + seconds
    while True:
        verdict = Verdict(own, look(), errors)
        if verdict.good or time.monotonic() > until:
            return verdict
        time.sleep(LOOK_EVERY_S)


def show(screen, verdict, side, problems):
    """The verdict, and every difference."""
    tone = "green" if verdict.good else "red"
    screen.say("   " + screen.paint(f"{verdict.counts} counts compared, {verdict.equal} equal",
                                    "bold", tone)
               + f": those of {side}, and the nodes' own"
               + (f"; {verdict.before} of them at the kill." if verdict.before else "."))
    screen.say(f"   {verdict.sums} sums of durations, read from two clocks: {verdict.sums_near} "
               "agree, within the time between the two readings.")
    if verdict.good:
        return
    rows = [(node, name + ("{" + ",".join(f'{k}="{v}"' for k, v in sorted(labels)) + "}"
                           if labels else ""), value, "nothing" if found is None else found)
            for node, name, labels, value, found in verdict.different]
    for line in small(screen, ("node", "series", "the node", side), rows[:SHOWN_MOST]):
        screen.say(line)
    if len(rows) > SHOWN_MOST:
        screen.say(f"   and {len(rows) - SHOWN_MOST} more")
    problems.append(f"{len(rows)} series differ between the nodes and {side}")
