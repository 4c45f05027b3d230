#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# crest-test: timeout=480 go-servers
"""Real receivers of OTLP: the Collector 0.161, Prometheus 3.16 and VictoriaMetrics 1.131 know the
same totals as the program that sent them, over a receiver's restart too; and Prometheus knows the
same of a node whether it scrapes the node or is sent to: every name, label and value.
"""

import math
import re
import time

import harness

from goservers import Collector, Prometheus3, VictoriaMetrics, main
from harness import Failure, Program, equal, free_port, go_server, holds_at_last, wait_for
from test_scrape import KINDS, Totals

INTERVAL_MS = 300
DOCS = harness.ROOT / "docs/otel.md"


class Sender(Program):
    """scrape_program, sending by OTLP as the options say."""

    def __init__(self, place, otlp, options=""):
        self.port = free_port()
        super().__init__(place, "scrape_program",
                         f"service=node,version=1.2,instance=one,jitter=0,windows=off,"
                         f"interval={INTERVAL_MS}ms,prometheus=127.0.0.1:{self.port},"
                         f"prometheus.native=on,otlp={otlp},otlp.timeout=60s{options}")
        equal(self.begun, f"OK http://127.0.0.1:{self.port}/metrics")


# ---- the Collector ----


def known_to(collector):
    """{(name, labels): (kind, value)} of what it has: of a cumulative series the last value, of
    differences their sum, each point once by its times; a histogram is its count, sum and counts
    of buckets."""
    found, ends = {}, {}
    for name, kind, labels, point, resource in collector.points():
        equal(resource["service.name"], "node")
        equal(resource["service.instance.id"], "one")
        if point.get("flags") == 1:
            continue
        key = name, tuple(sorted(labels.items()))
        times = point.get("startTimeUnixNano", "0"), point["timeUnixNano"]
        if times in ends.setdefault(key, []):
            continue
        before = found.get(key, (kind, Amount()))[1]
        ends[key].append(times)
        found[key] = kind, Amount(point, before)
    return found


class Amount:
    """A point's value, and it added to what was there before."""

    def __init__(self, point=None, before=None):
        self.last = self.sum = 0
        if point is not None:
            self.last = self.of(point)
            self.sum = self.last + before.sum

    @staticmethod
    def of(point):
        for key, kind in (("asInt", int), ("asDouble", float), ("count", int)):
            if key in point:
                return kind(point[key])
        return 0


def check_collector(collector, totals, delta):
    found = known_to(collector)

    def value(name, **labels):
        _, amount = found.get((name, tuple(sorted(labels.items()))), ("nothing", Amount()))
        return amount.sum if delta else amount.last

    equal(value("scrape.events-done"), totals.events, "events")
    equal(value("scrape.data-received"), totals.events * 1000, "bytes")
    for kind, wanted in zip(KINDS, totals.kinds):
        equal(value("scrape.kinds-seen", kind=kind), wanted, kind)
    equal(value("scrape.message-size"), sum(totals.sizes), "sizes")
    for outcome, counts in totals.work.items():
        equal(value("scrape.work-time", outcome=outcome), sum(counts), outcome)
    equal(found["scrape.balance", ()][1].last, totals.balance, "balance")


def collector_through_a_restart(options, delta):
    def test(place):
        collector = Collector(place).start()
        node = Sender(place, collector.otlp, options)
        totals = Totals()
        for turn in range(2):
            totals.record(node, 4, 200)
            holds_at_last(lambda: check_collector(collector, totals, delta))
            (collector.stop if turn else collector.kill)()
            totals.record(node, 3, 100)
            time.sleep(2 * INTERVAL_MS / 1000)
            collector.start()
            totals.record(node, 2, 50)
        holds_at_last(lambda: check_collector(collector, totals, delta))
        totals.record(node, 1, 10)
        equal(node.tell("stop 60000")[0], "OK")

        def all_is_there():
            check_collector(collector, totals, delta)
            ended = any(point.get("flags") == 1 for _, _, _, point, _ in collector.points())
            equal(ended, not delta, "markers at the end")

        holds_at_last(all_is_there)  # the collector writes after it has answered
    test.__name__ = "collector_" + "_".join(
        part.split("=")[1] for part in options.split(",") if part) + "_through_a_restart"
    return test


COLLECTORS = [
    collector_through_a_restart(",otlp.temporality=cumulative,otlp.encoding=protobuf", False),
    collector_through_a_restart(",otlp.temporality=delta,otlp.encoding=protobuf,"
                                "otlp.compression=gzip", True),
    collector_through_a_restart(",otlp.temporality=cumulative,otlp.encoding=json,"
                                "otlp.histograms=explicit,otlp.compression=gzip", False),
    collector_through_a_restart(",otlp.temporality=delta,otlp.encoding=json,"
                                "otlp.histograms=explicit", True),
]


# ---- Prometheus and VictoriaMetrics ----


