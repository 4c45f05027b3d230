#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The text of generated rules: which alerts there are, and that each rule is there once. That they
are valid, have data, and fire when they should is tried with a real Prometheus, in
tests/integration/test_catalogue.py."""

import re

import toolslib
from toolslib import ROOT, Failure, command, contains, equal

from crest_catalogue import load
from crest_catalogue.make_rules import rules

EVERYTHING = ROOT / "tests/tools/everything.metrics.yaml"
TEAMS = """
manifest: 1
team: {team}
prefixes: [{team}]
metrics:
"""
PROMISED = "  - {name: %s.sent, instrument: counter, meaning: d, variable: sent}\n"
LABELLED = ("  - {name: %s.kinds, instrument: counter, meaning: d, variable: kinds, "
            "labels: {kind: {values: [a]}}}\n")
BY_HAND = "  - {name: %s.used, instrument: gauge, meaning: d}\n"
OPTIONAL = "  - {name: %s.more, instrument: gauge, meaning: d, variable: more, optional: rare}\n"
ASKED = ("  - {name: %s.lost, instrument: counter, meaning: d, "
         "alert: {expr: 'rate($name[5m]) > 0'}}\n")


def alerts(place, **teams):
    paths = []
    for team, metrics in teams.items():
        paths.append(place / f"{team}.metrics.yaml")
        paths[-1].write_text(TEAMS.format(team=team) + "".join(
            metric.replace("%s", team) for metric in metrics))
    manifests, problems = load(paths)
    equal([str(problem) for problem in problems], [], "problems")
    return re.findall(r"- alert: (\w+)\n", rules(manifests))


def a_team_is_missed_only_if_it_must_be_there(place):
    """Collectors that are switched off (system=process) and probes that nobody started are no
    fault: only what the generated header declares is in every process of the team."""
    equal(alerts(place, comm=[PROMISED, LABELLED]),
          ["CommMetricsAbsent", "CommMetricMissing", "PushStale"], "a promised metric")
    for what in (LABELLED, BY_HAND, OPTIONAL):
        equal(alerts(place, host=[what]), ["PushStale"], what)
    equal(alerts(place, host=[BY_HAND, ASKED]), ["HostLost", "PushStale"], "an alert of its own")
    equal(alerts(place, comm=[PROMISED], host=[BY_HAND]),
          ["CommMetricsAbsent", "CommMetricMissing", "PushStale"], "two teams")


def each_rule_is_there_once(place):
    manifests, _ = load([EVERYTHING])
    text = rules(manifests)
    records = re.findall(r"- record: (\S+)", text)
    equal(sorted(set(records)), sorted(records), "recorded names")
    if "None" in text:
        raise Failure(f"a name that there is not: {text}")
    # which process it was is never summed away
    for expr in re.findall(r'- record: .*\n    expr: "(.*)"', text):
        for keys in re.findall(r"\bby \(([^)]*)\)", expr):
            equal(keys, "job, instance", expr)


def whatever_did_not_end_well_failed(place):
    """Timeouts and orphans as well as errors; durations are of what ended well."""
    text = rules(load([EVERYTHING])[0])
    rate = "sum without (outcome) (rate(all_do_time_seconds_count%s[5m]))"
    bad, every = rate % '{outcome!=\\"ok\\"}', rate % ""
    contains(text, f'all_do_time_seconds:failures5m\n    expr: "{bad} / ({every} > 0)"')
    contains(text, 'all_do_time_seconds_bucket{outcome=\\"ok\\"}[5m]')


NATIVE = """\
manifest: 1
team: comm
prefixes: [a.comm]
metrics:
  - {name: a.comm.ask-time, instrument: timer, variable: ask_time, meaning: x,
     alert: {expr: "rate(${name}_count{outcome='error'}[1m]) / increase(${name}_sum[5m]) > 0"}}
  - {name: a.comm.load, instrument: histogram, variable: load, meaning: x, range: none,
     alert: {expr: "${name}_count > 5"}}
  - {name: a.comm.size, instrument: histogram, variable: size, meaning: x, native: off}
"""
BUCKETS = NATIVE.replace("rate(${name}_count{outcome='error'}[1m])", "sum(${name}_bucket)")


def native_rules_ask_for_histograms(place):
    """Whole histograms, but of a metric that keeps no values, which has no native buckets."""
    path = place / "comm.metrics.yaml"
    path.write_text(NATIVE)
    text = rules(load([path])[0], native=True)
    good = '{outcome=\\"ok\\"}'
    contains(text, "histogram_quantile(0.5, sum without (outcome) "
                   f"(rate(a_comm_ask_time_seconds{good}[5m])))")
    contains(text, "sum without (outcome) (histogram_count(rate(a_comm_ask_time_seconds[5m])))")
    contains(text, f"(histogram_sum(rate(a_comm_ask_time_seconds{good}[5m]))) / ")
    contains(text, "unless on (job, instance) a_comm_ask_time_seconds\"")
    contains(text, "histogram_count(rate(a_comm_ask_time_seconds{outcome='error'}[1m])) / "
                   "histogram_sum(increase(a_comm_ask_time_seconds[5m])) > 0")
    contains(text, '"rate(a_comm_load_count[5m])"')
    contains(text, '"a_comm_load_count > 5"')
    contains(text, '"rate(a_comm_size_count[5m])"')
    equal(re.findall(r"ask_time_seconds_(?:bucket|count|sum)(?!:)", text), [], "classic series")


def native_rules_refuse_buckets(place):
    """Of an alert that a native histogram cannot answer the place is told."""
    path = place / "comm.metrics.yaml"
    path.write_text(BUCKETS)
    tool = [toolslib.TOOLS / "crest", "catalogue", "rules", path]
    output = command([*tool, "--native"], 1)
    contains(output, "comm.metrics.yaml:6:20: found an expression with classic buckets")
    contains(command(tool), "sum(a_comm_ask_time_seconds_bucket)", "without it")


toolslib.main([a_team_is_missed_only_if_it_must_be_there, each_rule_is_there_once,
               native_rules_ask_for_histograms, native_rules_refuse_buckets,
               whatever_did_not_end_well_failed])
