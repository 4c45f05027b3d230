#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# crest-test: timeout=600
"""Spans from Java: trees over pools, futures, schedulers and virtual threads. Each span says whose
child it is to be; the JSON lines that Crest wrote must agree, for every span, and the spans that
were offered are those kept, folded and dropped.
"""

import collections
import sys

import jvmlib
from jvmspanlib import accounted, attribute, right_parents, run

sys.path.insert(0, str(jvmlib.ROOT / "tests/integration"))

import harness  # noqa: E402
from harness import Failure, equal  # noqa: E402

BLOCKS, DEPLOYS = 30, 8


def trees_over_executors(place):
    for jdk in JDKS:
        path = place.folder / f"java-{jdk.feature}.jsonl"
        page, spans = run(jdk, "io.crest.SpansMain", path,
                          [jvmlib.jar(), jvmlib.TEST_CLASSES])
        checked = right_parents(spans)
        # a block, its deploys and fetch with a store each, what is done later, and what it stores
        equal(checked, BLOCKS * (2 * DEPLOYS + 2), "spans with a parent that they name")
        names = collections.Counter(span["name"] for span in spans)
        equal(names, {"tree.block-time": BLOCKS, "tree.deploy-time": BLOCKS * DEPLOYS + 1,
                      "tree.store-time": BLOCKS * (DEPLOYS + 2) + 2,
                      "tree.fetch-time": BLOCKS + 1, "tree.later-time": BLOCKS}, "spans by name")
        blocks = {span["traceId"]: span for span in spans if span["name"] == "tree.block-time"}
        equal(len(blocks), BLOCKS, "traces of blocks")
        equal({len(block["links"]) for block in blocks.values()}, {1}, "links of blocks")
        for later in (span for span in spans if span["name"] == "tree.later-time"):
            equal(later["parentSpanId"], blocks[later["traceId"]]["spanId"], "the scheduled span")
        details_are_there(spans)
        the_remote_parent(page, spans)
        accounted(page, len(spans))


def details_are_there(spans):
    stores = [span for span in spans if span["name"] == "tree.store-time"
              and attribute(span, "bytes") is not None]
    equal({(attribute(span, "bytes"), attribute(span, "ratio"), attribute(span, "dirty"),
            span["events"][0]["name"]) for span in stores}, {(4096, 0.5, True, "synced")},
          "attributes and events")
    equal({span["outcome"] for span in stores if attribute(span, "self").endswith("3/store")},
          {"error"}, "stores that failed")
    fetches = collections.Counter(span["outcome"] for span in spans
                                  if span["name"] == "tree.fetch-time" and span["kind"] == "client")
    equal(fetches, {"ok": BLOCKS // 2, "timeout": BLOCKS // 2}, "futures by their ends")
    lonely = next(span for span in spans if attribute(span, "self") == "lonely")
    above = next(span for span in spans if span["spanId"] == lonely["parentSpanId"])
    equal((above["name"], above["traceId"]), ("tree.deploy-time", lonely["traceId"]),
          "the parent of a span without an operation")


def the_remote_parent(page, spans):
    trace, parent = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
    served = next(span for span in spans if span["traceId"] == trace)
    equal(served["parentSpanId"], parent, "the parent in another process")
    wanted = f"next 00-{trace}-{served['spanId']}-01"
    if wanted not in page:
        raise Failure(f"no line {wanted!r} in {page[:300]}")
    if "wrong false" not in page:
        raise Failure("a traceparent that is wrong was taken")


if __name__ == "__main__":
    JDKS = jvmlib.needs("built")
    harness.main([trees_over_executors], servers=())
