#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# crest-test: timeout=480 npm
"""Sends from a program with several threads to real StatsD servers, npm's and collectd, and to
sockets of our own. Totals must be equal to the last unit, through restarts, stops and full sockets.
The kernel drops what a UDP socket has no room for: over UDP a report is small enough for an empty
one, and the next goes out when it has been read, however long a busy machine lets a server wait.

What the program records is in statsd_program.c; Totals here computes the same.
"""

import socket
import time

import harness
from harness import Failure, Program, contains, equal, holds_at_last, wait_for
from statsdlib import Collectd, Datagrams, Etsy, Reader

KINDS = ["plain", "a_b_c_d", "slash_space_x", "10_0_0_7", "caf_"]
TAGS = ["plain", "a_b:c_d", "slash/space_x", "10.0.0.7", "café"]


class Totals:
    """What statsd_program has recorded after some `record THREADS TIMES`."""

    def __init__(self):
        self.events = 0
        self.kinds = [0] * len(KINDS)
        self.balance = 0.0
        self.sizes = []
        self.work = {"ok": [], "error": []}

    def record(self, program, threads, times):
        program.do(f"record {threads} {times}")
        for thread in range(threads):
            for i in range(times):
                self.events += 1
                self.kinds[(thread + i) % len(KINDS)] += 2
                self.balance += 0.5 if i % 2 else -0.75
                self.sizes.append(100 + 37 * i)
                self.work["ok" if i % 10 else "error"].append(1 + 0.25 * i)

    def counters(self, prefix=""):
        names = {f"{prefix}etsy.kinds-seen.kind.{kind}": float(count)
                 for kind, count in zip(KINDS, self.kinds)}
        # 0.3 s an event, of which the whole seconds so far have been said
        return {f"{prefix}etsy.events-done": float(self.events),
                f"{prefix}etsy.busy-time": float(self.events * 3 // 10), **names}

    def check_counters(self, counters, prefix=""):
        for name, wanted in self.counters(prefix).items():
            found = counters.get(name)
            if name.endswith("busy-time") and found is not None:
                found = found // 1  # after the last report the rest is there too
                equal(round(counters[name] - found, 6) in (0, self.events * 3 % 10 / 10), True,
                      "the rest of a second")
            equal(found, wanted, name)

    def distributions(self):
        return {"etsy.message-size": self.sizes, "etsy.work-time.outcome.ok": self.work["ok"],
                "etsy.work-time.outcome.error": self.work["error"]}

    def check_reader(self, reader):
        self.check_counters(reader.counters)
        for name, values in self.distributions().items():
            equal(reader.counts[name], len(values), f"count of {name}")
            found = [value for value, weight in reader.values[name] for _ in range(weight)]
            check_quantiles(name, values, found, 0.02)


def rank(values, quantile):
    """The value at a rank, as npm's server finds it."""
    values = sorted(values)
    return values[max(round(quantile * len(values)), 1) - 1]


def check_quantiles(name, recorded, found, ranks=0.002):
    """Each found quantile is within one bucket of 1 % of recorded ones, at most so many ranks off:
    a value may stand for several records."""
    for quantile in (0.5, 0.9, 0.99):
        value = rank(found, quantile)
        low = rank(recorded, max(quantile - ranks, 0)) * 0.99
        high = rank(recorded, min(quantile + ranks, 1)) * 1.01
        if not low <= value <= high:
            raise Failure(f"{name}: quantile {quantile}: {value}, wanted {low} to {high}")
    equal(max(found), max(recorded), f"maximum of {name}")
    equal(min(found), min(recorded), f"minimum of {name}")


def start(place, url, *options):
    program = Program(place, "statsd_program", url, *options)
    contains(program.begun, "OK", "start")
    return program


def push_at_last(program):
    """Where a report may not take long, a busy machine may need several for all of it."""
    wait_for("a report that goes well", lambda: program.tell("push")[0] == "OK")


def check_gauges(gauges, totals):
    equal(gauges.get("etsy.level"), -7.25, "a negative gauge")
    equal(gauges.get("etsy.balance"), totals.balance, "a gauge added to")
    equal("etsy.nowhere" in gauges, False, "infinity is sent")


def npm_statsd_gets_everything(place):
    server = Etsy(place).start()
    # Without rates: the server computes quantiles of lines, those of several reports together.
    program = start(place, f"udp://127.0.0.1:{server.port}", "samples=100000", "rate=200")
    totals = Totals()
    records = ((8, 100), (3, 177), (2, 301), (1, 1))
    for threads, times in records:
        totals.record(program, threads, times)
        program.do("push")
        wait_for("all events", lambda: server.ask("counters").get("etsy.events-done")
                 == totals.events)
        server.settled()
    program.do("push")
    totals.check_counters(server.settled())
    gauges = server.ask("gauges")
    check_gauges(gauges, totals)
    equal(gauges["etsy.waiting"], 5 * len(records), "a range sampler")
    equal(server.ask("counters")["statsd.bad_lines_seen"], 0, "bad lines")
    wait_for("a tick", lambda: program.do("push") == "" and "etsy.waiting.max1m" in
             server.ask("gauges"))
    program.do("stop")
    server.settled()
    server.stop()
    counters, counts, timers, _ = server.totals()
    totals.check_counters(counters)
    equal(counters["statsd.bad_lines_seen"], 0, "bad lines")
    for name, values in totals.distributions().items():
        equal(counts[name], len(values), f"count of {name}")
        check_quantiles(name, values, timers[name])


def npm_statsd_computes_our_quantiles(place):
    server = Etsy(place).start()
    program = start(place, f"udp://127.0.0.1:{server.port}", "prefix=node7", "samples=500")
    totals = Totals()
    totals.record(program, 16, 5003)
    program.do("stop")
    server.settled()
    server.stop()
    counters, counts, timers, last = server.totals()
    totals.check_counters(counters, "node7.")
    for name, values in totals.distributions().items():
        equal(counts["node7." + name], len(values), f"count of {name}")
        if len(timers["node7." + name]) > 503:
            raise Failure(f"{name}: {len(timers['node7.' + name])} lines")
        data = last["timer_data"]["node7." + name]
        equal(data["count"], len(values), f"the server's count of {name}")
        for quantile in (0.5, 0.9, 0.99):
            found = data[f"upper_{quantile * 100:.0f}"]
            if not rank(values, quantile - 0.003) * 0.99 <= found <= rank(
                    values, min(quantile + 0.003, 1)) * 1.01:
                raise Failure(f"{name}: the server's quantile {quantile}: {found}")
        equal(data["upper"], max(values), f"the server's maximum of {name}")


def npm_statsd_restarts(place):
    server = Etsy(place).start()
    totals = Totals()
    program = start(place, f"udp://127.0.0.1:{server.port}", "packet=512",
                    "samples=200")
    for round_ in range(3):
        totals.record(program, 4, 500 + round_)
        program.do("push")
        server.settled()
        server.stop()
        totals.record(program, 2, 300)
        status, rest = program.tell("push")
        equal(status, "UNREACHABLE", rest)
        contains(rest, "refused")
        server.start()
    program.do("push")
    server.settled()
    server.stop()
    counters, counts, timers, _ = server.totals()
    totals.check_counters(counters)
    if counters["crest.statsd-dropped-packets.cause.refused"] < 3:
        raise Failure(f"{counters['crest.statsd-dropped-packets.cause.refused']} packets refused")
    if counters["crest.statsd-dropped-lines.cause.not-a-number"] < 1:
        raise Failure("the infinite gauge was not counted")
    for name, values in totals.distributions().items():
        equal(counts[name], len(values), f"count of {name}")
        equal(max(timers[name]), max(values), f"maximum of {name}")


def npm_statsd_is_slow_over_udp(place):
    server = Etsy(place).start()
    program = start(place, f"udp://127.0.0.1:{server.port}")
    totals = Totals()
    server.hold()
    totals.record(program, 4, 100)
    program.do("push")
    time.sleep(0.5)
    server.go_on()
    wait_for("all events", lambda: server.ask("counters").get("etsy.events-done") == totals.events)
    totals.check_counters(server.settled())


def npm_statsd_over_tcp_full_and_restarted(place):
    server = Etsy(place).start()
    program = start(place, f"tcp://127.0.0.1:{server.port}", "timeout_ms=1000", "packet=32768",
                    "samples=100000")
    totals = Totals()
    push_at_last(program)
    server.settled()
    server.hold()
    failed = 0
    for _ in range(40):
        totals.record(program, 10, 2000)
        if program.tell("push")[0] != "OK":
            failed += 1
            if failed == 2:
                break
    equal(failed, 2, "reports that found the socket full")
    server.go_on()
    push_at_last(program)
    totals.check_counters(server.settled())
    server.stop()
    totals.record(program, 1, 100)
    equal(program.tell("push")[0], "UNREACHABLE")
    server.start()
    push_at_last(program)
    program.do("stop")
    server.settled()
    server.stop()
    counters, counts, _, _ = server.totals()
    totals.check_counters(counters)
    for name, values in totals.distributions().items():
        equal(counts[name], len(values), f"count of {name}")


def collectd_gets_everything(place):
    server = Collectd(place).start()
    program = start(place, f"udp://127.0.0.1:{server.port}", "no_rates=1")
    totals = Totals()
    for threads, times in ((4, 200), (2, 333)):
        totals.record(program, threads, times)
        program.do("push")
        check_collectd(server, totals)
    holds_at_last(lambda: check_collectds_gauges(server, totals))


def check_collectds_gauges(server, totals):
    """Beside the counters; it writes one file after the other."""
    equal(server.values("gauge", "etsy.level")[-1:], [-7.25], "a negative gauge")
    equal(server.values("gauge", "etsy.balance")[-1:], [totals.balance])
    for name, values in totals.distributions().items():
        # It keeps whole milliseconds.
        for end, most in (("upper", max), ("lower", min)):
            found = server.values("latency", f"{name}-{end}")
            equal(found and most(found), most(values) // 1 / 1000, f"{name}, {end}")


def collectd_computes_our_quantiles(place):
    """Of reports that are whole in one of its intervals; others it tears apart."""
    server = Collectd(place).start()
    program = start(place, f"udp://127.0.0.1:{server.port}", "no_rates=1")
    round_ = Totals()
    round_.record(program, 2, 300)
    program.do("push")
    sent, seen = 1, set()
    for name, values in round_.distributions().items():
        while name not in seen:
            wait_for("its next reading", lambda n=name, w=sent * len(values): sum(
                server.values("gauge", n + "-count")) == w)
            for percent in (50, 90):
                counts = server.values("gauge", f"{name}-count")
                found = server.values("latency", f"{name}-percentile-{percent}")
                wanted = rank(values, percent / 100)
                for count, value in zip(counts, found):
                    if count == len(values):
                        seen.add(name)
                        if not wanted * 0.97 <= value * 1000 <= wanted * 1.03:
                            raise Failure(f"{name}: percentile {percent}: {value}, not {wanted}")
            if name not in seen:
                Totals().record(program, 2, 300)
                program.do("push")
                sent += 1
            if sent > 30:
                raise Failure(f"{name}: none of {sent} reports is whole in an interval")


def check_collectd(server, totals):
    """Waits for collectd's next reading and compares; a counter's first value is not written."""
    for name, wanted in totals.counters().items():
        wait_for(f"{name} to be {wanted} at collectd",
                 lambda n=name, w=wanted: server.values("derive", n)[-1:] == [w])
    for name, values in totals.distributions().items():
        wait_for(f"count of {name} to be {len(values)}",
                 lambda n=name, v=values: sum(server.values("gauge", n + "-count")) == len(v))


def collectd_restarts_and_is_slow(place):
    server = Collectd(place).start()
    program = start(place, f"udp://127.0.0.1:{server.port}", "no_rates=1")
    totals = Totals()
    totals.record(program, 2, 200)
    server.hold()
    program.do("push")
    time.sleep(0.5)
    server.go_on()
    check_collectd(server, totals)
    server.stop()
    before = totals.events
    totals.record(program, 2, 150)
    equal(program.tell("push")[0], "UNREACHABLE")
    server.start()
    program.do("push")
    # A new collectd counts anew.
    wait_for("the rest", lambda: server.values("derive", "etsy.events-done")[-1:]
             == [totals.events - before])
    for name, values in totals.distributions().items():
        wait_for(f"count of {name}",
                 lambda n=name, v=values: sum(server.values("gauge", n + "-count")) == len(v))


def every_packet_may_be_the_one_that_fails(place):
    """A receiver that stops reading after k packets, for every k: with 10 datagrams queued at most,
    the report then fails in the middle, and the next ones make it good."""
    place_ = Datagrams(place)
    program = start(place, place_.url, "packet=256", "timeout_ms=200", "samples=50",
                    "windows=1")
    reader = Reader(size=256)
    totals = Totals()
    totals.record(program, 1, 300)
    read_at_last(place_, reader, program)
    failures = 0
    for k in range(0, 60, 3):
        totals.record(program, 2, 101)
        (status, _), _ = place_.read_during(reader, lambda: program.tell("push"), k)
        failures += status == "TIMED_OUT"
        place_.read(reader)
        if k % 2:
            continue
        read_at_last(place_, reader, program)
        totals.check_counters(reader.counters)
    if failures < 10:
        raise Failure(f"only {failures} reports failed")
    read_at_last(place_, reader, program)
    totals.check_reader(reader)
    check_gauges(reader.gauges, totals)


def read_at_last(receiver, reader, program):
    """As push_at_last, with a receiver that reads all of it."""
    wait_for("a report that goes well", lambda: receiver.read_during(
        reader, lambda: program.tell("push"))[0][0] == "OK")


def a_unix_path_vanishes_and_comes_back(place):
    receiver = Datagrams(place)
    program = start(place, receiver.url)
    reader = Reader(size=8192)
    totals = Totals()
    totals.record(program, 2, 50)
    receiver.read_during(reader, lambda: program.do("push"))
    receiver.close()
    totals.record(program, 2, 50)
    status, rest = program.tell("push")
    equal(status, "UNREACHABLE", rest)
    contains(rest, str(receiver.path))
    receiver.open()
    receiver.read_during(reader, lambda: program.do("push"))
    totals.check_reader(reader)
    receiver.close()
    receiver.open()
    totals.record(program, 2, 50)
    # The connection leads to a socket that has gone, the path to another.
    receiver.read_during(reader, lambda: program.do("push"))
    receiver.read_during(reader, lambda: program.do("stop"))
    totals.check_reader(reader)


def datadog_tags_packs_and_counts(place):
    receiver = Datagrams(place)
    program = Program(place, "statsd_program", receiver.url, "dialect=datadog", "packet=1432",
                      DD_SERVICE="rnode", DD_VERSION="0.13", DD_ENV="test,net",
                      DD_ENTITY_ID="pod-1")
    contains(program.begun, "OK")
    reader = Reader("datadog", 1432)
    totals = Totals()
    for threads, times in ((4, 1000), (1, 3)):
        totals.record(program, threads, times)
        receiver.read_during(reader, lambda: program.do("push"))
    base = "env:test_net,service:rnode,version:0.13,dd.internal.entity_id:pod-1"
    equal(reader.counters[f"etsy.events_done|{base}"], totals.events)
    for tag, count in zip(TAGS, totals.kinds):
        equal(reader.counters[f"etsy.kinds_seen|{base},kind:{tag}"], count, tag)
    equal(reader.gauges[f"etsy.level|{base}"], -7.25)
    for outcome, values in totals.work.items():
        key = f"etsy.work_time|{base},outcome:{outcome}"
        equal(reader.counts[key], len(values), key)
        check_weighted(key, [value / 1000 for value in values], reader.values[key])
    key = f"etsy.message_size|{base}"
    equal(reader.counts[key], len(totals.sizes), key)
    check_weighted(key, totals.sizes, reader.values[key])


def check_weighted(name, recorded, found):
    """Quantiles where each value counts as often as its rate says: within a bucket, no rank off."""
    every = sorted(value for value, weight in found for _ in range(weight))
    for quantile in (0.01, 0.5, 0.9, 0.99, 1):
        value, wanted = rank(every, quantile), rank(recorded, quantile)
        if not wanted * 0.98 <= value <= wanted * 1.02:
            raise Failure(f"{name}: quantile {quantile}: {value}, wanted {wanted}")
    equal(max(every), max(recorded), f"maximum of {name}")


def datadog_finds_its_agent_in_the_environment(place):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as agent:
        agent.bind(("127.0.0.1", 0))
        agent.settimeout(harness.ANSWER_S)
        program = Program(place, "statsd_program", "default", "dialect=datadog",
                          DD_AGENT_HOST="127.0.0.1", DD_DOGSTATSD_PORT=str(agent.getsockname()[1]))
        contains(program.begun, "OK")
        program.do("events 3")
        program.do("push")
        contains(agent.recv(65536).decode(), "|c")
    bad = Program(place, "statsd_program", "default", "dialect=datadog",
                  DD_DOGSTATSD_URL="http://x")
    contains(bad.begun, "INVALID_ARGUMENT")
    contains(bad.begun, "DD_DOGSTATSD_URL")


def a_host_name_finds_the_port_that_is_open(place):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("127.0.0.1", 0))
        server.settimeout(harness.ANSWER_S)
        program = start(place, f"udp://localhost:{server.getsockname()[1]}")
        program.do("events 3")
        program.do("push")
        text = ""
        while "etsy.events-done" not in text:
            text += server.recv(65536).decode()
        contains(text, "etsy.events-done:3|c")
    program = start(place, "udp://no-such-host.invalid:8125", "timeout_ms=2000")
    status, rest = program.tell("push")
    if status not in ("UNREACHABLE", "TIMED_OUT"):
        raise Failure(f"{status} {rest}")
    contains(rest, "no-such-host.invalid")


if __name__ == "__main__":
    harness.main([
        npm_statsd_gets_everything,
        npm_statsd_computes_our_quantiles,
        npm_statsd_restarts,
        npm_statsd_is_slow_over_udp,
        npm_statsd_over_tcp_full_and_restarted,
        collectd_gets_everything,
        collectd_computes_our_quantiles,
        collectd_restarts_and_is_slow,
        every_packet_may_be_the_one_that_fails,
        a_unix_path_vanishes_and_comes_back,
        datadog_tags_packs_and_counts,
        datadog_finds_its_agent_in_the_environment,
        a_host_name_finds_the_port_that_is_open,
    ], servers=())
