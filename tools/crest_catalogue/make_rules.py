# SPDX-License-Identifier: Apache-2.0
"""Prometheus rules: what is worth computing once, and what an operator should be alerted to.

    text = rules(manifests, "5m")
    text = rules(manifests, "5m", native=True)      # for a Prometheus with native histograms

It records rates, shares of failures, means and quantiles, under the metric's exported name with
`instance:` before it, because all labels of the instance stay. Alerts are those of the manifests,
and three that are safe everywhere: a metric that a process of the team should have and lacks,
operations that are stuck, and a group in a Pushgateway that is no longer pushed to.
"""

import json
import re

from .exported_names import exported_name, parts
from .manifest_tree import dollar_names
from .queries import (ALL, DEFAULT_QUANTILES, Selection, events, failures, keeps_buckets, mean,
                      names_of, natively, of_teams, percent, quantile, rate)
from .queries import present as sample_of

ABSENT_FOR = "10m"
STUCK_FOR = "5m"
PUSH_STALE_S = 300


def quoted(text):
    """YAML's double-quoted form is JSON's, except for characters that JSON would escape."""
    return json.dumps(text, ensure_ascii=False)


def record(name, expr, labels=None):
    text = f"  - record: {name}\n    expr: {quoted(expr)}\n"
    if labels:
        text += "    labels:\n" + "".join(f"      {key}: {quoted(value)}\n"
                                          for key, value in sorted(labels.items()))
    return text


def alert(name, expr, duration, labels, annotations):
    text = f"  - alert: {name}\n    expr: {quoted(expr)}\n"
    if duration:
        text += f"    for: {duration}\n"
    for what, entries in (("labels", labels), ("annotations", annotations)):
        text += f"    {what}:\n" + "".join(f"      {key}: {quoted(value)}\n"
                                           for key, value in entries.items() if value)
    return text


def record_distribution(metric, part, selection):
    """Rate, mean and quantiles of a histogram; of a timer, those of successful operations."""
    base, window = names_of(metric, part).base, selection.range
    keep, good = (None, 'outcome="ok"') if part.kind == "timer" else (ALL, "")
    text = record(f"instance:{base}_count:rate{window}", events(base, selection, keep))
    if part.kind == "timer":
        text += record(f"instance:{base}:failures{window}", failures(base, selection))
    text += record(f"instance:{base}:mean{window}", mean(base, selection, keep, good))
    for q in (metric.quantiles or DEFAULT_QUANTILES) if keeps_buckets(metric) else ():
        word = percent(q).replace(".", "_")
        text += record(f"instance:{base}:{word}_{window}",
                       quantile(q, base, selection, keep, good))
    return text


def record_metric(metric, selection):
    text = ""
    selection = selection.of_metric(metric)
    for part in parts(metric):
        if part.kind == "counter":
            name = names_of(metric, part).plain
            text += record(f"instance:{name[:-len('_total')]}:rate{selection.range}",
                           rate(name, selection))
        elif part.kind in ("histogram", "timer"):
            text += record_distribution(metric, part, selection)
    return text


def camel(words):
    return "".join(word[:1].upper() + word[1:] for word in re.split(r"[^A-Za-z0-9]+", words))


class Classic(Exception):
    """An alert asks for series that native histograms have not got; str() names its place."""


def asked_expr(metric, item, selection):
    expr = dollar_names(item.expr, metric)
    if not selection.of_metric(metric).native:
        return expr
    bases = [names_of(metric, part).base for part in parts(metric)
             if part.kind in ("histogram", "timer")]
    found = natively(expr, bases)
    if found is None:
        raise Classic(f"{item.position}: found an expression with classic buckets, counts or sums, "
                      "which native histograms have not got; expected rate(${name}_count[…]) or "
                      "rate(${name}_sum[…]), which --native turns into functions of the histogram")
    return found


def asked_alerts(metric, selection):
    """The manifest's alerts, with $name in their texts replaced."""
    text, seen = "", 0
    for item in metric.alerts:
        seen += not item.name
        name = item.name or camel(metric.name) + (str(seen) if seen > 1 else "")
        summary = item.summary or f"{metric.name}: {metric.description}"
        text += alert(name, asked_expr(metric, item, selection), item.duration,
                      {"severity": item.severity, "team": metric.manifest.team,
                       "metric": metric.name},
                      {"summary": dollar_names(summary, metric),
                       "description": dollar_names(item.description, metric),
                       "runbook_url": item.runbook})
    return text


