#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Bodies of OTLP: those in tests/golden are read by protoc, which makes the same bytes of them
again, and say the same in protobuf and in JSON; their numbers are what they should be.
"""

import subprocess

import harness
import otlplib
from harness import equal

GOLDEN = harness.ROOT / "tests/golden"


def without_empty(value):
    """Messages, lists and texts that are empty are the same as none."""
    if not isinstance(value, dict):
        return value
    kept = {key: [without_empty(one) for one in values] for key, values in value.items()}
    return {key: values for key, values in kept.items() if values not in ([{}], [""])}


def golden(name):
    body = (GOLDEN / f"{name}.otlp").read_bytes()
    return otlplib.of_protobuf(body), otlplib.of_json((GOLDEN / f"{name}.otlp.json").read_text())


def points(body):
    """{(name, labels): (kind, point)}; fails where one is there twice."""
    found = {}
    for metric in otlplib.metrics_of(body):
        for kind in ("gauge", "sum", "histogram", "exponential_histogram"):
            for data in metric.get(kind, []):
                for point in data["data_points"]:
                    key = metric["name"][0], tuple(otlplib.labels_of(point).items())
                    if key in found:
                        raise harness.Failure(f"{key} is there twice")
                    found[key] = kind, point
    return found


def both_encodings_say_the_same(_):
    names = sorted(path.stem for path in GOLDEN.glob("*.otlp"))
    equal(len(names), 5, "golden bodies")
    for name in names:
        protobuf, json = golden(name)
        metrics = otlplib.metrics_of(json)
        for metric in otlplib.metrics_of(protobuf):
            equal(without_empty(metric), without_empty(metrics.pop(0)), name)
        equal(metrics, [], name)
        equal(protobuf["resource_metrics"][0]["resource"], json["resource_metrics"][0]["resource"],
              name)


def spans_are_the_same_in_both_encodings(_):
    spans = otlplib.of_traces((GOLDEN / "otlp_spans.traces").read_bytes())
    json = otlplib.of_json((GOLDEN / "otlp_spans.traces.json").read_text())
    equal(without_empty(spans), without_empty(json), "spans")
    (resource,) = spans["resource_spans"]
    (scope,) = resource["scope_spans"]
    equal(len(scope["spans"]), 5, "spans")
    equal({span["trace_id"][0] for span in scope["spans"]}, {"abcdef0102030405060708090a0b0c0d"},
          "their trace")


def counts_are_those_of_the_buckets(_):
    for name in ("otlp_exponential", "otlp_fine", "otlp_explicit"):
        seen = 0
        for key, (kind, point) in points(golden(name)[0]).items():
            if kind not in ("histogram", "exponential_histogram"):
                continue
            seen += 1
            counts = point.get("bucket_counts", [])
            for buckets in point.get("positive", []):
                counts = buckets["bucket_counts"]
            total = sum(counts) + point.get("zero_count", [0])[0]
            # buckets of a count past 64 bits are full, each for itself
            equal(total, point.get("count", [0])[0], f"{name} {key}")
            if kind == "histogram":
                equal(len(counts), len(point.get("explicit_bounds", [])) + 1, f"{name} {key}")
        equal(seen, 7, name)


def values_are_what_was_recorded(_):
    body, _ = golden("otlp_values")
    found = points(body)
    created = ("casper.blocks-created", ())
    equal(found[created][0], "sum", "a counter")
    equal(found[created][1]["as_int"], [0], "a counter of nothing")
    equal(found[("comm.messages", (("peer", "node-1"), ("kind", 'café "\\\n')))][1]["as_int"],
          [2 ** 53 + 1], "2^53 + 1")
    equal(found[("comm.messages", (("peer", "\ufffd"),))][1]["as_double"], [2 ** 64],
          "2^64 - 1, as a double")
    equal(found[("comm.ratio", ())][1]["as_double"], ["NaN"], "a gauge that is no number")
    equal(found[("queue.depth", ())][1]["as_int"], [-3], "a range sampler")
    equal([found[(f"queue.depth.{word}1m", ())][1]["as_double"] for word in ("min", "avg", "max")],
          [[-5], [0.5], [7]], "its extremes")
    equal(found[("crest_target_info", (("service", "node"), ("version", "1.2")))][1]["as_int"],
          [1], "the target")


def stale_points_have_no_value(_):
    found = points(golden("otlp_stale")[0])
    for key, (_, point) in found.items():
        equal(point["flags"], [1], key)
        equal(point["time_unix_nano"], [1700000000124456789], key)
        equal([name for name in ("as_int", "as_double", "count") if name in point], [], key)
    equal(set(found) | {("crest_target_info", (("service", "node"), ("version", "1.2")))},
          set(points(golden("otlp_values")[0])), "the series that end")


def the_example_prints_what_it_says(_):
    program = harness.BUILD / "examples/32_otlp_json"
    done = subprocess.run([program], capture_output=True, check=False)
    equal(done.returncode, 0, "its end")
    body = otlplib.of_json(done.stdout)
    equal({pair["key"][0]: pair["value"][0]["string_value"][0]
           for pair in body["resource_metrics"][0]["resource"][0]["attributes"]},
          {"service.name": "bakery", "service.instance.id": "high-street"}, "the resource")
    found = points(body)
    equal(found[("bakery.loaves", (("kind", "rye"),))][1]["as_int"], [12], "rye")
    equal(found[("bakery.heat", ())][1]["as_double"], [0.75], "heat")
    baking = found[("bakery.batch-time", (("outcome", "ok"),))][1]
    equal((baking["count"], baking["sum"], baking["min"], baking["max"]),
          ([4], [8400], [1200], [3000]), "baking")
    for _, point in found.values():
        start = point.get("start_time_unix_nano", [0])[0]
        equal(start <= point["time_unix_nano"][0], True, "it begins before it ends")


if __name__ == "__main__":
    harness.main([both_encodings_say_the_same, spans_are_the_same_in_both_encodings,
                  counts_are_those_of_the_buckets,
                  values_are_what_was_recorded, stale_points_have_no_value,
                  the_example_prints_what_it_says], servers=())
