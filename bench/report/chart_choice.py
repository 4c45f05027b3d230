# SPDX-License-Identifier: Apache-2.0
"""Which charts a results file gives: each operation beside its limits and peers, threads, random
against hot, pages, memory, and the targets."""

import re

from bench_words import (against_text, found_text, id_text, operation_text, peer_colour, peer_rank,
                         peer_text, verdict_text, wanted_text)
from gnuplot_charts import Bar, Line, bars, lines
from read_results import spread, with_range

# Colours of lines that are all Crest's, one for each operation.
LINE_COLOURS = ["#1f5fbf", "#e07b1a", "#1e7d4f", "#8d6bcb", "#c62828", "#17a2b8", "#8c6d31",
                "#e377c2", "#555555", "#9acd32"]
MET, MISSED = "#2e8b57", "#c62828"

# What the machine can do that an operation is held against.
LIMITS = {
    ("counter", "hot"): ("thread-local-add", "lock-xadd"),
    ("counter", "random"): ("thread-local-add-8-lines", "lock-xadd-8-lines"),
    ("gauge", "hot"): ("store-double",),
    ("histogram", "hot"): ("plain-hdr", "plain-hdr-folded"),
    ("histogram", "random"): ("plain-hdr",),
    ("timer", "hot"): ("clock", "clock-twice"),
    ("keyed-timer", "hot"): ("clock-twice",),
    ("range-sampler", "hot"): ("clock",),
    ("scope", "hot"): ("clock-twice",),
    ("mutex", "hot"): ("plain-mutex",),
    ("counter-by-name", "random"): ("hash-and-probe",),
}
WHOLE = ("thread-exit", "encoding-", "batch-")  # operations whose figure is not of one series
EXPORTED = ("thread-local-add-so", "empty-call-so")  # the limits of called, not inlined, operations
SPREADS = {"hot": "", "random": ", 1,000 metrics at random"}


def spread_text(results, spread_name):
    metrics = results.part("profile").get("metrics", 1000)
    return SPREADS.get(spread_name, f", {spread_name}").replace("1,000", f"{metrics:,}")


def bar_of(label, benchmark, colour, apart=False):
    found = benchmark.median, benchmark.low, benchmark.high
    return Bar(label, colour, *found, with_range(found, benchmark.unit), apart)


def by_operation(results, threads="1"):
    """{(operation, spread): {peer: benchmark}} of one arrangement of threads."""
    found = {}
    for benchmark in results.benchmarks.values():
        peer, operation, where, count = benchmark.parts
        if count == threads:
            found.setdefault((operation, where), {})[peer] = benchmark
    return found


def limit_bars(results, operation, where, peers):
    names = LIMITS.get((operation, where), ())
    if "crest-exported" in peers:
        names = (*names, *EXPORTED)
    found = [results.benchmarks.get(f"limit/{name}/hot/1") or
             results.benchmarks.get(f"limit/{name}/random/1") for name in names]
    return [bar_of(f"limit: {id_text(benchmark.id)}", benchmark, peer_colour("limit"))
            for benchmark in found if benchmark]


def operation_charts(results):
    """A chart for each operation of Crest that has a peer or a limit; the others in one."""
    charts, alone = [], []
    for (operation, where), peers in by_operation(results).items():
        if where not in SPREADS or not any(peer.startswith("crest") for peer in peers):
            continue
        if len({benchmark.unit for benchmark in peers.values()}) > 1:
            continue
        limits = limit_bars(results, operation, where, peers)
        title = operation_text(operation) + spread_text(results, where)
        if not limits and all(peer.startswith("crest") for peer in peers):
            alone += [bar_of(f"{title}" + ("" if peer == "crest" else f" ({peer[6:]})"), benchmark,
                             peer_colour(peer)) for peer, benchmark in peers.items()]
            continue
        unit = next(iter(peers.values())).unit
        rows = [bar_of(peer_text(peer), benchmark, peer_colour(peer))
                for peer, benchmark in sorted(peers.items(), key=lambda each: each[1].median)]
        charts.append(bars(f"{operation}-{where}", f"{title}, one thread",
                           f"{unit} an operation", limits + rows))
    units = {row.words.split()[1] for row in alone}
    for unit in sorted(units):
        rows = sorted((row for row in alone if row.words.split()[1] == unit),
                      key=lambda row: row.value)
        charts.append(bars(f"alone-{plain_unit(unit)}",
                           "Of Crest alone, one thread", f"{unit} an operation", rows))
    return charts


