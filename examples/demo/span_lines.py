# SPDX-License-Identifier: Apache-2.0
"""Reads the spans that nodes wrote as JSON lines (the option `spans-json`), and what the nodes said
of the same operations on standard output; pairs the two, one by one.

    spans = span_lines.read(path, "node-0")
    verdict = span_lines.Verdict(spans, span_lines.told(node))
"""

import collections
import json
import math
import statistics

# Two clocks are read one after the other. A thread that is interrupted in between adds a time slice
# of the scheduler, which cannot befall many of them.
CLOCKS_NS = 1_000_000
SLICE_NS = 100_000_000
SLICES_MOST = 0.02
# Spans wait so long in a process at most, which a killed one takes along.
LOST_S = 30
# How many differences are named.
SHOWN_MOST = 8
FAILED = ("error", "timeout")


class Span:
    """One span of a file. `key` is the timer with its labels, as the node names it: as long as the
    span is not paired, without those that the span does not have."""

    def __init__(self, line, node):
        found = json.loads(line)
        self.node = node
        self.trace = found["traceId"]
        self.id = found["spanId"]
        self.parent = found.get("parentSpanId", "")
        self.name = found["name"]
        self.start_ns = int(found["startTimeUnixNano"])
        self.end_ns = int(found["endTimeUnixNano"])
        self.attributes = found.get("attributes", {})
        self.failed = found["outcome"] in FAILED
        support = self.attributes.get("support")
        self.key = self.name if support is None else f"{self.name} support={support}"

    @property
    def took_ns(self):
        return self.end_ns - self.start_ns


class Told:
    """What a node said of one operation, by the clock that all nodes of a machine share."""

    def __init__(self, node, when, event):
        self.node = node
        self.when = when
        self.key = event["timer"]
        self.name = self.key.partition(" ")[0]
        self.block = event["block"]
        self.start_ns, self.end_ns = event["from_ns"], event["to_ns"]
        self.failed = event["outcome"] in FAILED
        self.within_ns = event["within_ns"]

    @property
    def trace(self):
        return self.block[:32]

    @property
    def took_ns(self):
        return self.end_ns - self.start_ns


def read(path, node):
    """The spans of one file, in its order; none when there is no file."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return []
    return [Span(line, node) for line in lines if line]


def told(node):
    """What a node of the demo said of its operations."""
    return [Told(node.name, when, event) for when, event in list(node.events)
            if event["event"] == "timed"]


class Verdict:
    """Pairs spans with what was told: by node, trace and timer, in the order of their ends. Timers
    that no node tells of are left out. `killed`: {node: when} of those whose last spans went with
    them."""

    def __init__(self, spans, own, killed=None):
        self.pairs, self.alone, self.untold, self.lost = [], [], [], []
        self.off, self.slices = [], 0
        names = {one.name for one in own}
        spans = [span for span in spans if span.name in names]
        waiting = collections.defaultdict(list)
        # a killed node's second life has operations of its first one again
        killed = killed or {}
        for span in sorted(spans, key=lambda span: span.end_ns):
            again = span.end_ns > 1e9 * killed.get(span.node, math.inf)
            waiting[(span.node, again, span.trace, span.name)].append(span)
        for one in sorted(own, key=lambda one: one.end_ns):
            again = one.when > killed.get(one.node, math.inf)
            found = waiting[(one.node, again, one.trace, one.name)]
            if found:
                self.pairs.append((found.pop(0), one))
            elif 0 <= killed.get(one.node, 0) - one.when <= LOST_S:
                self.lost.append(one)
            else:
                self.alone.append(one)
        self.untold = [span for rest in waiting.values() for span in rest]
        # a node's wall clock less the shared one
        apart = collections.defaultdict(list)
        for span, one in self.pairs:
            apart[span.node].append(span.end_ns - one.end_ns)
        self.apart_ns = {node: statistics.median_low(values) for node, values in apart.items()}
        for pair in self.pairs:
            self.compare(*pair)

    def compare(self, span, one):
        """Duration, end and outcome, but for what lies between the two clocks' readings and,
        between two machines, Crest's own bound."""
        if span.key not in (one.key, one.name):
            self.off.append((span, one))
            return
        span.key = one.key
        took = abs(span.took_ns - one.took_ns)
        end = abs(span.end_ns - one.end_ns - self.apart_ns[span.node])
        worst = max(took, end) - one.within_ns
        if span.failed == one.failed and worst <= CLOCKS_NS:
            return
        if span.failed == one.failed and worst <= SLICE_NS:
            self.slices += 1
            return
        self.off.append((span, one))

    @property
    def equal(self):
        return len(self.pairs) - len(self.off)

    @property
    def good(self):
        return bool(self.pairs) and not (self.off or self.alone or self.untold) \
            and self.slices <= max(2, SLICES_MOST * len(self.pairs))

    def problems(self):
        """A sentence for each kind of difference, with the first of them."""
        found = []
        for what, all_of, shown in (
                ("said by a node have no span", self.alone,
                 lambda one: f"{one.node} {one.key} of block {one.block[:12]}"),
                ("spans were said by no node", self.untold,
                 lambda span: f"{span.node} {span.key} of trace {span.trace[:12]}"),
                ("spans differ from what their node said", self.off,
                 lambda pair: f"{pair[0].node} {pair[0].key} of trace {pair[0].trace[:12]}: took "
                              f"{pair[0].took_ns} ns, {pair[1].took_ns} ns")):
            if all_of:
                found.append(f"{len(all_of)} {what}: "
                             + "; ".join(shown(one) for one in all_of[:SHOWN_MOST]))
        if not self.pairs:
            found.append("no span was compared with what a node said")
        elif not found and not self.good:
            found.append(f"{self.slices} of {len(self.pairs)} spans are more than "
                         f"{CLOCKS_NS // 1000} µs off")
        return found
