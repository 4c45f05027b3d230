#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The shape of generated dashboards. That every query is valid and returns data is tried with a
real Prometheus, in tests/integration/test_catalogue.py."""

import json
import re

import toolslib
from toolslib import ROOT, Failure, command, contains, equal

from crest_catalogue import load
from crest_catalogue.make_dashboard import OPEN_PANELS_MAX, dashboard, every_panel

TOOL = [toolslib.TOOLS / "crest", "catalogue"]
EVERYTHING = ROOT / "tests/tools/everything.metrics.yaml"


def read(path=EVERYTHING):
    manifests, problems = load([path])
    equal(problems, [], "problems")
    return manifests


def every_metric_has_one_panel(place):
    manifest, = read()
    manifest.metrics[0].status = "planned"
    board = dashboard([manifest])
    titles = [panel["title"] for panel in every_panel(board)]
    equal(sorted(titles), sorted(metric.name for metric in manifest.metrics[1:]), "panels")
    ids = [panel["id"] for panel in board["panels"]]
    equal(len(set(ids)), len(ids), "different ids")
    for panel in every_panel(board):
        letters = [target["refId"] for target in panel["targets"]]
        equal(len(set(letters)), len(letters), f"queries of {panel['title']}")
        if not letters:
            raise Failure(f"{panel['title']} has no query")
        for override in panel["fieldConfig"]["overrides"]:
            contains("".join(letters), override["matcher"]["options"], panel["title"])


def panels_do_not_overlap(place):
    taken = {}
    for panel in dashboard(read())["panels"]:
        at = panel["gridPos"]
        if at["x"] + at["w"] > 24:
            raise Failure(f"{panel['title']} is beyond the right edge: {at}")
        for x in range(at["x"], at["x"] + at["w"]):
            for y in range(at["y"], at["y"] + at["h"]):
                other = taken.setdefault((x, y), panel["title"])
                equal(other, panel["title"], f"panel at {x}, {y}")


def rows_are_closed_where_there_are_many(place):
    manifests = read() + read(ROOT / "catalogue/host.metrics.yaml")
    equal(len(list(every_panel(dashboard(manifests)))) > OPEN_PANELS_MAX, True, "many panels")
    board = dashboard(manifests)
    rows = [panel for panel in board["panels"] if panel["type"] == "row"]
    equal({row["title"].split(":")[0]: row["collapsed"] for row in rows},
          {"everything": False, "host": True}, "closed rows")
    for row in rows:
        equal(bool(row["panels"]), row["collapsed"], f"panels in the row {row['title']}")
        for panel in row["panels"]:
            equal(panel["gridPos"]["y"] > row["gridPos"]["y"], True, panel["title"])
    equal(len({row["gridPos"]["y"] for row in rows}), len(rows), "places of rows")
    ids = [panel["id"] for panel in [*rows, *every_panel(board)]]
    equal(len(set(ids)), len(ids), "different ids")


def jobs_are_those_of_the_teams(place):
    def jobs(manifests):
        return dashboard(manifests)["templating"]["list"][1]["definition"]

    system, host = (read(ROOT / f"catalogue/{name}.metrics.yaml") for name in ("system", "host"))
    contains(jobs(system), "process")
    contains(jobs(system + host), "host")
    equal("process" in jobs(system + host), False, "jobs found by the names of every library")


def ids_stay_when_a_metric_comes(place):
    manifest, = read()
    whole = {panel["title"]: panel["id"] for panel in dashboard([manifest])["panels"]}
    del manifest.metrics[5]
    less = {panel["title"]: panel["id"] for panel in dashboard([manifest])["panels"]}
    equal({title: whole[title] for title in less}, less, "ids")


def each_instrument_has_its_query(place):
    board = dashboard(read())
    queries = {panel["title"]: [target["expr"] for target in panel.get("targets", ())]
               for panel in board["panels"]}
    chosen = '{job=~"$job",instance=~"$instance"}'
    equal(queries["all.events"], [f"rate(all_events_total{chosen}[$__rate_interval])"], "counter")
    equal(queries["all.level"], [f"all_level{chosen}"], "gauge")
    equal(queries["all.waiting"], [f"all_waiting_{word}1m{chosen}" for word in
                                   ("max", "avg", "min")] + [f"all_waiting{chosen}"], "sampler")
    if any("quantile" in query for query in queries["all.sum"]):
        raise Failure("a histogram that keeps no values has no quantiles")
    contains("\n".join(queries["all.do-time-of"]),
             'histogram_quantile(0.99, sum by (le, peer) (rate(all_do_time_of_seconds_bucket{'
             'job=~"$job",instance=~"$instance",outcome="ok"}[$__rate_interval])))')
    contains("\n".join(queries["all.consensus"]), "sum by (le, stage) ")
    units = {panel["title"]: panel["fieldConfig"]["defaults"]["unit"]
             for panel in every_panel(board)}
    equal([units[name] for name in ("all.events", "all.data", "all.cpu", "all.level-of", "all.size",
                                    "all.load", "all.do-time", "all.level")],
          ["cps", "Bps", "percentunit", "percentunit", "bytes", "percent", "s", "short"], "units")


def native_panels_have_no_classic_series(place):
    """But those of a metric that keeps no values; the others ask what the classic ones ask."""
    manifests = read()
    classic, native = ({(panel["title"], target["refId"]): target["expr"]
                        for panel in every_panel(dashboard(manifests, native=how))
                        for target in panel["targets"]} for how in (False, True))
    equal(native.keys(), classic.keys(), "queries")
    series = re.compile(r"_(bucket|count|sum)\b[{\[]")
    equal(sorted({title for (title, _), expr in native.items() if series.search(expr)}),
          ["all.sum"], "panels with classic series")
    for key, expr in classic.items():
        equal(native[key] == expr, not series.search(expr) or key[0] == "all.sum", str(key))


def the_program_writes_it_twice_alike(place):
    first, second = place / "a.json", place / "b.json"
    for path in (first, second):
        command([*TOOL, "dashboard", EVERYTHING, "--title", "All of it", "-o", path])
    equal(first.read_text(), second.read_text(), "files")
    board = json.loads(first.read_text())
    equal((board["title"], board["uid"], board["schemaVersion"]), ("All of it", "all-of-it", 39),
          "title, uid, schema")
    command([*TOOL, "dashboard", EVERYTHING, "--title", "All of it", "-o", first, "--check"])
    said = command([*TOOL, "dashboard", EVERYTHING, "-o", first, "--check"], 1)
    contains(said, '-  "title": "All')


toolslib.main([every_metric_has_one_panel, panels_do_not_overlap,
               rows_are_closed_where_there_are_many, jobs_are_those_of_the_teams,
               ids_stay_when_a_metric_comes,
               each_instrument_has_its_query, native_panels_have_no_classic_series,
               the_program_writes_it_twice_alike])
