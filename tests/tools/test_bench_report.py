#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# crest-test: timeout=300 slow
"""`make bench-report`: the page, the comparison of two results files, and what is said of files
that are no results."""

import json
import os
import re
import shutil
import sys

import results_fixture
import toolslib
from results_fixture import changed, write
from toolslib import ROOT, Failure, Skip, contains, equal, lacks

sys.path.insert(0, str(ROOT / "bench/report"))
import gnuplot_charts  # noqa: E402 (found only now)

REPORT = ROOT / "bench/report/bench_report.py"
SAMPLE = "crest/counter/hot/1"


def report(place, *arguments, status=0, **options):
    return toolslib.command([sys.executable, "-B", REPORT, *arguments, "--output", place / "page"],
                            status, **options)


def page(place):
    return (place / "page/index.html").read_text(encoding="utf-8")


def drawing(place):
    """An environment in which nothing is found but the programs of `place`."""
    return dict(os.environ, PATH=str(place))


def without_a_clear_word(said):
    return "Traceback" in said or not said.strip()


def shows_all_of_a_results_file(place):
    if not shutil.which("gnuplot"):
        raise Skip("gnuplot is not installed")
    path = write(place / "results.json", results_fixture.results())
    contains(report(place, path), "the page:")
    html, text = page(place), (place / "page/report.md").read_text(encoding="utf-8")
    for part in ("Fixture Xeon", "0.fixture", "2 of 4 targets met, 1 missed, 1 not measured",
                 "not measured: go is not installed", "there are 4 processors",
                 "9 totals were compared with what was asked, none of them wrong"):
        contains(html, part, "index.html")
        contains(text, part, "report.md")
    contains(html, '<span class="MISSED">MISSED</span>', "index.html")
    for name in ("counter-hot", "threads-counter", "random-counter", "size-page-counters",
                 "size-memory-b-0", "size-start-ms-0", "sizes-ns", "targets"):
        svg = (place / f"page/charts/{name}.svg").read_text(encoding="utf-8")
        contains(svg, "</svg>", name)
        contains(text, f"charts/{name}.svg", "report.md")
    equal(html.count("data:image/svg+xml;base64,"),
          len(list((place / "page/charts").iterdir())), "pictures in the page")
    if re.search(r'(src|href)="(?!data:)', html):
        raise Failure("the page needs other files")


def draws_bars_for_two_counts_of_threads(place):
    if not shutil.which("gnuplot"):
        raise Skip("gnuplot is not installed")
    path = write(place / "results.json", results_fixture.results(threads=(2,)))
    report(place, path, "--png")
    svg = (place / "page/charts/threads-counter.svg").read_text(encoding="utf-8")
    contains(svg, "Crest, 2 threads, same", "chart of threads")
    equal((place / "page/charts/threads-counter.png").read_bytes()[:4], b"\x89PNG", "PNG")


def cuts_no_label(_):
    for letters in (5, 50, 64):
        label = "n" * letters
        chart = gnuplot_charts.bars("n", "t", "ns", [
            gnuplot_charts.Bar(label, "#1f5fbf", 1.0, 0.9, 1.1, "25,587 ns (16,098-29,522)")])
        margin = float(re.search(r"set lmargin at screen (\S+)", chart.commands)[1])
        if margin * gnuplot_charts.WIDTH < gnuplot_charts.LETTER_PX * letters:
            raise Failure(f"{letters} letters are cut: {margin * gnuplot_charts.WIDTH:.0f} pixels")


def keeps_the_scale_beside_noise_around_nothing(_):
    points = [(1, 14000.0, 13000.0, 15000.0), (1000, 20.0, 0.0, 24.0)]
    gauge = [(1, -60.0, -150.0, 70.0), (1000, 1.5, 1.2, 2.0)]
    drawn = [gnuplot_charts.Line(name, "#1f5fbf", points) for name in "abc"]
    chart = gnuplot_charts.lines("n", "t", "series", "ns", [
        *drawn, gnuplot_charts.Line("d", "#1f5fbf", gauge)])
    contains(chart.commands, "set logscale y")
    contains(chart.words, "d: 1 -60.0, 1,000 1.50", "what is said of it")
    equal(re.findall(r"^1 -.*$", chart.commands, re.M), [], "points below the axis")
    rows = [gnuplot_charts.Bar(name, "#1f5fbf", value, low, value * 2)
            for name, value, low in (("a", 8.0, 0.0), ("b", 900.0, 800.0))]
    contains(gnuplot_charts.bars("n", "t", "ns", rows).commands, "set logscale x")
    chart = gnuplot_charts.lines("n", "t", "series", "B", [
        gnuplot_charts.Line("a", "#1f5fbf", [(0, 0.0, 0.0, 0.0), (1, 9.0, 9.0, 9.0)]),
        gnuplot_charts.Line("b", "#1f5fbf", [(0, 500.0, 500.0, 500.0), (1000, 0.0, 0.0, 0.0)])])
    equal("logscale y" in chart.commands, False, "a logarithmic scale of what is nothing")
    contains(chart.commands, 'set xtics ("0" 0, "1,000" 1000)')


