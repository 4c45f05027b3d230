#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# crest-test: timeout=400
"""A real Kamon application's finished spans go where Crest's spans go. KamonSpans.java of the test
tree writes down what Kamon says of each span; the JSON lines that Crest wrote must have the same:
ids, times, kind, tags with their types, marks, links and failures.
"""

import json
import os
import subprocess
import sys

import jvmlib

sys.path.insert(0, str(jvmlib.ROOT / "tests/integration"))

import harness  # noqa: E402
from harness import Failure, equal, wait_for  # noqa: E402

SPANS = 120
RUN_S = 300
CONFIGURATION = """\
kamon.trace.sampler = always
kamon.trace.tick-interval = 1 second
kamon.metric.tick-interval = 2 seconds
kamon.crest.options = "spans-json={path},service=shop"
kamon.crest.stop-timeout = 60 seconds
"""


def lines_of(path):
    """The whole lines of a file that may still grow."""
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    return text[:text.rfind("\n") + 1].splitlines()


def told(line):
    """What the application wrote of a span, in the form of Crest's line."""
    trace, own, parent, kind, failed, start, end, name, marks, links, *tags = line.split("\t")
    return {"traceId": trace.zfill(32), "spanId": own, "parentSpanId": parent,
            "kind": "internal" if kind in ("unknown", "internal") else kind,
            "outcome": "error" if failed == "true" else "ok", "start": int(start),
            "end": int(end), "name": name, "marks": int(marks), "links": int(links),
            "tags": dict(tag.split("=", 1) for tag in tags)}


def written(line):
    """The same of Crest's line."""
    span = json.loads(line)
    return {"traceId": span["traceId"], "spanId": span["spanId"],
            "parentSpanId": span.get("parentSpanId", ""), "kind": span["kind"],
            "outcome": span["outcome"], "start": span["startTimeUnixNano"],
            "end": span["endTimeUnixNano"], "name": span["name"],
            "marks": len(span.get("events", [])), "links": len(span.get("links", [])),
            "tags": {key: value if isinstance(value, str) else json.dumps(value)
                     for key, value in span.get("attributes", {}).items()}}


def by_id(spans):
    return {(span["traceId"], span["spanId"]): span for span in spans}


def start(place, jdk):
    folder = place.folder / f"spans-{jdk.feature}"
    folder.mkdir()
    path = folder / "crest.jsonl"
    (folder / "application.conf").write_text(CONFIGURATION.format(path=path))
    jars = [jvmlib.jar(), jvmlib.TEST_CLASSES, *jvmlib.test_libraries()]
    command = [jdk.java, *jdk.options(), "-XX:TieredStopAtLevel=1", "-cp",
               ":".join(str(entry) for entry in (folder, *jars)), "io.crest.kamon.KamonSpans",
               folder / "truth"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True,
                               env={**os.environ, "CREST_OPTS": ""})
    return process, path, folder / "truth"


def finished_spans_arrive(place):
    process, path, truth = start(place, JDKS[-1])
    try:
        wait_for("all of Kamon's spans in its own reporter and in Crest's file",
                 lambda: process.poll() is not None or (
                     len(lines_of(truth)) >= SPANS and len(lines_of(path)) >= SPANS), seconds=120)
    finally:
        output, _ = process.communicate(timeout=RUN_S)
    if process.returncode != 0:
        raise Failure(f"status {process.returncode}: {output}")
    equal([line for line in output.splitlines() if "ERROR" in line or "Crest" in line], [],
          "what the log was told of Crest")
    own = by_id(map(told, lines_of(truth)))
    theirs = by_id(map(written, lines_of(path)))
    equal(len(own), SPANS, "spans that Kamon told of")
    equal(sorted(theirs), sorted(own), "ids of spans")
    for key, span in own.items():
        equal(theirs[key], span, f"span {key}")
    line = json.loads(next(one for one in lines_of(path) if '"casper.block"' in one))
    equal((type(line["attributes"]["height"]), type(line["attributes"]["final"])), (int, bool),
          "types of tags")
    equal(line["service"], "shop", "service")
    failed = [json.loads(one) for one in lines_of(path) if '"error"' in one]
    equal({one.get("message") for one in failed if one["outcome"] == "error"},
          {"no space left"}, "messages of failures")


if __name__ == "__main__":
    JDKS = jvmlib.needs("built")
    harness.main([finished_spans_arrive])
