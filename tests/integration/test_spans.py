#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# crest-test: timeout=300
"""Spans on their way out: what the program did is what the lines say; every exporter says the same;
and under every broken server each span is delivered once, or counted as lost.
"""

import json
import time

import harness
from harness import Failure, contains, equal, wait_for
from peerlib import HTTP_MANNERS, Last, OK, Peer, takes_all
from spanlib import INTERVAL_MS, Traced, as_zipkin, by_id, of_otlp, of_zipkin

ACCEPTED = b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n"
SENTENCE_LEAST = 15
STOP_MS = 10_000
# A deadline that is kept, and how late a stop may be on a busy machine.
SHORT_MS, LATE_S = 3000, 25
# Of texts that a span has.
TEXT_BYTES_MAX = 128


class Spans(Last):
    """What a peer knows: bodies of OTLP's or Zipkin's JSON, each span once."""

    def __init__(self):
        super().__init__(rb"")
        self.bodies = []

    def take(self, body):
        self.bodies.append(json.loads(body))

    def otlp(self):
        return by_id(form for body in self.bodies for form in of_otlp(body["resourceSpans"]))

    def zipkin(self):
        """{(trace, id): form}; fails where a span is there twice."""
        found = {}
        for span in (span for body in self.bodies for span in body):
            key = span["traceId"], span["id"]
            if key in found:
                raise Failure(f"a span is there twice: {span}")
            found[key] = of_zipkin(span)
        return found


def check_block(spans, children):
    """A block's spans: the root, its children in their order, and a grandchild."""
    roots = [span for span in spans if span["parent"] is None]
    equal([root["name"] for root in roots], ["span.block-time"], "roots")
    (root,) = roots
    contains(root["attributes"]["operation"], "0x" + root["trace"])
    steps = sorted((span for span in spans if span["name"] == "span.step-time"),
                   key=lambda span: -int(span["attributes"]["height"]))
    stores = [span for span in spans if span["name"] == "span.store-time"]
    equal((len(spans), len(steps), len(stores)), (children + 2, children, 1), "how many")
    for number, step in enumerate(steps):
        equal(step["parent"], root["id"], "a step's parent")
        equal(step["attributes"], {"peer": "café", "height": str(-number),
                                   "weight": f"{number + 0.5:g}",
                                   "final": str(number % 2 == 0).lower()}, "its attributes")
        equal([name for _, name in step["events"]], ["stored"], "its events")
        equal(step["links"], [(root["trace"], root["id"])], "its links")
        equal(step["error"], "no parent" if number % 3 == 2 else None, "its error")
        equal(root["start_ns"] <= step["start_ns"] <= step["end_ns"] <= root["end_ns"], True,
              "it is within its root")
    equal((stores[0]["parent"], stores[0]["kind"]), (steps[0]["id"], "client"), "a grandchild")
    equal(stores[0]["attributes"], {"shard": "<7>", "kind": "café"},
          "the labels of its series")


def lines_say_what_was_done(place):
    node = Traced(place, "interval=1h")
    for block in range(10):
        node.do(f"block {block} 4")
    node.do("retire")
    node.flush()
    traces = {}
    for span in node.spans().values():
        traces.setdefault(span["trace"], []).append(span)
    equal(len(traces), 10, "traces")
    for spans in traces.values():
        check_block(spans, 4)
    equal(node.totals(), (60, 60, 0, 0), "offered, kept, folded, dropped")


def exporters_say_the_same(place):
    """Protobuf's bodies are compared with JSON's in test_otlp_bodies.py, and at a Collector."""
    otlp, zipkin = Peer(place, Spans()), Peer(place, Spans())
    otlp.manner, zipkin.manner = takes_all(OK), takes_all(ACCEPTED)
    node = Traced(place, f"otlp=http://127.0.0.1:{otlp.port},otlp.traces=only,otlp.encoding=json,"
                  f"otlp.compression=gzip,otlp.interval={INTERVAL_MS}ms,"
                  f"zipkin=http://127.0.0.1:{zipkin.port},zipkin.interval={INTERVAL_MS}ms")
    for block in range(5):
        node.do(f"block {block} 3")
    node.do("hostile 99")
    node.flush()
    wanted = node.spans()
    equal(node.all_out("zipkin"), (26, 0), "sent to Zipkin, and lost")
    equal(node.all_out("otlp-traces"), (26, 0), "sent by OTLP, and lost")
    equal(otlp.known.otlp(), wanted, "OTLP")
    equal(zipkin.known.zipkin(), {key: as_zipkin(form) for key, form in wanted.items()}, "Zipkin")
    (odd,) = [span for span in wanted.values() if span["error"] == "timeout"]
    equal(odd["attributes"]["peer"], '<b>"&\\\n</b>', "markup")
    equal(odd["attributes"]["stored"], "\ufffd\ufffd(", "no UTF-8")
    long = odd["attributes"]["final"]
    equal((long[:2], set(long[1:])), ("xé", {"é"}), "a long text")
    equal(TEXT_BYTES_MAX - 2 <= len(long.encode()) <= TEXT_BYTES_MAX, True, "it is cut")


