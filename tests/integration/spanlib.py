# SPDX-License-Identifier: Apache-2.0
"""Spans for tests: span_program, which makes them, and one form for what the servers know of them.

    node = Traced(place, "zipkin=" + zipkin.url)
    node.do("block 7 3")
    node.flush()
    equal(zipkin.spans(...), node.spans(), "what Zipkin has")

A span's form is a dictionary: trace, id, parent (or None), name, kind, start_ns, end_ns, error
(None, or its text), attributes (texts), events [(ns, name)], links [(trace, id)].
"""

import itertools
import json

from harness import Failure, Program, equal, wait_for

INTERVAL_MS = 300
KINDS = ("internal", "server", "client", "producer", "consumer")
# The numbers of Traced's files, for several of a test.
NUMBERS = itertools.count()


def text_of(value):
    """An attribute's value, as all have it."""
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)


class Traced(Program):
    """span_program with every span kept, and written as JSON lines beside what `options` say."""

    def __init__(self, place, options):
        self.file = place.folder / f"spans-{next(NUMBERS)}.jsonl"
        super().__init__(place, "span_program",
                         f"service=node,instance=one,atexit=off,jitter=0,"
                         f"spans-json={self.file},spans-json.interval={INTERVAL_MS}ms,{options}")
        equal(self.begun, "OK ", "its start")

    def flush(self):
        self.do("flush")

    def totals(self):
        """(offered, kept, folded, dropped)."""
        return tuple(map(int, self.do("totals").split()))

    def sent(self, exporter):
        """(sent, lost)."""
        return tuple(map(int, self.do(f"sent {exporter}").split()))

    def state(self, reporter):
        """(reports, failures, consecutive failures, the last error)."""
        reports, failures, streak, *error = self.do(f"state {reporter}").split(" ", 3)
        return int(reports), int(failures), int(streak), "".join(error)

    def all_out(self, exporter):
        """Waits until what was kept is sent or lost; returns both."""
        kept = self.totals()[1]
        return wait_for(f"{kept} spans out of {exporter}; it is {self.sent(exporter)}",
                        lambda: (lambda both: both if sum(both) == kept else None)(
                            self.sent(exporter)))

    def spans(self):
        """What it has written: {(trace, id): form}."""
        self.all_out("spans-json")
        return by_id(map(of_line, self.file.read_text(encoding="utf-8").splitlines()))


def by_id(forms):
    """Fails where a span is there twice."""
    found = {}
    for form in forms:
        key = form["trace"], form["id"]
        if key in found:
            raise Failure(f"a span is there twice: {form}")
        found[key] = form
    return found


def of_line(line):
    span = json.loads(line)
    outcome = span["outcome"]
    error = span.get("message", outcome) if outcome in ("error", "timeout") else None
    attributes = {key: text_of(value) for key, value in span.get("attributes", {}).items()}
    equal((span["service"], span["instance"]), ("node", "one"), "who")
    if "parentSpanId" not in span:
        attributes["operation"] = span["operation"]
    return {
        "trace": span["traceId"], "id": span["spanId"], "parent": span.get("parentSpanId"),
        "name": span["name"], "kind": span["kind"], "start_ns": span["startTimeUnixNano"],
        "end_ns": span["endTimeUnixNano"], "error": error, "attributes": attributes,
        "events": [(one["timeUnixNano"], one["name"]) for one in span.get("events", [])],
        "links": [(one["traceId"], one["spanId"]) for one in span.get("links", [])],
    }


def otlp_attributes(thing):
    found = {}
    for pair in thing.get("attributes", []):
        (kind, value), = pair["value"].items()
        found[pair["key"]] = str(int(value)) if kind == "intValue" else text_of(value)
    return found


def otlp_error(span):
    status = span.get("status", {})
    return (status.get("message") or "error") if status.get("code") == 2 else None


def of_otlp(resources):
    """The forms of OTLP's resourceSpans, as JSON; ids are in hexadecimal."""
    for resource in resources:
        who = otlp_attributes(resource["resource"])
        equal((who["service.name"], who["service.instance.id"]), ("node", "one"), "who")
        for span in (span for scope in resource["scopeSpans"] for span in scope["spans"]):
            yield {
                "trace": span["traceId"], "id": span["spanId"],
                "parent": span.get("parentSpanId") or None, "name": span["name"],
                "kind": KINDS[span["kind"] - 1], "start_ns": int(span["startTimeUnixNano"]),
                "end_ns": int(span["endTimeUnixNano"]), "error": otlp_error(span),
                "attributes": otlp_attributes(span),
                "events": [(int(one["timeUnixNano"]), one["name"])
                           for one in span.get("events", [])],
                "links": [(one["traceId"], one["spanId"]) for one in span.get("links", [])],
            }


def as_zipkin(form):
    """What Zipkin keeps of a form: small letters, microseconds, no links."""
    attributes = {"instance": "one", **form["attributes"]}
    if form["error"] is not None:
        attributes["error"] = form["error"]
    start_us, end_us = form["start_ns"] // 1000, form["end_ns"] // 1000
    return {"traceId": form["trace"], "id": form["id"], "parentId": form["parent"],
            "name": form["name"].lower(),
            "kind": None if form["kind"] == "internal" else form["kind"].upper(),
            "timestamp": start_us, "duration": max(end_us - start_us, 1), "tags": attributes,
            "annotations": [(ns // 1000, name) for ns, name in form["events"]]}


def of_zipkin(span):
    """The same of an answer of Zipkin's."""
    equal(span["localEndpoint"]["serviceName"], "node", "who")
    return {"traceId": span["traceId"], "id": span["id"], "parentId": span.get("parentId"),
            "name": span.get("name", ""), "kind": span.get("kind"),
            "timestamp": span["timestamp"], "duration": span["duration"],
            "tags": span.get("tags", {}),
            "annotations": [(one["timestamp"], one["value"])
                            for one in span.get("annotations", [])]}
