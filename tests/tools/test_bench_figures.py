# SPDX-License-Identifier: Apache-2.0
"""Figures of the benchmarks: statistics, rows and their targets, and the table, to the letter."""

import difflib
import io
import math
import os
import statistics

import benchlib
import toolslib
from toolslib import contains, equal

import bench_machine
import bench_results
import bench_rounds
import bench_rows
import bench_sides
import bench_stats
import bench_table

TABLE = toolslib.ROOT / "tests/golden/bench_table.txt"


def entry(*runs, unit="ns", overlap=1.0):
    return {"unit": unit, "side": "crest", "runs": [list(run) for run in runs], "disturbed": 0,
            "overlap_least": overlap}


def takes_the_median_of_the_runs_medians(_):
    runs = [[1, 2, 9], [3, None, 5], [None, None, None], [10, 10, 10]]
    equal(bench_stats.medians(runs), [2, 4, 10], "medians of runs that have samples")
    equal(bench_stats.spread(runs), {"median": 4, "min": 1, "max": 10}, "spread")
    equal(bench_stats.spread([[None], []]), None, "without a sample")


def compares_within_rounds_only(_):
    mine, other = [[1, 2, None], [4, 8]], [[2, None, 3], [2, 2]]
    equal(bench_stats.ratios(mine, other), [[0.5], [2, 4]], "ratios")
    equal(bench_stats.differences(mine, other), [[-1], [2, 6]], "differences")
    equal(bench_stats.ratios([[1]], [[0]]), [[]], "beside nothing")


def knows_how_sure_a_mean_is(_):
    # ten yields of a textbook's example: mean 5.021, s 0.0208…, 95 % half-width 2.262 s / sqrt 10
    values = [5.01, 5.02, 5.04, 5.0, 5.03, 5.06, 5.0, 5.01, 5.02, 5.02]
    found = bench_stats.mean_interval([[value] for value in values])
    half = 2.262 * statistics.stdev(values) / math.sqrt(10)
    for key, wanted in (("mean", 5.021), ("low", 5.021 - half), ("high", 5.021 + half)):
        if not math.isclose(found[key], wanted, rel_tol=1e-12):
            raise toolslib.Failure(f"{key}: {found[key]} instead of {wanted}")
    equal(bench_stats.mean_interval([[1, 2, 3]]), {"mean": 2, "low": None, "high": None, "runs": 1})
    equal(bench_stats.mean_interval([[None]]), None, "without a sample")
    equal(len(bench_stats.STUDENT_95), 30, "points of t")


def judges_each_kind_of_target(_):
    benchmarks = {"crest/a/hot/1": entry([1, 2, 3]), "peer/a/hot/1": entry([2, 4, 6])}
    for kind, value, found, part, met in (
            ("ratio", 0.5, 0.5, 1.0, True), ("ratio", 0.4, 0.5, 1.25, False),
            ("over", 1, -2, 0, True), ("value", 4, 2, 0.5, True), ("value", 1, 2, 2, False),
            ("faster", 2, 2, 1, True), ("faster", 4, 2, 2, False)):
        target = {"id": "crest/a/hot/1", kind: value}
        if kind != "value":
            target["against"] = "peer/a/hot/1"
        rows = bench_rows.make_rows(benchmarks, [target])
        row = next(row for row in rows if "target" in row)
        equal((row["found"], round(row["part"], 9), row["met"]), (found, part, met),
              f"{kind} {value}")


def tells_of_rows_whose_threads_were_apart(_):
    for overlap, wanted in ((0.95, None), (0.94, True)):
        benchmarks = {"crest/a/hot/2-same": entry([1]),
                      "peer/a/hot/2-same": entry([3], overlap=overlap)}
        target = {"id": "crest/a/hot/2-same", "against": "peer/a/hot/2-same", "faster": 2}
        rows = bench_rows.make_rows(benchmarks, [target])
        row = next(row for row in rows if "target" in row)
        equal(row.get("disturbed"), wanted, f"overlap {overlap}")
        equal(list(bench_table.target_lines(rows))[-1].endswith("met, disturbed"), bool(wanted))


