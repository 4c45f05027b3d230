# SPDX-License-Identifier: Apache-2.0
"""Compares two results files, benchmark by benchmark, as Go's benchstat does.

The medians of runs are compared, because the samples of one run share its processes, their
addresses and the load by other programs, and are no independent draws. A change counts when the U
test of mann_whitney.py gives less than 0.05; else it is `~`, whatever its size.
"""

import dataclasses
import math
import statistics

import mann_whitney
from read_results import number, some

LIMIT = "limit/"    # without code of ours: a change of these is the machine's
LIMITS_LEAST = 5    # so many of them are needed to speak of the machine
LIMITS_ALIKE = 1.05

RUNS_LEAST = 5      # of each file; with four the smallest p is 0.03, with three none is below 0.05
SIGNIFICANT = 0.05

MACHINE = ("processor", "family", "processors", "memory_mib", "kernel", "compiler", "libc", "clock",
           "tick_hz", "governor", "virtual", "architecture")


@dataclasses.dataclass
class Change:
    """One benchmark in both files."""
    id: str
    unit: str
    old: object
    new: object
    p: float = None
    why: str = ""      # it was not tested

    @property
    def ratio(self):
        """New by old; None where that has no meaning."""
        old, new = self.old.median, self.new.median
        return new / old if old > 0 and new > 0 else None

    @property
    def differs(self):
        return self.p is not None and self.p < SIGNIFICANT and \
            self.old.median != self.new.median

    @property
    def worse_percent(self):
        """By how much it got worse, negative when it got better."""
        if self.ratio is None:
            return math.inf if self.new.median > self.old.median else 0.0
        return 100 * ((1 / self.ratio if self.new.more_is_better else self.ratio) - 1)

    @property
    def verdict(self):
        if not self.differs:
            return "~" if self.p is not None else self.why
        return "worse" if self.worse_percent > 0 else "better"

    def texts(self):
        """The cells of a table."""
        change = "?" if self.ratio is None else percent_text(self.ratio)
        runs = f"n={len(self.old.medians)}+{len(self.new.medians)}"
        tested = self.why if self.p is None else f"p={self.p:.3f} {runs}"
        return [self.id, self.unit, median_text(self.old), median_text(self.new),
                "~" if self.verdict == "~" else change,
                self.verdict if self.differs else "", tested]


HEADERS = ["benchmark", "unit", "old ± variation", "new ± variation", "change", "", "test"]


def percent_text(ratio):
    return f"{100 * (ratio - 1):+.1f} %".replace("-0.0 ", "+0.0 ")


def median_text(benchmark):
    variation = benchmark.variation
    return number(benchmark.median) + ("" if variation is None else f" ± {100 * variation:.1f} %")


def compared(old, new):
    """The Change between two benchmarks of one id."""
    change = Change(new.id, new.unit, old, new)
    least = min(len(old.medians), len(new.medians))
    if old.unit != new.unit:
        change.why = f"the units differ: {old.unit} and {new.unit}"
    elif least < RUNS_LEAST:
        change.why = f"not enough runs: {least}, {RUNS_LEAST} are needed"
    else:
        change.p, _ = mann_whitney.test(old.medians, new.medians)
    return change


@dataclasses.dataclass
class Comparison:
    """Two results files beside each other."""
    old: object
    new: object
    changes: list
    only_old: list
    only_new: list
    warnings: list

    @property
    def tested(self):
        return [change for change in self.changes if change.p is not None]

    @property
    def different(self):
        return [change for change in self.tested if change.differs]

    def worse_than(self, percent):
        return [change for change in self.different if change.worse_percent > percent]

    def summary(self):
        """The summary, in sentences."""
        tested, different = len(self.tested), len(self.different)
        worse = len(self.worse_than(0))
        said = [f"{tested} of {len(self.changes)} benchmarks could be tested; {different} of them "
                f"differ at p < {SIGNIFICANT}, {worse} for the worse and {different - worse} for "
                f"the better. By chance alone up to {SIGNIFICANT * tested:.1f} would."]
        for words, ids in (("only in the old results", self.only_old),
                           ("only in the new results", self.only_new)):
            if ids:
                said.append(f"{len(ids)} {words}: {some(ids)}.")
        return said

    def means(self):
        """Rows of geometric means, one for each unit."""
        rows = []
        for unit in sorted({change.unit for change in self.changes}):
            both = [change for change in self.changes
                    if change.unit == unit and change.ratio and change.old.unit == unit]
            if both:
                old = statistics.geometric_mean([change.old.median for change in both])
                new = statistics.geometric_mean([change.new.median for change in both])
                rows.append([f"geometric mean of {len(both)}", unit, number(old), number(new),
                             percent_text(new / old), "", ""])
        return rows

    def table(self):
        return [change.texts() for change in self.changes] + self.means()


