# SPDX-License-Identifier: Apache-2.0
"""build/demo/report.svg: the whole run in one picture. Every curve is a range query answered by
Prometheus after the run; only what is called the nodes' own is theirs.
"""

import time

import block_profile
import kill_card
import svg_trace
from figures import (COMM, CONSENSUS, COVERAGE, HICCUPS, JOB, MEBI, PING, PROPAGATION, SEND,
                     STORE)
from moments import BLOCKS, QUEUE
from nodes import NAMES
from svg_canvas import INK, MUTED, RULE, Canvas, nice_top

WIDTH = 1280
MARGIN = 44
LABELS = 244
COLUMN_GAP = 22
ROW_HEIGHT, ROW_GAP = 62, 26
CARD_HEIGHT, PLOT_TOP, PLOT_HEIGHT = 328, 116, 156
CARD_GAP, CARDS_ACROSS = 20, 2
BLUE, TEAL, AMBER, GREY, RED = "#2563a8", "#12908e", "#c9761b", "#7d8895", "#b3372f"
PALE, PALE_TEXT = "#b4cbe6", "#7fa3cc"
GREEN = "#2c7a4b"
AWAY = "#f4e2dc"
SHADES = (BLUE, TEAL, AMBER)
DASHES = "4 3"
SECONDS_STEP = 10
WAY_HEIGHT, WAYS_HEAD = 24, 62
BURST_BEFORE_S, BURST_AFTER_S = 6, 6


def of_node(name, labels=""):
    return f"{name}{{{JOB},instance=\"%s\"{labels}}}"


def peers(name):
    return [other for other in NAMES if other != name]


# label, unit, [(words of the legend, colour, dashed, query of a node)]
ROWS = [
    ("Comm events", "per second", [
        ("over 4 s", PALE, False, f"rate({of_node(COMM + '_produce_total')}[4s]) + "
         f"rate({of_node(COMM + '_consume_total')}[4s])"),
        ("proposing", BLUE, False, of_node(COMM + "_produce_rate1m") + " + "
         + of_node(COMM + "_consume_rate1m")),
        ("offered", INK, True, "2 * " + of_node("rchain_casper_transfers_offered_rate1m"))]),
    ("Deploys", "per second", [
        ("accepted", BLUE, False, of_node("rchain_block_api_deploys_received_rate1m")),
        ("offered", INK, True, of_node("rchain_block_api_deploys_offered_rate1m"))]),
    ("Transfers", "per second", [
        ("over 4 s", PALE, False,
         f"rate({of_node('rchain_casper_transfers_applied_total')}[4s]) + "
         f"rate({of_node('rchain_casper_transfers_rejected_total')}[4s])"),
        ("finalised", BLUE, False, of_node("rchain_casper_transfers_applied_rate1m") + " + "
         + of_node("rchain_casper_transfers_rejected_rate1m")),
        ("offered", INK, True, of_node("rchain_casper_transfers_offered_rate1m"))]),
    ("Blocks on their way", "ms, average", [
        ("to a node", TEAL, False,
         "1000 * " + of_node(PROPAGATION + "_avg1m_seconds", ',outcome="ok"')),
        ("to 99 % of them", BLUE, False,
         "1000 * " + of_node(COVERAGE + "_avg1m_seconds", ',outcome="ok"'))]),
    ("Latency to consensus", "ms, average", [
        (f"at {support}", color, False, "1000 * " + of_node(
            CONSENSUS + "_avg1m_seconds", f',outcome="ok",support="{support}"'))
        for support, color in (("0", TEAL), ("1/3", AMBER), ("1", BLUE))]),
    ("Ping to neighbours", "ms, average", [
        ("one line a neighbour", BLUE, False, None)]),
    ("Disk and network", "ms, average", [
        ("commit", BLUE, False, "1000 * " + of_node(STORE + "_sync_time_avg1m_seconds",
                                                    ',outcome="ok"')),
        ("send", TEAL, False, "1000 * avg(" + of_node(SEND + "_avg1m_seconds", ',outcome="ok"')
         + ")")]),
    ("Resident memory", "MiB", [
        ("at each reading", BLUE, False, of_node("process_resident_memory_bytes") + f" / {MEBI}")]),
    ("Hiccups of threads", "ms", [
        ("maximum", PALE, False,
         "1000 * " + of_node(HICCUPS + "_max1m_seconds", ',outcome="ok"')),
        ("average", BLUE, False,
         "1000 * " + of_node(HICCUPS + "_avg1m_seconds", ',outcome="ok"'))]),
    ("CPU", "percent, average", [
        ("the node", BLUE, False, "100 * " + of_node("process_cpu_rate1m_seconds")),
        ("the machine", GREY, True,
         f'host_cpu_usage_avg1m{{{JOB},mode="combined"}}')]),
]


