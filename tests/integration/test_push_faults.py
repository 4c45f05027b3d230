#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# crest-test: timeout=480
"""A real Pushgateway that is restarted, stopped, slow or in the way, and servers of the test's own
that fail: whatever happens, the next push that succeeds makes every total equal to the last unit.
"""

import gzip
import http.client
import os
import socket
import subprocess
import threading
import time
import urllib.error

import harness
from harness import (Failure, Prometheus, Pushgateway, Skip, contains, equal, holds_at_last, lacks,
                     wait_for)
from pushlib import (HANG_S, Fake, Totals, WORK_BOUNDS, WORK_NS, attach, clash_is_told, hang,
                     push_text)

GROUP = {"job": "push", "instance": "one"}
MATCHERS = 'job="push", instance="one"'


def every_instrument_goes_out(place):
    gateway = Pushgateway(place).start()
    prometheus = Prometheus(place, [gateway]).start()
    program = attach(place, gateway.url)
    totals = Totals()
    for threads, times in ((8, 500), (5, 333)):
        totals.record(program, threads, times)
        program.do("push")
        totals.check_gateway(gateway, GROUP)
        totals.check(prometheus, MATCHERS)
    # A poll may come too late for one snapshot on a busy machine; it is in the next.
    harness.wait_for("what polls fetch", lambda: program.do("push") == "" and
                     f"push_packets_dropped_total{{{labels()}}} {totals.events * 3}\n"
                     in gateway.page() and
                     f"push_fetched_level{{{labels()}}} {totals.events * 3 / 4:g}\n"
                     in gateway.page())
    holds_at_last(lambda: quantiles_are_within_a_bucket(prometheus, totals))


def labels():
    return 'instance="one",job="push"'


def quantiles_are_within_a_bucket(prometheus, totals):
    """Of all that was recorded, as Prometheus estimates them from the buckets."""
    counts = [ok + error for ok, error in zip(totals.work["ok"], totals.work["error"])]
    observed = sorted(value / 1e9 for value, count in zip(WORK_NS, counts) for _ in range(count))
    bounds = [0, *WORK_BOUNDS]
    for quantile in (0.1, 0.25, 0.5, 0.75, 0.9):
        exact = observed[max(0, round(quantile * len(observed)) - 1)]
        found = prometheus.number(
            f"histogram_quantile({quantile}, sum by (le) (push_work_time_seconds_bucket))")
        # Beyond the last bound there is nothing to estimate with: it says that bound.
        low = max(bound for bound in bounds if bound < min(exact, bounds[-1] + 1e-9))
        high = min([bound for bound in bounds if bound >= exact], default=bounds[-1])
        if not low <= found <= high:
            raise Failure(f"quantile {quantile}: {found}, wanted within {low} and {high}")


def restarts_while_it_pushes_lose_nothing(place):
    gateway = Pushgateway(place).start()
    prometheus = Prometheus(place, [gateway]).start()
    program = attach(place, gateway.url, INTERVAL_MS="100")
    totals = Totals()
    for turn in range(3):
        totals.record(program, 4, 200)
        harness.wait_for("the record to arrive", lambda: totals_arrived(gateway, totals))
        (gateway.stop if turn % 2 else gateway.kill)()
        totals.record(program, 4, 100)
        time.sleep(0.3)
        gateway.start()
        totals.record(program, 2, 50)
    program.do("push")
    totals.check_gateway(gateway, GROUP)
    totals.check(prometheus, MATCHERS)


def push_at_last(program):
    """Where a push may take no longer than is good for the test, a busy machine may take longer."""
    wait_for("a push that goes well", lambda: program.tell("push")[0] == "OK")


def totals_arrived(gateway, totals):
    return f"push_events_done_total{{{labels()}}} {totals.events}\n" in gateway.page()


def a_stopped_gateway_times_out_and_catches_up(place):
    gateway = Pushgateway(place).start()
    prometheus = Prometheus(place, [gateway]).start()
    program = attach(place, gateway.url, TIMEOUT_MS="5000")
    totals = Totals()
    totals.record(program, 4, 300)
    push_at_last(program)
    gateway.hold()
    try:
        totals.record(program, 4, 300)
        began = time.monotonic()
        status, message = program.tell("push")
        took = time.monotonic() - began
    finally:
        gateway.go_on()
    equal(status, "TIMED_OUT", message)
    contains(message, "waiting for the answer")
    if not 4 < took < harness.ANSWER_S:
        raise Failure(f"the push with a timeout of 5 s took {took:.1f} s")
    harness.wait_for("the gateway to answer again", gateway.is_ready)
    totals.record(program, 4, 300)
    push_at_last(program)
    # What timed out may be carried out late, but it was read before this push was.
    totals.check_gateway(gateway, GROUP)
    totals.check(prometheus, MATCHERS)


