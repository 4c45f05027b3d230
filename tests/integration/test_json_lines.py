#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# crest-test: timeout=300
"""Reads JSON lines back with Python's own json: every line is an object of the documented form, and
the deltas of a run add up to what textfile_program has recorded, through rotations and failures.
"""

import collections
import datetime
import json
import re
import resource
import subprocess

import harness
from harness import Failure, Program, equal, holds_at_last, wait_for

KINDS = ["plain", 'a"b\\c\nd', "café ☃"]
# json_lines.h tells what they are.
SHARED = {"crest", "time", "time_ns", "report", "resource", "metric", "kind", "unit", "labels"}
CUMULATIVE = {"count", "delta", "sum", "delta_sum", "delta_s"}
FILLED = {"min", "max", "quantiles", "buckets"}
MEMBERS = {"counter": {"value", "delta", "delta_s"}, "gauge": {"value"}, "range sampler": {"value"},
           "histogram": CUMULATIVE, "timer": CUMULATIVE}


def pairs_once(pairs):
    """An object without a key twice."""
    keys = [key for key, _ in pairs]
    if len(keys) != len(set(keys)):
        raise Failure(f"a key twice in {pairs!r}")
    return dict(pairs)


def no_constant(text):
    raise Failure(f"{text} is no JSON")


def read(path):
    """The objects of a file, each checked."""
    text = path.read_bytes().decode("utf-8")
    if text and not text.endswith("\n"):
        raise Failure(f"the last line is not whole: {text[-100:]!r}")
    return [check(json.loads(line, object_pairs_hook=pairs_once, parse_constant=no_constant))
            for line in text.splitlines()]


def check(line):
    members = set(line) - {"final", "windows"}
    wanted = SHARED | MEMBERS[line["kind"]]
    if line.get("count"):
        wanted |= FILLED
    equal(members, wanted, f"members of {line['metric']}")
    equal(line["crest"], 1)
    whole = re.sub(r"\.(\d{6})\d{3}Z$", r".\1+00:00", line["time"])
    seconds = datetime.datetime.fromisoformat(whole).timestamp()
    if abs(seconds - line["time_ns"] / 1e9) > 1e-3:
        raise Failure(f"{line['time']} and {line['time_ns']}")
    if line.get("count"):
        equal(sum(count for _, _, count in line["buckets"]), line["count"], "buckets")
        for text, value in line["quantiles"].items():
            if not line["min"] <= value <= line["max"]:
                raise Failure(f"quantile {text} is {value}: {line}")
    for window in line.get("windows", {}).values():
        if line["kind"] == "range sampler":
            equal(set(window), {"covered_s", "min", "avg", "max"})
        elif not {"covered_s", "events", "rate", "peak"} <= set(window):
            raise Failure(f"window: {window}")
    return line


def identity(line):
    return line["metric"], tuple(sorted(line["labels"].items()))


def check_totals(lines, threads, times):
    """The deltas add up to the totals, and the last values are the totals."""
    deltas, sums, last = collections.Counter(), collections.Counter(), {}
    for line in lines:
        deltas[identity(line)] += line.get("delta", 0)
        sums[identity(line)] += line.get("delta_sum", 0)
        last[identity(line)] = line
    for number, kind in enumerate(KINDS):
        wanted = sum(2 for thread in range(threads) for i in range(times)
                     if (thread + i) % 3 == number)
        key = ("file.kinds-seen", (("kind", kind),))
        equal(deltas[key], wanted, f"deltas of {kind!r}")
        equal(last[key]["value"], wanted, kind)
    key = ("file.message-size", ())
    equal(deltas[key], threads * times)
    equal(sums[key], threads * sum(i % 100 * 1000 for i in range(times)))
    equal(last[key]["sum"], sums[key])
    work = ("file.work-time", (("outcome", "error"),))
    equal(deltas[work], threads * sum(1 for i in range(times) if i % 10 == 0))
    equal(last[("file.level", ())]["value"], -7.25)
    equal(last[("file.queue-length", ())]["value"], threads * (times % 2))
    equal(last[("file.way.stage", (("stage", "read"),))]["count"], threads * times)


