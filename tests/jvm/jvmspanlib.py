# SPDX-License-Identifier: Apache-2.0
"""What the tests of spans from the JVM share: a run of a program that traces, whose spans each say
by attributes who they are (`self`) and whose child they are to be (`wants`).
"""

import json
import os
import re
import sys

import jvmlib

sys.path.insert(0, str(jvmlib.ROOT / "tests/integration"))

from harness import Failure, equal  # noqa: E402

OPTIONS = ("spans=tree.*,spans.sample=1,spans.rate=1000000,spans-json={path},"
           "spans-json.interval=200ms,service=tree")
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
