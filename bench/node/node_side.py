#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The side `node`: what a whole node takes for a block, without the library and with it.

In each round every variant (node_run.py) makes the same blocks as fast as it goes, one after the
other, in an order that turns from round to round. A sample is processor time, and time, for a
block; both by the node's own clocks, from the first deploy to the last block, all threads included.
node_overhead.py makes the differences of them.
"""

import argparse
import json
import re
import sys
from pathlib import Path

import node_run

DEFAULT_BLOCKS, DEFAULT_DEPLOYS, DEFAULT_SCRAPE_S = 10000, 100, 1
WARM_UP_PART = 10  # of the blocks, in round 0
KINDS = ["counter", "gauge", "histogram", "timer", "range-sampler"]


def say(value):
    print(json.dumps(value), flush=True)


def workload(inputs):
    lines = (Path(inputs) / "workload.txt").read_text(encoding="utf-8").splitlines()
    return dict(line.partition(" ")[::2] for line in lines)


def benchmarks():
    units = {f"node/block-{what}/{variant}/1": "us" for what in ("cpu", "time")
             for variant in node_run.VARIANTS}
    units.update({f"node/block-events/{kind}/1": "events" for kind in KINDS})
    return units


class Totals:
    """What the node's own counts and the pages said, summed over rounds."""

    def __init__(self):
        self.found, self.asked = {}, {}

    def add(self, check, found, asked):
        self.found[check] = self.found.get(check, 0) + found
        self.asked[check] = self.asked.get(check, 0) + asked

    def add_run(self, variant, blocks, deploys, said, page, scraper):
        own = said["series"]
        self.add(f"node/{variant}/blocks", own[node_run.BLOCKS], blocks)
        self.add(f"node/{variant}/deploys", own["rchain_casper_deploys_finalised_total"],
                 blocks * deploys)
        if page:
            wrong = node_run.same_work(own, node_run.series_of(page))
            for each in wrong:
                print(f"{variant}: {each}", file=sys.stderr)
            self.add(f"node/{variant}/counts on the page", len(node_run.WORK) - len(wrong),
                     len(node_run.WORK))
        if scraper:
            self.add(f"node/{variant}/pages", scraper.pages, scraper.pages + scraper.failures)
            self.add(f"node/{variant}/scraped", int(scraper.pages > 0), 1)

    def say_all(self):
        for check, found in self.found.items():
            say({"check": check, "found": found, "asked": self.asked[check]})
        return self.found == self.asked


class NodeSide:
    def __init__(self, build, settings, asked):
        self.build, self.asked = build, asked
        self.blocks = int(settings.get("node_blocks", DEFAULT_BLOCKS))
        self.deploys = int(settings.get("node_deploys", DEFAULT_DEPLOYS))
        self.scrape_s = float(settings.get("scrape_s", DEFAULT_SCRAPE_S))
        self.totals = Totals()

    def order(self, number):
        """Each variant in each place, forwards and backwards."""
        turn = number // 2 % len(node_run.VARIANTS)
        turned = node_run.VARIANTS[turn:] + node_run.VARIANTS[:turn]
        return turned if number % 2 == 0 else turned[::-1]

    def round(self, number):
        blocks = self.blocks if number > 0 else max(1, self.blocks // WARM_UP_PART)
        applied = {}
        for variant in self.order(number):
            said, page, scraper = node_run.run_node(self.build, variant, blocks, self.deploys,
                                                    self.scrape_s)
            self.totals.add_run(variant, blocks, self.deploys, said, page, scraper)
            applied[variant] = said["series"]["rchain_casper_transfers_applied_total"]
            self.sample(f"node/block-cpu/{variant}/1", said["blocks_cpu_seconds"] * 1e6 / blocks)
            self.sample(f"node/block-time/{variant}/1", said["blocks_seconds"] * 1e6 / blocks)
            if variant == "recording":
                for kind, events in node_run.events_of(page).items():
                    self.sample(f"node/block-events/{kind}/1", events / blocks)
        for variant, found in applied.items():
            self.totals.add(f"node/{variant}/transfers", found, applied["compiled-out"])
        say({"done": "round"})

    def sample(self, name, value):
        if name in self.asked:
            say({"id": name, "value": value, "disturbed": 0, "overlap": 1.0})


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--build", required=True)
    parser.add_argument("--inputs", required=True)
    parser.add_argument("--only", default=".")
    arguments = parser.parse_args()
    asked = {name: unit for name, unit in benchmarks().items() if re.search(arguments.only, name)}
    nodes = [node_run.node_of(arguments.build, variant) for variant in node_run.VARIANTS]
    absent = [node for node in nodes if not node.exists()]
    if absent:
        why = f"{absent[0]} has not been built: make bench-node"
        say({"side": "node", "versions": {}, "benchmarks": [],
             "missing": [{"id": name, "why": why} for name in asked]})
        asked = {}
    else:
        say({"side": "node", "versions": {}, "missing": [],
             "benchmarks": [{"id": name, "unit": unit} for name, unit in asked.items()]})
    side = NodeSide(arguments.build, workload(arguments.inputs), asked)
    for line in sys.stdin:
        word, _, number = line.strip().partition(" ")
        if word == "round" and asked:
            side.round(int(number))
        elif word == "round":
            say({"done": "round"})
        elif word == "finish":
            good = side.totals.say_all()
            say({"done": "finish"})
            return 0 if good else 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