class Report:
    def __init__(self, prometheus, began, ended, happened):
        self.prometheus = prometheus
        self.began, self.ended = began, ended
        self.happened = happened
        self.away = [(start - began, end - began) for start, end in happened["outage"]["away"]]
        self.span = (0, ended - began)
        rows = len(ROWS) * (ROW_HEIGHT + ROW_GAP)
        self.grid_top = 272
        self.cards_top = self.grid_top + rows + 66
        self.ways_top = self.cards_top + 2 * CARD_HEIGHT + CARD_GAP + 50
        self.trace_top = self.ways_top + WAYS_HEAD + WAY_HEIGHT * len(happened["ways"]) + 24
        self.flame_top = self.trace_top + svg_trace.height(happened["trace"]) + 24
        self.verdict_top = self.flame_top + block_profile.height(happened["profile"])
        self.canvas = Canvas(WIDTH, self.verdict_top + 92)

    def points(self, query):
        """[(seconds since the start, value)] of each series that a query has."""
        return [[(when - self.began, value) for when, value in points]
                for _, points in self.prometheus.curves(query, self.began, self.ended)]

    # ---- the parts, from top to bottom ----

    def title(self):
        canvas = self.canvas
        when = time.strftime("%d %B %Y, %H:%M UTC", time.gmtime(self.began))
        canvas.text(MARGIN, 66, "Four nodes under load, as Prometheus saw them", 30, weight=650)
        canvas.text(MARGIN, 92, "Crest pushes each node's figures to a Pushgateway every second; "
                    "every curve was read back from Prometheus with PromQL.", 14, MUTED)
        canvas.text(WIDTH - MARGIN, 66, when, 13, MUTED, "end")
        canvas.text(WIDTH - MARGIN, 92, f"{self.ended - self.began:.0f} s, one machine", 13, MUTED,
                    "end")

    def tiles(self):
        verdict, burst = self.happened["verdict"], self.happened["burst"]
        cost, outage = self.happened["cost"], self.happened["outage"]
        tiles = [
            (f"{verdict.equal} of {verdict.counts}", "counts equal, at exit and at a kill",
             GREEN if verdict.good else RED),
            (f"{outage['missing']:.0f} blocks missing",
             f"after {outage['failed']:.0f} failed pushes, two outages",
             RED if outage["missing"] else GREEN),
            (f"{burst['crest']:,.0f}, not {burst['sampled']:,.0f}",
             f"deep in a burst of {burst['ms']:.1f} ms", INK),
            (f"{cost['crest_ns']:.2f} ns",
             f"an increment; a lock xadd {cost['xadd_ns']:.2f} ns", INK),
        ]
        width = (WIDTH - 2 * MARGIN - 3 * 16) / 4
        for index, (figure, words, color) in enumerate(tiles):
            x = MARGIN + index * (width + 16)
            self.canvas.box(x, 118, width, 78, "#ffffff", rx=6, stroke=RULE)
            self.canvas.text(x + 16, 154, figure, 24, color, weight=650)
            self.canvas.text(x + 16, 178, words, 12.5, MUTED)

    def small_multiples(self):
        canvas = self.canvas
        left = MARGIN + LABELS
        width = (WIDTH - MARGIN - left - 3 * COLUMN_GAP) / 4
        top = self.grid_top
        for column, name in enumerate(NAMES):
            canvas.text(left + column * (width + COLUMN_GAP), top - 18, name, 14, weight=600)
        canvas.text(MARGIN, top - 18, "What operators ask for", 14, weight=600)
        for row, (label, unit, lines) in enumerate(ROWS):
            y = top + row * (ROW_HEIGHT + ROW_GAP)
            canvas.text(MARGIN, y + 14, label, 14, weight=600)
            canvas.text(MARGIN, y + 32, unit, 12, MUTED)
            legend = [(word, PALE_TEXT if color == PALE else color) for word, color, _, _ in lines]
            canvas.words(MARGIN, y + 51, legend, 12)
            curves = [self.row_curves(name, lines) for name in NAMES]
            most = max((value for node in curves for points, _, _ in node for _, value in points),
                       default=1)
            for column, node in enumerate(curves):
                panel = canvas.panel(left + column * (width + COLUMN_GAP), y, width, ROW_HEIGHT,
                                     self.span, (0, nice_top(most)))
                for start, end in self.away:
                    panel.band(start, end, AWAY)
                panel.grid(labels=column == 0)
                for points, color, dashed in node:
                    panel.curve(points, color, stroke_dasharray=DASHES if dashed else None)
                if row == len(ROWS) - 1:
                    panel.seconds(SECONDS_STEP)
        y = top + len(ROWS) * (ROW_HEIGHT + ROW_GAP) + 12
        canvas.box(left, y - 10, 14, 12, AWAY)
        canvas.text(left + 20, y, "the gateway was killed and away; the averages are Crest's, over "
                    "a moving minute", 12, MUTED)

    def row_curves(self, name, lines):
        """[(points, colour, dashed)] of one node."""
        found = []
        for _, color, dashed, query in lines:
            if query is None:
                for peer, shade in zip(peers(name), SHADES):
                    query = "1000 * " + of_node(PING + "_avg1m_seconds",
                                                f',outcome="ok",peer="{peer}"') % name
                    found += [(points, shade, False) for points in self.points(query)]
            else:
                wanted = query.replace("%s", name)
                found += [(points, color, dashed) for points in self.points(wanted)]
        return found

    # ---- the four moments ----

    def card(self, index, title, lines):
        """A white card; returns its left edge, top and width for what is drawn in it."""
        width = (WIDTH - 2 * MARGIN - (CARDS_ACROSS - 1) * CARD_GAP) / CARDS_ACROSS
        x = MARGIN + index % CARDS_ACROSS * (width + CARD_GAP)
        y = self.cards_top + index // CARDS_ACROSS * (CARD_HEIGHT + CARD_GAP)
        self.canvas.box(x, y, width, CARD_HEIGHT, "#ffffff", rx=6, stroke=RULE)
        self.canvas.text(x + 18, y + 30, title, 16, weight=650)
        for number, line in enumerate(lines):
            self.canvas.text(x + 18, y + 51 + 17 * number, line, 12.5, MUTED)
        return x, y, width

    def burst_card(self):
        burst = self.happened["burst"]
        x, y, width = self.card(0, "A burst between two samples", [
            f"{burst['messages']:,} messages reach {burst['node']} in {burst['ms']:.1f} ms.",
            "A gauge of its queue is read once a second; a",
            "range sampler is told at each enqueue."])
        when = burst["when"] - self.began
        most = nice_top(burst["truth"] * 1.12)
        panel = self.canvas.panel(x + 62, y + PLOT_TOP, width - 86, PLOT_HEIGHT,
                                  (when - BURST_BEFORE_S, when + BURST_AFTER_S), (0, most))
        panel.grid(labels=True)
        panel.seconds(5)
        of_queue = of_node(QUEUE + "%s") % ("%s", burst["node"])
        for points in self.points(of_queue % "_waiting_max1m"):
            panel.curve(points, BLUE, 2.2, steps=True)
        for points in self.points(of_queue % "_sampled"):
            panel.curve(points, AMBER)
            for time_s, value in points:
                if panel.across[0] <= time_s <= panel.across[1]:
                    self.canvas.dot(panel.to_x(time_s), panel.to_y(value), 2.6, AMBER)
        at = panel.to_x(when)
        self.canvas.rule(at, panel.y, at, panel.y + panel.height, RED, 1, stroke_dasharray="2 3")
        self.canvas.text(at - 6, panel.y + 12, "the burst", 11.5, RED, "end")
        self.legend(x, y, [(f"Crest's maximum {burst['crest']:,.0f}", BLUE),
                           (f"gauge {burst['sampled']:,.0f}", AMBER)])

    def outage_card(self):
        own = self.happened["own_proposed"]
        x, y, width = self.card(1, "The gateway is killed, twice", [
            "The second time its file is deleted as well.",
            "What nodes push is cumulative: the first push",
            "that succeeds is complete again."])
        low, high = self.away[0][0] - 6, self.away[-1][1] + 5
        inside = [count for when, count in own if low <= when - self.began <= high]
        bottom = max(0, (min(inside, default=0) // 20) * 20)
        top = -(-max(inside, default=1) // 20) * 20
        panel = self.canvas.panel(x + 56, y + PLOT_TOP, width - 80, PLOT_HEIGHT, (low, high),
                                  (bottom, top))
        for start, end in self.away:
            panel.band(start, end, AWAY)
        panel.grid(labels=True)
        panel.seconds(5)
        panel.curve([(when - self.began, count) for when, count in own
                     if low <= when - self.began <= high], GREY, 1.4, gap=1e9, steps=True)
        query = f"sum({BLOCKS['proposed']}{{{JOB}}})"
        for points in self.points(query):
            within = [point for point in points if low <= point[0] <= high]
            panel.curve(within, BLUE, 2.2)
            for time_s, value in within:
                self.canvas.dot(panel.to_x(time_s), panel.to_y(value), 2.4, BLUE)
        self.legend(x, y, [("blocks proposed:", MUTED), ("in Prometheus", BLUE),
                           ("the nodes' own", GREY)])

    def overlap_card(self):
        overlap = self.happened["overlap"]
        off = 100 * (overlap["unbound"] - overlap["truth"]) / overlap["truth"]
        x, y, width = self.card(2, "Blocks that overlap", [
            f"Several are in flight, {overlap['orphans']} were orphaned. A timer",
            "not bound to its block pairs the start of one with",
            f"the end of another: its mean is {off:+.0f} % off."])
        means = overlap["means"]
        top = nice_top(max(max(row[1:4]) for row in means.values()) * 1.1)
        panel = self.canvas.panel(x + 56, y + PLOT_TOP, width - 80, PLOT_HEIGHT,
                                  (0, len(means)), (0, top))
        panel.grid(labels=True)
        bar = panel.width / len(means) * 0.3
        for index, (name, (_, truth, bound, unbound, _)) in enumerate(means.items()):
            middle = panel.to_x(index + 0.5)
            for place, value, color in ((-1, bound, BLUE), (0, unbound, RED)):
                high = panel.height * value / top
                self.canvas.box(middle + place * bar + 1, panel.y + panel.height - high, bar - 2,
                                high, color)
                inside = high > 24
                self.canvas.text(middle + (place + 0.5) * bar,
                                 panel.y + panel.height - high + (15 if inside else -6),
                                 f"{value:.0f}", 10.5, "#ffffff" if inside else color, "middle",
                                 600)
            level = panel.to_y(truth)
            self.canvas.rule(middle - bar - 4, level, middle + bar + 4, level, INK, 1.5)
            self.canvas.text(middle, panel.y + panel.height + 16, name, 11, MUTED, "middle")
        self.legend(x, y, [("ms:", MUTED), ("bound", BLUE), ("not bound", RED),
                           ("— the node's own clock", INK)])

    def legend(self, x, y, parts):
        """Below the panel of a card."""
        self.canvas.words(x + 18, y + CARD_HEIGHT - 18, parts, 12, 600)

    def ways(self):
        """What one node costs by each way: a row each, its bytes as a bar."""
        canvas, rows = self.canvas, self.happened["ways"]
        columns = (MARGIN + 400, MARGIN + 510, MARGIN + 620, MARGIN + 700)
        height = WAYS_HEAD - 26 + WAY_HEIGHT * len(rows)
        canvas.text(MARGIN, self.ways_top, "What one node costs by each way", 14, weight=600)
        canvas.box(MARGIN, self.ways_top + 14, WIDTH - 2 * MARGIN, height, "#ffffff", rx=6,
                   stroke=RULE)
        y = self.ways_top + 36
        for x, words in zip(columns, ("series", "bytes", "ms")):
            canvas.text(x, y, words, 12, MUTED, "end")
        canvas.words(columns[3], y, [("bytes of a report of node-0", BLUE), ("gzipped", TEAL)], 12)
        most = max(way.bytes for way in rows)
        room = WIDTH - MARGIN - 20 - columns[3]
        for way in rows:
            y += WAY_HEIGHT
            canvas.text(MARGIN + 18, y, way.label, 12.5)
            for x, value in zip(columns, (way.series, f"{way.bytes:,}", f"{way.cpu_us / 1e3:.2f}")):
                canvas.text(x, y, value, 12.5, anchor="end")
            canvas.box(columns[3], y - 12, room * way.bytes / most, 15, BLUE, opacity=0.45)
            canvas.box(columns[3], y - 12, room * way.gzipped / most, 15, TEAL)

    def verdict(self):
        verdict = self.happened["verdict"]
        y = self.verdict_top + 38
        color = GREEN if verdict.good else RED
        self.canvas.dot(MARGIN + 6, y - 5, 6, color)
        self.canvas.text(MARGIN + 22, y,
                         f"{verdict.counts} counts compared at exit and at the kill, "
                         f"{verdict.equal} equal; {verdict.sums} sums of durations, "
                         f"{verdict.sums_near} equal within what two clocks differ by.", 15, color,
                         weight=600)
        self.canvas.text(MARGIN + 22, y + 22, "The other side of the comparison: plain variables "
                         "of the nodes that know nothing of Crest, printed when they end.", 12.5,
                         MUTED)

    def draw(self):
        self.title()
        self.tiles()
        self.small_multiples()
        self.canvas.text(MARGIN, self.cards_top - 16, "Four moments", 14, weight=600)
        self.burst_card()
        self.outage_card()
        self.overlap_card()
        kill_card.draw(self)
        self.ways()
        svg_trace.draw(self.canvas, self.happened["trace"], MARGIN, self.trace_top,
                       WIDTH - 2 * MARGIN)
        block_profile.draw(self.canvas, self.happened["profile"], MARGIN, self.flame_top,
                           WIDTH - 2 * MARGIN)
        self.verdict()
        return self.canvas.finish("Crest: four nodes under load, as Prometheus saw them",
                                  "Small multiples for each node, four moments, what one "
                                  "node costs by each way, and the comparison of all totals at "
                                  "exit.")


def draw(prometheus, began, ended, happened):
    return Report(prometheus, began, ended, happened).draw()
