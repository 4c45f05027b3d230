#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# crest-test: timeout=600
"""Spans from Java and Scala, in one JVM each: trees over pools, futures, virtual threads and fibers
of cats-effect 2 (Scala 2.12) and 3 (2.13 and 3), which are compiled with warnings as errors.
Each span says whose child it is to be; the JSON lines that Crest wrote must agree, for every span,
and the spans that were offered are those kept, folded and dropped.
"""

import collections
import json
import os
import re
import subprocess
import sys

import jvmlib

sys.path.insert(0, str(jvmlib.ROOT / "tests/integration"))
sys.path.insert(0, str(jvmlib.ROOT / "jvm-shim/crest-scala"))

import harness  # noqa: E402
import scala_jars  # noqa: E402
from harness import Failure, Skip, equal  # noqa: E402

OPTIONS = ("spans=tree.*,spans.sample=1,spans.rate=1000000,spans-json={path},"
           "spans-json.interval=200ms,service=tree")
SCALA = jvmlib.ROOT / "tests/jvm/scala_spans"
BLOCKS, DEPLOYS = 30, 8
FATES = re.compile(r'^crest_spans_total\{fate="([^"]*)"\} (\S+)$', re.M)


def spans_of(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def attribute(span, key):
    return span.get("attributes", {}).get(key)


def right_parents(spans):
    """Every span that says so is the child of the span that it names, in the same trace."""
    by_id = {(span["traceId"], span["spanId"]): span for span in spans}
    equal(len(by_id), len(spans), "ids of spans, each once")
    checked = 0
    for span in spans:
        wants = attribute(span, "wants")
        if not wants:
            continue
        parent = by_id.get((span["traceId"], span.get("parentSpanId")))
        if parent is None:
            raise Failure(f"{attribute(span, 'self')} has no parent: {span}")
        equal(attribute(parent, "self"), wants, f"parent of {attribute(span, 'self')}")
        checked += 1
    return checked


def accounted(page, count):
    """Every offered span has become something."""
    fates = {fate: int(float(value)) for fate, value in FATES.findall(page)}
    equal(fates.get("kept"), count, f"kept spans, of {fates}")
    equal({fate: value for fate, value in fates.items() if value and fate != "kept"}, {},
          "spans that became something else")


def run(jdk, main, path, jars):
    command = [jdk.java, *jdk.options(), "-XX:TieredStopAtLevel=1", "-cp",
               ":".join(map(str, jars)), main, OPTIONS.format(path=path)]
    status, output = jvmlib.bounded(command, {**os.environ, "CREST_OPTS": ""}, 300)
    if status != 0:
        raise Failure(f"{main} ended with status {status}: {output[-4000:]}")
    return output, spans_of(path)


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


def fetched():
    """The compilers, and cats-effect."""
    try:
        return scala_jars.fetch()
    except scala_jars.NotFetched as error:
        if os.environ.get("CI", "") not in ("", "0", "false"):
            raise Failure(f"Maven could not fetch the Scala compilers: {error}") from error
        raise Skip("no Scala compiler: Maven could not fetch it") from error


def trees_over_fibers(place):
    """What is done is the same for each Scala: FacadeChecks.scala, and Cats2Checks or Cats3Checks."""
    paths = fetched()
    here = scala_jars.HERE
    for scala, cats in (("2.12", "2"), ("2.13", "3"), ("3", "3")):
        libraries = paths[f"cats{cats}-{scala}"].split(":")
        sources = [*(here / "core").glob("*.scala"), *(here / f"cats{cats}").glob("*.scala"),
                   *(here / "both").glob("*.scala"), SCALA / "FacadeChecks.scala",
                   SCALA / f"Cats{cats}Checks.scala"]
        jdk = jvmlib.jdks()[0]
        classes = scala_jars.compiled(jdk.java, paths, scala, sources, [jvmlib.jar(), *libraries],
                                      place.folder / f"classes-{scala}")
        path = place.folder / f"scala-{scala}.jsonl"
        page, spans = run(JDKS[-1], f"checks.Cats{cats}Checks", path,
                          [jvmlib.jar(), classes, *libraries,
                           *scala_jars.library(paths[f"compiler-{scala}"])])
        # 30 blocks of 8 parts with a store each, and 10 of 5 parts with a store of futures
        equal(right_parents(spans), 30 * 16 + 10 * 5, f"children of Scala {scala}")
        ends = collections.Counter((span["name"], span["outcome"]) for span in spans
                                   if span["outcome"] != "ok")
        equal(ends, {("tree.block-time", "error"): 2, ("tree.block-time", "cancelled"): 1,
                     ("tree.part-time", "error"): 1}, f"failed spans of Scala {scala}")
        equal(sum(span["name"] == "tree.source.time" for span in spans), 1, "a source's span")
        accounted(page, len(spans))
        for line in ("words_blocks_total 6", 'words_messages_total{kind="ping",peer="10.0.0.7"} 1',
                     "words_level 2", "tree_source_finished_block_total 1"):
            if f"\n{line}\n" not in page:
                raise Failure(f"no {line!r} on the page of Scala {scala}")


if __name__ == "__main__":
    JDKS = jvmlib.needs("built")
    harness.main([trees_over_executors, trees_over_fibers], servers=())
