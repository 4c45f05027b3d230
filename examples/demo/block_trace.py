# SPDX-License-Identifier: Apache-2.0
"""One slow block, followed from its proposal to support 1 over four nodes: the spans that each node
wrote to a file of its own, which are one trace because its id is the block's hash.

Every node's spans have its own clock's times. They are put on one line of time by what the nodes'
pings say of each other's clocks. All spans of the run, not those shown alone, are compared with
what the nodes said of the same operations.
"""

import statistics

import span_lines
from figures import JOB
from nodes import NAMES
from servers import Failure

TIMERS = "rchain.casper.*:rchain.block-storage.*"
WHOLE = "rchain.casper.consensus-time support=1"
CREATE = "rchain.casper.casper.create-block-time"
NS_PER_MS = 1e6
BAR_COLUMNS = 34
NAME_COLUMNS = 32
EIGHTHS = " ▏▎▍▌▋▊▉█"
PREFIX = "rchain."


def path_of(folder, name):
    return folder / f"{name}.spans.jsonl"


def options(folder, name):
    """What is added to a node's options: its timers of blocks are traced, all of them kept."""
    return f"spans={TIMERS},spans.sample=1,spans-json={path_of(folder, name)}"


def clock_offsets(prometheus):
    """{node: ns that its clock is ahead}, as its neighbours' pings say, against the first node."""
    found = {node: 1e9 * value for node, value in prometheus.by(
        "peer", f"quantile by (peer) (0.5, last_over_time(peer_clock_offset_seconds{{{JOB}}}[1m]))"
    ).items()}
    return found


class Shown:
    """A span on the common line of time, in ms since the block's first span began."""

    def __init__(self, span, began_ns, offset_ns, depth):
        self.node, self.key, self.failed = span.node, span.key, span.failed
        self.start_ms = (span.start_ns - offset_ns - began_ns) / NS_PER_MS
        self.took_ms = span.took_ns / NS_PER_MS
        self.depth = depth

    @property
    def label(self):
        """Without what all names share."""
        words = self.key.removeprefix(PREFIX).removeprefix("casper.").removeprefix("casper.")
        return words.removeprefix("block-storage.").replace("-time", "")


def depths(spans):
    """{span: how many of its parents are there}; a circle of parents ends where it was entered."""
    by_id = {(span.node, span.id): span for span in spans}
    anywhere = {span.id: span for span in spans}
    found = {}
    for span in spans:
        depth, seen, at = 0, {id(span)}, span
        while at.parent:
            at = by_id.get((at.node, at.parent)) or anywhere.get(at.parent)
            if at is None or id(at) in seen:
                break
            seen.add(id(at))
            depth += 1
        found[id(span)] = depth
    return found


def slowest(spans):
    """The trace whose block took longest to support 1, among those that all nodes have spans of."""
    nodes, took, times = {}, {}, []
    for span in spans:
        nodes.setdefault(span.trace, set()).add(span.node)
        if span.key == WHOLE and not span.failed:
            took[span.trace] = span.took_ns
    whole = {trace: ns for trace, ns in took.items() if len(nodes[trace]) == len(NAMES)}
    times = list(whole.values())
    if not times:
        raise Failure(f"No block has spans on all {len(NAMES)} nodes up to support 1; there are "
                      f"{len(spans)} spans of {len(nodes)} traces in the files of this run.")
    return max(whole, key=whole.get), max(times), statistics.median(times), len(times)


