# SPDX-License-Identifier: Apache-2.0
"""Bodies of OTLP for tests: as protobuf, read by protoc, which also has to make the same bytes of
them again, or as JSON. Both as protobuflib's messages: dictionaries of lists.

    body = otlplib.of_protobuf(bytes)
    equal(body, otlplib.of_json(text), "the two")
    for metric in otlplib.metrics_of(body): ...

    known = otlplib.Points("peer.events")    # what a receiver of JSON knows of a counter
    known.take(body), known.value
"""

import json
import math
import re

import harness
import protobuflib

PROTO = harness.ROOT / "tests/support/otlp_metrics.proto"
MESSAGE = "crest.otlp.Request"
TRACES_PROTO = harness.ROOT / "tests/support/otlp_traces.proto"
# Numbers that JSON has as texts; and those that protobuf leaves out where they are 0.
TEXTS = {"start_time_unix_nano", "time_unix_nano", "end_time_unix_nano", "int_value", "as_int",
         "count", "zero_count", "bucket_counts"}
LEFT_OUT = {"count", "zero_count", "scale", "offset", "flags", "zero_threshold"}


def of_protobuf(body):
    return alike(protobuflib.message_of(body, PROTO, MESSAGE))


def of_traces(body):
    """The same of a body of spans; ids in hexadecimal, as JSON has them."""
    return in_hex(alike(protobuflib.message_of(body, TRACES_PROTO, MESSAGE)))


def in_hex(value):
    if not isinstance(value, dict):
        return value
    return {key: [one.encode(errors="surrogateescape").hex() for one in values]
            if key.endswith(("trace_id", "span_id")) else [in_hex(one) for one in values]
            for key, values in value.items()}


def alike(value):
    """The same for all NaNs, and for numbers that protoc shows without a point."""
    if isinstance(value, dict):
        return {key: [alike(one) for one in values] for key, values in value.items()}
    if isinstance(value, float):
        return "NaN" if math.isnan(value) else int(value) if value.is_integer() else value
    return value


def snake(name):
    return re.sub("[A-Z]", lambda letter: "_" + letter.group().lower(), name)


def json_value(name, value):
    if isinstance(value, dict):
        return json_message(value)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str) and name in TEXTS:
        return int(value)
    if isinstance(value, int) and name in TEXTS:
        raise harness.Failure(f"{name} is a number, not a text: {value}")
    if isinstance(value, int):
        return float(value)
    if value in ("NaN", "Infinity", "-Infinity"):
        return float(value)
    return value


def json_message(message):
    found = {}
    for name, value in message.items():
        name = snake(name)
        values = [json_value(name, one) for one in (value if isinstance(value, list) else [value])]
        if values and not (name in LEFT_OUT and values == [0]):
            found[name] = values
    return found


def of_json(text):
    return alike(json_message(json.loads(text)))


def metrics_of(body):
    """All Metrics of a body of one resource and scope."""
    (resource,) = body["resource_metrics"]
    (scope,) = resource["scope_metrics"]
    harness.equal(scope["scope"][0]["name"], ["crest"], "the scope")
    return scope["metrics"]


def labels_of(point):
    return {pair["key"][0]: pair["value"][0]["string_value"][0]
            for pair in point.get("attributes", [])}


class Points:
    """What a receiver of JSON bodies knows of a counter without labels: its total, or the sum of
    its differences. A point is taken once, by its times, as receivers that add up do. stale: the
    last point said that there is no value any more."""

    def __init__(self, name):
        self.name, self.value, self.stale = name, None, False
        self.starts, self.ends = [], []

    def take(self, body):
        for resource in json.loads(body)["resourceMetrics"]:
            for metric in resource["scopeMetrics"][0]["metrics"]:
                if metric["name"] == self.name:
                    for point in metric["sum"]["dataPoints"]:
                        self.add(point, metric["sum"]["aggregationTemporality"])

    def add(self, point, temporality):
        start, end = int(point["startTimeUnixNano"]), int(point["timeUnixNano"])
        self.stale = point.get("flags") == 1
        if self.stale or end in self.ends:
            return
        if self.ends and (start < self.ends[-1] if temporality == 1 else start != self.starts[-1]):
            raise harness.Failure(f"a point from {start} to {end} after {self.ends[-1]}")
        self.starts.append(start)
        self.ends.append(end)
        self.value = int(point["asInt"]) + (self.value or 0 if temporality == 1 else 0)