def does_without_gnuplot(place):
    path = write(place / "results.json", results_fixture.results())
    said = report(place, path, env=drawing(place))
    for text in (said, page(place)):
        contains(text, "gnuplot is not installed (Debian: apt-get install gnuplot-nox)")
    contains(page(place), "2.06", "the tables")
    equal(list((place / "page/charts").iterdir()), [], "charts")


def tells_what_gnuplot_fails_at(place):
    (place / "gnuplot").write_text("#!/bin/sh\necho 'line 0: no luck' >&2\nexit 1\n")
    (place / "gnuplot").chmod(0o755)
    path = write(place / "results.json", results_fixture.results())
    contains(report(place, path, env=dict(os.environ, PATH=f"{place}:{os.environ['PATH']}")),
             "line 0: no luck")


def escapes_what_it_shows(place):
    data = results_fixture.results()
    data["machine"]["processor"] = "<script>&|"
    data["benchmarks"]['x"<b>/y`"\\/hot/1'] = data["benchmarks"][SAMPLE]
    report(place, write(place / "results.json", data))
    if "<script>" in page(place) or "<b>" in page(place):
        raise Failure("what is in the file is HTML in the page")


def warns_on_the_page(place):
    data = results_fixture.results()
    data["load"]["busy"] = "The load was 9."
    data["dirty"] = True
    data["sides"]["rust"] = {"state": "failed", "why": "it died"}
    data["checks"]["wrong"] = [{"side": "crest", "check": "counts", "found": 1, "asked": 2}]
    report(place, write(place / "results.json", data), env=drawing(place))
    for words in ("busy: The load was 9.", "uncommitted changes", "The side rust failed: it died",
                  "WRONG TOTAL of crest: counts found 1, asked 2"):
        contains(page(place), words)


def finds_no_change_in_the_same_file(place):
    path = write(place / "results.json", results_fixture.results())
    said = report(place, path, path, "--fail-above", "0", env=drawing(place))
    contains(said, "; 0 of them differ at p < 0.05, 0 for the worse")
    contains(said, "p=1.000 n=5+5")
    if "WARNING" in said:
        raise Failure(f"a warning about equal files:\n{said}")


def finds_what_got_worse(place):
    old = write(place / "old.json", results_fixture.results(1))
    new = write(place / "new.json", results_fixture.results(2, times=1.5))
    said = report(place, new, old, "--fail-above", "20", status=1, env=drawing(place))
    counter = next(line for line in said.splitlines() if line.startswith(SAMPLE + " "))
    for part in ("worse", "p=0.008 n=5+5", "+5", "±"):
        contains(counter, part)
    contains(said, f"more than 20 %: {SAMPLE}")
    contains(said, "geometric mean of")
    contains(said, "By chance alone up to")
    contains(page(place), "Compared with earlier results")
    report(place, new, old, "--fail-above", "80", env=drawing(place))
    better = report(place, old, new, "--fail-above", "0", env=drawing(place))
    contains(next(line for line in better.splitlines() if line.startswith(SAMPLE + " ")), "better")


def takes_more_of_a_rate_for_better(place):
    data = results_fixture.results()
    data["benchmarks"][SAMPLE]["unit"] = "blocks/s"
    faster = results_fixture.results(times=2)
    faster["benchmarks"][SAMPLE]["unit"] = "blocks/s"
    said = report(place, write(place / "new.json", faster), write(place / "old.json", data),
                  env=drawing(place))
    contains(next(line for line in said.splitlines() if line.startswith(SAMPLE + " ")), "better")


def needs_five_runs(place):
    old = write(place / "old.json", results_fixture.results(1))
    new = write(place / "new.json", results_fixture.results(2, times=9, runs=4))
    said = report(place, new, old, "--fail-above", "1", env=drawing(place))
    contains(said, "not enough runs: 4, 5 are needed")
    contains(said, "0 of 110 benchmarks could be tested")


def tells_noise_by_its_tilde(place):
    data = results_fixture.results()
    other = json.loads(json.dumps(data))
    data["benchmarks"][SAMPLE]["runs"] = [[value] for value in (1, 2, 3, 4, 5)]
    other["benchmarks"][SAMPLE]["runs"] = [[value] for value in (2.5, 2.6, 3.5, 4.5, 6)]
    said = report(place, write(place / "new.json", other), write(place / "old.json", data),
                  env=drawing(place))
    contains(next(line for line in said.splitlines() if line.startswith(SAMPLE + " ")), "~")


