#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `make bench-node` makes of its samples: differences, intervals, events times cost; without a
node."""

import random
import sys

import toolslib
from toolslib import Failure, contains, equal

SIDE = toolslib.ROOT / "bench" / "node"
sys.path.insert(0, str(SIDE))

import node_overhead  # noqa: E402  (they are found there)
import node_run  # noqa: E402
import node_side  # noqa: E402

PAGE = """# TYPE rchain_block_api_deploys_offered_total counter
rchain_block_api_deploys_offered_total 20
# TYPE rchain_casper_transfers_offered_total counter
rchain_casper_transfers_offered_total 100
# TYPE rchain_casper_blocks_finalised_total counter
rchain_casper_blocks_finalised_total 2
# TYPE rchain_casper_deploys_finalised_total counter
rchain_casper_deploys_finalised_total 20
# TYPE rchain_casper_transfers_applied_total counter
rchain_casper_transfers_applied_total 90
# TYPE rchain_comm_rp_transport_packets_enqueued_total counter
rchain_comm_rp_transport_packets_enqueued_total 20
# TYPE rchain_comm_rp_transport_inbound_queue histogram
rchain_comm_rp_transport_inbound_queue_bucket{le="+Inf"} 20
rchain_comm_rp_transport_inbound_queue_sum 700
rchain_comm_rp_transport_inbound_queue_count 20
# TYPE rchain_casper_create_seconds histogram
rchain_casper_create_seconds_bucket{outcome="ok",le="+Inf"} 2
rchain_casper_create_seconds_count{outcome="ok"} 2
# TYPE crest_series gauge
crest_series 7
# TYPE crest_misuse_total counter
crest_misuse_total{cause="clamped"} 1000
"""


def results_of(with_it, without, **costs):
    """Of one run: samples of `recording` and `compiled-out`, and costs in ns by kind."""
    benchmarks = {f"node/block-{what}/{variant}/1": {"unit": "us", "runs": [samples]}
                  for what in ("cpu", "time")
                  for variant, samples in (("recording", with_it), ("compiled-out", without))}
    for kind, (events, alone, contended) in costs.items():
        benchmarks[f"node/block-events/{kind}/1"] = {"unit": "events", "runs": [[events]]}
        benchmarks[f"crest/{kind}/hot/1"] = {"unit": "ns", "runs": [[alone]]}
        benchmarks[f"crest/{kind}/hot/2-same"] = {"unit": "ns", "runs": [[contended]]}
    return {"benchmarks": benchmarks, "load": {"before": 0.1, "after": 0.2, "busy": ""}}


def counts_events_of_a_page(_):
    events = node_run.events_of(PAGE)
    # lumps count as often as they were added: 20 offers, twice 2 blocks, and 20 + 20 + 2 others
    equal(events, {"counter": 66, "gauge": 2, "histogram": 20, "timer": 2, "range-sampler": 40},
          "events")


def notices_counts_that_were_lost(_):
    own = {name: node_run.series_of(PAGE)[name] for name in node_run.WORK}
    equal(node_run.same_work(own, node_run.series_of(PAGE)), [], "the same")
    own[node_run.BLOCKS] += 1
    found = node_run.same_work(own, node_run.series_of(PAGE))
    if len(found) != 1:
        raise Failure(f"one lost block was told as {found}")
    contains(found[0], "3.0 by the node", "which")


def notices_other_work(_):
    totals = node_side.Totals()
    totals.add("node/recording/transfers", 90, 91)
    if totals.found == totals.asked:
        raise Failure("one transfer less was taken for the same work")


def turns_the_order(_):
    side = node_side.NodeSide("build", {}, {})
    for place in range(len(node_run.VARIANTS)):
        there = [side.order(number)[place] for number in range(8)]
        equal(sorted(there), sorted(2 * node_run.VARIANTS), f"who is at place {place}")


def finds_a_difference(_):
    draw = random.Random(1)
    without = [100 + draw.gauss(0, 1) for _ in range(24)]
    with_it = [each * 1.03 + draw.gauss(0, 0.5) for each in without]
    claim = node_overhead.make_claims(results_of(with_it, without))[0]
    equal((claim["with"], claim["without"], claim["pairs"]), ("recording", "compiled-out", 24),
          "the claim")
    if claim["spans_zero"] or not claim["low"] < 3 < claim["high"] or claim["high"] > 4:
        raise Failure(f"3 % more was taken for {claim}")


def says_what_it_cannot_resolve(_):
    draw = random.Random(2)
    without = [100 + draw.gauss(0, 5) for _ in range(24)]
    with_it = [100 + draw.gauss(0, 5) for _ in range(24)]
    claim = node_overhead.make_claims(results_of(with_it, without))[0]
    if not claim["spans_zero"] or not claim["low"] < 0 < claim["high"]:
        raise Failure(f"no difference was taken for {claim}")
    few = node_overhead.make_claims(results_of(with_it[:4], without[:4]))[0]
    equal((few["low"], few["high"], few["spans_zero"]), (None, None, True), "of four pairs")
    contains("\n".join(node_overhead.claim_lines([few])), "none: 4 pairs, 5 are needed", "in words")


def reckons(_):
    # 1,000 counts of 2 ns and 100 steps of 10 or 50 ns are 3 or 7 us of 200
    results = results_of([210.0] * 6, [200.0] * 6, counter=(1000, 2.0, 2.0),
                         **{"range-sampler": (100, 10.0, 50.0)})
    found = node_overhead.reckon(results)
    equal((round(found["percent"], 6), round(found["percent_contended"], 6)), (1.5, 3.5), "percent")
    _, lines = node_overhead.report(results)
    contains("\n".join(lines), "1.50 %", "the report")
    del results["benchmarks"]["crest/counter/hot/1"]
    if "percent" in node_overhead.reckon(results):
        raise Failure("a cost that was not measured was reckoned with")


if __name__ == "__main__":
    toolslib.main([counts_events_of_a_page, notices_counts_that_were_lost, notices_other_work,
                   turns_the_order, finds_a_difference, says_what_it_cannot_resolve, reckons])
