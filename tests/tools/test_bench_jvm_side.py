#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The benchmarks' side of Java: what it lists, what it tells JMH to run, and what it makes of JMH's
results, without a JVM."""

import json
import sys

import toolslib
from toolslib import Failure, command, contains, equal

SIDE = toolslib.ROOT / "bench" / "peers" / "java"
sys.path.insert(0, str(SIDE))

import jvm_side  # noqa: E402  (it is found there)

FIRST = "crest-java/counter/hot/1"
SECOND = "java-kamon/histogram/hot/2-same"


def secondary(values):
    return {name: {"rawData": [raw]} for name, raw in values.items()}


def result(benchmark, threads, wall, **more):
    """As JMH writes it, of one process; its count comes with the last iteration only."""
    values = {"cpu.workers": [2.0, 3.0, 2.5], "cpu.process": [4.0, 4.0, 4.0],
              "totals.wrong": [0.0], "totals.found": [7000.0], "totals.called": [7000.0]}
    values.update({name.replace("_", "."): raw for name, raw in more.items()})
    return {"benchmark": f"io.crest.bench.{benchmark}", "threads": threads,
            "primaryMetric": {"rawData": [wall]},
            "secondaryMetrics": secondary({name: raw for name, raw in values.items() if raw})}


def measured(*results):
    return [(one, jvm_side.jvm_bench.sample_of(one), 0) for one in results]


def makes_samples_of_results(_):
    found = measured(result("CounterOne.crest", 1, [2.5, 2.5, 2.5]),
                     result("HistogramTwoOnOne.kamon", 2, [5.0, 5.0, 5.0]),
                     result("CounterOne.dropwizard", 1, [2.5]))  # nobody asked for it
    samples, checks = jvm_side.told([FIRST, SECOND], found)
    equal(samples, [{"id": FIRST, "value": 2.5, "disturbed": 0, "overlap": 1.0},
                    {"id": SECOND, "value": 2.5, "disturbed": 0, "overlap": 0.5}], "samples")
    equal([(check["check"], check["found"], check["asked"]) for check in checks],
          [(FIRST, 7000, 7000), (f"{FIRST}: sum, last value", 1, 1),
           (SECOND, 7000, 7000), (f"{SECOND}: sum, last value", 1, 1)], "checks")


def wrong_checks(**more):
    _, checks = jvm_side.told([FIRST], measured(result("CounterOne.crest", 1, [2.5], **more)))
    return [check["check"] for check in checks if check["found"] != check["asked"]]


def notices_wrong_totals(_):
    equal(wrong_checks(), [], "nothing wrong")
    equal(wrong_checks(totals_found=[6999.0], totals_wrong=[-1.0]), [FIRST], "one lost")
    equal(wrong_checks(totals_wrong=[sys.float_info.max]), [f"{FIRST}: sum, last value"], "a sum")
    equal(wrong_checks(totals_wrong=[], totals_found=[], totals_called=[]),
          [f"{FIRST}: totals were compared"], "not compared")


def lists_what_is_wanted(_):
    ids, missing = jvm_side.listed("counter/hot", [1, 2, 4], 2)
    equal(sorted(ids), sorted(f"{peer}/counter/hot/{threads}"
                              for peer in ("crest-java", "java-kamon", "java-micrometer")
                              for threads in ("1", "2-same", "2-separate")), "ids")
    equal({one["id"].rsplit("/", 1)[1] for one in missing}, {"4-same", "4-separate"}, "more")
    ids, missing = jvm_side.listed(f"^{SECOND}$", [1, 2], 1)
    equal((ids, missing), ([], [{"id": SECOND, "why": "there are 1 processors here"}]), "one")
    equal(jvm_side.listed(".", [1], 2)[1], [], "one thread")


def tells_jmh_what_to_run(_):
    equal(jvm_side.pattern_of([FIRST, SECOND]),
          "\\.(CounterOne\\.crest|HistogramTwoOnOne\\.kamon)$", "pattern")
    bench = toolslib.ROOT / "jvm-shim/crest-jvm-bench/src/main/java/io/crest/bench"
    for name, (_, threads, methods) in jvm_side.CLASSES.items():
        text = (bench / f"{name}.java").read_text()
        if "extends" in text:
            parent = text.split("extends ")[1].split()[0]
            text += (bench / f"{parent}.java").read_text()
        equal("@Threads(2)" in text, threads.startswith("2-"), f"threads of {name}")
        for method in methods:
            if f" {method}(" not in text:
                raise Failure(f"{name} has no {method}")


def names_versions(_):
    equal(jvm_side.versions({"version": "17.0.1"}, ["/m2/kamon-core_2.13-2.7.7.jar",
                                                    "/m2/micrometer-core-1.17.0.jar", "classes"]),
          {"java": "17.0.1", "kamon": "2.7.7", "micrometer": "1.17.0"}, "versions")


def wants_its_inputs(_):
    contains(command([sys.executable, SIDE / "jvm_side.py"], status=2), "--inputs", "usage")
    described = json.loads((SIDE / "side.json").read_text())
    equal(sorted(need["command"] for need in described["needs"]), ["java", "javac", "mvn"], "needs")


if __name__ == "__main__":
    toolslib.main([makes_samples_of_results, notices_wrong_totals, lists_what_is_wanted,
                   tells_jmh_what_to_run, names_versions, wants_its_inputs])