def compares_what_does_not_vary(place):
    data = results_fixture.results()
    data["benchmarks"][SAMPLE]["runs"] = [[2.0]] * 5
    other = json.loads(json.dumps(data))
    data["benchmarks"]["crest/gauge/hot/1"]["runs"] = [[0.0]] * 5
    other["benchmarks"][SAMPLE]["runs"] = [[3.0]] * 5
    other["benchmarks"]["crest/gauge/hot/1"]["runs"] = [[1.0]] * 5
    said = report(place, write(place / "new.json", other), write(place / "old.json", data),
                  "--fail-above", "40", status=1, env=drawing(place))
    line = next(line for line in said.splitlines() if line.startswith(SAMPLE + " "))
    for part in ("± 0.0 %", "+50.0 %", "p=0.008"):
        contains(line, part)
    contains(said, "crest/gauge/hot/1")
    write(place / "zero.json", changed(data, benchmarks={
        "crest/a/hot/1": {"unit": "ns", "runs": [[0.0]] * 5},
        "limit/b/hot/1": {"unit": "ns", "runs": [[-1.0], [2.0]]}}))
    report(place, place / "zero.json", place / "zero.json")


def says_which_are_in_one_file_only(place):
    old, new = results_fixture.results(1), results_fixture.results(2)
    del new["benchmarks"][SAMPLE]
    del old["benchmarks"]["crest/gauge/hot/1"]
    said = report(place, write(place / "new.json", new), write(place / "old.json", old),
                  env=drawing(place))
    contains(said, f"1 only in the old results: {SAMPLE}.")
    contains(said, "1 only in the new results: crest/gauge/hot/1.")


def warns_of_what_differs_besides(place):
    old, new = results_fixture.results(1), results_fixture.results(2)
    new["machine"]["kernel"] = "another"
    new["profile"]["metrics"] = 7
    new["load"]["busy"] = "The load was 9."
    old["flags"], new["flags"] = "gcc g++ -O2", "gcc g++ -O0"
    new["benchmarks"][SAMPLE]["unit"] = "ms"
    said = report(place, write(place / "new.json", new), write(place / "old.json", old),
                  env=drawing(place))
    for words in ("WARNING: These are not of one machine as it was",
                  "kernel: 0.fixture and another", "They did not do the same work",
                  "They were not built alike. Old: gcc g++ -O2. New: gcc g++ -O0.",
                  "metrics: 1000 and 7", "Of the new run: The load was 9.",
                  "the units differ: ns and ms"):
        contains(said, words)
    new = changed(results_fixture.results(2), inputs={"values.i64": "1"})
    contains(report(place, write(place / "new.json", new), place / "old.json", env=drawing(place)),
             "different inputs, by the checksums of values.i64.")
    # of runs alone: what a sample is does not depend on how many there are
    new["inputs"], new["profile"]["rounds"] = {"values.i64": "0", "workload.txt": "1"}, 9
    said = report(place, write(place / "new.json", new), place / "old.json", env=drawing(place))
    equal("WARNING" in said, False, f"a warning in\n{said}")


def tells_a_slower_machine_from_slower_code(place):
    old = write(place / "old.json", results_fixture.results(1))
    data = results_fixture.results(2, times=3)
    lacks(report(place, write(place / "new.json", data), old, env=drawing(place)),
          "The machine itself")
    for name, entry in data["benchmarks"].items():
        if name.startswith("limit/"):
            entry["runs"] = [[1.5 * value for value in run] for run in entry["runs"]]
    said = report(place, write(place / "new.json", data), old, env=drawing(place))
    contains(said, f"WARNING: The machine itself was slower: the {len(results_fixture.LIMITS)} "
                   "benchmarks limit/…")
    contains(said, "took 1.5")
    contains(report(place, old, place / "new.json", env=drawing(place)),
             "The machine itself was faster")


def prints_in_any_locale(place):
    old, new = results_fixture.results(1), results_fixture.results(2)
    new["machine"]["kernel"] = "another …"
    said = report(place, write(place / "new.json", new), write(place / "old.json", old),
                  env=dict(drawing(place), PYTHONIOENCODING="ascii"))
    contains(said, "0.fixture and another ?")


def leaves_out_what_is_no_number(place):
    data = results_fixture.results()
    data["benchmarks"][SAMPLE]["runs"][0][1] = float("nan")
    data["benchmarks"][SAMPLE]["runs"][1][0] = float("inf")
    data["benchmarks"][SAMPLE]["runs"][2] = [None, None]
    data["benchmarks"]["crest/gauge/hot/1"]["runs"] = [[None], []]
    path = write(place / "results.json", data)
    report(place, path, env=drawing(place))
    contains(page(place), f"2 samples are no finite numbers and are left out, of {SAMPLE}.")
    contains(page(place), "Without a sample: crest/gauge/hot/1.")