def the_last_spans_go_out_at_the_stop(place):
    otlp, zipkin = Peer(place, Spans()), Peer(place, Spans())
    otlp.manner, zipkin.manner = takes_all(OK), takes_all(ACCEPTED)
    node = Traced(place, f"otlp=http://127.0.0.1:{otlp.port},otlp.traces=on,otlp.encoding=json,"
                  f"otlp.interval=1h,otlp.traces-interval=1h,otlp.include=span.block-time,"
                  f"zipkin=http://127.0.0.1:{zipkin.port},zipkin.interval=1h")
    node.do("block 1 3")
    node.do(f"stop {STOP_MS}")
    equal(len(zipkin.known.zipkin()), 5, "Zipkin's")
    equal(len(by_id(form for body in otlp.known.bodies if "resourceSpans" in body
                    for form in of_otlp(body["resourceSpans"]))), 5, "OTLP's")
    equal(any("resourceMetrics" in body for body in otlp.known.bodies), True, "metrics go too")


def a_stop_keeps_its_deadline(place):
    """Two servers that accept and never answer, and an exporter of the user's that never returns:
    the stop leaves them behind, and says so; the file has all spans."""
    servers = [Peer(place, Spans()) for _ in range(2)]
    for server in servers:
        server.manner = HTTP_MANNERS["silent"]
    otlp, zipkin = (server.port for server in servers)
    node = Traced(place, f"otlp=http://127.0.0.1:{otlp},otlp.traces=only,otlp.interval=1h,"
                  f"zipkin=http://127.0.0.1:{zipkin},zipkin.interval=1h")
    node.do("hang")
    node.do("block 1 3")
    began = time.monotonic()
    status, said = node.tell(f"stop {SHORT_MS}")
    took = time.monotonic() - began
    equal(took < LATE_S, True, f"it took {took:.1f} s")
    equal(status, "TIMED_OUT", said)
    for part in ("the exporter sleeper was called", "zipkin:", "otlp-traces:"):
        equal(part in said, True, f"it says {part!r}: {said}")
    equal(len(node.file.read_text().splitlines()), 5, "spans of the file")


# ---- broken servers ----


def one_manner(node, peer, reporter, block, name, manner):
    """Sends a block to the broken server until a report has failed, or has counted a loss."""
    failures, before = node.state(reporter)[1], node.sent(reporter)
    peer.manner = manner
    node.do(f"block {block} 3")
    node.flush()
    wait_for(f"a report to a server: {name}", lambda: node.state(reporter)[1] > failures
             or node.sent(reporter) != before)
    _, now, _, said = node.state(reporter)
    if now > failures and (len(said) < SENTENCE_LEAST or " " not in said):
        raise Failure(f"{name}: no sentence: {said!r}")


def through_every_broken_server(reporter, options, answer, form):
    def test(place):
        peer, good = Peer(place, Spans()), takes_all(answer)
        node = Traced(place, options.format(peer.port, INTERVAL_MS))
        for number, (name, manner) in enumerate(HTTP_MANNERS.items()):
            one_manner(node, peer, reporter, 2 * number, name, manner)
            peer.manner = good
            node.do(f"block {2 * number + 1} 3")
            node.flush()
            sent, lost = node.all_out(reporter)
            equal(sent + lost, node.totals()[1], name)
            known = wait_for(f"{sent} spans after: {name}", lambda at_least=sent: (
                lambda found: found if len(found) >= at_least else None)(form(peer.known)))
            # what was lost without an answer may have arrived
            equal(sent <= len(known) <= sent + lost, True, f"{name}: {sent}, {len(known)}, {lost}")
        node.do(f"stop {STOP_MS}")
    test.__name__ = f"{reporter}_to_every_broken_server"
    return test


BROKEN = [
    through_every_broken_server(
        "otlp-traces", "otlp=http://127.0.0.1:{0},otlp.traces=only,otlp.encoding=json,"
        "otlp.interval={1}ms,otlp.timeout=1s", OK, Spans.otlp),
    through_every_broken_server(
        "zipkin", "zipkin=http://127.0.0.1:{0},zipkin.interval={1}ms,zipkin.timeout=1s", ACCEPTED,
        Spans.zipkin),
]

if __name__ == "__main__":
    harness.main([lines_say_what_was_done, exporters_say_the_same,
                  the_last_spans_go_out_at_the_stop, a_stop_keeps_its_deadline,
                  *BROKEN], servers=())