def a_storm_is_one_push_at_a_time(place):
    fake = Fake(place, lambda handler: (time.sleep(0.05), handler.answer(200)))
    program = attach(place, fake.url, DELETE_ON_STOP="1", INTERVAL_MS="100")
    totals = Totals()
    totals.record(program, 8, 100)
    equal(program.do("storm 16 10"), "160")
    equal(fake.most_in_flight, 1)
    totals.record(program, 8, 100)
    program.do("stop")
    equal(fake.most_in_flight, 1)
    methods = [request[0] for request in fake.requests]
    equal(methods[-2:], ["PUT", "DELETE"])
    equal(methods.count("DELETE"), 1)
    last = gzip.decompress(fake.requests[-2][2]).decode("utf-8")
    contains(last, f"\npush_events_done_total {totals.events}\n")


def a_stop_in_the_middle_of_a_push_waits_for_it(place):
    fake = Fake(place, lambda handler: (time.sleep(1), handler.answer(200)))
    # A third of the time for the stop is for the push under way.
    program = attach(place, fake.url, INTERVAL_MS="100", TIMEOUT_MS="60000")
    totals = Totals()
    totals.record(program, 2, 100)
    harness.wait_for("a push in flight", lambda: fake.in_flight)
    program.do("stop")
    equal(fake.most_in_flight, 1)
    last = gzip.decompress(fake.requests[-1][2]).decode("utf-8")
    contains(last, f"\npush_events_done_total {totals.events}\n")


def a_stop_does_not_wait_for_a_hanging_server(place):
    fake = Fake(place, hang)
    program = attach(place, fake.url, INTERVAL_MS="100", TIMEOUT_MS="5000")
    harness.wait_for("a push in flight", lambda: fake.in_flight)
    began = time.monotonic()
    status, message = program.tell("stop")
    if time.monotonic() - began > HANG_S / 2:
        raise Failure(f"the stop took {time.monotonic() - began:.1f} s")
    contains(("TIMED_OUT",), status, message)


def a_full_backlog_is_told_and_got_over(place):
    port = harness.free_port()
    totals = Totals()
    with socket.socket() as deaf:
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        deaf.bind(("127.0.0.1", port))
        deaf.listen(0)
        # Nobody accepts: once its queue is full, the kernel drops what wants to connect.
        fillers = []
        for _ in range(4):
            filler = socket.socket()
            filler.setblocking(False)
            filler.connect_ex(("127.0.0.1", port))
            fillers.append(filler)
        program = attach(place, f"http://127.0.0.1:{port}", TIMEOUT_MS="5000")
        totals.record(program, 2, 200)
        status, message = program.tell("push")
        equal(status, "TIMED_OUT", message)
        contains(message, "still connecting")
        for filler in fillers:
            filler.close()
    gateway = Pushgateway(place, port).start()
    totals.record(program, 2, 200)
    push_at_last(program)
    totals.check_gateway(gateway, GROUP)


def what_helps_to_repeat_is_repeated_soon(place):
    codes = []
    fake = Fake(place, lambda handler: handler.answer(codes[len(fake.requests) - 1]))
    program = attach(place, fake.url, INTERVAL_MS="60000")
    codes += [503, 503, 200, 400, 200]
    equal(program.tell("push")[0], "UNREACHABLE")
    # After a second, then two, both less up to a half by chance.
    harness.wait_for("two tries more", lambda: len(fake.requests) == 3)
    harness.wait_for("no failures in a row, once the answer has been read",
                     lambda: program.do("state").split(" ")[2] == "0")
    equal(program.tell("push")[0], "REFUSED")
    time.sleep(2.5)
    equal(len(fake.requests), 4)
    program.do("push")


def a_refused_push_leaves_what_was_there(place):
    gateway = Pushgateway(place).start()
    program = attach(place, gateway.url)
    totals = Totals()
    totals.record(program, 4, 100)
    program.do("push")
    before = gateway.page()
    # Somebody else's group has one of our names as another type, which the gateway lets in only
    # as long as ours is not there.
    gateway.get("/metrics/job/push/instance/one", "DELETE")
    push_text(f"{gateway.url}/metrics/job/push/instance/old",
              "# TYPE push_work_time_seconds gauge\npush_work_time_seconds 5\n")
    totals.record(program, 4, 100)
    status, message = program.tell("push")
    clash_is_told(gateway, status, message, "push_work_time_seconds",
                  "is a histogram here and stored as a gauge", "curl -X DELETE 'http://127.0.0.1:")
    contains(before, "push_work_time_seconds_bucket")
    gateway.get("/metrics/job/push/instance/old", "DELETE")
    harness.wait_for("the old group to go",
                     lambda: "push_work_time_seconds 5" not in gateway.page())
    program.do("push")
    totals.check_gateway(gateway, GROUP)


def post_leaves_what_it_does_not_push(place):
    gateway = Pushgateway(place).start()
    group = f"{gateway.url}/metrics/job/push/instance/one"
    push_text(group, "# TYPE other_total counter\nother_total 7\n"
                     '# TYPE push_kinds_seen_total counter\npush_kinds_seen_total{kind="old"} 9\n')
    program = attach(place, gateway.url, POST="1")
    totals = Totals()
    totals.record(program, 4, 200)
    program.do("push")
    totals.check_gateway(gateway, GROUP)
    page = gateway.page()
    contains(page, f"other_total{{{labels()}}} 7\n")
    # A metric that it does push is replaced whole.
    lacks(page, 'kind="old"')
    wait_for("windows, with a push after a tick", lambda: program.do("push") == "" and
             "push_events_done_rate1m{" in gateway.page())
    program.do("stop")
    # As documented: the last push has no windows, and POST takes nothing away.
    contains(gateway.page(), "push_events_done_rate1m{")
    other = attach(place, gateway.url)
    other.do("push")
    lacks(gateway.page(), "other_total")


