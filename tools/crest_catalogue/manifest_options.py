# SPDX-License-Identifier: Apache-2.0
"""The settings of a metric in a manifest: unit, buckets, range, stages and so on. Each is allowed
only for the instruments that have it, within the library's bounds (include/crest/metric.h)."""

import re

import yaml

from . import manifest_model as model
from .manifest_model import Alert, Range
from .manifest_nodes import one_of, shown

U32_MAX = 2 ** 32 - 1
RANGE_HIGHEST_MAX = 2 ** 62
RANGE_DIGITS_MAX = 5
NATIVE_FACTOR_MAX = 65536
QUANTILE_PARTS = 100000000

VALUES = ("counter", "gauge", "range-sampler", "histogram")
KEYED = ("keyed-timer", "stages")
SPANS = ("timer", *KEYED)
# The instruments that have each setting.
HAVE = {
    "unit": VALUES,
    "labels": tuple(word for word in model.INSTRUMENTS if word != "mutex"),
    "buckets": model.DISTRIBUTIONS,
    "range": model.DISTRIBUTIONS,
    "stages": ("stages",),
    "deadline": KEYED,
    "idle": ("counter", *model.DISTRIBUTIONS),
    "windows": tuple(word for word in model.INSTRUMENTS if word not in ("gauge", "mutex")),
    "quantiles": model.DISTRIBUTIONS,
    "native": model.DISTRIBUTIONS,
    "span": SPANS,
}
WHY_NOT = {"unit": "durations are recorded in nanoseconds and exported in seconds",
           "deadline": "what is begun and ended by its id has one; is it a keyed-timer?"}

ALERT_KEYS = ("name", "expr", "for", "severity", "summary", "description", "runbook")
ALERT_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def read_unit(reading, node, metric):
    metric.unit = reading.choice(node, model.UNITS) or "none"


def read_buckets(reading, node, metric):
    if not isinstance(node, yaml.SequenceNode):
        metric.buckets = reading.choice(node, model.BUCKETS)
        return
    bounds = []
    for item in reading.items(node, "a list of bounds"):
        bound = reading.number(item, "a bucket bound, a number in the base unit (+Inf is implied)")
        if bound is None:
            return
        if bound < 0:
            reading.wrong(item, f"found the bound {item.value}; expected 0 or more")
        elif bounds and bound <= bounds[-1]:
            reading.wrong(item, f"found the bound {item.value}; expected one above the one before "
                                f"it, {bounds[-1]:g}")
        bounds.append(bound)
    if not 1 <= len(bounds) <= model.BUCKETS_MAX:
        reading.wrong(node, f"found {len(bounds)} bounds; expected 1 to {model.BUCKETS_MAX}")
    metric.buckets = tuple(bounds)


