#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`make bench-readme`: figures of pages from a results file, which is kept."""

import json
import os
import sys

import results_fixture
import toolslib
from results_fixture import changed, write
from toolslib import ROOT, Failure, contains, equal

README = ("# A page\n\n<!-- figures: bench/results/old.json {} -->\nold\n<!-- end of figures -->\n"
          "\nMore.\n")
KEPT = "bench/results/2001-02-03-xeon.json"


def figures(place, *arguments, status=0):
    return toolslib.command(
        [sys.executable, "-B", ROOT / "bench/report/readme_figures.py", *arguments], status,
        env=dict(os.environ, CREST_ROOT=str(place)))


def check(place, status):
    return toolslib.command([sys.executable, "-B", ROOT / "tests/checks/check_figures.py"], status,
                            env=dict(os.environ, CREST_ROOT=str(place)))


def tree(place, table="short", data=None):
    """A tree with a page and results outside of those that are kept; the page and the results."""
    (place / "README.md").write_text(README.format(table), encoding="utf-8")
    return place / "README.md", write(place / "build/bench/results.json",
                                      data or results_fixture.results())


def keeps_results_and_writes_their_figures(place):
    page, results = tree(place)
    contains(figures(place, results), f"README.md: figures of {KEPT}")
    text = page.read_text(encoding="utf-8")
    for part in (f"<!-- figures: {KEPT} short -->", "| counter increment | 2.0", "lock xadd",
                 "at most 0.3 × | met |", "at most 0.5 × | **MISSED** |", "Fixture Xeon, 2 process",
                 "kernel 0.fixture; gcc 0; glibc 0", "Load 0.1 before, 0.2 after", f"`{KEPT}`",
                 "# A page", "More."):
        contains(text, part, "page")
    check(place, 0)
    figures(place, place / KEPT)
    equal(page.read_text(encoding="utf-8"), text, "the page of the kept results")
    contains(figures(place, KEPT), KEPT, "a path from the root")
    (place / KEPT).write_text((place / KEPT).read_text().replace('"met":true', '"met":false'))
    contains(check(place, 1), "FAIL figures of pages are those")


def writes_each_table(place):
    for table, part in (
            ("targets", "at least 5 × faster"),
            ("targets", "not measured: go is not installed"), ("crest", "| limit | `lock-xadd` |"),
            ("peers", "| median, ns | Crest | Crest, exported symbol | prometheus-cpp")):
        page, results = tree(place, table)
        figures(place, results)
        contains(page.read_text(encoding="utf-8"), part, table)
        check(place, 0)


def rounds_what_it_keeps(place):
    data = results_fixture.results()
    data["benchmarks"]["crest/gauge/hot/1"]["runs"][0][0] = 1.23456789
    data["rows"].append({"id": "crest/gauge/hot/1", "cost": {"median": 1, "min": 1, "max": 1}})
    _, results = tree(place, data=data)
    figures(place, results)
    kept = json.loads((place / KEPT).read_text(encoding="utf-8"))
    equal(kept["benchmarks"]["crest/gauge/hot/1"]["runs"][0][0], 1.2346, "a sample")
    equal([row["id"] for row in kept["rows"]], [row["id"] for row in data["rows"][:-1]], "rows")
    equal(len(kept["benchmarks"]), len(data["benchmarks"]), "benchmarks")


def condenses_what_is_too_large(place):
    data = results_fixture.results()
    entry = {"unit": "ns", "side": "fixture", "runs": [[5.5, 1.5, 3.5, 4.5, None, 2.5, 9.5]] * 5}
    data["benchmarks"].update({f"crest/made-up-{number}/hot/1": entry for number in range(1500)})
    page, results = tree(place, data=data)
    before = figures(place, results) and page.read_text(encoding="utf-8")
    kept = json.loads((place / KEPT).read_text(encoding="utf-8"))
    equal(kept["benchmarks"]["crest/made-up-7/hot/1"]["runs"][0], [1.5, 4.0, 9.5], "a run")
    contains(kept["kept"], "the least, the median and the most")
    check(place, 0)
    figures(place, KEPT)
    equal(page.read_text(encoding="utf-8"), before, "the page of the kept results")


def says_how_the_run_was(place):
    data = results_fixture.results()
    data["dirty"], data["load"]["busy"] = True, "The machine was busy: the load was 9."
    page, results = tree(place, data=data)
    contains(figures(place, results), "another run would be better")
    contains(page.read_text(encoding="utf-8"), "with uncommitted changes.\n")
    contains(page.read_text(encoding="utf-8"), "The machine was busy: the load was 9.")


def refuses(place):
    good = results_fixture.results()
    wrong = changed(good, checks={"compared": 1, "wrong": [{"side": "crest"}]})
    infinite = json.loads(json.dumps(good))
    infinite["rows"][0]["found"] = float("inf")
    large = changed(good, notes=["x" * 300000])
    for data, words in ((wrong, "some of its totals were wrong"), (infinite, "no finite number"),
                        (large, "too many to commit"),
                        ({"format": 2, "benchmarks": {}}, "format 2"),
                        (changed(good, started="today"), "does not say when it was started"),
                        (changed(good, rows=[]), "none of the README's rows is in it")):
        page, results = tree(place, data=data)
        said = figures(place, results, status=2)
        contains(said, words)
        equal(page.read_text(encoding="utf-8"), README.format("short"), f"the page, {words}")
        equal((place / KEPT).exists(), False, f"results were kept, {words}")
        if "Traceback" in said:
            raise Failure(said)
    page, results = tree(place, "nonsense")
    contains(figures(place, results, status=2), "there is no table 'nonsense'")
    page.write_text("<!-- figures: one two -->\n")
    contains(figures(place, results, status=2), "a place for figures is not")
    page.write_text("no figures\n")
    contains(figures(place, results, status=2), "no page has a place")
    contains(figures(place, place / "none.json", status=2), "none.json")
    contains(figures(place, "a", "b", status=2), "make bench-readme")


toolslib.main([keeps_results_and_writes_their_figures, writes_each_table, rounds_what_it_keeps,
               condenses_what_is_too_large, says_how_the_run_was, refuses])
