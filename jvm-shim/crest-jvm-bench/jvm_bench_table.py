# SPDX-License-Identifier: Apache-2.0
"""The tables of the JVM's benchmarks: what is compared with what, and the ratios required."""

from dataclasses import dataclass, field
from statistics import median as middle

PEERS = {"kamon": "Kamon", "micrometer": "Micrometer", "dropwizard": "Dropwizard",
         "hdrHistogram": "HdrHistogram"}


@dataclass
class Row:
    """One operation: the class and the method that measure it, and its peers."""

    operation: str
    label: str
    library: str = "crest"
    limit: str = ""  # the method that does the least possible
    ratio: dict = field(default_factory=dict)  # method: at most so many times as long
    more: dict = field(default_factory=dict)  # method: at most so many ns longer
    makes_threads: bool = False  # which are objects


ROWS = [
    Row("CounterOne", "counter increment", limit="field", ratio={"kamon": 1.1}),
    Row("CounterTwoOnOne", "counter increment, two on one", limit="longAdder",
        ratio={"kamon": 1.1}),
    Row("CounterTwoOnTwo", "counter increment, two on two", limit="longAdder"),
    Row("CounterThousand", "one of 1,000 counters", limit="field"),
    Row("HistogramOne", "histogram record", limit="plain", ratio={"kamon": 0.7}),
    Row("HistogramTwoOnOne", "histogram record, two on one", ratio={"kamon": 0.3}),
    Row("HistogramTwoOnTwo", "histogram record, two on two"),
    Row("TimerOne", "timer, token with an id", limit="twoReads", ratio={"twoReads": 1.2}),
    Row("TimerOne", "timer, startNanos", "crestNanos", "twoReads", ratio={"twoReads": 1.2}),
    Row("TimerOne", "timer, lambda", "crestLambda", "twoReads", ratio={"twoReads": 1.2}),
    Row("TimerOne", "timer, try", "crestTry", "twoReads", ratio={"twoReads": 1.2}),
    Row("TimerTwoOnOne", "timer, token, two on one", limit="twoReads"),
    Row("KeyedOne", "keyed timer begin + end", limit="mapByHand"),
    Row("KeyedOne", "stages begin + 3 marks + end", "crestStages"),
    Row("GaugeOne", "gauge set", limit="store"),
    Row("FamilyOne", "counter by a label", limit="handle", ratio={"kamon": 1.0}),
    Row("RangeSamplerOne", "range sampler add", limit="atomicLong", ratio={"kamon": 1.2}),
    Row("RangeSamplerTwoOnOne", "range sampler add, two on one", limit="atomicLong"),
    Row("ByNameCounter", "counter by name", limit="handle", more={"handle": 15}),
    Row("ByNameThousand", "one of 1,000 by name", limit="handle", more={"handle": 15}),
    Row("ByNameHistogram", "histogram by name", limit="handle", more={"handle": 15}),
    Row("VirtualThreads", "counter, virtual threads", limit="longAdder",
        makes_threads=True),
    Row("FirstTouch", "first touch of a counter", limit="thread", makes_threads=True),
    Row("FirstTouch", "first touch of a histogram", "histograms", makes_threads=True),
]


def median(values):
    return middle(values) if values else float("nan")


class Results:
    """A results file, read by JDK."""

    def __init__(self, facts, jdk):
        self.entries = {(entry["operation"], entry["library"]): entry
                        for entry in facts["results"] if entry["jdk"] == jdk}

    def threads(self, row):
        return self.entries[row.operation, row.library]["threads"]

    def has(self, operation, library):
        return (operation, library) in self.entries

    def samples(self, operation, library):
        return self.entries[operation, library]["samples"]

    def paired(self, row, other):
        """(own ns, other's ns) of each round."""
        others = {one["round"]: one["ns"] for one in self.samples(row.operation, other)}
        return [(one["ns"], others[one["round"]])
                for one in self.samples(row.operation, row.library) if one["round"] in others]


