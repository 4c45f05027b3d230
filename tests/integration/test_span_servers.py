#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# crest-test: timeout=900 go-servers
"""Real servers of spans: the Collector 0.161 has span by span what the program's own lines have;
its spanmetrics, in Prometheus 3.16, agree with the program's timers; Zipkin 3.6.1 has the trees.
Both killed in the middle of it: no span is there twice, and those that are missing were counted.
"""

import json

from goservers import Collector, Prometheus3, main
from harness import Failure, equal, holds_at_last, wait_for
from jvmservers import Zipkin
from spanlib import INTERVAL_MS, Traced, as_zipkin, by_id, of_otlp, of_zipkin

SPANS = f"otlp.traces=only,otlp.interval={INTERVAL_MS}ms"
CLOSE = 1e-6  # of a sum of seconds; both add the same nanoseconds, in doubles


def spans_of(collector):
    """What its file has, whole lines only: a kill may have torn one."""
    if not collector.file.exists():
        return {}
    parts = []
    for line in collector.file.read_text(encoding="utf-8").split("\n"):
        try:
            parts += json.loads(line).get("resourceSpans", [])
        except ValueError:
            continue
    return by_id(of_otlp(parts))


def collector_has_every_span(encoding, compression):
    def test(place):
        collector = Collector(place).start()
        node = Traced(place, f"otlp={collector.otlp},{SPANS},otlp.encoding={encoding},"
                      f"otlp.compression={compression}")
        for block in range(40):
            node.do(f"block {block} {block % 5 + 1}")
        node.do("hostile 99")
        node.flush()
        wanted = node.spans()
        equal(node.all_out("otlp-traces"), (len(wanted), 0), "sent and lost")
        holds_at_last(lambda: equal(spans_of(collector), wanted, "the Collector"))
    test.__name__ = f"collector_has_every_span_of_{encoding}_{compression}"
    return test


# ---- the Collector's metrics of spans ----


class Spanmetrics(Collector):
    """It counts and times spans, and sends that to Prometheus."""

    def __init__(self, place, prometheus):
        super().__init__(place)
        self.prometheus = prometheus

    def command(self):
        program, config = super().command()
        path = self.place.folder / f"collector-{self.port}.yml"
        text = path.read_text().replace("exporters:\n", (
            "connectors:\n  spanmetrics:\n    metrics_flush_interval: 500ms\n"
            "    histogram: {unit: s, explicit: {}}\n"
            "exporters:\n  otlphttp:\n"
            f"    endpoint: {self.prometheus.otlp}\n"), 1)
        text = text.replace("traces: {receivers: [otlp], exporters: [file]}",
                            "traces: {receivers: [otlp], exporters: [file, spanmetrics]}\n"
                            "    metrics/spans: {receivers: [spanmetrics], exporters: [otlphttp]}")
        path.write_text(text)
        return [program, config]


def spanmetrics_agree_with_the_timers(place):
    prometheus = Prometheus3(place).start()
    collector = Spanmetrics(place, prometheus).start()
    node = Traced(place, f"otlp@spans={collector.otlp},otlp@spans.traces=only,"
                  f"otlp@spans.interval={INTERVAL_MS}ms,otlp@metrics={prometheus.otlp},"
                  f"otlp@metrics.histograms=explicit,otlp@metrics.interval={INTERVAL_MS}ms")
    for block in range(60):
        node.do(f"block {block} 4")
    node.flush()
    holds_at_last(lambda: equal(node.totals(), (360, 360, 0, 0),
                                "offered, kept, folded, dropped"))
    for name, count in (("block", 60), ("step", 240), ("store", 60)):
        timer = f"span_{name}_time_seconds"
        spans = "traces_span_metrics_duration_seconds"
        which = f'{{span_name="span.{name}-time"}}'

        def agree(timer=timer, spans=spans, which=which, count=count):
            equal(prometheus.number(f"sum({timer}_count)"), count, timer)
            equal(prometheus.number(f"sum({spans}_count{which})"), count, "its spans")
            own = prometheus.number(f"sum({timer}_sum)")
            theirs = prometheus.number(f"sum({spans}_sum{which})")
            if abs(own - theirs) > CLOSE * own:
                raise Failure(f"{timer}: {own} s, and by its spans {theirs} s")
        holds_at_last(agree)
    failed = 'span_step_time_seconds_count{outcome="error"}'
    status = ('traces_span_metrics_calls_total{span_name="span.step-time",'
              'status_code="STATUS_CODE_ERROR"}')
    holds_at_last(lambda: equal(prometheus.number(f"sum({status})"),
                                prometheus.number(failed), "errors"))