def is_promised(metric):
    """Whether every process with the team's code has the metric from its start on, as zero: the
    generated header declares it, and it has no labels."""
    return metric.is_declared and not metric.labels and not metric.optional


def absent_alert(team, present):
    """For teams that promise a metric; collectors, for example, may be off in every process."""
    return alert(f"{camel(team)}MetricsAbsent", f"absent({present})", ABSENT_FOR,
                 {"severity": "warning", "team": team},
                 {"summary": f"No process exports any metric of team {team}.",
                  "description": "Either none runs, or none of them is scraped or pushes."})


def missing_alert(metric, present, selection):
    """For an instance that has metrics of the team, but not this one."""
    name = names_of(metric, parts(metric)[0])
    sample = name.plain or sample_of(name.base, selection.of_metric(metric))
    return alert(f"{camel(metric.manifest.team)}MetricMissing",
                 f"{present} unless on (job, instance) {sample}", ABSENT_FOR,
                 {"severity": "warning", "team": metric.manifest.team, "metric": metric.name},
                 {"summary": f"{{{{ $labels.instance }}}} does not export {sample}.",
                  "description": f"It exports other metrics of team {metric.manifest.team}, and "
                                 f"the manifest promises {metric.name} of every process."})


def stuck_alert(metric):
    stuck = exported_name(metric.name + ".stuck", "gauge", "seconds")
    return alert(f"{camel(metric.name)}Stuck",
                 f"max without (op) ({stuck}) > 0", STUCK_FOR,
                 {"severity": "warning", "team": metric.manifest.team, "metric": metric.name},
                 {"summary": f"{{{{ $labels.instance }}}} has had operations of {metric.name} that "
                             f"are stuck for {STUCK_FOR}.",
                  "description": f"The oldest has been in flight for {{{{ $value }}}} s; {stuck} "
                                 "names the oldest ones in its label op."})


def team_groups(manifest, manifests, selection):
    """The two groups of a team: recording rules, and alerts."""
    live = [metric for metric in manifest.metrics if metric.is_live]
    if not live and not manifest.rules:
        return ""
    team = manifest.team
    present = f"instance:{team.replace('-', '_')}_metrics:count"
    text = f"- name: {team}-recorded\n  rules:\n"
    text += record(present, f"count by (job, instance) ({of_teams([manifest], manifests)})")
    text += "".join(record_metric(metric, selection) for metric in live)
    text += "".join(record(rule.record, rule.expr, rule.labels) for rule in manifest.rules)
    promised = [metric for metric in live if is_promised(metric)]
    alerts = absent_alert(team, present) if promised else ""
    alerts += "".join(missing_alert(metric, present, selection) for metric in promised)
    alerts += "".join(stuck_alert(metric) for metric in live
                      if metric.instrument in ("keyed-timer", "stages"))
    alerts += "".join(asked_alerts(metric, selection) for metric in live)
    return text + (f"- name: {team}-alerts\n  rules:\n{alerts}" if alerts else "")


def push_group():
    """A group in the gateway shows the last push for ever."""
    return "- name: crest-push\n  rules:\n" + alert(
        "PushStale", f"time() - push_time_seconds > {PUSH_STALE_S}", "",
        {"severity": "warning"},
        {"summary": f"{{{{ $labels.job }}}} {{{{ $labels.instance }}}} has not pushed for "
                    f"{PUSH_STALE_S} s.",
         "description": "What the Pushgateway still shows of it is old. The process is gone, or "
                        "cannot reach the gateway; a group of one that was stopped for good is to "
                        "be deleted."})


def rules(manifests, window="5m", native=False):
    """The text of a rule file. native: for a Prometheus that takes native histograms."""
    selection = Selection("", window, native)
    licence = next((manifest.licence for manifest in manifests if manifest.licence), "")
    text = f"# SPDX-License-Identifier: {licence}\n" if licence else ""
    text += ("# Recording and alerting rules, generated by crest catalogue from the manifests of "
             "the teams\n# " + ", ".join(manifest.team for manifest in manifests)
             + ". Change these and generate this file again.\ngroups:\n")
    return text + "".join(team_groups(manifest, manifests, selection)
                          for manifest in manifests) + push_group()
