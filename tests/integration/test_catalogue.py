#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# crest-test: timeout=900 sanitizers=none
"""Generated dashboards and rules before a real Prometheus: a program built from a generated header
records into every instrument with every setting, and each query of each panel and each rule must be
valid and return data. What promtool says of rules, and that alerts fire when they should, is tried
too, also of every manifest of the tree.
"""

import json
import math
import os
import subprocess
import sys

import harness
from harness import SERVERS, Failure, Prometheus, equal, free_port, holds_at_last, wait_for

sys.path.insert(0, str(harness.ROOT / "tests/tools"))
import programs  # noqa: E402  (needs the path above)

from crest_catalogue import load  # noqa: E402
from crest_catalogue.make_dashboard import dashboard, every_panel  # noqa: E402
from crest_catalogue.make_rules import rules  # noqa: E402

EVERYTHING = harness.ROOT / "tests/tools/everything.metrics.yaml"
# Short, so that operations are stuck, and rates are of what is recorded meanwhile.
DEADLINE_MS = 2000
RANGE = "10s"
VARIABLES = {"$__rate_interval": RANGE, "$job": ".*", "$instance": ".*"}
# True only when something is wrong.
MAY_BE_EMPTY = ("MetricMissing", "MetricsAbsent", "PushStale")


def read(paths):
    manifests, problems = load(paths)
    equal([str(problem) for problem in problems], [], "problems of manifests")
    return manifests


def promtool(place, *arguments):
    done = subprocess.run([SERVERS / "promtool", *arguments], stdout=subprocess.PIPE, text=True,
                          stderr=subprocess.STDOUT, cwd=place.folder, check=False)
    if done.returncode != 0:
        raise Failure(f"promtool {' '.join(map(str, arguments))}: {done.stdout}")
    return done.stdout


class Recorder:
    """The generated program, serving its page on a port."""

    def __init__(self, place, manifest):
        self.port = free_port()
        program, self.manifest = programs.build(manifest, place.folder)
        self.log = open(place.folder / "program.log", "wb")
        self.process = subprocess.Popen(
            [program, "serve"], stdin=subprocess.PIPE, stdout=self.log, stderr=self.log,
            env={**os.environ, "CREST_OPTS": f"prometheus=127.0.0.1:{self.port}"})
        place.started.append(self)

    def kill(self):
        self.process.stdin.close()
        self.process.wait(harness.STOP_S)
        self.log.close()


class Ruler(Prometheus):
    """A Prometheus with a rule file, which it evaluates every two seconds."""

    def __init__(self, place, targets, text, native=False):
        super().__init__(place, targets)
        self.native = native
        self.rules = place.folder / "rules.yml"
        self.rules.write_text(text, encoding="utf-8")

    def command(self):
        command = super().command()
        config = self.place.folder / f"prometheus-{self.port}.yml"
        config.write_text(config.read_text().replace(
            "global: {", "global: {evaluation_interval: 2s, ")
                          + f"rule_files: [{self.rules}]\n")
        return command + ["--enable-feature=native-histograms"] * self.native


def panel_queries(board):
    """(title, expression) of every target, with Grafana's variables filled in."""
    for panel in every_panel(board):
        for target in panel["targets"]:
            expr = target["expr"]
            for variable, value in VARIABLES.items():
                expr = expr.replace(variable, value)
            yield panel["title"], expr


def missing_data(prometheus, queries):
    """Those that return nothing, or nothing that is a number."""
    return [f"{title}: {expr}" for title, expr in queries
            if not any(not math.isnan(value) for _, value in prometheus.query(expr))]


def every_query_of_every_panel_and_rule_returns_data(place):
    check_queries(place, native=False)


def every_native_query_returns_data(place):
    """A Prometheus that takes native histograms has no classic series, so that a query of one
    returns nothing."""
    prometheus = check_queries(place, native=True)
    equal(prometheus.query('{__name__=~".+_bucket",le!="+Inf"}'), [], "classic buckets")


