# SPDX-License-Identifier: Apache-2.0
"""A Grafana dashboard with a panel for each active metric, and in it the right query for its
instrument.

    board = dashboard(manifests, "Node")        # a dict, ready for json.dumps
    board = dashboard(manifests, "Node", native=True)   # for a Prometheus with native histograms

A row for each team and component. Panels keep their ids when metrics are added, so that a
generated file changes only where its manifests do. The format is Grafana's classic dashboard model,
schema version 39 (Grafana 10.4), which later versions read; sources: the dashboard JSON model in
Grafana's documentation, and the schemas of its panels (timeseries).
"""

import dataclasses
import re
import zlib

from .exported_names import SUFFIXES, exported_name
from .queries import (DEFAULT_QUANTILES, Selection, events, failures, keeps_buckets, mean,
                      names_of, of_teams, part_of, percent, quantile, rate)

SCHEMA_VERSION = 39
WIDTH, HEIGHT, COLUMNS = 8, 8, 24
ID_MAX = 2 ** 31 - 1
EVERYBODYS_PREFIX = "process"   # its standard names are on the pages of every client library
# With more panels than these, only the first team's rows are open: a browser queries open panels.
OPEN_PANELS_MAX = 60
UID_CHARACTERS = 40
UNITS = {"": "short", "bytes": "bytes", "seconds": "s", "ratio": "percentunit"}
# Per second: of bytes, of events; seconds per second are a share of a processor.
RATE_UNITS = {"": "cps", "bytes": "Bps", "seconds": "percentunit", "ratio": "short"}
SOURCE = {"type": "prometheus", "uid": "${datasource}"}
CHOSEN = Selection('job=~"$job",instance=~"$instance"', "$__rate_interval")
GAUGE_NOTE = ("A gauge: each point is a sample; what came and went between two samples is not on "
              "it.")


class Panel:
    """A time series panel being put together."""

    def __init__(self, metric, unit, chosen):
        self.metric = metric
        self.unit = unit
        self.chosen = chosen.of_metric(metric)
        self.notes = []
        self.targets = []
        self.overrides = []

    def add(self, expr, legend, unit=None, right=False):
        """Adds a query; one with another unit has an axis of its own on the right."""
        letter = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[len(self.targets)]
        self.targets.append({"datasource": SOURCE, "editorMode": "code", "expr": expr,
                             "legendFormat": legend, "range": True, "refId": letter})
        if right:
            self.overrides.append({
                "matcher": {"id": "byFrameRefID", "options": letter},
                "properties": [{"id": "unit", "value": unit},
                               {"id": "custom.axisPlacement", "value": "right"},
                               {"id": "custom.lineStyle",
                                "value": {"dash": [6, 4], "fill": "dash"}}]})

    def json(self, number, x, y):
        metric = self.metric
        notes = [metric.description, *self.notes,
                 f"`{metric.name}`, {metric.instrument}, team {metric.manifest.team}."]
        return {
            "id": number, "type": "timeseries",
            "title": metric.name,
            "description": "\n\n".join(filter(None, notes)),
            "datasource": SOURCE,
            "gridPos": {"h": HEIGHT, "w": WIDTH, "x": x, "y": y},
            "targets": self.targets,
            "fieldConfig": {
                "defaults": {"unit": self.unit, "color": {"mode": "palette-classic"},
                             "custom": {"drawStyle": "line", "lineWidth": 1, "fillOpacity": 0,
                                        "showPoints": "auto", "spanNulls": False,
                                        "axisPlacement": "auto"}},
                "overrides": self.overrides},
            "options": {"legend": {"displayMode": "list", "placement": "bottom",
                                   "showLegend": True, "calcs": []},
                        "tooltip": {"mode": "multi", "sort": "desc"}},
        }


# ---- instruments ----


def keys_of(metric):
    return tuple(label.key for label in metric.labels)


def legend(what, keys):
    """`p99 {{peer}}`: what the line is, and the labels that tell series apart."""
    return " ".join([what, *(f"{{{{{key}}}}}" for key in keys)]).strip()


def unit_of(metric):
    if metric.range is not None and metric.range.name == "percentage" and metric.unit == "none":
        return "percent"
    return UNITS[SUFFIXES[metric.unit]]


def counter_panel(metric, chosen):
    name = names_of(metric, part_of(metric, "")).plain
    panel = Panel(metric, RATE_UNITS[SUFFIXES[metric.unit]], chosen)
    panel.add(rate(name, panel.chosen), legend("", ("instance", *keys_of(metric))))
    panel.notes.append("Per second.")
    return panel