def differing(old, new, name, keys=None):
    """Sentences about what differs in one object of both files."""
    one, other = old.part(name), new.part(name)
    said = []
    for key in keys or sorted({*one, *other}):
        if one.get(key) != other.get(key):
            said.append(f"{key}: {one.get(key, 'nothing')} and {other.get(key, 'nothing')}")
    return said


def warnings(old, new):
    """What makes it doubtful that a difference is one of the code."""
    said = []
    machine = differing(old, new, "machine", MACHINE)
    if machine:
        said.append("These are not of one machine as it was, so that a change need not be the "
                    f"code's. Old and new: {'; '.join(machine)}.")
    flags = [results.data.get("flags") for results in (old, new)]
    if all(flags) and flags[0] != flags[1]:
        said.append(f"They were not built alike. Old: {flags[0]}. New: {flags[1]}.")
    workload = [f"{key}: {old.data.get(key) or 'none'} and {new.data.get(key) or 'none'}"
                for key in ("profile_name", "overlays", "defaults")
                if (old.data.get(key) or None) != (new.data.get(key) or None)]
    quiet = ("runs", "rounds", "only", "sides", "text")  # what a sample is does not depend on these
    workload += [text for text in differing(old, new, "profile") if text.split(":")[0] not in quiet]
    if workload:
        said.append(f"They did not do the same work. Old and new: {'; '.join(workload)}.")
    else:
        # workload.txt has the profile, which was compared just now, runs and rounds included
        inputs = [text.split(":")[0] for text in differing(old, new, "inputs")
                  if not text.startswith("workload.txt:")]
        if inputs:
            said.append("They were given different inputs, by the checksums of "
                        f"{', '.join(inputs)}.")
    for which, results in (("old", old), ("new", new)):
        if results.part("load").get("busy"):
            said.append(f"Of the {which} run: {results.part('load')['busy']}")
        if results.part("checks").get("wrong"):
            said.append(f"Totals were wrong in the {which} run.")
        said += [f"Of the {which} results: {note}" for note in results.notes]
    return said


def machine_changed(changes):
    """A sentence when the machine itself was faster or slower, by benchmarks without our code."""
    limits = [change for change in changes if change.id.startswith(LIMIT) and change.ratio]
    if len(limits) < LIMITS_LEAST or not any(change.differs for change in limits):
        return []
    ratios = [change.ratio for change in limits]
    mean = statistics.geometric_mean(ratios)
    if 1 / LIMITS_ALIKE < mean < LIMITS_ALIKE:
        return []
    return [f"The machine itself was {'slower' if mean > 1 else 'faster'}: the {len(limits)} "
            f"benchmarks {LIMIT}…, which none of the library is in, took {mean:.2f} times as long "
            f"({min(ratios):.2f} to {max(ratios):.2f}). A change of about that size need not be "
            "the code's."]


def compare(old, new):
    """The Comparison of two results."""
    changes = [compared(old.benchmarks[name], new.benchmarks[name])
               for name in new.benchmarks if name in old.benchmarks]
    return Comparison(
        old, new, changes, sorted(set(old.benchmarks) - set(new.benchmarks)),
        sorted(set(new.benchmarks) - set(old.benchmarks)),
        warnings(old, new) + machine_changed(changes))


def as_text(comparison):
    """All of it for a terminal."""
    rows = [HEADERS] + comparison.table()
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADERS))]
    lines = [f"WARNING: {warning}" for warning in comparison.warnings]
    for row in rows:
        cells = [row[0].ljust(widths[0]), row[1].ljust(widths[1])]
        cells += [cell.rjust(width) for cell, width in zip(row[2:6], widths[2:6])] + [row[6]]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines + comparison.summary())
