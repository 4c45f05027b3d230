#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The side of Java: JMH's benchmarks of jvm-shim/crest-jvm-bench. bench/README.md has the protocol.

Each benchmark runs in a JVM of its own, so that what the compiler learned of one does not weigh on
the next, and JMH warms it up: round 0 does nothing, and one round is asked for in a run. A sample
is the median of its iterations, processor time as everywhere. The JVM does not let itself be
pinned; two threads that did not have two processors are measured again, as in `make bench-jvm`.
"""

import argparse
import json
import os
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "jvm-shim" / "crest-jvm-bench"))

import jvm_bench  # noqa: E402  (it is found there)

# Sampled every 50 ms from the first operation on, the compiler was done after 200 to 300 ms, also
# where the JVM had two fifths of a processor; only Micrometer's histograms took 10 % off later.
WARM_UP = {"-wi": "2", "-w": "250ms", "-i": "5", "-r": "50ms"}

PEERS = {"crest": "crest-java", "kamon": "java-kamon", "micrometer": "java-micrometer",
         "hdrHistogram": "java-hdrhistogram"}

# By JMH's class: the operation and the spread, the threads, and the methods that are asked for.
# HdrHistogram is the variant that several threads may write, also with one thread.
COUNTING = ["crest", "kamon", "micrometer"]
RECORDING = [*COUNTING, "hdrHistogram"]
CLASSES = {
    "CounterOne": ("counter/hot", "1", COUNTING),
    "CounterTwoOnOne": ("counter/hot", "2-same", COUNTING),
    "CounterTwoOnTwo": ("counter/hot", "2-separate", COUNTING),
    "CounterThousand": ("counter/random", "1", COUNTING),
    "HistogramOne": ("histogram/hot", "1", RECORDING),
    "HistogramTwoOnOne": ("histogram/hot", "2-same", RECORDING),
    "HistogramTwoOnTwo": ("histogram/hot", "2-separate", RECORDING),
    "GaugeOne": ("gauge/hot", "1", COUNTING),
    "TimerOne": ("timer/hot", "1", RECORDING),
    "ByNameCounter": ("counter-by-name/hot", "1", COUNTING),
    "RangeSamplerOne": ("range-sampler/hot", "1", ["crest", "kamon"]),
}


def all_ids():
    """Every id, with the class and the method of JMH's that measure it."""
    return {f"{PEERS[method]}/{operation}/{threads}": (name, method)
            for name, (operation, threads, methods) in CLASSES.items() for method in methods}


def thread_counts(inputs):
    for line in (inputs / "workload.txt").read_text().splitlines():
        name, *values = line.split()
        if name == "threads":
            return [int(value) for value in values]
    return [1]


def listed(only, threads, processors):
    """The ids that are wanted and can be run, and those that cannot, each with the reason."""
    ids, missing = [], []
    for each in all_ids():
        if not re.search(only, each):
            continue
        several = int(each.rsplit("/", 1)[1].split("-")[0])
        if several not in threads:
            continue
        if several > processors:
            missing.append({"id": each, "why": f"there are {processors} processors here"})
        else:
            ids.append(each)
    for each in all_ids():
        for more in (count for count in threads if count > 2 and "/2-" in each):
            other = each.replace("/2-", f"/{more}-")
            if re.search(only, other):
                missing.append({"id": other, "why": "the JVM's benchmarks have two threads"})
    return ids, missing


def versions(jdk, jars):
    """Of the JVM, and of the peers by the names of their jars."""
    found = {"java": jdk["version"]}
    for name, artifact in (("kamon", "kamon-core_2.13"), ("micrometer", "micrometer-core"),
                           ("HdrHistogram", "HdrHistogram"), ("jmh", "jmh-core")):
        for jar in jars:
            match = re.fullmatch(re.escape(artifact) + r"-(.+)\.jar", Path(jar).name)
            if match:
                found[name] = match.group(1)
    return found


def told(ids, results):
    """What JMH's results say: a sample for each id, and its checks."""
    of_key = {key: each for each, key in all_ids().items()}
    samples, checks = [], []
    for result, sample, repeats in results:
        each = of_key.get(jvm_bench.key_of(result))
        if each not in ids:
            continue
        together = min(sample["share"], 1.0) if result["threads"] > 1 else 1.0
        samples.append({"id": each, "value": sample["ns"], "disturbed": repeats,
                        "overlap": together})
        checks += checks_of(each, sample)
    return samples, checks


def checks_of(each, sample):
    """Operations recorded, of those that JMH called; a wrong sum or last value besides."""
    if sample["wrong"] is None:
        return [{"check": f"{each}: totals were compared", "found": 0, "asked": 1}]
    found, called = int(sample["found"]), int(sample["called"])
    other_wrong = sample["wrong"] != found - called
    return [{"check": each, "found": found, "asked": called},
            {"check": f"{each}: sum, last value", "found": int(not other_wrong), "asked": 1}]


def pattern_of(ids):
    """What JMH is told to run: nothing but these."""
    keys = [all_ids()[each] for each in ids]
    return "\\.(" + "|".join(f"{name}\\.{method}" for name, method in keys) + ")$"


def measure(jdk, settings, ids):
    """One round: JMH's results, those of threads that were apart measured again."""
    results = jvm_bench.jmh(jdk, settings, [pattern_of(ids)])
    return [(result, *jvm_bench.sample_together(jdk, settings, result)) for result in results]


def say(what):
    print(json.dumps(what), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--inputs", required=True, type=Path)
    parser.add_argument("--only", default=".")
    options = parser.parse_args()
    jdk = jvm_bench.describe_jdk("java")
    ids, missing = listed(options.only, thread_counts(options.inputs),
                          len(os.sched_getaffinity(0)))
    settings = {**WARM_UP, "-jvmArgsAppend": f"-Dcrest.bench.inputs={options.inputs.resolve()}"}
    say({"side": "java", "rounds": 1, "versions": versions(jdk, jvm_bench.class_path()),
         "benchmarks": [{"id": each, "unit": "ns"} for each in ids], "missing": missing})
    checks = []
    for line in sys.stdin:
        if line.strip() == "finish":
            for check in checks:
                say(check)
            say({"done": "finish"})
            return int(any(check["found"] != check["asked"] for check in checks))
        if line.startswith("round ") and ids and int(line.split()[1]) > 0:
            samples, found = told(ids, measure(jdk, settings, ids))
            checks += found
            for sample in samples:
                say(sample)
        say({"done": "round"})
    return 2  # the runner is gone


if __name__ == "__main__":
    sys.exit(main())