def start(place, path, *options):
    program = Program(place, "textfile_program", ",".join(
        ["service=rnode,interval=100ms,jitter=0,json.timeout=30s", f"json={path}", *options]))
    equal(program.begun.strip(), "OK")
    wait_for("the file, which the first report makes", path.exists)
    return program


def rotated_files_have_every_delta(place):
    path = place.folder / "metrics.jsonl"
    program = start(place, path, "resource.zone=caf\u00e9")
    parts = []
    for number in range(4):
        program.do("record 4 250")
        parts.append(path.rename(place.folder / f"metrics.jsonl.{number}"))
        # as logrotate does
        wait_for("a new file", path.exists)
    program.do("stop")
    lines = [line for part in [*parts, path] for line in read(part)]
    check_rounds(lines, 4)
    equal(lines[-1]["final"], True)
    equal(lines[0]["resource"]["zone"], "café")
    numbers = [line["report"] for line in lines]
    equal(sorted(set(numbers)), list(range(1, numbers[-1] + 1)), "numbers of reports")
    equal(numbers, sorted(numbers), "order")


def check_rounds(lines, rounds):
    """As many `record 4 250`: each the same, so a part of every delta is each's."""
    deltas = collections.Counter()
    for line in lines:
        deltas[identity(line)] += line.get("delta", 0)
    equal(deltas[("file.message-size", ())], rounds * 1000)
    for number, kind in enumerate(KINDS):
        wanted = rounds * sum(2 for thread in range(4) for i in range(250)
                              if (thread + i) % 3 == number)
        equal(deltas[("file.kinds-seen", (("kind", kind),))], wanted, kind)


def one_run_has_the_totals(place):
    path = place.folder / "metrics.jsonl"
    program = start(place, path)
    program.do("record 8 501")
    wait_for("windows, which a tick fills", lambda: re.search(
        rb'"metric":"file\.way".*"slowest":"\d+:\d+"', path.read_bytes()))
    wait_for("another report", lambda size=path.stat().st_size: path.stat().st_size > size)
    program.do("stop")
    lines = read(path)
    check_totals(lines, 8, 501)
    windows = [line["windows"] for line in lines if line["metric"] == "file.work-time"
               and "windows" in line]
    if not windows or "1m" not in windows[-1]:
        raise Failure(f"windows: {windows}")
    ways = [line for line in lines if line["metric"] == "file.way" and "windows" in line
            and line["labels"]["outcome"] == "ok"]
    if not any(re.fullmatch(r"\d+:\d+", way["windows"]["1m"].get("slowest", "")) for way in ways):
        raise Failure(f"no slowest operation: {ways[-1]}")


def a_limit_tears_no_line(place):
    path = place.folder / "metrics.jsonl"
    program = start(place, path)
    program.do("record 4 250")
    wait_for("a report", lambda: path.stat().st_size > 0)
    pid = program.process.pid
    hard = resource.prlimit(pid, resource.RLIMIT_FSIZE)[1]
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (path.stat().st_size + 2000, hard))
    wait_for("the bad news", lambda: "File too large" in program.do("log"))
    program.do("record 4 250")
    # while a report is being tried, what it has written so far is there
    holds_at_last(lambda: read(path))
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (hard, hard))
    wait_for("the good news", lambda: "reports again" in program.do("log"))
    program.do("stop")
    check_rounds(read(path), 2)


def standard_output_is_shared(place):
    """Answers of the program and lines of ours on one pipe: none inside another."""
    result = subprocess.run(
        [harness.BUILD / "tests/programs/textfile_program", "interval=100ms,jitter=0,json=-"],
        input="record 2 100\n" * 50 + "stop\n", text=True, encoding="utf-8", capture_output=True,
        timeout=harness.ANSWER_S, check=False)
    equal((result.returncode, result.stderr), (0, ""))
    lines = result.stdout.splitlines()
    equal(sum(1 for line in lines if line.strip() == "OK"), 52)
    objects = [check(json.loads(line)) for line in lines if line.strip() != "OK"]
    values = [line["value"] for line in objects if line["metric"] == "file.kinds-seen"
              and line["labels"]["kind"] == "plain"]
    equal(values[-1], 50 * sum(2 for thread in range(2) for i in range(100)
                               if (thread + i) % 3 == 0))


harness.main([rotated_files_have_every_delta, one_run_has_the_totals, a_limit_tears_no_line,
              standard_output_is_shared], servers=())
