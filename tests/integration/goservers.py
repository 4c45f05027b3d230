# SPDX-License-Identifier: Apache-2.0
"""Servers that scripts/build-servers builds from Go modules: what nodes meet today.

    # crest-test: go-servers
    from goservers import Collector, Prometheus3, VictoriaMetrics

    def counters_arrive(place):
        collector = Collector(place).start()          # OTLP/HTTP at collector.otlp
        prometheus = Prometheus3(place, [node]).start()
        prometheus.check_value("scrape_events_done_total", 7)

    harness.main([counters_arrive], servers=(), go_servers=("collector", "prometheus"))

The comment `crest-test: go-servers` has run-tests build them beside other tests and run this one
afterwards. By hand: `make servers`, or scripts/build-servers NAME. Without a server its tests are
skipped with the reason. Each class is a harness.Server: `start()`, `stop()`, `kill()`, and then
`start()` again, on the same port over what it had stored.

    class              program            what it takes
    Collector          collector 0.161    OTLP over HTTP (`otlp`) and gRPC; a file of JSON lines
    Prometheus3        prometheus 3.16    scrapes; OTLP (`otlp`); remote write (`remote_write`)
    VictoriaMetrics    1.131              scrapes; OTLP (`otlp`); remote write; InfluxDB's /write
    Pushgateway1       pushgateway 1.11.1 pushes
    StatsdExporter     0.31               StatsD datagrams (`statsd_port`), a page (`page()`)
    Telegraf           its input, 1.39    StatsD datagrams (`statsd_port`), JSON (`fields()`)
"""

import contextlib
import json
import re
import socket

import harness
from harness import Prometheus, Pushgateway, Server, free_port, go_server

KINDS = ("sum", "gauge", "histogram", "exponentialHistogram", "summary")