def thread_points(results):
    """{operation: {(peer, arrangement): [(threads, benchmark)]}} of what is hot and was run by
    several threads; one thread is the start of both arrangements."""
    found = {}
    for benchmark in results.benchmarks.values():
        peer, operation, where, threads = benchmark.parts
        several = re.fullmatch(r"(\d+)-(same|separate)", threads)
        if where == "hot" and several:
            points = found.setdefault(operation, {}).setdefault((peer, several[2]), {})
            points[int(several[1])] = benchmark
            one = results.benchmarks.get(f"{peer}/{operation}/hot/1")
            if one:
                points[1] = one
    return found


def threads_charts(results):
    """How each operation does with more threads: lines, or bars where there are but two counts."""
    charts, alone = [], []
    every = thread_points(results)
    for operation, found in every.items():
        if not any(peer.startswith("crest") for peer, _ in found):
            continue
        for name in reversed(LIMITS.get((operation, "hot"), ())):
            found = {**found, **every.get(name, {})} if not any(
                peer == "limit" for peer, _ in found) else found
        found = dict(sorted(found.items(), key=lambda each: (
            peer_rank(each[0][0]), each[0][1])))
        if {peer for peer, _ in found} == {"crest"}:
            alone += thread_bars(found, operation_text(operation))
            continue
        title = f"{operation_text(operation)}, several threads at once"
        counts = {count for points in found.values() for count in points}
        if len(counts) < 3:
            charts.append(bars(f"threads-{operation}", title, "ns an operation and thread",
                               thread_bars(found)))
            continue
        drawn = [Line(f"{thread_peer(peer, points)}, {arrangement}", peer_colour(peer),
                      [(count, each.median, each.low, each.high)
                       for count, each in sorted(points.items())], arrangement == "separate")
                 for (peer, arrangement), points in found.items()]
        charts.append(lines(f"threads-{operation}", title, "threads", "ns an operation and thread",
                            drawn))
    if alone:
        charts.append(bars("threads-alone", "Of Crest alone, several threads at once",
                           "ns an operation and thread", alone))
    return charts


def thread_peer(peer, points):
    if peer != "limit":
        return peer_text(peer)
    return f"limit: {id_text('limit/' + next(iter(points.values())).parts[1])}"


def thread_bars(found, name=""):
    """One thread, several on objects of their own, several on the same: three bars a peer."""
    rows, shown = [], set()
    for (peer, arrangement), points in sorted(
            found.items(), key=lambda each: (list(found).index(each[0]))):
        for count, benchmark in sorted(points.items()):
            if count == 1 and peer in shown:
                continue
            words = "one thread" if count == 1 else f"{count} threads, {arrangement}"
            rows.append(bar_of(f"{name or thread_peer(peer, points)}, {words}", benchmark,
                               peer_colour(peer), peer not in shown))
            shown.add(peer)
    return rows


def random_charts(results):
    """One hot metric beside many at random, peer by peer."""
    charts, alone = [], []
    found = by_operation(results)
    metrics = results.part("profile").get("metrics", 1000)
    for (operation, where), peers in found.items():
        hot = found.get((operation, "hot"), {})
        both = [peer for peer in sorted(peers, key=lambda peer: peers[peer].median) if peer in hot]
        if where != "random" or not any(peer.startswith("crest") for peer in both):
            continue
        rows = alone if both == ["crest"] else []
        for peer in both:
            name = operation_text(operation) if rows is alone else peer_text(peer)
            rows.append(bar_of(f"{name}, hot", hot[peer], peer_colour(peer), True))
            rows.append(bar_of("at random", peers[peer], peer_colour(peer)))
        if rows is alone:
            continue
        charts.append(bars(f"random-{operation}",
                           f"{operation_text(operation)}: one hot metric, {metrics:,} at random",
                           f"{peers[both[0]].unit} an operation, one thread", rows))
    if alone:
        charts.append(bars("random-alone", "Of Crest alone: one hot metric, "
                           f"{metrics:,} at random", "ns an operation, one thread", alone))
    return charts


