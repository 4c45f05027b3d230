#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the JMH benchmarks and compares Crest with its peers.

    make bench-jvm                                       all benchmarks, on the installed java
    make bench-jvm BENCH_ARGS='--rounds 5 CounterOne'    some of them, in more rounds
    make bench-jvm BENCH_ARGS='(Counter|Gauge)One'       those that a regular expression matches
    make bench-jvm BENCH_ARGS='--java A --java B'        on several JDKs

Other arguments go to JMH: names of benchmarks (regular expressions), -wi, -i, -w, -r, -jvmArgs.
Each round runs every benchmark once, in a process of its own, so that other load of the machine
falls on all of them alike; ratios are taken within a round. Time is processor time. The results are
in build/bench/jvm-results.json. Exits with 1 when a benchmark did not record all its operations,
and, with --strict, when a target is missed.
"""

import argparse
import json
import os
import platform
import re
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import jvm_bench_table

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "jvm"
JMH = {"-f": "1", "-bm": "avgt", "-tu": "ns", "-foe": "true",
       "-wi": "6", "-w": "600ms", "-i": "4", "-r": "100ms"}
PROFILERS = ["gc", "io.crest.bench.Totals", "io.crest.bench.ProcessorTime"]
OVERLAP_LEAST = 0.8  # of the time on the wall, that two threads must have had a processor for
REPEATS_MOST = 3


def output_of(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False)
    return done.stdout.strip()


def describe_jdk(java):
    text = output_of(java, "-XshowSettings:properties", "-version")
    found = dict(re.findall(r"^ +(java\.[\w.]+) = (.*)$", text, re.M))
    if "java.specification.version" not in found:
        sys.exit(f"{java} is no JVM that can be run: {text[:200]}")
    return {"java": java, "feature": int(found["java.specification.version"]),
            "version": found.get("java.vm.version", found.get("java.version")),
            "vm": found.get("java.vm.name"), "vendor": found.get("java.vendor")}


def describe_machine():
    cpu = re.search(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.M)
    family = re.search(r"^cpu family\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.M)
    model = re.search(r"^model\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.M)
    return {"cpu": cpu.group(1) if cpu else platform.processor(),
            "family": f"{family.group(1)}/{model.group(1)}" if family and model else "unknown",
            "processors": os.cpu_count(), "kernel": platform.release()}


def class_path():
    listed = (BUILD / "crest-jvm-bench" / "bench.classpath").read_text().strip()
    jar = max((BUILD / "crest-jvm").glob("crest-jvm-*.jar"), key=os.path.getmtime)
    return [str(BUILD / "crest-jvm-bench" / "classes"), str(jar), *listed.split(":")]


def jmh(jdk, settings, names):
    """One run of JMH, and its results."""
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder) / "results.json"
        native = ["--enable-native-access=ALL-UNNAMED"] if jdk["feature"] >= 24 else []
        options = {**JMH, "-rf": "json", "-rff": str(results), **settings}
        if jdk["feature"] < 21:
            options["-e"] = "Virtual"
        command = [jdk["java"], *native, "-cp", ":".join(class_path()), "org.openjdk.jmh.Main",
                   *(word for profiler in PROFILERS for word in ("-prof", profiler)),
                   *(word for pair in options.items() for word in pair), *names]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              check=False)
        if done.returncode != 0 or not results.exists():
            sys.exit(f"JMH failed ({done.returncode}):\n{done.stdout[-4000:]}")
        return json.loads(results.read_text())


def sample_of(result):
    """What one process measured: the median of its iterations; of bytes the least."""
    def values(metric):
        raw = result["secondaryMetrics"].get(metric, {"rawData": [[]]})["rawData"]
        return [value for fork in raw for value in fork if isinstance(value, (int, float))]

    middle = jvm_bench_table.median
    wall = middle([value for fork in result["primaryMetric"]["rawData"] for value in fork])
    workers, process = middle(values("cpu.workers")), middle(values("cpu.process"))
    wrong = values("totals.wrong")
    threads = result["threads"]
    own = re.search(r"\.(FirstTouch|Virtual)", result["benchmark"])  # they make their own threads
    return {"ns": process if own else workers, "wall_ns": wall, "process_ns": process,
            "workers_ns": workers, "share": workers / wall if not own else None,
            "overlapped": threads == 1 or workers / wall >= OVERLAP_LEAST,
            "bytes": min(values("gc.alloc.rate.norm"), default=None),
            "wrong": wrong[-1] if wrong else None,
            **{name: max(values(f"totals.{name}"), default=None) for name in ("found", "called")}}


def key_of(result):
    group, method = result["benchmark"].split(".")[-2:]
    return group, method


def sample_together(jdk, settings, result):
    """The sample of a result, and how often it was repeated for want of a processor."""
    name, method = key_of(result)
    sample, repeats = sample_of(result), 0
    while not sample["overlapped"] and repeats < REPEATS_MOST:
        repeats += 1
        other = sample_of(jmh(jdk, settings, [f"\\.{name}\\.{method}$"])[0])
        sample = max(sample, other, key=lambda one: one["share"])
    return sample, repeats


def run_round(jdk, jmh_arguments, number, results, log):
    settings, names = jmh_arguments
    for result in jmh(jdk, settings, names):
        key = key_of(result)
        sample, repeats = sample_together(jdk, settings, result)
        sample.update(round=number, repeats=repeats)
        entry = results.setdefault((jdk["feature"], *key), {
            "jdk": jdk["feature"], "operation": key[0], "library": key[1],
            "threads": result["threads"], "samples": []})
        entry["samples"].append(sample)
        if sample["wrong"] != 0:
            log.append(f"{key[0]}.{key[1]} on JDK {jdk['feature']}: " + (
                "checked nothing" if sample["wrong"] is None
                else f"{sample['wrong']:+.0f} operations recorded beside those that were called"))


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0],
                                     allow_abbrev=False)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--java", action="append", help="a java to run; again for another")
    parser.add_argument("--strict", action="store_true", help="a missed target is an error")
    parser.add_argument("--print", metavar="FILE", help="only print the tables of a results file")
    parser.add_argument("--output", default=str(ROOT / "build" / "bench" / "jvm-results.json"))
    parser.add_argument("--args", metavar="TEXT", default="",
                        help="further arguments in one text, as make has them; no shell reads it, "
                             "so that it may have parentheses")
    words, (given, _) = sys.argv[1:], parser.parse_known_args()
    words = [word for word in words if not word.startswith("--args=")] + shlex.split(given.args)
    return words, *parser.parse_known_args(words)


def for_jmh(arguments):
    """JMH's options, which all have a value, and the names of benchmarks."""
    settings, names, words = {}, [], iter(arguments)
    for word in words:
        if word.startswith("-"):
            settings[word] = next(words, "")
        else:
            names.append(word)
    return settings, names