def read_range(reading, node, metric):
    if not isinstance(node, yaml.MappingNode):
        name = reading.choice(node, model.RANGES)
        metric.range = Range(name) if name else None
        return
    fields = reading.mapping(node, "a range", ("lowest", "highest", "digits"))
    metric.range = Range("", 1, RANGE_HIGHEST_MAX, 2)
    for key in ("highest", "digits"):
        if key not in fields:
            reading.wrong(node, f"this range has no {key}; expected lowest (1 if it is left out), "
                                "highest and digits")
    if "lowest" in fields:
        metric.range.lowest = reading.integer(fields["lowest"], "the lowest value", 1,
                                              RANGE_HIGHEST_MAX // 2) or 1
    if "highest" in fields:
        found = reading.integer(fields["highest"], "the highest value, at least twice the lowest",
                                2 * metric.range.lowest, RANGE_HIGHEST_MAX)
        metric.range.highest = found or RANGE_HIGHEST_MAX
    if "digits" in fields:
        found = reading.integer(fields["digits"], "significant digits", 0, RANGE_DIGITS_MAX)
        metric.range.digits = 2 if found is None else found


def keeps_values(metric):
    span = metric.range
    return span is None or not (span.name == "none" or (not span.name and span.digits == 0))


def read_stages(reading, node, metric):
    stages = []
    for item in reading.items(node, "a list of stages"):
        stage = reading.text(item)
        if stage in stages:
            reading.wrong(item, f"found the stage {shown(stage)!r} again; expected each once")
        elif stage is not None:
            stages.append(stage)
    if len(stages) > model.STAGES_MAX:
        reading.wrong(node, f"found {len(stages)} stages; expected at most {model.STAGES_MAX}")
    metric.stages = tuple(stages)


def read_deadline(reading, node, metric):
    metric.deadline_ms = reading.duration_ms(node, U32_MAX) or 0


def read_idle(reading, node, metric):
    metric.idle_s = (reading.duration_ms(node, U32_MAX * 1000, 1000) or 0) // 1000


def read_windows(reading, node, metric):
    found = reading.boolean(node)
    metric.windows = True if found is None else found


def read_quantiles(reading, node, metric):
    """As crest_quantiles_valid: eight decimals tell quantiles apart."""
    seen = []
    for item in reading.items(node, "a list of quantiles"):
        quantile = reading.number(item, "a quantile, a number above 0 and below 1")
        if quantile is None:
            continue
        parts = int(quantile * QUANTILE_PARTS + 0.5)
        if not 0 < parts < QUANTILE_PARTS:
            hint = f"; did you mean {quantile / 100:g}?" if 1 < quantile < 100 else ""
            reading.wrong(item, f"found the quantile {item.value}; expected one above 0 and below "
                                f"1{hint}")
        elif parts in seen:
            reading.wrong(item, f"found the quantile {item.value} again; expected each once")
        else:
            seen.append(parts)
            metric.quantiles += (quantile,)
    if len(metric.quantiles) > model.QUANTILES_MAX:
        reading.wrong(node, f"found {len(metric.quantiles)} quantiles; expected at most "
                            f"{model.QUANTILES_MAX}")


def read_native(reading, node, metric):
    """off, on or only; or a mapping with that as mode, and a factor."""
    if not isinstance(node, yaml.MappingNode):
        metric.native = reading.choice(node, model.NATIVES) or ""
        return
    fields = reading.mapping(node, "native histograms", ("mode", "factor"))
    if "mode" in fields:
        metric.native = reading.choice(fields["mode"], model.NATIVES) or ""
    if "factor" in fields:
        found = reading.number(fields["factor"], "a factor, a number above 1")
        if found is not None and not 1 < found <= NATIVE_FACTOR_MAX:
            reading.wrong(fields["factor"], f"found the factor {fields['factor'].value}; expected "
                                            f"one above 1, at most {NATIVE_FACTOR_MAX}")
        elif found is not None:
            metric.native_factor = found


def read_span(reading, node, metric):
    metric.span = reading.text(node) or ""


READERS = {"unit": read_unit, "buckets": read_buckets, "range": read_range, "stages": read_stages,
           "deadline": read_deadline, "idle": read_idle, "windows": read_windows,
           "quantiles": read_quantiles, "native": read_native, "span": read_span}


def read_options(reading, fields, metric):
    """All settings of a metric whose instrument is known."""
    for key, have in HAVE.items():
        if key not in fields:
            continue
        if metric.instrument not in have:
            why = WHY_NOT.get(key, f"only {one_of(have)} " + ("has" if len(have) == 1 else "have")
                              + " them" if len(have) < 5 else "it has none")
            reading.wrong(fields[key], f"found {key} of a {metric.instrument}; expected none: "
                                       f"{why}")
        elif key in READERS:
            READERS[key](reading, fields[key], metric)
    check_options(reading, fields, metric)


def check_options(reading, fields, metric):
    """Settings that exclude each other."""
    if metric.instrument == "stages" and "stages" not in fields:
        reading.wrong(metric.position, "these stages have no stages; expected a list of them")
    if metric.instrument == "stages" and "stage" in [label.key for label in metric.labels]:
        reading.wrong(fields["labels"], "found the label stage; expected another key: stages set "
                                        "it")
    most = model.LABELS_MAX
    if len(metric.labels) > most:
        reading.wrong(fields["labels"], f"found {len(metric.labels)} labels; expected at most "
                                        f"{most}")
    if not keeps_values(metric):
        for key in ("buckets", "quantiles", "native"):
            if key in fields and getattr(metric, key):
                reading.wrong(fields[key], f"found {key} with a range that keeps no values; "
                                           "expected none")
    if metric.quantiles and not metric.windows:
        reading.wrong(fields["quantiles"], "found quantiles with windows: no; expected none: they "
                                           "are of windows")


def read_alert(reading, node):
    fields = reading.mapping(node, "an alert", ALERT_KEYS)
    if not isinstance(node, yaml.MappingNode):
        return None
    alert = Alert("", reading.at(node))
    if "expr" not in fields:
        reading.wrong(node, "this alert has no expr; expected one, in which $name is the exported "
                            "name")
    else:
        alert.position = reading.at(fields["expr"])
    for key in ("expr", "summary", "description", "runbook"):
        if key in fields:
            setattr(alert, key, reading.text(fields[key]) or "")
    if "name" in fields:
        alert.name = reading.text(fields["name"]) or ""
        if alert.name and not ALERT_NAME.fullmatch(alert.name):
            reading.wrong(fields["name"], f"found {shown(alert.name)}; expected the name of an "
                                          "alert: letters, digits and _")
    if "for" in fields and reading.duration_ms(fields["for"], 366 * 86400000) is not None:
        alert.duration = fields["for"].value
    if "severity" in fields:
        alert.severity = reading.choice(fields["severity"], ("info", "warning", "critical")) \
            or "warning"
    return alert


def read_alerts(reading, node):
    """One alert or a list of them."""
    items = node.value if isinstance(node, yaml.SequenceNode) else [node]
    alerts = [read_alert(reading, item) for item in items]
    return [alert for alert in alerts if alert is not None]