def listens(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


class Collector(Server):
    """The OpenTelemetry Collector: writes every request that it takes, as a line of JSON, into
    `file`. more: further lines of the OTLP/HTTP receiver's configuration, without their indent.
    profiles=True: it takes profiles too, which it calls alpha."""

    def __init__(self, place, port=None, more=(), profiles=False):
        super().__init__(place, "collector", port)
        self.otlp = self.url
        self.file = place.folder / f"collector-{self.port}.json"
        self.grpc_port = free_port()
        self.more = more
        self.profiles = profiles

    def command(self):
        config = self.place.folder / f"collector-{self.port}.yml"
        kinds = ["metrics", "traces", "logs", *(["profiles"] if self.profiles else [])]
        more = "".join(f"        {line}\n" for line in self.more)
        config.write_text(
            "receivers:\n  otlp:\n    protocols:\n      grpc:\n"
            f"        endpoint: 127.0.0.1:{self.grpc_port}\n      http:\n"
            f"        endpoint: 127.0.0.1:{self.port}\n{more}"
            f"exporters:\n  file:\n    path: {self.file}\n    append: true\n"
            "    flush_interval: 50ms\n"
            "service:\n  pipelines:\n"
            + "".join(f"    {kind}: {{receivers: [otlp], exporters: [file]}}\n"
                      for kind in kinds))
        return [go_server("collector"), f"--config={config}",
                *(["--feature-gates=service.profilesSupport"] if self.profiles else [])]

    def is_ready(self):
        self.check_running()
        return listens(self.port)

    def requests(self, kind="resourceMetrics"):
        """What it has written so far of the kind: the JSON objects of OTLP, in their order."""
        if not self.file.exists():
            return []
        # the last line may not be whole yet
        lines = self.file.read_text(encoding="utf-8").split("\n")[:-1]
        return [part for line in lines for one in objects_of(line) for part in one.get(kind, [])]

    def points(self):
        """Every data point of a metric so far, in their order: (name, one
        of KINDS, the point's attributes, the point, the resource's attributes)."""
        found = []
        for part in self.requests():
            resource = attributes_of(part.get("resource", {}))
            for metric in (metric for scope in part["scopeMetrics"] for metric in scope["metrics"]):
                for kind in KINDS:
                    for point in metric.get(kind, {}).get("dataPoints", []):
                        found.append((metric["name"], kind, attributes_of(point), point, resource))
        return found


def objects_of(line):
    """Those of a line of the collector's file. Killed while it writes, it leaves an object without
    its line feed, or cut, and goes on behind that."""
    starts = [match.start() for match in re.finditer(r'\{"resource', line)]
    objects, end = [], 0
    for start in starts:
        with contextlib.suppress(json.JSONDecodeError):
            if start >= end:
                found, end = json.JSONDecoder().raw_decode(line, start)
                objects.append(found)
    return objects


def attributes_of(thing):
    """{key: value} of what has OTLP's attributes; integers are integers."""
    found = {}
    for attribute in thing.get("attributes", []):
        (kind, value), = attribute["value"].items()
        found[attribute["key"]] = int(value) if kind == "intValue" else value
    return found


class Prometheus3(Prometheus):
    """Today's Prometheus. It scrapes the targets every second: native histograms, and with
    classic=True the classic ones beside them; native=False takes the text page."""

    def __init__(self, place, targets=(), port=None, native=True, classic=False):
        super().__init__(place, targets, port)
        self.name = "prometheus3"
        self.native = native
        self.classic = classic
        self.otlp = self.url + "/api/v1/otlp"
        self.remote_write = self.url + "/api/v1/write"

    def command(self):
        config = self.place.folder / f"prometheus3-{self.port}.yml"
        targets = ", ".join(f"'127.0.0.1:{target.port}'" for target in self.targets)
        switches = (f"scrape_native_histograms: {json.dumps(self.native)}, "
                    f"always_scrape_classic_histograms: {json.dumps(self.classic)}")
        config.write_text(f"global: {{scrape_interval: 1s, scrape_timeout: 1s, {switches}}}\n"
                          "scrape_configs:\n- job_name: node\n  honor_labels: true\n"
                          f"  static_configs: [{{targets: [{targets}]}}]\n")
        return [go_server("prometheus"), f"--config.file={config}",
                f"--storage.tsdb.path={self.place.folder}/prometheus3-{self.port}",
                f"--web.listen-address=127.0.0.1:{self.port}", "--log.level=warn",
                "--web.enable-otlp-receiver", "--web.enable-remote-write-receiver"]


class VictoriaMetrics(Prometheus):
    """One VictoriaMetrics, asked as a Prometheus is. It scrapes the targets every second. What is
    sent to it can be asked for some seconds later. OTLP's names stay as they are, or with
    prometheus_names=True become those of Prometheus."""

    def __init__(self, place, targets=(), port=None, prometheus_names=False):
        super().__init__(place, targets, port)
        self.name = "victoriametrics"
        self.prometheus_names = prometheus_names
        self.otlp = self.url + "/opentelemetry"
        self.remote_write = self.url + "/api/v1/write"
        self.influxdb = self.url

    def command(self):
        folder = self.place.folder / f"victoriametrics-{self.port}"
        config = self.place.folder / f"victoriametrics-{self.port}.yml"
        targets = ", ".join(f"'127.0.0.1:{target.port}'" for target in self.targets)
        config.write_text("global: {scrape_interval: 1s, scrape_timeout: 1s}\nscrape_configs:\n"
                          "- job_name: node\n  honor_labels: true\n"
                          f"  static_configs: [{{targets: [{targets}]}}]\n")
        return [go_server("victoriametrics"), f"-storageDataPath={folder}",
                f"-httpListenAddr=127.0.0.1:{self.port}", f"-promscrape.config={config}",
                "-memory.allowedBytes=64MB", "-loggerLevel=WARN", "-search.latencyOffset=0s",
                "-search.disableCache", "-inmemoryDataFlushInterval=100ms",
                *(["-opentelemetry.usePrometheusNaming"] if self.prometheus_names else [])]

    def is_ready(self):
        self.check_running()
        return listens(self.port) and self.get("/health") == "OK"


class Pushgateway1(Pushgateway):
    """Pushgateway 1.11.1."""

    def __init__(self, place, port=None, web_config=None):
        super().__init__(place, port, web_config)
        self.name = "pushgateway1"

    def command(self):
        return [go_server("pushgateway"), *super().command()[1:]]


class StatsdExporter(Server):
    """Takes StatsD by UDP and shows it as a page."""

    def __init__(self, place, port=None, mapping=""):
        super().__init__(place, "statsd_exporter", port)
        self.statsd_port = free_port()
        self.mapping = mapping

    def command(self):
        config = self.place.folder / f"statsd_exporter-{self.port}.yml"
        config.write_text(self.mapping)
        return [go_server("statsd_exporter"), f"--web.listen-address=127.0.0.1:{self.port}",
                f"--statsd.listen-udp=127.0.0.1:{self.statsd_port}", "--statsd.listen-tcp=",
                "--log.level=warn",
                *([f"--statsd.mapping-config={config}"] if self.mapping else [])]

    def page(self):
        return self.get("/metrics")


class Telegraf(Server):
    """Telegraf's StatsD input alone, asked instead of gathered by an agent; datadog: with its
    `datadog_extensions` and `datadog_distributions`."""

    def __init__(self, place, datadog=False):
        super().__init__(place, "telegraf")
        self.statsd_port = free_port()
        self.datadog = datadog

    def command(self):
        return [go_server("telegraf"), str(self.statsd_port), str(self.port),
                *(["datadog"] if self.datadog else [])]

    def is_ready(self):
        self.check_running()
        return listens(self.port)

    def fields(self):
        """[(name and tags, {field: value})], as "etsy.kinds_seen,kind=a,metric_type=counter" is
        one. What is no running total, each value of a distribution, is in the first answer only."""
        return [tuple(pair) for pair in json.loads(self.get("/")) or []]


def main(tests, *names):
    """harness.main for tests that need these of scripts/build-servers' programs, and no other."""
    harness.main(tests, servers=(), go_servers=names)
