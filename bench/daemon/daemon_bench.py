#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What Crest takes from two daemons, beside atomics by hand: `make bench-daemon`.

    bench/daemon/daemon_bench.py [--pairs N] [--only REGEX] [--variants crest,atomics]
                                 [--no-time] [--no-instructions]

memcached and mosquitto are built several times from one patched source (daemon_hooks.h). Of each
row the table has, above the variant whose hooks are empty: the instructions of the threads that
serve and their processor time, a request. Instructions are callgrind's, and again with those of the
kernel's vDSO, which callgrind does not see; times are medians of paired differences, with their
quartiles, and the difference of the first deciles, which other programs disturb least. All totals
are compared exactly. It goes into build/daemon/results.json as well.
"""

import argparse
import json
import re
import shutil
import statistics
import subprocess
import sys
import threading

import daemon_build
from daemon_build import CREST, DAEMONS, PLACE, VARIANTS
from daemon_process import Daemon, Wrong, callgrind, dump

FILL = 1000  # daemon_load's keys
UNDER_CALLGRIND = 10000
ROWS = [
    # text, daemon, what, pipeline, connections and workers, requests of a burst
    ("GET, pipeline 50", "memcached", "get", 50, 1, 100000),
    ("10 % SET, pipeline 50", "memcached", "mixed", 50, 1, 100000),
    ("SET, pipeline 50", "memcached", "set", 50, 1, 100000),
    ("GET, no pipeline", "memcached", "get", 1, 1, 20000),
    ("GET, 4 workers", "memcached", "get", 50, 4, 100000),
    ("QoS 0", "mosquitto", "0", 50, 1, 50000),
    ("QoS 1", "mosquitto", "1", 20, 1, 20000),
]


def variants_of(daemon, variants):
    """mosquitto has no lock that could be measured; memcached always has threads, and no keyed
    timing."""
    without = {"mosquitto": ("crest-unlocked",),
               "memcached": ("crest-alone", "crest-stamps")}[daemon]
    return [variant for variant in variants if variant not in without]


def programs_of(variants, rows):
    daemon_build.build_tools()
    daemon_build.fetch()
    wanted = [daemon for daemon in DAEMONS if any(row[1] == daemon for row in rows)]
    return {(daemon, variant): daemon_build.build(daemon, variant)
            for daemon in wanted for variant in variants_of(daemon, variants)}


def instructions_of(row, variant, program, steps):
    """Of the threads that serve, a request: what callgrind counts, and with the vDSO's."""
    _, name, what, pipeline, workers, _ = row
    folder = PLACE / "run" / f"callgrind-{name}-{variant}-{workers}"
    daemon = Daemon(name, variant, program, workers, callgrind(folder))
    try:
        if name == "memcached":
            daemon.load("set", 50, 1, FILL)
        daemon.load(what, pipeline, workers, 2 * FILL)
        dump(daemon, folder)
        daemon.load(what, pipeline, workers, UNDER_CALLGRIND)
        serving = dump(daemon, folder)[:workers]
        daemon.compare()
    finally:
        daemon.stop()
    total = sum(thread.total for thread in serving)
    hidden = sum(thread.reads * steps - thread.clock for thread in serving if thread.reads)
    return total / UNDER_CALLGRIND, (total + hidden) / UNDER_CALLGRIND


class Scraper(threading.Thread):
    """Asks every daemon of Crest's for its page once a second."""

    def __init__(self, daemons):
        super().__init__(daemon=True)
        self.daemons, self.enough, self.why = daemons, threading.Event(), None

    def run(self):
        while not self.enough.wait(1):
            for daemon in self.daemons:
                try:
                    daemon.scrape()
                except OSError as why:
                    self.why = f"{daemon.name}, {daemon.variant}: {why}"
                    return


def times_of(rows, variants, programs, pairs):
    """By row and variant: the processor time a request of each burst, in nanoseconds. `rows` are of
    one daemon and one number of workers, which the same processes serve."""
    _, name, _, _, workers, _ = rows[0]
    variants, daemons = variants_of(name, variants), {}
    times = {row[0]: {variant: [] for variant in variants} for row in rows}
    try:
        for variant in variants:
            daemons[variant] = Daemon(name, variant, programs[name, variant], workers)
            if name == "memcached":
                daemons[variant].load("set", 50, 1, FILL)
        scraper = Scraper([daemon for variant, daemon in daemons.items() if variant in CREST])
        scraper.start()
        for text, _, what, pipeline, connections, requests in rows:
            for turn in range(pairs + 1):
                at = turn % len(variants)
                for variant in variants[at:] + variants[:at]:
                    before = daemons[variant].worker_ns()
                    daemons[variant].load(what, pipeline, connections, requests)
                    spent = daemons[variant].worker_ns() - before
                    if turn != 0:  # the first one warms up
                        times[text][variant].append(spent / requests)
        scraper.enough.set()
        scraper.join()
        if scraper.why is not None:
            raise Wrong(scraper.why)
        compared = sum(daemon.compare() for daemon in daemons.values())
        print(f"{name}, {workers} worker{'s' * (workers > 1)}: {compared} totals are right",
              file=sys.stderr)
    finally:
        for daemon in daemons.values():
            daemon.stop()
    return times


