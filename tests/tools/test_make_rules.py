#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The text of generated rules: which alerts there are, and that each rule is there once. That they
are valid, have data, and fire when they should is tried with a real Prometheus, in
tests/integration/test_catalogue.py."""

import re

import toolslib
from toolslib import ROOT, Failure, contains, equal

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


toolslib.main([a_team_is_missed_only_if_it_must_be_there, each_rule_is_there_once,
               whatever_did_not_end_well_failed])