def size_charts(results):
    """What depends on a number of series: a line for each peer."""
    found = {}
    for benchmark in results.benchmarks.values():
        peer, operation, size, threads = benchmark.parts
        if size.isdigit() and threads in ("", "1"):
            found.setdefault((operation, benchmark.unit), {}).setdefault(peer, []).append(
                (int(size), benchmark.median, benchmark.low, benchmark.high))
    charts, single, alone = [], {}, {}
    for (operation, unit), peers in found.items():
        name = f"size-{operation}"
        several = len({point[0] for points in peers.values() for point in points}) > 1
        if several and set(peers) == {"crest"}:
            family = alone.setdefault((operation.split("-", maxsplit=1)[0], unit), [])
            family.append((operation, sorted(peers["crest"])))
        elif several:
            drawn = [Line(peer_text(peer), peer_colour(peer), sorted(points))
                     for peer, points in sorted(peers.items())]
            charts.append(lines(name, operation_text(operation), "series",
                                size_unit(operation, unit), drawn))
        else:
            for peer, points in peers.items():
                place = f"{operation_text(operation)}, {points[0][0]:,}"
                own = "" if peer == "crest" else f" ({peer_text(peer)})"
                single.setdefault(unit, []).append(
                    Bar(place + own, peer_colour(peer), *points[0][1:],
                        with_range(points[0][1:], unit)))
    for (family, unit), own in alone.items():
        for first in range(0, len(own), len(LINE_COLOURS)):
            drawn = [Line(operation_text(operation), colour, points) for (operation, points), colour
                     in zip(own[first:], LINE_COLOURS)]
            name = "Of Crest alone: " + {"first": "first touch", "start": "start-up"}.get(
                family, family) + (", more" if first else "")
            charts.append(lines(f"size-{family}-{plain_unit(unit)}-{first}", name, "series",
                                size_unit(own[0][0], unit), drawn))
    for unit, rows in single.items():
        charts.append(bars(f"sizes-{plain_unit(unit)}",
                           f"Of a number of metrics, in {unit}", unit, rows))
    return charts


def plain_unit(unit):
    """As a part of a file's name."""
    return re.sub("[^a-z]", "", unit.lower())


def size_unit(operation, unit):
    """The unit of a size's figure: a series, but for a thread's end and a page."""
    each = "" if operation.startswith(WHOLE) else " a series"
    return {"ns": "ns" + each, "B": "bytes" + each}.get(unit, unit)


def target_bar(row, metrics):
    """A row's bar: what was measured, how much of its target it uses, and what that says."""
    label = id_text(row["id"], metrics)
    against = against_text(row, metrics)
    found = found_text(row).split(" (")[0]
    if against:
        more = row["target"].get("kind") in ("over", "faster")
        found += (" than " if more else " ") + against
    wanted = re.match(r"at (most|least) [\d.]+", wanted_text(row))  # its unit stands before it
    words = f"{verdict_text(row)}: {found} ({wanted.group() if wanted else wanted_text(row)})"
    return Bar(label, MET if row.get("met") else MISSED, *spread(row["part"]), words)


def target_chart(results):
    """Each target as how much of it is used up: 1 is the limit. Nothing where there is none."""
    metrics = results.part("profile").get("metrics", 1000)
    drawn = [target_bar(row, metrics) for row in results.rows
             if spread(row.get("part")) and isinstance(row.get("target"), dict)]
    return [bars("targets", "Targets", "how much of what is allowed is used", drawn, 1,
                 "the limit")] if drawn else []