def check_queries(place, native):
    manifest, = read([EVERYTHING])
    for metric in manifest.metrics:
        metric.deadline_ms = metric.deadline_ms and DEADLINE_MS
        metric.idle_s = 0
    recorder = Recorder(place, manifest)
    text = rules([recorder.manifest], RANGE, native)
    prometheus = Ruler(place, [recorder], text, native).start()
    board = json.loads(json.dumps(dashboard([recorder.manifest], native=native)))
    queries = list(panel_queries(board))
    if len(queries) < len(recorder.manifest.metrics):
        raise Failure(f"only {len(queries)} queries")
    wait_for("some scrapes", lambda: prometheus.query(
        f"count_over_time(all_events_total[{RANGE}]) > 3"))
    # stuck operations come and go: each query must have had data at some time
    left = queries
    def look():
        nonlocal left
        left = [query for query in left if query in
                [q for q in left if missing_data(prometheus, [q])]]
        return not left
    try:
        # one round of them may take minutes
        wait_for("data for every query", look, 6 * harness.READY_S, 0.5)
    except Failure:
        raise Failure("no data: " + "\n".join(f"{title}: {expr}" for title, expr in left)) from None
    check_rules(prometheus, text)
    for variable in board["templating"]["list"][1:]:
        selector = variable["definition"].removeprefix("label_values(").rpartition(",")[0]
        wait_for(f"a value of {variable['name']}: {variable['definition']}",
                 lambda s=selector: prometheus.query(f"count({s})".replace("$job", ".*")))
    return prometheus


def check_rules(prometheus, text):
    """Each rule is healthy; each recorded one has data; alerts are right about a healthy process:
    what is stuck is told, and nothing else."""
    def healthy():
        groups = prometheus.ask("rules")["groups"]
        found = [rule for group in groups for rule in group["rules"]]
        return found if all(rule["health"] == "ok" for rule in found) else None

    found = wait_for("rules to be evaluated", healthy)
    equal(len(found), text.count("  - record:") + text.count("  - alert:"), "rules")
    recorded = [(rule["name"], rule["name"]) for rule in found if rule["type"] == "recording"]
    wait_for("recorded rules to have data", lambda: not missing_data(prometheus, recorded))

    def nothing_else_is_told():
        states = {}
        for rule in healthy() or []:
            if rule["type"] == "alerting":
                states.setdefault(rule["name"], set()).add(rule["state"])
        equal([name for name in states if name.endswith(MAY_BE_EMPTY)] != [], True, "alerts")
        for name, state in states.items():
            if name.endswith(MAY_BE_EMPTY):
                equal(state, {"inactive"}, f"state of {name}")

    # after a scrape that came to nothing they are pending until the next
    holds_at_last(nothing_else_is_told)
    wait_for("the stuck operations to be noticed", lambda: [
        rule for group in prometheus.ask("rules")["groups"] for rule in group["rules"]
        if rule["name"].endswith("Stuck") and rule["state"] == "pending"])


def promtool_takes_the_rules_of_every_manifest(place):
    # not below build/, where test_demo.py makes folders and removes them beside this
    folders = [folder for folder in sorted(harness.ROOT.iterdir())
               if folder.is_dir() and folder.name != "build" and not folder.name.startswith(".")]
    paths = [path for folder in folders for path in sorted(folder.rglob("*.metrics.yaml"))]
    files = []
    for number, path in enumerate(paths):
        manifests = read([path])
        files += [f"rules-{number}-{path.stem}.yml", f"queries-{number}-{path.stem}.yml"]
        (place.folder / files[-2]).write_text(rules(manifests), encoding="utf-8")
        # a query of a panel is an expression too
        queries = list(panel_queries(dashboard(manifests)))
        (place.folder / files[-1]).write_text(
            "groups:\n- name: panels\n  rules:\n" + "".join(
                f"  - record: query_{i}\n    expr: {json.dumps(expr)}\n"
                for i, (_, expr) in enumerate(queries)) if queries else "groups: []\n")
    equal(len(files) > 10, True, "manifests of the tree")
    promtool(place, "check", "rules", *files)