def gauge_panel(metric, chosen):
    name = names_of(metric, part_of(metric, "")).plain
    panel = Panel(metric, unit_of(metric), chosen)
    shown = panel.chosen.of(name)
    if SUFFIXES[metric.unit] == "seconds" and re.search(r"(start-time|timestamp)$", metric.name):
        shown = f"time() - {shown}"
        panel.notes.append("Shown is how long ago it was.")
    panel.add(shown, legend("", ("instance", *keys_of(metric))))
    panel.notes.append(GAUGE_NOTE)
    return panel


def range_panel(metric, chosen):
    names = names_of(metric, part_of(metric, ""))
    keys = ("instance", *keys_of(metric))
    panel = Panel(metric, unit_of(metric), chosen)
    for word, about in (("max", "highest"), ("avg", "mean"), ("min", "lowest")):
        if names.window(word):
            panel.add(panel.chosen.of(names.window(word)), legend(about, keys))
    panel.add(panel.chosen.of(names.plain), legend("now", keys))
    if names.windows:
        panel.notes.append("Lowest, highest and mean over time are exact, of the minute before "
                           "each point, kept by the process.")
    return panel


def add_distribution(panel, metric, part, keys, about=""):
    """Quantiles and the mean."""
    base = names_of(metric, part).base
    good = 'outcome="ok"' if part.kind == "timer" else ""
    for q in (metric.quantiles or DEFAULT_QUANTILES) if keeps_buckets(metric) else ():
        panel.add(quantile(q, base, panel.chosen, keys, good), legend(f"{about}{percent(q)}", keys))
    panel.add(mean(base, panel.chosen, keys, good), legend(f"{about}mean", keys))


def add_events(panel, metric, part, keys):
    """Events per second, and of a timer, the share of them that failed."""
    base = names_of(metric, part).base
    panel.add(events(base, panel.chosen, keys), legend("per second", keys), "cps", right=True)
    if part.kind == "timer":
        panel.add(failures(base, panel.chosen, keys), legend("failed", keys), "percentunit",
                  right=True)


def add_in_flight(panel, metric):
    panel.add(panel.chosen.of(exported_name(metric.name + ".in-flight", "gauge", "none")),
              legend("in flight", ("instance",)), "short", right=True)
    panel.add(panel.chosen.of(exported_name(metric.name + ".oldest", "gauge", "seconds")),
              legend("oldest", ("instance",)))
    panel.add(panel.chosen.of(exported_name(metric.name + ".stuck", "gauge", "seconds")),
              legend("stuck", ("op", "instance")))


def histogram_panel(metric, chosen):
    panel = Panel(metric, unit_of(metric), chosen)
    part = part_of(metric, "")
    add_distribution(panel, metric, part, keys_of(metric))
    add_events(panel, metric, part, keys_of(metric))
    return panel


def timer_panel(metric, chosen):
    panel = Panel(metric, "s", chosen)
    part = part_of(metric, "")
    add_distribution(panel, metric, part, keys_of(metric))
    add_events(panel, metric, part, keys_of(metric))
    panel.notes.append("Durations are of what ended as ok; all else is in the share of failures.")
    if metric.instrument == "keyed-timer":
        add_in_flight(panel, metric)
    return panel


def stages_panel(metric, chosen):
    panel = Panel(metric, "s", chosen)
    keys = ("stage", *keys_of(metric))
    whole = part_of(metric, "")
    since, gap = (names_of(metric, part_of(metric, role)).base for role in ("since-start", "stage"))
    for q in (0.5, 0.99) if keeps_buckets(metric) else ():
        panel.add(quantile(q, since, panel.chosen, keys), legend(f"{percent(q)} since start", keys))
    panel.add(mean(since, panel.chosen, keys), legend("mean since start", keys))
    panel.add(mean(gap, panel.chosen, keys), legend("mean since the stage before", keys))
    panel.add(mean(names_of(metric, whole).base, panel.chosen, keys_of(metric), 'outcome="ok"'),
              legend("mean of the whole", keys_of(metric)))
    add_events(panel, metric, whole, keys_of(metric))
    add_in_flight(panel, metric)
    return panel


def mutex_panel(metric, chosen):
    panel = Panel(metric, "s", chosen)
    queue, permit = (names_of(metric, part_of(metric, role)) for role in ("queue", "permit"))
    add_distribution(panel, metric, part_of(metric, "acquire"), (), "wait ")
    acquired = names_of(metric, part_of(metric, "acquire")).base
    panel.add(events(acquired, panel.chosen, ()), "per second", "cps", right=True)
    panel.add(panel.chosen.of(queue.window("max")), legend("most waiting", ("instance",)), "short",
              right=True)
    panel.add(panel.chosen.of(permit.window("avg")), legend("busy", ("instance",)), "percentunit",
              right=True)
    return panel


PANELS = {"counter": counter_panel, "gauge": gauge_panel, "range-sampler": range_panel,
          "histogram": histogram_panel, "timer": timer_panel, "keyed-timer": timer_panel,
          "stages": stages_panel, "mutex": mutex_panel}