def main():
    words, options, others = parse()
    arguments = for_jmh(others)
    if options.print:
        jvm_bench_table.show(json.loads(Path(options.print).read_text()))
        return
    jdks = [describe_jdk(java) for java in options.java or ["java"]]
    facts = {"commit": output_of("git", "-C", str(ROOT), "rev-parse", "HEAD"),
             "changed": bool(output_of("git", "-C", str(ROOT), "status", "--porcelain")),
             "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
             "machine": describe_machine(), "load_before": os.getloadavg()[0], "jdks": jdks,
             "rounds": options.rounds,
             "arguments": words,
             "jmh": {**JMH, **arguments[0]},
             "peers": sorted(Path(jar).name for jar in class_path() if jar.endswith(".jar"))}
    results, wrong = {}, []
    output = Path(options.output)
    output.parent.mkdir(parents=True, exist_ok=True)
    for number in range(options.rounds):
        for jdk in jdks:
            print(f"round {number + 1} of {options.rounds}, JDK {jdk['feature']}", file=sys.stderr)
            run_round(jdk, arguments, number, results, wrong)
        facts.update(rounds=number + 1, load_after=os.getloadavg()[0], wrong=sorted(set(wrong)),
                     results=list(results.values()))
        output.write_text(json.dumps(facts, indent=1) + "\n")  # a run may be cut short
    facts["verdicts"] = missed = jvm_bench_table.show(facts)
    output.write_text(json.dumps(facts, indent=1) + "\n")
    print(f"\nEvery sample is in {os.path.relpath(options.output)}")
    if wrong or (options.strict and any(not one["met"] for one in missed)):
        sys.exit(1)


if __name__ == "__main__":
    main()