def a_connection_that_is_always_closed_is_made_anew(place):
    """A server, or a proxy before it, that closes every connection after its answer, without a word
    of it."""
    def close_afterwards(handler):
        handler.answer(200)
        handler.connection.shutdown(socket.SHUT_RDWR)
        handler.close_connection = True

    fake = Fake(place, close_afterwards)
    program = attach(place, fake.url)
    for turn in range(20):
        program.do("push")
        equal(len(fake.requests), turn + 1)
    equal(program.do("state").split(" ")[1], "0")


def a_child_is_refused_its_parents_group(place):
    if os.environ.get("CREST_SAN"):
        raise Skip("GCC 12's sanitizers do not support children that allocate")
    gateway = Pushgateway(place).start()
    program = attach(place, gateway.url)
    totals = Totals()
    totals.record(program, 4, 100)
    program.do("push")
    status, message = program.tell(f"fork {gateway.url} push one")
    equal(status, "REFUSED", message)
    contains(message, f"the process {program.process.pid}, of which this one is a fork")
    contains(message, "pushgateway.instance=${HOST}-${PID}")
    totals.check_gateway(gateway, GROUP)
    program.do(f"fork {gateway.url} push two")
    mine = Totals()
    mine.add(2, 10)
    contains(gateway.page(), f'push_events_done_total{{instance="two",job="push"}} {mine.events}\n')
    program.do("push")
    totals.check_gateway(gateway, GROUP)
    program.do("stop")
    program.do(f"fork {gateway.url} push one")
    contains(gateway.page(), f"push_events_done_total{{{labels()}}} {mine.events}\n")


def many_threads_may_start_and_stop(place):
    """Programs of a job side by side, each with an instance of its own."""
    gateway = Pushgateway(place).start()
    programs = [attach(place, gateway.url, instance=f"i{i}", INTERVAL_MS="100") for i in range(4)]
    totals = [Totals() for _ in programs]

    def work(index):
        for _ in range(3):
            totals[index].record(programs[index], 2, 100 + index)
        programs[index].do("stop")
    workers = [threading.Thread(target=work, args=(i,)) for i in range(len(programs))]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(harness.ANSWER_S)
    for index, total in enumerate(totals):
        total.check_gateway(gateway, {"job": "push", "instance": f"i{index}"})


def the_documented_alerts_are_rules(place):
    text = (harness.ROOT / "docs/pushing.md").read_text(encoding="utf-8")
    rules = text.split("## Alerts")[1].split("```yaml\n")[1].split("```")[0]
    path = place.folder / "rules.yml"
    path.write_text(rules)
    done = subprocess.run([harness.SERVERS / "promtool", "check", "rules", path], check=False,
                          capture_output=True, text=True, timeout=harness.ANSWER_S)
    equal(done.returncode, 0, done.stderr)
    contains(done.stdout, "2 rules found")
    gateway = Pushgateway(place).start()
    prometheus = Prometheus(place, [gateway]).start()
    program = attach(place, gateway.url)
    program.do("push")
    prometheus.check_value('push_failure_time_seconds{job="push"}', 0)
    equal(prometheus.query("push_failure_time_seconds > push_time_seconds"), [])
    push_text(f"{gateway.url}/metrics/job/push/instance/old",
              "# TYPE other_total counter\nother_total 5\n")
    push_clash = f"{gateway.url}/metrics/job/push/instance/one"
    try:
        push_text(push_clash, "# TYPE other_total gauge\nother_total 5\n")
    except urllib.error.HTTPError as error:
        equal(error.code, 400)
    except http.client.RemoteDisconnected:
        contains(gateway.log.read_text(encoding="utf-8", errors="replace"), "panic serving")
    harness.wait_for("the refusal to show", lambda: prometheus.query(
        "push_failure_time_seconds > push_time_seconds"))


if __name__ == "__main__":
    harness.main([
        every_instrument_goes_out,
        restarts_while_it_pushes_lose_nothing,
        a_stopped_gateway_times_out_and_catches_up,
        a_storm_is_one_push_at_a_time,
        a_stop_in_the_middle_of_a_push_waits_for_it,
        a_stop_does_not_wait_for_a_hanging_server,
        a_full_backlog_is_told_and_got_over,
        what_helps_to_repeat_is_repeated_soon,
        a_refused_push_leaves_what_was_there,
        post_leaves_what_it_does_not_push,
        a_connection_that_is_always_closed_is_made_anew,
        a_child_is_refused_its_parents_group,
        many_threads_may_start_and_stop,
        the_documented_alerts_are_rules,
    ])