def follow(network, folder, offsets, killed=None):
    """Reads all files and compares all spans; then the slowest block. `killed`: {node: when}."""
    spans = [span for node in network for span in span_lines.read(path_of(folder, node.name),
                                                                  node.name)]
    own = [one for node in network for one in span_lines.told(node)]
    verdict = span_lines.Verdict(spans, own, killed)  # which also says which series a span is of
    trace, took_ns, usual_ns, blocks = slowest(spans)
    chosen = [span for span in spans if span.trace == trace]
    began = min(span.start_ns - offsets.get(span.node, 0) for span in chosen)
    depth = depths(chosen)
    shown = [Shown(span, began, offsets.get(span.node, 0), depth[id(span)]) for span in chosen]
    proposer = next(span.node for span in chosen if span.key == WHOLE)
    block = next((one.block for one in own if one.trace == trace), trace)
    return {"block": block, "proposer": proposer, "took_ms": took_ns / NS_PER_MS,
            "usual_ms": usual_ns / NS_PER_MS, "blocks": blocks, "verdict": verdict,
            "offsets": offsets, "rows": in_order(shown, proposer)}


def in_order(shown, proposer):
    """The proposer first, then the other nodes as the block reached them; in a node by start."""
    first = {}
    for row in sorted(shown, key=lambda row: row.start_ms):
        first.setdefault(row.node, row.start_ms + row.took_ms)
    return sorted(shown, key=lambda row: (row.node != proposer, first[row.node], row.node,
                                          row.start_ms, -row.took_ms))


def bar(start, took, end):
    """A bar of blocks, an eighth of a column exact at its right end; at least a thin line."""
    left = min(int(BAR_COLUMNS * start / end), BAR_COLUMNS - 1)
    eighths = round(8 * (BAR_COLUMNS * (start + took) / end - left))
    eighths = max(1, min(eighths, 8 * (BAR_COLUMNS - left)))
    text = " " * left + "█" * (eighths // 8) + EIGHTHS[eighths % 8].strip()
    return text.ljust(BAR_COLUMNS)


def show(screen, found, problems):
    """The waterfall in the terminal, and the verdict below it."""
    rows = found["rows"]
    end = max(row.start_ms + row.took_ms for row in rows)
    screen.say(f"   Block {found['block'][:16]}…, proposed by {found['proposer']}: support 1 after "
               f"{found['took_ms']:.1f} ms, the slowest\n   of {found['blocks']} whose spans all "
               f"four nodes have (median {found['usual_ms']:.1f} ms). Trace id: the hash's first "
               "16 bytes.")
    screen.say(screen.paint(f"   {'':<7} {'span':<{NAME_COLUMNS}} {'start':>7} "
                            f"{'0 ms':<{BAR_COLUMNS - 8}}{end:5.0f} ms {'took, ms':>8}", "dim"))
    before = None
    for row in rows:
        node = row.node if row.node != before else ""
        before = row.node
        label = ("  " * row.depth + row.label)[:NAME_COLUMNS]
        tone = "red" if row.failed else "blue" if row.node == found["proposer"] else "cyan"
        screen.say(f"   {node:<7} {label:<{NAME_COLUMNS}} {row.start_ms:7.1f} "
                   + screen.paint(bar(row.start_ms, row.took_ms, end), tone)
                   + f"{row.took_ms:8.2f}")
    verdict = found["verdict"]
    problems += verdict.problems()
    screen.say("   " + screen.paint(f"{len(verdict.pairs)} spans compared, {verdict.equal} equal",
                                    "bold", "green" if verdict.good else "red")
               + " with what the nodes said of the same operations: duration, end,\n   outcome, "
               "one by one; all traced operations of all blocks, within 1 ms"
               + (f" (but for {verdict.slices} that\n   were interrupted between the two clocks)"
                  if verdict.slices else "") + ".")
    if verdict.lost:
        screen.say(f"   The node that was killed took {len(verdict.lost)} spans along: those of "
                   "its last seconds.")
    ahead = max(found["offsets"].items(), key=lambda pair: abs(pair[1]), default=None)
    if ahead:
        screen.say(screen.paint(
            f"   The clock of {ahead[0]} is {ahead[1] / NS_PER_MS:,.0f} ms ahead by its "
            "neighbours' pings; its spans are moved back by that.\n   A node keeps back its vote "
            "on purpose, a slower machine's stand-in: that is most of the time.", "dim"))