def refuses_targets_that_are_none(place):
    for target in ({"id": "crest/a/hot/1"}, {"id": "crest/a/hot", "value": 1},
                   {"id": "crest/a/hot/1", "ratio": 1}, {"id": "crest/a/hot/0", "value": 1},
                   {"id": "crest/a/hot/1", "value": 1, "against": "limit/a/hot/1"},
                   {"id": "crest/a/hot/1", "against": "limit/a/hot/1", "ratio": 1, "over": 1},
                   {"id": "crest/a/hot/1", "against": "limit/a/hot/1", "atmost": 1}):
        benchlib.write(place / "targets.json", [target])
        try:
            bench_rows.read_targets(place / "targets.json")
        except ValueError as why:
            contains(str(why), "is no target")
        else:
            raise toolslib.Failure(f"{target} was taken for a target")


def results():
    benchmarks = {
        "crest/counter/hot/1": entry([0.4, 0.5, 0.8], [0.5, 0.5, 0.5]),
        "limit/lock-xadd/hot/1": entry([1, 2, 4], [2, 2, 2]),
        "rust-prometheus/counter/hot/1": entry([0.8, 1.0, 1.6], [1, 1, 1]),
        "crest/gauge/hot/1": entry([3.0, 3.0, 3.0]),
        "limit/store-double/hot/1": entry([2.5, 2.0, 3.0]),
        "crest/timer/hot/1": entry([29.0, 30.0, 28.0]),
        "crest/memory/1000/1": entry([1234, None, None], unit="B"),
    }
    targets = [
        {"id": "crest/counter/hot/1", "against": "limit/lock-xadd/hot/1", "ratio": 0.3},
        {"id": "crest/counter/hot/1", "against": "rust-prometheus/counter/hot/1", "faster": 2.5},
        {"id": "crest/gauge/hot/1", "against": "limit/store-double/hot/1", "over": 0.4},
        {"id": "crest/memory/1000/1", "value": 1000},
        {"id": "crest/timer/hot/1", "against": "go-client/timer/hot/1", "faster": 3},
    ]
    return {
        "format": 1, "commit": "0123456789abcdef", "dirty": True, "seconds": 12.3,
        "interrupted": False,
        "profile_name": "base", "overlays": ["quick"], "defaults": "of 2020-01-01",
        "machine": {"processor": "A processor", "family": "6/1", "processors": "2",
                    "virtual": "no", "kernel": "6.1", "compiler": "gcc 12", "libc": "glibc 2.36",
                    "clock": "tsc", "tick_hz": "250", "governor": "performance",
                    "counters": "no hardware counters: the processor shows none"},
        "load": bench_machine.judge_load(0.5, 1.5, 2, 0.3, 0.1),
        "sides": {"crest": {"state": "run"}, "go": {"state": "skipped", "why": "no compiler"}},
        "missing": {"crest/counter/hot/4-same": "2 processors"}, "benchmarks": benchmarks,
        "checks": {"compared": 10, "wrong": [{"side": "crest", "check": "counts", "found": 1,
                                              "asked": 2}]},
        "rows": bench_rows.make_rows(
            benchmarks, targets,
            lambda name: "go was skipped: no compiler" if name.startswith("go") else "no side")}


def prints_the_table(_):
    found = bench_table.table(results())
    wanted = TABLE.read_text(encoding="utf-8")
    if found != wanted:
        difference = "\n".join(difflib.unified_diff(wanted.split("\n"), found.split("\n"),
                                                    TABLE.name, "found", lineterm=""))
        raise toolslib.Failure(f"the table is another:\n{difference}")


def folds_the_table_for_a_narrow_terminal(_):
    whole = bench_table.table(results())
    for width in (60, 80, 200):
        found = bench_table.table(results(), width=width)
        equal([line for line in found.split("\n") if len(line) > width], [], f"above {width}")
        equal(found.split(), whole.split(), f"words at {width} columns")
    equal(bench_table.table(results(), width=200), whole, "where there is room")
    equal(list(bench_table.folded("w" * 70, 60)), ["w" * 70], "a word that is longer")
    red = bench_table.table(results(), colour=True, width=60).split("\n")
    equal([line for line in red if (bench_table.RED in line) != (bench_table.PLAIN in line)], [])
    narrow = io.StringIO()
    narrow.isatty = lambda: True
    progress = bench_rounds.Progress(5, 5, narrow)
    member = bench_rounds.Member(FakeSide("prometheus-cpp-and-more"), "without")
    os.environ["COLUMNS"] = "60"
    progress.show(0, 0, member, [member])
    del os.environ["COLUMNS"]
    equal(len(narrow.getvalue().lstrip("\r")) < 60, True, narrow.getvalue())