# ---- killed and restarted ----


def in_mid_flush(node, server, reporter, end):
    """Blocks before, while and after the server is away; returns what was sent and lost at last."""
    block = 0
    for turn in range(3):
        for _ in range(20):
            node.do(f"block {1000 * turn + block} 3")
            block += 1
        node.flush()
        if turn == 1:
            # while its spans are on their way, or just behind that
            end()
            for _ in range(20):
                node.do(f"block {1000 * turn + block} 3")
                block += 1
            node.flush()
            wait_for("a failure", lambda: node.state(reporter)[2] > 0)
            server.start()
    return node.all_out(reporter)


def collector_through(how):
    def test(place):
        collector = Collector(place).start()
        node = Traced(place, f"otlp={collector.otlp},{SPANS},otlp.timeout=5s")
        sent, lost = in_mid_flush(node, collector, "otlp-traces", getattr(collector, how))
        wanted = node.spans()
        equal(sent + lost, len(wanted), "sent and lost")
        collector.stop()
        found = spans_of(collector)
        for key, span in found.items():
            equal(span, wanted[key], "a span")
        if how == "stop":
            equal(sent <= len(found) <= sent + lost, True, f"{sent}, {len(found)}, {lost}")
        elif not found:
            raise Failure("nothing arrived")
    test.__name__ = f"collector_through_a_{how}"
    return test


# ---- Zipkin ----


def zipkin_has_the_trees_and_a_kill_makes_no_doubles(place):
    zipkin = Zipkin(place).start()
    node = Traced(place, f"zipkin={zipkin.url},zipkin.interval={INTERVAL_MS}ms,zipkin.timeout=5s")
    for block in range(10):
        node.do(f"block {block} 4")
    node.do("hostile 99")
    node.flush()
    equal(node.all_out("zipkin"), (61, 0), "sent and lost")
    check_zipkin(zipkin, node.spans(), 11)
    before = set(node.spans())
    zipkin.kill()
    node.do("block 100 4")
    node.flush()
    wait_for("a failure", lambda: node.state("zipkin")[2] > 0)
    zipkin.start()
    node.do("block 101 4")
    node.flush()
    sent, lost = node.all_out("zipkin")
    spans = node.spans()
    equal(sent + lost, len(spans), "sent and lost")
    new = {key: span for key, span in spans.items() if key not in before}
    if lost == 0:
        check_zipkin(zipkin, new, 2)


def check_zipkin(zipkin, spans, traces):
    """Every trace by the query API is what the lines say, parents and all."""
    wanted = {}
    for (trace, span_id), form in spans.items():
        wanted.setdefault(trace, {})[span_id] = as_zipkin(form)
    equal(len(wanted), traces, "traces")
    for trace, forms in wanted.items():
        def same(trace=trace, forms=forms):
            found = zipkin.trace(trace)
            equal(len(found), len(forms), "spans of a trace")
            equal({span["id"]: of_zipkin(span) for span in found}, forms, trace)
        holds_at_last(same)


if __name__ == "__main__":
    main([collector_has_every_span("protobuf", "gzip"), collector_has_every_span("json", "none"),
          spanmetrics_agree_with_the_timers, collector_through("stop"), collector_through("kill"),
          zipkin_has_the_trees_and_a_kill_makes_no_doubles], "collector", "prometheus")