def prometheus_and_victoriametrics_know_all(place):
    prometheus, victoria = Prometheus3(place).start(), VictoriaMetrics(place).start()
    node = Sender(place, prometheus.otlp, f",otlp.histograms=explicit,otlp@vm={victoria.otlp},"
                  "otlp@vm.histograms=explicit")
    totals = Totals()
    totals.record(node, 4, 500)
    totals.check(prometheus)
    known_to_victoria(victoria, totals)
    prometheus.stop()
    totals.record(node, 4, 100)
    prometheus.start()
    totals.record(node, 2, 100)
    totals.check(prometheus)
    equal(node.tell("stop 60000")[0], "OK")
    # stale at once, and not five minutes later
    wait_for("the series' end", lambda: prometheus.value("scrape_events_done_total") is None)


def known_to_victoria(victoria, totals):
    """VictoriaMetrics keeps OTLP's names with dots and dashes as they are."""
    victoria.check_value('{__name__="scrape.events-done"}', totals.events)
    victoria.check_value('sum({__name__="scrape.kinds-seen"})', sum(totals.kinds))
    victoria.check_value('{__name__="scrape.message-size_count"}', sum(totals.sizes))


# ---- docs/otel.md ----


class DocumentedCollector(Collector):
    """With the page's configuration, but for port and file."""

    def command(self):
        config = self.place.folder / "documented.yml"
        text, = re.findall(r"```yaml\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.S)
        config.write_text(text.replace(":4318", f":{self.port}")
                          .replace("/tmp/metrics.json", str(self.file)))
        return [go_server("collector"), f"--config={config}"]


def the_page_is_followed(place):
    """Its options reach each of its three servers."""
    page = DOCS.read_text(encoding="utf-8")
    servers = {4318: DocumentedCollector(place).start(), 9090: Prometheus3(place).start(),
               8428: VictoriaMetrics(place).start()}
    for port, server in servers.items():
        options, = re.findall(rf"CREST_OPTS='(otlp=http://127\.0\.0\.1:{port}\b[^']*)'", page)
        program = Program(place, "peer_program",
                          options.replace(f":{port}", f":{server.port}") + ",atexit=off")
        equal(program.begun, "OK ")
        program.do("record 42")
        if port == 9090:
            # nothing is shown of a series that has ended, so that it is asked for what was
            equal(program.tell("stop")[0], "OK")
            server.check_value('max_over_time(peer_events_total{job="rnode"}[1m])', 42)
            continue
        equal(program.tell("stop")[0], "OK")
        if port == 8428:
            server.check_value('max_over_time({__name__="peer.events"}[1m])', 42)
        else:
            wait_for("the Collector's file", lambda: any(
                name == "peer.events" and point.get("asInt") == "42"
                for name, _, _, point, _ in servers[4318].points()))


# ---- one truth ----

# What a scrape has of its own.
OF_THE_SCRAPE = ("up", "scrape_duration_seconds", "scrape_samples_scraped", "scrape_series_added",
                 "scrape_samples_post_metric_relabeling", "target_info")


def all_of(prometheus):
    """{(name, labels without instance and job): value} of all that is the program's."""
    found = {}
    answer = prometheus.ask("query", query='{__name__=~".+"}')
    for series in answer["result"]:
        labels = {key: value for key, value in series["metric"].items()
                  if key not in ("instance", "job")}
        name = labels.pop("__name__")
        if name in OF_THE_SCRAPE or name.startswith("crest_"):
            continue
        if "le" in labels:
            labels["le"] = float(labels["le"])
        key = name, tuple(sorted(labels.items()))
        if key in found:
            raise Failure(f"twice: {key}")
        found[key] = value_of(series)
    return found


def value_of(series):
    """A number, or a native histogram's count, sum and buckets. Prometheus gives a zero bucket
    another width by OTLP."""
    if "value" in series:
        return float(series["value"][1])
    _, histogram = series["histogram"]
    buckets = []
    for _, low, high, count in histogram.get("buckets", []):
        low, high = float(low), float(high)
        if low <= 0 <= high:
            low = high = 0.0
        buckets.append((low, high, float(count)))
    return float(histogram["count"]), float(histogram["sum"]), buckets


def one_truth(native):
    def test(place):
        receiver = Prometheus3(place).start()
        node = Sender(place, receiver.otlp,
                      f",otlp.histograms={'exponential' if native else 'explicit'}")
        scraper = Prometheus3(place, [node], native=native).start()
        totals = Totals()
        totals.record(node, 4, 1000)
        node.do("many 3000")

        def equal_in_all():
            scraped, sent = all_of(scraper), all_of(receiver)
            only = sorted(set(scraped) - set(sent)), sorted(set(sent) - set(scraped))
            equal((only[0][:5], only[1][:5]), ([], []), "series of one only")
            for key, value in scraped.items():
                if sent[key] != value and not (value != value and math.isnan(sent[key])):
                    raise Failure(f"{key}: scraped {value}, sent {sent[key]}")
            if len(scraped) < 3020:
                raise Failure(f"{len(scraped)} series")

        holds_at_last(equal_in_all)
    test.__name__ = f"one_truth_{'native' if native else 'classic'}"
    return test


if __name__ == "__main__":
    main([*COLLECTORS, the_page_is_followed, prometheus_and_victoriametrics_know_all,
          one_truth(True), one_truth(False)], "collector", "prometheus", "victoriametrics")