ALERTED = """\
manifest: 1
team: comm
prefixes: [a.comm]
metrics:
  - {name: a.comm.sent, instrument: counter, variable: sent, meaning: x,
     alert: {expr: "rate($name[1m]) > 5", for: 1m, severity: critical, summary: "$name is fast"}}
  - {name: a.comm.lost, instrument: counter, variable: lost, meaning: x}
  - {name: a.comm.ask-time, instrument: keyed-timer, variable: ask_time, meaning: x, deadline: 60s,
     alert: {name: AskFails, expr: "rate(${name}_count{outcome='error'}[1m]) > 0"}}
rules:
  - {record: "comm:all:sum", expr: sum(a_comm_sent_total), labels: {kind: whole}}
"""
# promtool: x+yxn is a value that grows by y, n times
EXPECTED = """\
rule_files: [rules.yml]
evaluation_interval: 15s
tests:
- interval: 15s
  input_series:
  - {series: 'a_comm_sent_total{job="j",instance="i"}', values: '0+150x200'}
  - {series: 'a_comm_ask_time_seconds_count{job="j",instance="i",outcome="ok"}', values: '0+30x200'}
  - {series: 'a_comm_ask_time_seconds_count{job="j",instance="i",outcome="error"}',
     values: '0+15x200'}
  - {series: 'a_comm_ask_time_seconds_bucket{job="j",instance="i",outcome="ok",le="1"}',
     values: '0+15x200'}
  - {series: 'a_comm_ask_time_seconds_bucket{job="j",instance="i",outcome="ok",le="2"}',
     values: '0+30x200'}
  - {series: 'a_comm_ask_time_seconds_bucket{job="j",instance="i",outcome="ok",le="+Inf"}',
     values: '0+30x200'}
  - {series: 'a_comm_ask_time_seconds_sum{job="j",instance="i",outcome="ok"}', values: '0+45x200'}
  - {series: 'a_comm_ask_time_stuck_seconds{job="j",instance="i",op="7"}', values: '70+15x200'}
  - {series: 'push_time_seconds{job="j",instance="i"}', values: '0x200'}
  promql_expr_test:
  - {expr: instance:a_comm_sent:rate5m, eval_time: 10m, exp_samples: [
     {labels: 'instance:a_comm_sent:rate5m{job="j",instance="i"}', value: 10}]}
  - {expr: instance:a_comm_ask_time_seconds:failures5m, eval_time: 10m, exp_samples: [
     {labels: 'instance:a_comm_ask_time_seconds:failures5m{job="j",instance="i"}',
      value: 0.3333333333333333}]}
  - {expr: instance:a_comm_ask_time_seconds:mean5m, eval_time: 10m, exp_samples: [
     {labels: 'instance:a_comm_ask_time_seconds:mean5m{job="j",instance="i"}', value: 1.5}]}
  - {expr: instance:a_comm_ask_time_seconds:p50_5m, eval_time: 10m, exp_samples: [
     {labels: 'instance:a_comm_ask_time_seconds:p50_5m{job="j",instance="i"}', value: 1}]}
  - {expr: 'comm:all:sum', eval_time: 1m, exp_samples: [
     {labels: 'comm:all:sum{kind="whole"}', value: 600}]}
  alert_rule_test:
  - {eval_time: 30s, alertname: ACommSent, exp_alerts: []}
  - {eval_time: 10m, alertname: ACommSent, exp_alerts: [
     {exp_labels: {job: j, instance: i, severity: critical, team: comm, metric: a.comm.sent},
      exp_annotations: {summary: a_comm_sent_total is fast}}]}
  - {eval_time: 10m, alertname: AskFails, exp_alerts: [
     {exp_labels: {job: j, instance: i, outcome: error, severity: warning, team: comm,
                   metric: a.comm.ask-time},
      exp_annotations: {summary: "a.comm.ask-time: x"}}]}
  - {eval_time: 4m, alertname: ACommAskTimeStuck, exp_alerts: []}
  - {eval_time: 6m, alertname: ACommAskTimeStuck, exp_alerts: [
     {exp_labels: {job: j, instance: i, severity: warning, team: comm, metric: a.comm.ask-time},
      exp_annotations: {
        summary: i has had operations of a.comm.ask-time that are stuck for 5m.,
        description: "The oldest has been in flight for 430 s; a_comm_ask_time_stuck_seconds names\\
          \\ the oldest ones in its label op."}}]}
  - {eval_time: 5m, alertname: CommMetricMissing, exp_alerts: []}
  - {eval_time: 11m, alertname: CommMetricMissing, exp_alerts: [
     {exp_labels: {job: j, instance: i, severity: warning, team: comm, metric: a.comm.lost},
      exp_annotations: {
        summary: i does not export a_comm_lost_total.,
        description: "It exports other metrics of team comm, and the manifest promises\\
          \\ a.comm.lost of every process."}}]}
  - {eval_time: 4m, alertname: PushStale, exp_alerts: []}
  - {eval_time: 11m, alertname: CommMetricsAbsent, exp_alerts: []}
- interval: 15s
  input_series: []
  alert_rule_test:
  - {eval_time: 11m, alertname: CommMetricsAbsent, exp_alerts: [
     {exp_labels: {severity: warning, team: comm},
      exp_annotations: {
        summary: No process exports any metric of team comm.,
        description: "Either none runs, or none of them is scraped or pushes."}}]}
"""


def alerts_fire_when_they_should(place):
    manifest = place.folder / "comm.metrics.yaml"
    manifest.write_text(ALERTED, encoding="utf-8")
    (place.folder / "rules.yml").write_text(rules(read([manifest])), encoding="utf-8")
    (place.folder / "test.yml").write_text(EXPECTED, encoding="utf-8")
    promtool(place, "test", "rules", "test.yml")


harness.main([every_query_of_every_panel_and_rule_returns_data,
              every_native_query_returns_data,
              promtool_takes_the_rules_of_every_manifest, alerts_fire_when_they_should],
             servers=("prometheus", "promtool"))
