#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# crest-test: timeout=480 go-servers
"""Sends from a program with several threads to InfluxDB 1.6.7, over HTTP and UDP, and to
VictoriaMetrics. Every value must be equal, and totals exact to the last unit through restarts,
refusals, lost and half answers, and parts of bodies that are refused.

What the program records is in influxdb_program.c; Totals here computes the same.
"""

import json
import time
import urllib.error
import urllib.parse
import urllib.request

import harness
from goservers import VictoriaMetrics
from harness import Failure, Program, Server, contains, equal, free_port, holds_at_last, wait_for
from pushlib import Fake

KINDS = ["plain", "a,b=c d", 'q"\\x', "café", None, None, None, None]  # None: cannot be written
MOST = 2 ** 63 - 1


class InfluxDB(Server):
    """Debian's: /write and /query at `url`, and UDP at `udp_port` into the database udp."""

    def __init__(self, place, auth=False):
        super().__init__(place, "influxd")
        self.udp_port = free_port()
        self.own_port = free_port()
        self.auth = auth
        self.login = {}

    def command(self):
        folder = self.place.folder / f"influxd-{self.port}"
        config = self.place.folder / f"influxd-{self.port}.conf"
        config.write_text(f"""reporting-disabled = true
bind-address = "127.0.0.1:{self.own_port}"
[meta]
dir = "{folder}/meta"
[data]
dir = "{folder}/data"
wal-dir = "{folder}/wal"
[monitor]
store-enabled = false
[http]
bind-address = "127.0.0.1:{self.port}"
auth-enabled = {"true" if self.auth else "false"}
log-enabled = false
[[udp]]
enabled = true
bind-address = "127.0.0.1:{self.udp_port}"
database = "udp"
batch-timeout = "50ms"
read-buffer = 4194304
""")
        return [harness.SERVERS / "influxd", "-config", config]

    def is_ready(self):
        self.check_running()
        try:
            with harness.OPENER.open(f"{self.url}/ping", timeout=2) as answer:
                return answer.status == 204
        except OSError:
            return False

    def query(self, text, database=""):
        path = urllib.parse.urlencode({"q": text, "db": database, "epoch": "ns", **self.login})
        found = json.loads(self.get(f"/query?{path}", "POST"))["results"][0]
        if "error" in found:
            raise Failure(f"{text}: {found['error']}")
        return found.get("series", [])

    def create(self, database):
        self.query(f'CREATE DATABASE "{database}"')
        return self

    def points(self, name, database="db"):
        """{tag values without service and instance: [{field: value} of each time]}"""
        found = {}
        for series in self.query(f'SELECT * FROM "{name}" GROUP BY *', database):
            tags = tuple(value for key, value in sorted(series["tags"].items())
                         if key not in ("service", "instance"))
            found[tags] = [dict(zip(series["columns"], values)) for values in series["values"]]
        return found

    def last(self, name, database="db"):
        return {tags: points[-1] for tags, points in self.points(name, database).items()}


class Totals:
    """What influxdb_program has recorded after some `record THREADS TIMES`."""

    def __init__(self):
        self.events = 0
        self.kinds = [0] * len(KINDS)
        self.balance = 0.0
        self.sizes = []
        self.work = {"ok": [], "error": []}
        self.times = 0

    def record(self, program, threads, times):
        program.do(f"record {threads} {times}")
        self.times += 1
        for thread in range(threads):
            for i in range(times):
                self.events += 1
                self.kinds[(thread + i) % len(KINDS)] += 2
                self.balance += 0.5 if i % 2 else -0.75
                self.sizes.append(100 + 37 * i)
                self.work["ok" if i % 10 else "error"].append(1000000 + 250000 * i)

    def counters(self):
        """{(name, tag values): count}"""
        kinds = {("influx.kinds-seen", (kind,)): count
                 for kind, count in zip(KINDS, self.kinds) if kind}
        return {("influx.events-done", ()): self.events, ("influx.exact", ()): 2 ** 53 + 1,
                ("influx.most", ()): MOST, **kinds}

    def check(self, server, database="db"):
        """With Crest's own fields: all that is cumulative or now."""
        for (name, tags), wanted in self.counters().items():
            equal(server.last(name, database).get(tags, {}).get("count"), wanted,
                  f"{name} {tags}")
        equal(len(server.points("influx.kinds-seen", database)), 4, "kinds")
        busy = server.last("influx.busy-time", database)[()]["count"]
        equal(busy, self.events * 300000000 / 1e9, "a time")
        equal(server.last("influx.level", database)[()]["value"], -7.25, "a negative gauge")
        equal(server.last("influx.balance", database)[()]["value"], self.balance, "a gauge")
        equal(server.points("influx.nowhere", database), {}, "infinity")
        equal(server.last("influx.waiting", database)[()]["value"], 5 * self.times, "a sampler")
        sizes = server.last("influx.message-size", database)[()]
        equal((sizes["count"], sizes["sum"]), (len(self.sizes), sum(self.sizes)), "sizes")
        for outcome, values in self.work.items():
            found = server.last("influx.work-time", database)[(outcome,)]
            equal((found["count"], found["sum"]), (len(values), sum(values) / 1e9), outcome)


