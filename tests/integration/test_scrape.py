#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# crest-test: timeout=480
"""A real Prometheus scrapes a node that records with every instrument, and is asked what it knows.
Totals must be equal to the last unit, however the two were stopped, started and disturbed.

What the node records is in scrape_program.c; Totals here computes the same.
"""

import http.client
import json
import os
import re
import ssl
import subprocess
import time

import harness
from harness import (Failure, Program, Prometheus, Skip, contains, equal, free_port, holds_at_last,
                     lacks, wait_for)

KINDS = ["plain", 'a"b\\c\nd', "slash/space x", "..", "café ☃"]
SIZES = [1, 100, 700, 3000, 50000, 1000000, 20000000]
WORK_NS = [1000000, 7000000, 300000000, 4000000000, 20000000000]
SIZE_BOUNDS = [512 * 2 ** power for power in range(16)]
WORK_BOUNDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
DOCS = harness.ROOT / "docs/scraping.md"


class Node(Program):
    """scrape_program, serving on `port`, so that it can come back there."""

    def __init__(self, place, port=None, options=""):
        self.port = port or free_port()
        super().__init__(place, "scrape_program",
                         f"service=node,version=1.2,prometheus=127.0.0.1:{self.port}{options}")
        equal(self.begun, f"OK http://127.0.0.1:{self.port}/metrics")


class Scraper(Prometheus):
    """Scrapes as docs/scraping.md says, only faster."""

    def __init__(self, place, targets, job="", features=""):
        super().__init__(place, targets)
        self.job = job
        self.features = features

    def command(self):
        ports = ", ".join(f"'127.0.0.1:{target.port}'" for target in self.targets)
        config = self.place.folder / f"scraper-{self.port}.yml"
        config.write_text("global: {scrape_interval: 1s, scrape_timeout: 1s}\n"
                          "scrape_configs:\n"
                          + (self.job or "- job_name: node\n"
                             f"  static_configs: [{{targets: [{ports}]}}]\n"))
        return [harness.SERVERS / "prometheus", f"--config.file={config}",
                f"--storage.tsdb.path={self.place.folder}/scraper-{self.port}",
                f"--web.listen-address=127.0.0.1:{self.port}", "--log.level=warn",
                *([f"--enable-feature={self.features}"] if self.features else [])]

    def is_up(self, wanted=1):
        return self.value("up") == wanted