def above(samples, empty):
    """Median and quartiles of the differences within each round."""
    differences = [one - other for one, other in zip(samples, empty)]
    if len(differences) < 2:
        return differences * 3
    low, middle, high = statistics.quantiles(differences, n=4)
    return [middle, low, high]


def quiet(samples, empty):
    """The difference of the bursts that were disturbed least: of the first deciles."""
    if len(samples) < 10:
        return min(samples) - min(empty)
    return statistics.quantiles(samples, n=10)[0] - statistics.quantiles(empty, n=10)[0]


def groups(rows):
    found = {}
    for row in rows:
        found.setdefault((row[1], row[4]), []).append(row)
    return found.values()


def measure(rows, variants, settings):
    programs = programs_of(variants, rows)
    steps = int(subprocess.run([str(PLACE / "clock_steps")], stdout=subprocess.PIPE, check=True)
                .stdout)
    results = {"clock_steps": steps, "pairs": settings.pairs, "rows": {}}
    for row in rows:
        results["rows"][row[0]] = {variant: {} for variant in variants_of(row[1], variants)}
    if not settings.no_instructions:
        for row in rows:
            for variant in variants_of(row[1], variants):
                counted = instructions_of(row, variant, programs[row[1], variant], steps)
                results["rows"][row[0]][variant]["instructions"] = counted
    if not settings.no_time:
        for group in groups(rows):
            for text, by_variant in times_of(group, variants, programs, settings.pairs).items():
                for variant, samples in by_variant.items():
                    results["rows"][text][variant]["ns"] = samples
    return results


def cell(row, variant):
    """The table's cell of one variant in one row, relative to the empty variant."""
    it, empty = row.get(variant, {}), row["empty"]
    words = []
    if "instructions" in it:
        seen, whole = [one - other for one, other in zip(it["instructions"], empty["instructions"])]
        words.append(f"{seen:.0f}" + (f" ({whole:.0f})" if round(seen) != round(whole) else ""))
    if "ns" in it:
        middle, low, high = above(it["ns"], empty["ns"])
        words.append(f"{middle:.0f} [{low:.0f} {high:.0f}] {quiet(it['ns'], empty['ns']):.0f}")
    return "; ".join(words)


def show(results):
    rows = results["rows"]
    variants = [variant for variant in VARIANTS[1:] if any(variant in row for row in rows.values())]
    lines = [["instructions (with the vDSO's); ns [quartiles] quiet ns", *variants, "empty hooks"]]
    for text, row in rows.items():
        empty = []
        if "instructions" in row["empty"]:
            empty.append(f"{row['empty']['instructions'][0]:.0f}")
        if "ns" in row["empty"]:
            empty.append(f"{statistics.median(row['empty']['ns']):.0f}")
        lines.append([text, *(cell(row, variant) for variant in variants), "; ".join(empty)])
    widths = [max(map(len, column)) for column in zip(*lines)]
    for line in lines:
        print("  ".join(word.ljust(width) for word, width in zip(line, widths)).rstrip())


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--pairs", type=int, default=60)
    parser.add_argument("--only", default="", help="a pattern of the rows' names")
    parser.add_argument("--variants", default=",".join(VARIANTS[1:]))
    parser.add_argument("--no-time", action="store_true")
    parser.add_argument("--no-instructions", action="store_true")
    settings = parser.parse_args()
    rows = [row for row in ROWS if re.search(settings.only, row[0])]
    variants = ["empty", *settings.variants.split(",")]
    if not rows or not set(variants) <= set(VARIANTS):
        parser.error(f"rows are {[row[0] for row in ROWS]}, variants {VARIANTS[1:]}")
    if shutil.which("valgrind") is None:
        settings.no_instructions = True
        print("valgrind is missing: no instructions", file=sys.stderr)
    try:
        results = measure(rows, variants, settings)
    except (daemon_build.Unavailable, Wrong, subprocess.TimeoutExpired) as why:
        print(why, file=sys.stderr)
        return 1
    (PLACE / "results.json").write_text(json.dumps(results) + "\n", encoding="utf-8")
    show(results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