def start(place, url, *options):
    program = Program(place, "influxdb_program", url, *options)
    contains(program.begun, "OK", "start")
    return program


def counted(server, cause):
    """What the reporter has counted of lines that were dropped."""
    found = server.last("crest.influxdb-dropped-lines").get((cause,), {})
    return found.get("count", 0)


def every_value_is_equal(place):
    server = InfluxDB(place).start()
    program = start(place, f"{server.url}/db")
    status, words = program.tell("push")
    equal(status, "REFUSED", "a database that is not there")
    contains(words, 'CREATE DATABASE "db"')
    server.create("db")
    totals = Totals()
    for threads, times in ((8, 100), (3, 177), (1, 1)):
        totals.record(program, threads, times)
        program.do("push")
        totals.check(server)
    # of what was recorded since the report before: one value
    sizes = server.last("influx.message-size")[()]
    equal([sizes[key] for key in ("mean", "min", "p50", "p99.9", "max")], [100.0] + [100] * 4,
          "a period")
    program.do("push")
    equal(server.last("influx.message-size")[()]["p50"], None, "a period without a record")
    wait_for("a tick", lambda: program.do("push") == "" and
             server.last("influx.waiting")[()].get("max1m") == 40)
    times = len(server.points("influx.events-done")[()])
    equal(counted(server, "line-end") >= 2 * (times - 3), True, "line ends are counted")
    equal(counted(server, "backslash") > 0, True, "backslashes are counted")
    equal(counted(server, "not-a-number") > 0, True, "infinity is counted")
    program.do("stop")
    totals.check(server)


def refused_parts_are_not_sent_again(place):
    server = InfluxDB(place).start().create("db")
    request = urllib.request.Request(f"{server.url}/write?db=db",
                                     data=b"influx.level value=1i\ninflux.exact count=1.5")
    harness.OPENER.open(request).close()
    program = start(place, f"{server.url}/db", "plain=yes")
    totals = Totals()
    totals.record(program, 2, 50)
    for _ in range(3):
        program.do("push")
    # InfluxDB names the last conflict only; the rest of the body is there
    equal(server.last("influx.events-done")[()]["count"], totals.events, "the rest")
    equal(program.do("state").split()[:3], ["3", "0", "0"], "reports, failures")
    equal(counted(server, "partial-write") > 0, True, "what was refused is counted")
    text = program.errors.read_text()
    equal(text.count("which are not sent again"), 1, "it is told once")
    contains(text, "field type conflict")


class Between:
    """An address before a server that does with each request what the test says next."""

    def __init__(self, place, server):
        self.server, self.next = server, "pass"
        self.fake = Fake(place, self.manner)
        self.url = self.fake.url

    def forward(self, handler):
        _, path, body = self.fake.requests[-1]
        headers = {key: value for key, value in self.fake.headers[-1].items()
                   if key in ("Content-Encoding", "Content-Type")}
        request = urllib.request.Request(self.server.url + path, data=body, headers=headers)
        try:
            with harness.OPENER.open(request) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.read()

    def manner(self, handler):
        how = self.next
        if how == "503":
            handler.answer(503, b"busy")
            return
        if how == "html":
            handler.answer(200, b"<html>It works!</html>")
            return
        code, body = (0, b"") if how == "lost" else self.forward(handler)
        if how in ("lost", "swallowed"):  # before or after the server had it
            handler.close_connection = True
        elif how == "half":
            handler.wfile.write(b"HTTP/1.1 204 No Con")
            handler.close_connection = True
        elif how == "slow":
            time.sleep(3)
            handler.close_connection = True
        elif code == 204:
            handler.send_response(204)
            handler.end_headers()
        else:
            handler.answer(code, body)


def totals_are_exact_through_everything(place):
    """Cumulative ones, and the sum of Kamon's periods, of which none may be counted twice."""
    server = InfluxDB(place).start().create("db").create("kamon")
    between = Between(place, server)
    programs = {"db": start(place, f"{between.url}/db", "timeout_ms=1000"),
                "kamon": start(place, f"{between.url}/kamon", "timeout_ms=1000", "kamon=yes")}
    totals = {name: Totals() for name in programs}
    wanted = {"pass": ("OK",), "503": ("UNREACHABLE",), "html": ("REFUSED",), "lost": ("IO",),
              "swallowed": ("IO",), "half": ("IO",), "slow": ("TIMED_OUT", "IO")}
    for how in ("swallowed", "swallowed", "pass", "lost", "half", "pass", "503", "slow", "html",
                "pass", "half", "restart", "swallowed", "pass", "pass"):
        if how == "restart":
            server.kill()
            server.start()
            continue
        between.next = how
        for name, program in programs.items():
            totals[name].record(program, 3, 40)
            # a machine that is busy may be late with any of them
            status, words = program.tell("push")
            if status not in wanted[how] + ("TIMED_OUT",):
                raise Failure(f"{how}: {status} {words}")
    between.next = "pass"
    for program in programs.values():
        wait_for("a report that goes well", lambda p=program: p.tell("push")[0] == "OK")
    totals["db"].check(server)
    check_kamon(server, "kamon", totals["kamon"])