def refuses_what_are_no_results(place):
    good = results_fixture.results()
    one = {"unit": "ns"}
    bad = {
        "empty": ("", "no JSON"), "garbage": ("\0\1{]", "no JSON"),
        "list": ("[1]", "no results file"),
        "deep": ("[" * 100000, "no JSON"), "latin": ("\udcff", "no JSON"),
        "foreign": ('{"context": {}, "benchmarks": []}', "has the format None"),
        "first": ('{"runs": [], "checks": []}', "it has no benchmarks"),
        "later": (json.dumps(changed(good, format=2)), "has the format 2; this program reads 1"),
        "nothing": (json.dumps(changed(good, benchmarks={})), "not one benchmark"),
        "none": (json.dumps(changed(good, benchmarks=None)), "it has no benchmarks"),
        "array": (json.dumps(changed(good, benchmarks=[1])), "`benchmarks` is no dict"),
        "runless": (json.dumps(changed(good, benchmarks={"a/b/hot/1": one})), "no list of runs"),
        "flat": (json.dumps(changed(good, benchmarks={"a/b/hot/1": {**one, "runs": [1]}})),
                 "a run is a list"),
        "worded": (json.dumps(changed(good, benchmarks={"a/b/hot/1": {**one, "runs": [["x"]]}})),
                   "a sample is a number or null"),
        "sampleless": (json.dumps(changed(good, benchmarks={"a/b/hot/1": {**one, "runs": [[]]}})),
                       "not one of its benchmarks has a sample"),
        "rows": (json.dumps(changed(good, rows=[1])), "a row of the table has no id"),
        "machine": (json.dumps(changed(good, machine="fast")), "`machine` is no dict"),
        "overlays": (json.dumps(changed(good, overlays=True)), "`overlays` is no list of names"),
        "metrics": (json.dumps(changed(good, profile={"metrics": "many"})),
                    "the profile's `metrics` is no number: 'many'"),
    }
    fine = write(place / "fine.json", good)
    for name, (text, words) in bad.items():
        path = place / f"{name}.json"
        path.write_bytes(text.encode("utf-8", "surrogateescape"))
        for arguments in ([path], [fine, path]):
            said = report(place, *arguments, status=2)
            contains(said, words, name)
            contains(said, str(path), name)
            if without_a_clear_word(said):
                raise Failure(f"{name}: {said}")
    for path in (place / "there is none.json", place):
        contains(report(place, path, status=2), str(path))
    contains(report(place, place / "there is none.json", status=2), "`make bench` writes one")


def refuses_what_cannot_be_asked(place):
    path = write(place / "results.json", results_fixture.results())
    contains(report(place, path, "--fail-above", "5", status=2), "needs earlier results")
    for percent in ("-1", "nan", "much"):
        report(place, path, path, "--fail-above", percent, status=2)
    (place / "page").write_text("a file")
    said = report(place, path, status=2)
    contains(said, "the page cannot be written")


def survives_what_is_missing(place):
    """Everything but what is required may be absent or odd."""
    data = {"format": 1, "benchmarks": {
        "odd": {"runs": [[1.0]]}, "crest/counter/hot/1": {"runs": [[1, 2], [None]]},
        "crest/page/5/1": {"runs": [[5.0]], "overlap_least": None, "disturbed": None}},
        "rows": [{"id": "x", "target": {"kind": "new", "text": "as ever"}, "found": "?"},
                 {"id": "y", "target": 5}, {"id": "z", "cost": 3, "ratio": {"median": 1}}],
        "sides": {"crest": None}, "load": None, "twin": {"rows": [{"id": "a"}]}}
    report(place, write(place / "results.json", data))
    contains(page(place), "as ever")


toolslib.main([
    shows_all_of_a_results_file, draws_bars_for_two_counts_of_threads, cuts_no_label,
    keeps_the_scale_beside_noise_around_nothing, does_without_gnuplot,
    tells_what_gnuplot_fails_at, escapes_what_it_shows, warns_on_the_page,
    finds_no_change_in_the_same_file, finds_what_got_worse, takes_more_of_a_rate_for_better,
    needs_five_runs, tells_noise_by_its_tilde, compares_what_does_not_vary,
    says_which_are_in_one_file_only, warns_of_what_differs_besides, prints_in_any_locale,
    tells_a_slower_machine_from_slower_code, leaves_out_what_is_no_number,
    refuses_what_are_no_results, refuses_what_cannot_be_asked, survives_what_is_missing])