class Totals:
    """What scrape_program has recorded after some `record THREADS TIMES`."""

    def __init__(self):
        self.events = 0
        self.kinds = [0] * len(KINDS)
        self.balance = 0.0
        self.depth = 0
        self.sizes = [0] * len(SIZES)
        self.work = {"ok": [0] * len(WORK_NS), "error": [0] * len(WORK_NS)}

    def record(self, node, threads, times):
        node.do(f"record {threads} {times}")
        for thread in range(threads):
            for i in range(times):
                self.events += 1
                self.kinds[(thread + i) % len(KINDS)] += 2
                self.balance += 0.5 if i % 2 else -0.75
                self.depth += 3 if i % 2 else -1
                self.sizes[i % len(SIZES)] += 1
                self.work["ok" if i % 10 else "error"][i % len(WORK_NS)] += 1

    def check(self, prometheus):
        """All of it, exactly."""
        check = prometheus.check_value
        check("scrape_events_done_total", self.events)
        check("scrape_data_received_bytes_total", self.events * 1000)
        for kind, wanted in zip(KINDS, self.kinds):
            check(f"scrape_kinds_seen_total{{kind={promql(kind)}}}", wanted)
        check("scrape_level", -7.25)
        check("scrape_balance", self.balance)
        check("scrape_queue_depth", self.depth)
        check("scrape_message_size_bytes_count", sum(self.sizes))
        check("scrape_message_size_bytes_sum", sum(n * v for n, v in zip(self.sizes, SIZES)))
        check_buckets(prometheus, "scrape_message_size_bytes_bucket",
                      {bound: sum(n for n, v in zip(self.sizes, SIZES) if v <= bound)
                       for bound in SIZE_BOUNDS})
        for outcome, counts in self.work.items():
            with_outcome = f'outcome="{outcome}"'
            check(f"scrape_work_time_seconds_count{{{with_outcome}}}", sum(counts))
            total_ns = sum(n * v for n, v in zip(counts, WORK_NS))
            check(f"scrape_work_time_seconds_sum{{{with_outcome}}}", total_ns / 1e9)
            check_buckets(prometheus, f"scrape_work_time_seconds_bucket{{{with_outcome}}}",
                          {bound: sum(n for n, v in zip(counts, WORK_NS) if v <= bound * 1e9)
                           for bound in WORK_BOUNDS})
        # Stages: each operation passed both of them and the whole way.
        check('sum(scrape_step_time_seconds_count{outcome="ok"})', self.events)
        holds_at_last(lambda: self.check_quantiles(prometheus))

    def check_quantiles(self, prometheus):
        values = sorted(v for n, v in zip(self.sizes, SIZES) for _ in range(n))
        for q in (0.1, 0.5, 0.9):
            wanted = values[max(0, -int(-q * len(values) // 1) - 1)]
            found = prometheus.number(f"histogram_quantile({q}, scrape_message_size_bytes_bucket)")
            if bucket(found) not in (bucket(wanted) - 1, bucket(wanted), bucket(wanted) + 1):
                raise Failure(f"quantile {q}: {found}, wanted about {wanted}")


def check_buckets(prometheus, query, wanted):
    """The cumulative counts by bound."""
    def check():
        found = {float(labels["le"]): count for labels, count in prometheus.query(query)}
        found.pop(float("inf"), None)
        equal(found, wanted, query)

    holds_at_last(check)


def check_nobody_was_sent_away(prometheus):
    """By the node. Whether a scrape had its page within its second is the machine's affair: 499."""
    prometheus.check_value('sum(crest_scrapes_total{code=~"4..|5..",code!="499"})', 0)


def bucket(value):
    return sum(1 for bound in SIZE_BOUNDS if bound < value)


def promql(text):
    return json.dumps(text, ensure_ascii=False)


def every_instrument_arrives(place):
    """Totals by Prometheus's own query interface, types, help and units, gzip on the wire."""
    node = Node(place)
    prometheus = Scraper(place, [node]).start()
    totals = Totals()
    totals.record(node, 4, 1000)
    totals.check(prometheus)
    totals.record(node, 8, 333)
    totals.check(prometheus)
    prometheus.check_value('crest_target_info{service="node",version="1.2"}', 1)
    for name, kind, unit in (("scrape_events_done", "counter", ""),
                             ("scrape_data_received_bytes", "counter", "bytes"),
                             ("scrape_level", "gauge", ""),
                             ("scrape_message_size_bytes", "histogram", "bytes"),
                             ("scrape_work_time_seconds", "histogram", "seconds")):
        about = prometheus.metadata(name)
        equal((about["type"], about["unit"]), (kind, unit), name)
    contains(prometheus.metadata("scrape_events_done")["help"],
             'Events, café ☃ \\ "quoted"\nline. [scrape.events-done]')
    wait_for("the extremes of the queue",
             lambda: prometheus.value("scrape_queue_depth_max1m") is not None)
    lacks(json.dumps(prometheus.ask("label/__name__/values")), "rate1m")
    # Prometheus takes gzip: pages go out smaller than they are. Of both the same scrape is asked.
    sent = wait_for("bytes a page", lambda: prometheus.value(
        'crest_scrape_data_sent_bytes_total / on() crest_scrapes_total{code="200"}'))
    if sent > 20000:
        raise Failure(f"{sent} bytes a page: they are not compressed")
    check_nobody_was_sent_away(prometheus)


def exemplars_name_operations(place):
    """What a timer knows of its slowest operation comes back from Prometheus's exemplars."""
    node = Node(place)
    prometheus = Scraper(place, [node], features="exemplar-storage").start()
    Totals().record(node, 2, 100)

    def exemplars():
        now = time.time()
        return prometheus.ask("query_exemplars", query="scrape_work_time_seconds_bucket",
                              start=now - 60, end=now + 60)

    found = wait_for("an exemplar", exemplars)
    one = found[0]["exemplars"][0]
    equal(float(one["value"]), 20.0)
    # The operation's id is one of those that took so long: thread 0 or 1, every fifth from 4 on.
    text = json.dumps(one["labels"])
    if not one["labels"] or not re.search("[0-9]", text):
        raise Failure(f"an exemplar without an operation: {one}")


def a_node_comes_back(place):
    """A restart in the middle is a counter reset: what both lives recorded adds up."""
    first = Node(place)
    prometheus = Scraper(place, [first]).start()
    totals = Totals()
    totals.record(first, 2, 500)
    prometheus.check_value("scrape_events_done_total", totals.events)
    equal(first.leave()[0], 0)
    wait_for("the node to be missed", lambda: prometheus.is_up(0))
    second = Node(place, first.port)
    wait_for("the node to be back", lambda: prometheus.is_up(1))
    prometheus.check_value("scrape_events_done_total", 0)
    again = Totals()
    again.record(second, 3, 100)
    again.check(prometheus)
    equal(prometheus.value("resets(scrape_events_done_total[10m])"), 1)


def a_prometheus_that_sleeps(place):
    """A scraper that stops in the middle holds nobody up; when it wakes it has everything."""
    node = Node(place)
    sleeper, other = Scraper(place, [node]).start(), Scraper(place, [node]).start()
    totals = Totals()
    totals.record(node, 2, 500)
    totals.check(sleeper)
    sleeper.hold()
    try:
        for _ in range(5):
            totals.record(node, 2, 100)
            time.sleep(0.3)
        totals.check(other)
    finally:
        sleeper.go_on()
    totals.check(sleeper)
    totals.check(other)


def two_that_see_the_same(place):
    """Nothing is reset by reading, also not while it is being recorded."""
    node = Node(place)
    both = [Scraper(place, [node]).start() for _ in range(2)]
    totals = Totals()
    node.do("spin")
    for _ in range(6):
        totals.record(node, 2, 200)
        time.sleep(0.2)
    counted = int(node.do("still"))
    for prometheus in both:
        totals.check(prometheus)
        prometheus.check_value("scrape_spins_done_total", counted)
        equal(prometheus.value("resets(scrape_spins_done_total[10m])"), 0)
        equal(prometheus.value("resets(scrape_events_done_total[10m])"), 0)
        check_nobody_was_sent_away(prometheus)


def pages_pass_promtool(place):
    """Text 0.0.4, with all windows too; of what promtool would name otherwise, nothing is ours."""
    for options in ("", ",prometheus.windows=all"):
        node = Node(place, options=options)
        Totals().record(node, 2, 100)
        time.sleep(1.2)
        page = harness.OPENER.open(f"http://127.0.0.1:{node.port}/metrics",
                                   timeout=harness.ANSWER_S).read()
        done = subprocess.run([harness.SERVERS / "promtool", "check", "metrics"], input=page,
                              capture_output=True, check=False)
        if done.returncode not in (0, 3):
            raise Failure(f"promtool: {done.returncode} {done.stderr.decode()}")
        equal(done.stderr.decode(), "", f"promtool on a page with {options or 'the defaults'}")


def snippet(language, number=0):
    """A block of docs/scraping.md."""
    blocks = re.findall(rf"^```{language}\n(.*?)^```", DOCS.read_text(), re.M | re.S)
    return blocks[number]


def behind_nginx(place):
    """The nginx and prometheus.yml of docs/scraping.md: TLS and a password in front of a node."""
    nginx = harness.SERVERS / "nginx"
    if not os.access(nginx, os.X_OK):
        raise Skip(f"{nginx} is not there; 'make servers' fetches it")
    folder, port = place.folder, free_port()
    node = Node(place)
    node.do("many 20000")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                    "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj",
                    "/CN=localhost",
                    "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
                    "-keyout", folder / "tls.key", "-out", folder / "tls.crt"],
                   check=True, capture_output=True)
    (folder / "metrics.htpasswd").write_text("prometheus:{PLAIN}secret\n")
    (folder / "node.password").write_text("secret")
    folder.chmod(0o755)
    server = snippet("nginx").replace("/etc/node/", f"{folder}/")
    server = server.replace("9443", f"127.0.0.1:{port}")
    server = server.replace("127.0.0.1:27378", f"127.0.0.1:{node.port}")
    (folder / "nginx.conf").write_text(
        f"daemon off;\npid {folder}/nginx.pid;\nerror_log {folder}/nginx.log;\nevents {{}}\n"
        "http {\naccess_log off;\n"
        + "".join(f"{what}_temp_path {folder}/{what};\n"
                  for what in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        + server + "}\n")
    log = open(folder / "nginx-start.log", "wb")
    with log:
        process = subprocess.Popen([nginx, "-c", folder / "nginx.conf", "-p", folder, "-e",
                                    folder / "nginx.log"], stdout=log, stderr=log)
    try:
        job = snippet("yaml", 1).replace("/etc/prometheus/node-ca.crt", f"{folder}/tls.crt")
        job = job.replace("/etc/prometheus/", f"{folder}/").replace("node.example:9443",
                                                                     f"127.0.0.1:{port}")
        job = job.replace("- job_name: rnode", "- job_name: rnode\n  scrape_timeout: 5s\n"
                          "  scrape_interval: 5s")
        prometheus = Scraper(place, [], job=job).start()
        totals = Totals()
        totals.record(node, 2, 500)
        totals.check(prometheus)
        prometheus.check_value("count({__name__=~'scrape_many_.*'})", 20000)
        stranger = http.client.HTTPSConnection("localhost", port, timeout=harness.ANSWER_S,
                                               context=ssl.create_default_context(
                                                   cafile=folder / "tls.crt"))
        stranger.request("GET", "/metrics")
        equal(stranger.getresponse().status, 401)
    finally:
        process.terminate()
        process.wait()


if __name__ == "__main__":  # others use Node, Scraper and Totals
    harness.main([every_instrument_arrives, exemplars_name_operations, a_node_comes_back,
                  a_prometheus_that_sleeps, two_that_see_the_same, pages_pass_promtool,
                  behind_nginx],
                 servers=("prometheus", "promtool"))