# ---- the dashboard ----


def component(metric):
    """The words between the team's prefix and the last word of a name: a row of its own."""
    prefix = metric.manifest.prefix_of(metric.name) or ""
    middle = metric.name[len(prefix):].strip(".").rpartition(".")[0]
    return f"{prefix}.{middle}" if middle else prefix


class Ids:
    """Numbers made from names, so that they stay when others come and go."""

    def __init__(self):
        self.taken = set()

    def of(self, name):
        number = zlib.crc32(name.encode()) % ID_MAX + 1
        while number in self.taken:
            number = number % ID_MAX + 1
        self.taken.add(number)
        return number


def variable(name, label, query):
    return {"name": name, "label": label, "type": "query", "datasource": SOURCE,
            "definition": query, "query": {"query": query, "refId": f"variable-{name}"},
            "refresh": 2, "sort": 1, "multi": True, "includeAll": True, "allValue": ".*",
            "current": {"selected": True, "text": ["All"], "value": ["$__all"]},
            "options": [], "regex": "", "hide": 0, "skipUrlSync": False}


def variables(manifests):
    """The choices of a dashboard's reader. Jobs are found by names that only this library has."""
    own = [manifest for manifest in manifests if EVERYBODYS_PREFIX not in manifest.prefixes]
    own = own or manifests
    return [
        {"name": "datasource", "label": "Data source", "type": "datasource", "query": "prometheus",
         "current": {}, "options": [], "refresh": 1, "regex": "", "hide": 0, "multi": False,
         "includeAll": False, "skipUrlSync": False},
        variable("job", "Job", f"label_values({of_teams(own)}, job)"),
        variable("instance", "Instance",
                 "label_values(" + of_teams(own, (), 'job=~"$job"') + ", instance)"),
    ]


def shown(manifest):
    """Its metrics that have panels. A metric that the library derives is on its origin's panel."""
    live = [metric for metric in manifest.metrics if metric.is_live]
    return [metric for metric in live if not any(
        metric is not other and metric.recorded_by == "library" and
        metric.name.startswith(other.name + ".") for other in live)]


def panels(manifests, chosen=CHOSEN):
    """Rows and panels from top to bottom. Panels of a closed row are inside it, and take no place
    until it is opened."""
    ids, found, y = Ids(), [], 0
    many = sum(len(shown(manifest)) for manifest in manifests) > OPEN_PANELS_MAX
    for manifest in manifests:
        rows = {}
        for metric in shown(manifest):
            rows.setdefault(component(metric), []).append(metric)
        closed = many and manifest is not manifests[0]
        for name, metrics in rows.items():
            row = {"id": ids.of(f"row {manifest.team} {name}"), "type": "row",
                   "title": f"{manifest.team}: {name}", "collapsed": closed, "panels": [],
                   "gridPos": {"h": 1, "w": COLUMNS, "x": 0, "y": y}}
            inside = [PANELS[metric.instrument](metric, chosen).json(
                          ids.of(metric.name), i * WIDTH % COLUMNS,
                          y + 1 + i * WIDTH // COLUMNS * HEIGHT)
                      for i, metric in enumerate(metrics)]
            found.append(row)
            (row["panels"] if closed else found).extend(inside)
            y += 1 if closed else 1 + -(-len(metrics) * WIDTH // COLUMNS) * HEIGHT
    return found


def every_panel(board):
    """All panels except rows, open or closed."""
    for panel in board["panels"]:
        if panel["type"] == "row":
            yield from panel["panels"]
        else:
            yield panel


def uid_of(title):
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:UID_CHARACTERS] or "metrics"


def dashboard(manifests, title="Metrics", uid=None, native=False):
    """The whole dashboard. It has no id, so that importing it makes one, or finds one by its uid.
    native: for a Prometheus that takes native histograms."""
    chosen = dataclasses.replace(CHOSEN, native=native)
    return {
        "uid": uid or uid_of(title), "title": title,
        "description": "Generated by crest catalogue from the manifests of the teams "
                       + ", ".join(manifest.team for manifest in manifests) + ".",
        "tags": ["crest", *(manifest.team for manifest in manifests)],
        "schemaVersion": SCHEMA_VERSION, "editable": True, "graphTooltip": 1,
        "time": {"from": "now-1h", "to": "now"}, "timepicker": {}, "timezone": "browser",
        "refresh": "30s", "fiscalYearStartMonth": 0, "weekStart": "", "links": [],
        "annotations": {"list": [
            {"builtIn": 1, "datasource": {"type": "grafana", "uid": "-- Grafana --"},
             "enable": True, "hide": True, "iconColor": "rgba(0, 211, 255, 1)",
             "name": "Annotations & Alerts", "type": "dashboard"}]},
        "templating": {"list": variables(manifests)},
        "panels": panels(manifests, chosen),
    }