def check_kamon(server, database, totals):
    """The sums of all periods."""
    for (name, tags), wanted in totals.counters().items():
        found = sum(point["count"] for point in server.points(name, database).get(tags, []))
        equal(found, wanted, f"{name} {tags}")
    periods = server.points("influx.message-size", database)[()]
    for field, wanted in (("count", len(totals.sizes)), ("sum", sum(totals.sizes))):
        equal(sum(period[field] for period in periods), wanted, f"{field} of sizes")
    equal(max(period["max"] for period in periods), max(totals.sizes), "the largest")
    for outcome, values in totals.work.items():
        periods = server.points("influx.work-time", database)[(outcome,)]
        equal(sum(period["count"] for period in periods), len(values), outcome)
        equal(sum(period["sum"] for period in periods), sum(values), f"nanoseconds of {outcome}")
        equal(set(periods[0]) >= {"mean", "min", "p50.0", "p99.9", "max"}, True, "Kamon's names")


def udp_is_the_same(place):
    server = InfluxDB(place).start()
    url = f"udp://127.0.0.1:{server.udp_port}"
    program, totals = start(place, url), Totals()
    for threads, times in ((4, 100), (2, 33)):
        totals.record(program, threads, times)
        program.do("push")
    holds_at_last(lambda: totals.check(server, "udp"))
    server.stop()
    totals.record(program, 1, 10)
    status, words = program.tell("push")
    equal(status, "UNREACHABLE", "a closed port")
    contains(words, "is it running?")
    server.start()
    wait_for("a report that goes well", lambda: program.tell("push")[0] == "OK")
    holds_at_last(lambda: totals.check(server, "udp"))
    program.do("stop")


def udp_counts_periods_once(place):
    server = InfluxDB(place).start()
    totals = Totals()
    program = start(place, f"udp://127.0.0.1:{server.udp_port}", "kamon=yes")
    for stopped in (False, True, True, False):
        if stopped:
            server.stop()
        totals.record(program, 2, 30)
        if not stopped and server.process is None:
            server.start()
        wait_for("a report", lambda bad=stopped: (program.tell("push")[0] == "OK") != bad)
        if not stopped:  # what it has not read yet is lost when it stops, as UDP has it
            holds_at_last(lambda: check_kamon(server, "udp", totals))


def users_have_passwords(place):
    server = InfluxDB(place, auth=True).start()
    server.query("CREATE USER node WITH PASSWORD 'secret' WITH ALL PRIVILEGES")
    server.login = {"u": "node", "p": "secret"}
    server.create("db")
    password = place.folder / "password"
    password.write_text("wrong\n")
    password.chmod(0o600)
    program = start(place, f"{server.url}/db", "user=node", f"password_file={password}")
    totals = Totals()
    totals.record(program, 1, 10)
    status, words = program.tell("push")
    equal(status, "REFUSED", "a wrong password")
    contains(words, "influxdb.password-file")
    password.write_text("secret\n")
    program.do("push")
    totals.check(server)


def victoriametrics_has_the_same(place):
    server = VictoriaMetrics(place).start()
    program, totals = start(place, f"{server.url}/db"), Totals()
    for threads, times in ((4, 100), (2, 33)):
        totals.record(program, threads, times)
        program.do("push")
        time.sleep(0.01)

    def check():
        found = {}
        for line in server.get("/api/v1/export?match[]={__name__=~%22influx.*%22}").splitlines():
            series = json.loads(line)
            labels = series["metric"]
            key = labels["__name__"], labels.get("kind", labels.get("outcome", ""))
            found[key] = float(series["values"][-1])
        for (name, tags), wanted in totals.counters().items():
            # all of its values are doubles
            equal(found.get((f"{name}_count", "".join(tags))), float(wanted), name)
        equal(found["influx.level_value", ""], -7.25, "a gauge")
        equal(found["influx.balance_value", ""], totals.balance, "a gauge")
        equal(found["influx.message-size_sum", ""], sum(totals.sizes), "sizes")
        for outcome, values in totals.work.items():
            equal(found["influx.work-time_count", outcome], len(values), outcome)
            equal(round(found["influx.work-time_sum", outcome], 9), sum(values) / 1e9, outcome)

    holds_at_last(check)


if __name__ == "__main__":
    harness.main([every_value_is_equal, refused_parts_are_not_sent_again,
                  totals_are_exact_through_everything, udp_is_the_same, udp_counts_periods_once,
                  users_have_passwords, victoriametrics_has_the_same], servers=("influxd",))
