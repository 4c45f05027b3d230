#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the library takes from a whole node, from the results of `make bench-node`.

    bench/node/node_overhead.py [RESULTS]        build/bench/results.json if not given

Each claim compares two variants that differ by one switch, in pairs of the same round: the median
of the paired differences, in percent of the variant without, and its 95 % interval by resampling
the pairs (Efron's bootstrap, percentiles). Where that spans zero the machine could not resolve it,
and the estimate below is the better figure: events a block, from the node's own page, times what
one event costs by itself, measured in the same run. It goes into the results as `node`.
"""

import random
import statistics
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench" / "runner"))

import bench_results  # noqa: E402  (it is found there)
import bench_stats  # noqa: E402

RESULTS = ROOT / "build" / "bench" / "results.json"
PAIRS_LEAST = 5
RESAMPLES = 10000
SEED = 7

CLAIMS = [
    # (what it is about, with, without)
    ("Recording", "recording", "compiled-out"),
    ("A page a second over HTTP", "scraped", "recording"),
    ("The library's collectors: system figures, hiccups", "collecting", "scraped"),
    ("All of it", "collecting", "compiled-out"),
]
MEASURES = [("cpu", "processor time a block"), ("time", "time a block")]
COSTS = {
    # by kind of event: what one costs alone, and where several threads contend for it
    "counter": ("crest/counter/hot/1", "crest/counter/hot/2-same"),
    "gauge": ("crest/gauge/hot/1", "crest/gauge/hot/2-same"),
    "histogram": ("crest/histogram/hot/1", "crest/histogram/hot/2-same"),
    "timer": ("crest/timer/hot/1", "crest/timer/hot/2-same"),
    "range-sampler": ("crest/range-sampler/hot/1", "crest/range-sampler/hot/2-same"),
}


def samples_of(results, name):
    return results["benchmarks"].get(name, {}).get("runs", [])


def paired_percent(results, measure, with_it, without):
    """The differences of all rounds that have both, in percent of what goes without."""
    pairs = bench_stats.paired(samples_of(results, f"node/block-{measure}/{with_it}/1"),
                               samples_of(results, f"node/block-{measure}/{without}/1"),
                               lambda one, other: 100 * (one - other) / other)
    return [difference for run in pairs for difference in run]


def median_interval(samples):
    """The median and its 95 % interval; None, None where there are too few to say."""
    if len(samples) < PAIRS_LEAST:
        return statistics.median(samples), None, None
    draw = random.Random(SEED)
    medians = sorted(statistics.median(draw.choices(samples, k=len(samples)))
                     for _ in range(RESAMPLES))
    return (statistics.median(samples), medians[int(0.025 * RESAMPLES)],
            medians[int(0.975 * RESAMPLES) - 1])


def make_claims(results):
    claims = []
    for text, with_it, without in CLAIMS:
        for measure, _ in MEASURES:
            samples = paired_percent(results, measure, with_it, without)
            if not samples:
                continue
            median, low, high = median_interval(samples)
            claims.append({"text": text, "with": with_it, "without": without, "of": measure,
                           "pairs": len(samples), "percent": median, "low": low, "high": high,
                           "spans_zero": low is None or low <= 0 <= high})
    return claims


def cost_of(results, name):
    spread = bench_stats.spread(samples_of(results, name))
    return spread["median"] if spread else None


def reckon(results):
    """Events a block, what each costs, and what that makes of a block's processor time."""
    rows, without = [], cost_of(results, "node/block-cpu/compiled-out/1")
    for kind, (alone, contended) in COSTS.items():
        events = cost_of(results, f"node/block-events/{kind}/1")
        if events is None:
            continue
        rows.append({"kind": kind, "events": events, "ns": cost_of(results, alone),
                     "ns_contended": cost_of(results, contended)})
    found = {"events": rows, "block_us": without}
    if rows and without and all(row["ns"] is not None for row in rows):
        least = sum(row["events"] * row["ns"] for row in rows)
        most = sum(row["events"] * max(row["ns"], row["ns_contended"] or 0) for row in rows)
        found.update(percent=least / 10 / without, percent_contended=most / 10 / without)
    return found


def percent(value):
    return "?" if value is None else f"{value:+.2f}"


def claim_lines(claims):
    lines = [f"{'':52}{'':24}{'difference':>12}   95 % interval"]
    for claim in claims:
        word = dict(MEASURES)[claim["of"]]
        interval = f"{percent(claim['low'])} … {percent(claim['high'])} %"
        note = "  not resolved" if claim["spans_zero"] else ""
        if claim["low"] is None:
            interval = f"none: {claim['pairs']} pairs, {PAIRS_LEAST} are needed"
            note = ""
        lines.append(f"{claim['text']:52}{word:24}{percent(claim['percent']):>10} %   "
                     f"{interval}{note}")
    return lines


def reckoning_lines(found):
    lines = ["", f"{'':16}{'events a block':>16}{'ns each':>10}{'contended':>11}{'us a block':>12}"]
    for row in found["events"]:
        alone, contended = row["ns"], row["ns_contended"]
        cells = ["not run" if each is None else f"{each:.2f}" for each in (alone, contended)]
        took = "" if alone is None else f"{row['events'] * alone / 1000:.2f}"
        lines.append(f"{row['kind']:16}{row['events']:>16,.1f}{cells[0]:>10}{cells[1]:>11}"
                     f"{took:>12}")
    if "percent" in found:
        lines.append(f"Events times cost: {found['percent']:.2f} % of the {found['block_us']:.1f} "
                     "us of processor time that a block takes without the library;")
        lines.append(f"{found['percent_contended']:.2f} % if two threads always met in each.")
    else:
        lines.append("What an event costs was not measured: give the profile the side crest too.")
    return lines


def report(results):
    node = {"claims": make_claims(results), **reckon(results)}
    if not node["claims"]:
        return None, ["The results have no two variants of the node to compare: make bench-node"]
    pairs = max(claim["pairs"] for claim in node["claims"])
    head = [f"A whole node, {pairs} pairs of runs, load {results['load']['before']} before and "
            f"{results['load']['after']} after"]
    if results["load"].get("busy"):
        head.append(results["load"]["busy"])
    return node, [*head, "", *claim_lines(node["claims"]), *reckoning_lines(node)]


def keep(path, results, node):
    """Puts it into the results, and into their copy in the run's own folder."""
    before = path.read_bytes()
    copies = [path, *(each for each in path.parent.glob("runs/*/results.json")
                      if each.read_bytes() == before)]
    for each in copies:
        bench_results.write_whole(each, bench_results.text_of({**results, "node": node}))


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else RESULTS
    sys.stdout.reconfigure(errors="replace")  # a locale may not have the table's every letter
    try:
        results = bench_results.read_results(path)
    except bench_results.Unreadable as why:
        print(f"node_overhead: {why}", file=sys.stderr)
        return 2
    node, lines = report(results)
    print("\n".join(lines))
    if node is None:
        return 2
    keep(path, results, node)
    return 0


if __name__ == "__main__":
    sys.exit(main())
