# SPDX-License-Identifier: Apache-2.0
"""What the tests of the Pushgateway reporter share: the totals that push_program.c records, servers
of the test's own that answer as they are told, and certificates.
"""

import http.server
import json
import os
import shutil
import ssl
import subprocess
import threading
import time
import urllib.request

import harness
from harness import Failure, Program, Skip, contains, equal, holds_at_last

KINDS = ["plain", 'a"b\\c\nd', "slash/space x", "..", "café ☃"]
SIZES = [1, 100, 700, 3000, 50000, 1000000, 20000000]
WORK_NS = [1000000, 7000000, 300000000, 4000000000, 20000000000]
SIZE_BOUNDS = [512 * 2 ** power for power in range(16)]
WORK_BOUNDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
OWN_TYPES = {
    "push_events_done_total": "counter", "push_kinds_seen_total": "counter",
    "push_level": "gauge", "push_balance": "gauge", "push_message_size_bytes": "histogram",
    "push_work_time_seconds": "histogram",
}


class Totals:
    """What push_program has recorded after some `record THREADS TIMES`."""

    def __init__(self):
        self.events = 0
        self.kinds = [0] * len(KINDS)
        self.balance = 0.0
        self.queue = 0
        self.sizes = [0] * len(SIZES)
        self.work = {"ok": [0] * len(WORK_NS), "error": [0] * len(WORK_NS)}
        self.operations = {"all": 0, "some": 0}

    def record(self, program, threads, times):
        program.do(f"record {threads} {times}")
        self.add(threads, times)

    def add(self, threads, times):
        for thread in range(threads):
            for i in range(times):
                self.events += 1
                self.kinds[(thread + i) % len(KINDS)] += 2
                self.balance += 0.5 if i % 2 else -0.75
                self.queue += -1 if i % 3 else 2
                self.sizes[i % len(SIZES)] += 1
                self.work["ok" if i % 10 else "error"][i % len(WORK_NS)] += 1
                self.operations["all"] += i % 10 == 0
                self.operations["some"] += i % 20 == 0

    def values(self):
        """[(name, labels, value)] of all that is one number."""
        everyone, some = self.operations["all"], self.operations["some"]
        return [
            ("push_events_done_total", {}, self.events),
            ("push_level", {}, -7.25),
            ("push_balance", {}, self.balance),
            ("push_queue", {}, self.queue),
            ("push_fetch_time_in_flight", {}, 0),
            ("push_block_in_flight", {}, 0),
            ("push_table_lock_permit", {}, 0),
            ("push_table_lock_queue", {}, 0),
            *(("push_kinds_seen_total", {"kind": kind}, wanted)
              for kind, wanted in zip(KINDS, self.kinds)),
            ("push_fetch_time_seconds_count", {"outcome": "ok"}, some),
            ("push_fetch_time_seconds_count", {"outcome": "cancelled"}, everyone - some),
            ("push_block_seconds_count", {"outcome": "ok"}, everyone),
            ("push_block_stage_seconds_count", {"stage": "stored"}, everyone),
            ("push_block_since_start_seconds_count", {"stage": "sent"}, some),
            ("push_table_lock_acquire_seconds_count", {"outcome": "ok"}, everyone),
        ]

    def histograms(self):
        """[(name, labels, bounds, values, counts)]."""
        return [("push_message_size_bytes", {}, SIZE_BOUNDS, SIZES, self.sizes),
                *(("push_work_time_seconds", {"outcome": outcome}, WORK_BOUNDS,
                   [ns / 1e9 for ns in WORK_NS], counts) for outcome, counts in self.work.items())]

    def check(self, prometheus, group):
        """All of it, in the group whose label matchers these are."""
        for name, labels, wanted in self.values():
            prometheus.check_value(f"{name}{{{matchers(group, labels)}}}", wanted)
        for name, labels, bounds, values, counts in self.histograms():
            prometheus.check_value(f"{name}_sum{{{matchers(group, labels)}}}",
                                   total(values, counts))
            holds_at_last(lambda wanted=(name, matchers(group, labels), bounds, values, counts):
                          check_histogram(prometheus, *wanted))

    def check_gateway(self, gateway, group):
        """The same by the gateway's own interface."""
        [found] = [entry for entry in json.loads(gateway.get("/api/v1/metrics"))["data"]
                   if entry["labels"] == group]
        metrics = {(name, frozenset(metric["labels"].items())): metric
                   for name, family in found.items() if isinstance(family, dict)
                   and "metrics" in family for metric in family["metrics"]}

        def metric(name, labels):
            return metrics[name, frozenset({**labels, **group}.items())]

        for name, labels, wanted in self.values():
            family = name.removesuffix("_count")
            value = metric(family, labels)["value" if name == family else "count"]
            equal(float(value), wanted, f"the gateway's {name}{labels}")
        for name, labels, bounds, values, counts in self.histograms():
            found = metric(name, labels)
            equal({float(le): float(count) for le, count in found["buckets"].items()},
                  cumulative(bounds, values, counts), f"the gateway's {name}{labels}")
            equal(float(found["sum"]), total(values, counts), f"the gateway's {name}{labels}")


def total(values, counts):
    """A histogram's sum, as the exact quotient of whole billionths."""
    return sum(round(value * 10 ** 9) * count for value, count in zip(values, counts)) / 10 ** 9


def matchers(group, labels):
    return ", ".join([group, *(f"{key}={promql(value)}" for key, value in labels.items())])