def knows_whose_commit_it_is(place):
    commit = "-c user.name=a -c user.email=a@b commit -qm one".split()
    for command in (["init", "-q"], [*commit, "--allow-empty"]):
        toolslib.command(["git", *command], cwd=place)
    (place / "copy/bench/runner").mkdir(parents=True)
    (place / "copy/bench/runner/bench.py").write_text("")
    root, bench_sides.ROOT = bench_sides.ROOT, place / "copy"
    try:
        found = bench_machine.describe_source()
        equal((found["commit"], found["dirty"]), ("unknown", False), "of a copy that is no part")
        toolslib.command(["git", "add", "copy"], cwd=place)
        toolslib.command(["git", *commit], cwd=place)
        (place / "elsewhere").write_text("")
        found = bench_machine.describe_source()
        equal((len(found["commit"]), found["dirty"]), (40, False), "of a part")
        (place / "copy/bench/runner/bench.py").write_text("changed")
        equal(bench_machine.describe_source()["dirty"], True, "of a part that was changed")
    finally:
        bench_sides.ROOT = root


def says_when_the_machine_was_busy(_):
    equal(bench_machine.judge_load(9, 9, 2, 0.04, 0.9)["busy"], "", "at rest")
    equal(bench_machine.judge_load(0, 0, 2, 0.06, 1.5)["busy"],
          "The machine was busy: other programs took 0.06 of 2 processors, 1.5 % of the time went "
          "to other virtual machines.", "busy")


def says_when_the_limits_differed_from_run_to_run(_):
    def judged(busy, *medians, name="limit/lock-xadd/hot/1"):
        return bench_machine.judge_limits({"busy": busy}, {
            name: {"runs": [[one, one, None] for one in medians] + [[None]]},
            "crest/counter/hot/1": {"runs": [[1], [5], [9]]}})

    equal(judged("", 98, 100, 102), {"busy": "", "limits_variation_percent": 2.0}, "at rest")
    equal(judged("Busy.", 90, 100, 110), {
        "busy": "Busy. The machine's own limits differed by 10.0 % from run to run, as on a busy "
                "host.", "limits_variation_percent": 10.0}, "beside a busy neighbour")
    for quiet in (judged("", 90, 110), judged("", 0, 0, 0),
                  judged("", 1, 5, 9, name="limit/lock-xadd/hot/2-same")):
        equal(quiet, {"busy": ""}, "what cannot be judged")


def reads_back_what_it_writes(place):
    path = place / "results.json"
    bench_results.write_whole(path, bench_results.text_of(results()))
    equal(bench_results.read_results(path), results(), "results")
    for text, words in (("", "no JSON"), ("[]", "no results file"), ("{}", "no results file"),
                        ('{"benchmarks": {}, "format": 9}', "the format 9")):
        path.write_text(text)
        try:
            bench_results.read_results(path)
        except bench_results.Unreadable as why:
            contains(str(why), words)
        else:
            raise toolslib.Failure(f"{text!r} was read")


class FakeSide:
    def __init__(self, name, **hello):
        self.name, self.hello = name, hello
        self.takes_part = bench_sides.Side.takes_part.__get__(self)


def tells_how_long_it_takes(_):
    members = [bench_rounds.Member(FakeSide("a"), ""), bench_rounds.Member(FakeSide("b"), ""),
               bench_rounds.Member(FakeSide("c", rounds=1), "")]
    progress = bench_rounds.Progress(2, 3)
    equal(progress.left(0, 0, members[0], members), 0, "before anything is known")
    progress.took = {"a": 1, "b": 2, "c": 10}
    equal(progress.left(1, 3, members[0], members), 1 + 2, "the last round")
    equal(progress.left(1, 3, members[1], members), 2, "the last side's part of it")
    equal(progress.left(0, 0, members[0], members), 2 * (4 * 1 + 4 * 2 + 2 * 10), "all")


toolslib.main([takes_the_median_of_the_runs_medians, compares_within_rounds_only,
               knows_how_sure_a_mean_is, judges_each_kind_of_target,
               tells_of_rows_whose_threads_were_apart,
               refuses_targets_that_are_none, prints_the_table,
               folds_the_table_for_a_narrow_terminal, knows_whose_commit_it_is,
               says_when_the_machine_was_busy,
               says_when_the_limits_differed_from_run_to_run,
               reads_back_what_it_writes, tells_how_long_it_takes])