def spread(values, digits=2):
    if not values:
        return "-"
    return f"{median(values):.{digits}f} ({min(values):.{digits}f}-{max(values):.{digits}f})"


def ratio_text(results, row, other):
    if not other or not results.has(row.operation, other):
        return "-"
    return spread([own / least for own, least in results.paired(row, other)])


def verdicts_of(results, row):
    """The requirement of an operation, its result, and whether that is enough."""
    for other, most in row.ratio.items():
        if results.has(row.operation, other):
            found = median([own / peer for own, peer in results.paired(row, other)])
            yield {"wanted": f"<= {most} x {PEERS.get(other, other)}", "found": found,
                   "text": f"{found:.2f}", "met": found <= most}
    for other, most in row.more.items():
        if results.has(row.operation, other):
            found = median([own - peer for own, peer in results.paired(row, other)])
            yield {"wanted": f"<= {most} ns over {other}", "found": found, "text": f"{found:.1f}",
                   "met": found <= most}
    if not row.makes_threads:
        least = min(one["bytes"] for one in results.samples(row.operation, row.library))
        yield {"wanted": "0 B/op", "found": least, "text": f"{least:.1f}", "met": least < 0.5}


def lines_of(results):
    """The table, and every verdict."""
    head = ["operation", "threads", "ns (range)", *(f"/ {name}" for name in PEERS.values()),
            "/ limit", "B/op", "wanted"]
    lines, verdicts = [head], []
    for row in ROWS:
        if not results.has(row.operation, row.library):
            continue
        own = results.samples(row.operation, row.library)
        found = [{"operation": row.label, **one} for one in verdicts_of(results, row)]
        verdicts += found
        text = ", ".join(f"{one['wanted']}: {'met' if one['met'] else 'MISSED'} ({one['text']})"
                         for one in found)
        lines.append([row.label, str(results.threads(row)), spread([one["ns"] for one in own], 1),
                      *(ratio_text(results, row, peer) for peer in PEERS),
                      ratio_text(results, row, row.limit), f"{min(o['bytes'] for o in own):.1f}",
                      text])
    return lines, verdicts


def all_lines(results):
    """What each operation took."""
    lines = [["operation", "by", "threads", "ns (range)", "on the wall", "B/op"]]
    for (operation, library), entry in results.entries.items():
        samples = entry["samples"]
        lines.append([operation, library, str(entry["threads"]),
                      spread([one["ns"] for one in samples], 1),
                      f"{median([one['wall_ns'] for one in samples]):.1f}",
                      f"{min(one['bytes'] for one in samples):.1f}"])
    return lines


def aligned(lines):
    widths = [max(len(line[n]) for line in lines) for n in range(len(lines[0]))]
    for line in lines:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip())


def show(facts):
    """Prints a whole results file; returns the verdicts."""
    machine = facts["machine"]
    verdicts = []
    for jdk in facts["jdks"]:
        results = Results(facts, jdk["feature"])
        print(f"\n{jdk['vm']} {jdk['version']}; {machine['cpu']} ({machine['family']}), "
              f"{machine['processors']} processors, Linux {machine['kernel']}; load "
              f"{facts['load_before']:.1f} before, {facts['load_after']:.1f} after; "
              f"{facts['rounds']} rounds, commit {facts['commit'][:10]}"
              f"{' and changes' if facts['changed'] else ''}\n")
        lines, found = lines_of(results)
        verdicts += [{"jdk": jdk["feature"], **one} for one in found]
        aligned(lines)
        print()
        aligned(all_lines(results))
    apart = [f"{entry['operation']}.{entry['library']} on JDK {entry['jdk']}"
             for entry in facts["results"]
             if any(not one["overlapped"] for one in entry["samples"])]
    if apart:
        print("\nTwo threads that did not run at the same time all along, because others used the "
              "processors:\n  " + "\n  ".join(apart))
    for line in facts["wrong"]:
        print(f"\nWRONG: {line}")
    return verdicts