def cumulative(bounds, values, counts):
    wanted = {bound: sum(count for value, count in zip(values, counts) if value <= bound)
              for bound in bounds}
    wanted[float("inf")] = sum(counts)
    return wanted


def check_histogram(prometheus, name, group, bounds, values, counts):
    """Count and every bucket, +Inf included, and no bucket else."""
    found = {labels["le"]: value for labels, value in prometheus.query(f"{name}_bucket{{{group}}}")}
    equal({float(le): value for le, value in found.items()},
          cumulative(bounds, values, counts), f"{name}_bucket{{{group}}}")
    equal(prometheus.value(f"{name}_count{{{group}}}"), sum(counts), f"{name}_count{{{group}}}")


def promql(text):
    """A text as PromQL quotes it."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def attach(place, url, *labels, job="push", instance="one", wanted="OK", **environment):
    program = Program(place, "push_program", "attach", url, job, instance, *labels, **environment)
    contains(program.begun, wanted, "start")
    return program


def push_text(url, text):
    request = urllib.request.Request(url, text.encode(), method="PUT")
    with harness.OPENER.open(request, timeout=harness.ANSWER_S) as answer:
        equal(answer.status, 200)


def clash_is_told(gateway, status, message, *parts):
    """That a push which the gateway refuses for a metric's type says so. Pushgateway 1.11.0
    panics while it logs the refusal, and answers nothing: then it can only say what may be."""
    if "panic serving" in gateway.log.read_text(encoding="utf-8", errors="replace"):
        equal(status, "IO", message)
        parts = ("a panic in its log", "another type", "rename the metric, or delete the old group")
    else:
        equal(status, "REFUSED", message)
    for part in parts:
        contains(message, part)


# How long a server that hangs does so: who does not wait for it has half of that.
HANG_S = 240


def hang(_handler):
    time.sleep(HANG_S)


class Fake:
    """A server of the test's own: answers PUT, POST and DELETE as `manner` says, over TLS if it has
    a certificate."""

    def __init__(self, place, manner=lambda handler: handler.answer(200), certificate=None):
        self.requests, self.headers = [], []
        self.in_flight = self.most_in_flight = 0
        self.lock = threading.Lock()
        fake = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self, code, body=b""):
                self.send_response(code)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def take(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                with fake.lock:
                    fake.requests.append((self.command, self.path, body))
                    fake.headers.append(dict(self.headers))
                    fake.in_flight += 1
                    fake.most_in_flight = max(fake.most_in_flight, fake.in_flight)
                try:
                    manner(self)
                finally:
                    with fake.lock:
                        fake.in_flight -= 1

            do_PUT = do_POST = do_DELETE = take

            def log_message(self, *arguments):
                pass

        class Quiet(http.server.ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, request, client_address):
                pass

        self.server = Quiet(("127.0.0.1", 0), Handler)
        scheme = "http"
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            # Each connection shakes hands in its own thread, when it first reads.
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True,
                                                     do_handshake_on_connect=False)
            scheme = "https"
        self.url = f"{scheme}://127.0.0.1:{self.server.server_address[1]}"
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True)
        self.thread.start()
        place.started.append(self)

    def kill(self):
        self.server.shutdown()
        self.server.server_close()


def openssl(*arguments):
    program = shutil.which("openssl")
    if program is None:
        raise Skip("there is no openssl command to make a certificate with")
    done = subprocess.run([program, *arguments], capture_output=True, text=True, check=False,
                          timeout=harness.ANSWER_S, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        raise Failure(f"openssl {arguments[0]}: {done.stderr}")
    return done.stdout + done.stderr


def validity(expired):
    """Arguments of openssl x509. OpenSSL 3.5 signs nothing that ends before it begins; those
    before 3.4 cannot be told when it begins."""
    if not expired:
        return ["-days", "2"]
    if "-not_before" in openssl("x509", "-help"):
        return ["-not_before", "20010101000000Z", "-not_after", "20010102000000Z"]
    return ["-days", "-1"]


class Authority:
    """A certificate authority and what it has signed, in the place's folder."""

    def __init__(self, place, name):
        self.folder, self.name = place.folder, name
        self.key, self.file = self.folder / f"{name}.key", self.folder / f"{name}.pem"
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
                "-nodes", "-days", "2", "-subj", f"/CN={name}", "-keyout", self.key, "-out",
                self.file)

    def sign(self, name, alternative="IP:127.0.0.1", expired=False):
        """(certificate's file, key's file) of one for that name."""
        key, request = self.folder / f"{name}.key", self.folder / f"{name}.csr"
        file, more = self.folder / f"{name}.pem", self.folder / f"{name}.ext"
        more.write_text(f"subjectAltName={alternative}\n")
        openssl("req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
                "-nodes", "-subj", f"/CN={name}", "-keyout", key, "-out", request)
        openssl("x509", "-req", "-in", request, "-CA", self.file, "-CAkey", self.key,
                "-CAcreateserial", *validity(expired), "-extfile", more, "-out", file)
        return file, key


def certificate(place):
    """A self-signed certificate for 127.0.0.1, with its key in the same file."""
    path = place.folder / "server.pem"
    openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
            "-days", "2", "-subj", "/CN=crest", "-addext", "subjectAltName=IP:127.0.0.1",
            "-keyout", path, "-out", place.folder / "certificate.pem")
    with open(path, "ab") as whole:
        whole.write((place.folder / "certificate.pem").read_bytes())
    return path
