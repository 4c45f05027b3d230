#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# crest-test: timeout=480
"""Pushes from a program with several threads to a real Pushgateway, and asks a real Prometheus
what arrived. Totals must be equal to the last unit.

What the program records is in push_program.c; Totals in pushlib.py computes the same.
"""

import gzip
import os
import subprocess
import threading
import time

import harness
from harness import Failure, Program, Prometheus, Pushgateway, contains, equal, lacks
from pushlib import (HANG_S, Fake, OWN_TYPES, Totals, attach, certificate, clash_is_told, hang,
                     promql, push_text)


def totals_are_exact(place):
    gateway = Pushgateway(place).start()
    prometheus = Prometheus(place, [gateway]).start()
    program = attach(place, gateway.url)
    totals = Totals()
    for threads, times in ((8, 1000), (3, 777), (16, 101)):
        totals.record(program, threads, times)
        program.do("push")
        totals.check(prometheus, 'job="push", instance="one"')
    for name, kind in OWN_TYPES.items():
        equal(prometheus.metadata(name)["type"], kind, f"type of {name}")
    help_text = prometheus.metadata("push_events_done_total")["help"]
    contains(help_text, 'Events, café ☃ \\ "quoted"\nsecond line.')
    contains(help_text, "push.events-done")
    prometheus.check_value('push_failure_time_seconds{job="push"}', 0)
    prometheus.check_value('crest_target_info{job="push", instance="one"}', 1)
    program.do("stop")


def the_page_passes_promtool(place):
    gateway = Pushgateway(place).start()
    program = attach(place, gateway.url)
    Totals().record(program, 2, 100)
    program.do("push")
    lines = [line for line in gateway.page().splitlines() if "push_" in line or "crest_" in line]
    # The gateway adds these two to every group.
    lines = [line for line in lines if not line.startswith(("push_time_", "push_failure_"))
             and " push_time_" not in line and " push_failure_" not in line]
    result = subprocess.run([harness.SERVERS / "promtool", "check", "metrics"],
                            input="\n".join(lines) + "\n", text=True, capture_output=True,
                            encoding="utf-8", timeout=harness.ANSWER_S, check=False)
    if result.returncode != 0:
        raise Failure(f"promtool check metrics: {result.returncode}: {result.stderr}")
    contains("\n".join(lines), "push_message_size_bytes_bucket")


def labels_of_any_text_arrive(place):
    gateway = Pushgateway(place).start()
    prometheus = Prometheus(place, [gateway]).start()
    values = {"slash": "a/b//c", "dots": "..", "dot": ".", "space": "a b+c", "accent": "café ☃ 🚀",
              "quote": 'say "x"\\', "line": "a\nb", "percent": "%2F%2E", "plain": "x_Y-1"}
    program = attach(place, gateway.url, "empty=", *(f"{k}={v}" for k, v in values.items()),
                     job="j/../b", instance="10.0.0.7:9000")
    totals = Totals()
    totals.record(program, 2, 50)
    program.do("push")
    equal(len(gateway.groups()), 1)
    group = ", ".join(f"{key}={promql(value)}" for key, value in values.items())
    group += ', job="j/../b", instance="10.0.0.7:9000", empty=""'
    totals.check(prometheus, group)
    # An address that the gateway reads differently would be another group beside it.
    program.do("push")
    equal(len(gateway.groups()), 1)


def a_restarted_gateway_has_the_totals(place):
    gateway = Pushgateway(place).start()
    prometheus = Prometheus(place, [gateway]).start()
    program = attach(place, gateway.url)
    totals = Totals()
    totals.record(program, 4, 500)
    program.do("push")
    totals.check(prometheus, 'job="push"')
    harness.wait_for("the gateway's store", lambda: gateway.store.exists()
                     and time.time() - gateway.store.stat().st_mtime > 0.3)
    gateway.kill()
    gateway.start()
    totals.check(prometheus, 'job="push"')
    totals.record(program, 4, 500)
    program.do("push")
    totals.check(prometheus, 'job="push"')


def a_gateway_that_was_down_misses_nothing(place):
    gateway = Pushgateway(place).start()
    prometheus = Prometheus(place, [gateway]).start()
    program = attach(place, gateway.url)
    totals = Totals()
    totals.record(program, 4, 300)
    program.do("push")
    gateway.stop()
    for _ in range(2):
        totals.record(program, 4, 300)
        status, message = program.tell("push")
        equal(status, "UNREACHABLE", message)
        contains(message, f"127.0.0.1:{gateway.port}")
        contains(message, "Is it running")
    state = program.do("state")
    reports, failures, in_a_row, last_error = state.split(" ", 3)
    if int(reports) < 3 or int(failures) < 2 or int(in_a_row) < 2:
        raise Failure(f"state: {state}")
    contains(last_error, "Is it running")
    gateway.start()
    program.do("push")
    totals.check(prometheus, 'job="push"')
    equal(program.do("state").split(" ")[2], "0")


def a_clash_of_types_is_explained(place):
    gateway = Pushgateway(place).start()
    old = f"{gateway.url}/metrics/job/push/instance/old"
    push_text(old, "# TYPE push_events_done_total gauge\npush_events_done_total 5\n")
    program = attach(place, gateway.url)
    totals = Totals()
    totals.record(program, 2, 100)
    status, message = program.tell("push")
    clash_is_told(gateway, status, message, "is a counter here and stored as a gauge in another "
                  "group", "Rename the metric", "push_events_done_total",
                  "curl -X DELETE 'http://127.0.0.1:")
    if status == "REFUSED":
        # What it says to paste must help, with the instance filled in where it could not know it.
        line = message.split("curl -X DELETE '")[1].split("'")[0].replace("OTHER-INSTANCE", "old")
        equal(line, old)
    gateway.get(old[len(gateway.url):], "DELETE")
    program.do("push")
    equal(len(gateway.groups()), 1)


def the_last_push_has_no_windows(place):
    gateway = Pushgateway(place).start()
    program = attach(place, gateway.url)
    Totals().record(program, 2, 100)
    harness.wait_for("windows, with a push after a tick", lambda: program.do("push") == "" and
                     "push_events_done_rate1m{" in gateway.page())
    program.do("stop")
    page = gateway.page()
    equal([line for line in page.splitlines() if "1m" in line.partition("{")[0]], [])
    contains(page, 'push_events_done_total{instance="one",job="push"} 200\n')


def a_group_is_deleted_only_when_asked_for(place):
    gateway = Pushgateway(place).start()
    keeps = attach(place, gateway.url, instance="keeps")
    leaves = attach(place, gateway.url, "zone=a/b", instance="leaves", DELETE_ON_STOP="1")
    for program in (keeps, leaves):
        program.do("push")
    equal(len(gateway.groups()), 2)
    for program in (keeps, leaves):
        program.do("stop")
    # a gateway answers 202 to a DELETE and carries it out a moment later
    harness.wait_for("the group to go", lambda: len(gateway.groups()) == 1)
    equal(gateway.groups(), [{"job": "push", "instance": "keeps"}])


def a_batch_program_reports_once(place):
    gateway = Pushgateway(place).start()
    program = attach(place, gateway.url, job="batch")
    Totals().record(program, 3, 100)
    program.do("once")
    contains(gateway.page(), 'push_events_done_total{instance="one",job="batch"} 300\n')


def options_start_and_the_stop_flushes(place):
    gateway = Pushgateway(place).start()
    prometheus = Prometheus(place, [gateway]).start()
    program = Program(place, "push_program", "start",
                      f"service=rnode,version=0.13,interval=1h,pushgateway={gateway.url},"
                      "pushgateway.instance=i:1,pushgateway.label.zone=z 1,resource.env=prod,"
                      "resource.zone=ours")
    equal(program.begun.strip(), "OK")
    totals = Totals()
    totals.record(program, 8, 400)
    program.do("stop")
    totals.check(prometheus, 'job="rnode", instance="i:1", zone="z 1"')
    prometheus.check_value('crest_target_info{service="rnode", version="0.13", instance="i:1", '
                           'env="prod", zone="z 1"}', 1)
    equal(program.leave(), (0, ""))


def what_all_processes_export_has_one_description(place):
    """The gateway exports the same of itself, and tells of each other description with each scrape
    of it: of every group, for as long as they are there."""
    gateway = Pushgateway(place).start()
    standard = {name for name, _, _ in described(gateway.page())}
    for instance in ("one", "two"):
        program = Program(place, "push_program", "start",
                          f"service=rnode,interval=1h,system=on,pushgateway={gateway.url},"
                          f"pushgateway.instance={instance}")
        equal(program.begun.strip(), "OK")
        program.do("stop")
        equal(program.leave(), (0, ""))
    pushed = gateway.page()
    for name in ("process_cpu_seconds_total", "process_open_fds", "process_max_fds",
                 "process_virtual_memory_bytes", "process_resident_memory_bytes",
                 "process_start_time_seconds"):
        if name not in standard:
            raise Failure(f"the gateway does not export {name}, so this shows nothing")
        contains(pushed, f'{name}{{instance="two",job="rnode"')
    lacks(place.logs(), "inconsistent help")


def described(page):
    """(name, description, line) of each HELP of a page."""
    for line in page.splitlines():
        if line.startswith("# HELP "):
            _, _, name, description = line.split(" ", 3)
            yield name, description, line


def exit_without_stop_flushes(place):
    gateway = Pushgateway(place).start()
    program = Program(place, "push_program", "start",
                      f"service=rnode,interval=1h,pushgateway={gateway.url},"
                      "pushgateway.instance=i")
    Totals().record(program, 4, 250)
    equal(program.leave("exit 3"), (3, ""))
    # the process waits two seconds for it; a busy gateway may take in later what it was sent
    harness.wait_for("what was pushed at exit", gateway.groups)
    contains(gateway.page(), 'push_events_done_total{instance="i",job="rnode"} 1000\n')


def slow_and_strange_servers_lose_nothing(place):
    over = threading.Event()

    def silent(handler):
        over.wait()

    def garbage(handler):
        handler.wfile.write(b"\x00\x01 what?\r\n")
        handler.close_connection = True

    def moved(handler):
        handler.send_response(301)
        handler.send_header("Location", "/elsewhere")
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    manners = [
        (lambda handler: handler.answer(503, b"overloaded\nagain\n"), "UNREACHABLE",
         "failed with code 503: overloaded again"),
        (lambda handler: handler.answer(500, b"<p>" + b"x" * 1000000), "UNREACHABLE",
         "code 500: <p>x"),
        (lambda handler: handler.answer(401), "REFUSED", "user:password@"),
        (moved, "REFUSED", "redirect to \"/elsewhere\""),
        (garbage, "IO", "does not speak HTTP"),
        (silent, "TIMED_OUT", "waiting for the answer"),
    ]
    turn = iter(manners)
    fake = Fake(place, lambda handler: next(turn)[0](handler))
    program = attach(place, fake.url, TIMEOUT_MS="5000")
    totals = Totals()
    for _, wanted, says in manners:
        totals.record(program, 2, 60)
        status, message = program.tell("push")
        equal(status, wanted, message)
        contains(message, says)
        contains(message, fake.url)
    over.set()
    turn = iter([(lambda handler: handler.answer(202), "", "")])
    program.do("push")
    method, path, body = fake.requests[-1]
    equal((method, path), ("PUT", "/metrics/job/push/instance/one"))
    page = gzip.decompress(body).decode("utf-8")
    contains(page, f"\npush_events_done_total {totals.events}\n")


def tls_trusts_only_known_authorities(place):
    pem = certificate(place)
    fake = Fake(place, certificate=pem)
    stranger = attach(place, fake.url)
    status, message = stranger.tell("push")
    equal(status, "UNREACHABLE", message)
    contains(message, "certificate")
    contains(message, "update-ca-certificates")
    equal(fake.requests, [])
    friend = attach(place, fake.url, CA_FILE=str(place.folder / "certificate.pem"))
    Totals().record(friend, 2, 50)
    friend.do("push")
    friend.do("push")
    equal([request[:2] for request in fake.requests],
          [("PUT", "/metrics/job/push/instance/one")] * 2)
    friend.do("stop")
    attach(place, fake.url, CA_FILE="/nonexistent", wanted="cannot be read")


# Of "pass:word/1", by bcrypt with the least work.
PASSWORD_HASH = "$2b$04$BLqIyQqLaHd2pZr7TKVubek8rgm7vcNRV9BMnZu1..Knzvh9Jmxs6"


def a_gateway_with_tls_and_a_password_is_pushed_to(place):
    pem = certificate(place)
    gateway = Pushgateway(place, web_config=f"tls_server_config: {{cert_file: {pem}, "
                          f"key_file: {pem}}}\nbasic_auth_users: {{node: {PASSWORD_HASH}}}\n")
    gateway.start()
    address = f"127.0.0.1:{gateway.port}"
    authority = str(place.folder / "certificate.pem")
    for user, wanted, says in (("node:pass%3Aword%2F1@", "OK", ""),
                               ("node:wrong@", "REFUSED", "user:password@"),
                               ("", "REFUSED", "code 401")):
        program = attach(place, f"https://{user}{address}", CA_FILE=authority)
        totals = Totals()
        totals.record(program, 1, 10)
        status, message = program.tell("push")
        equal(status, wanted, message)
        contains(message, says)
        lacks(message, "wrong")
    program = attach(place, f"http://node:wrong@{address}")
    # It refuses and resets the connection, and sometimes the reset comes first.
    status, message = program.tell("push")
    contains(("REFUSED", "IO"), status, message)
    contains(message.lower(), "https" if status == "REFUSED" else "connection")
    lacks(message, "wrong")


def without_leak_check():
    """For a process that exits in the middle of a TLS transfer: the thread left behind at the
    deadline holds what OpenSSL gave it at that moment, where leak checkers do not look."""
    given = os.environ.get("ASAN_OPTIONS")
    return {"ASAN_OPTIONS": f"{given}:detect_leaks=0"} if given else {}


def start_with_tls(place, fake, ca_file=None, **environment):
    trusted = f",pushgateway.ca-file={ca_file}" if ca_file else ""
    return Program(place, "push_program", "start",
                   f"service=rnode,interval=1h,pushgateway={fake.url},pushgateway.instance=i"
                   + trusted, **environment)


def tls_still_works_at_exit(place):
    """OpenSSL takes itself apart in an atexit handler; the flush must come before it."""
    fake = Fake(place, certificate=certificate(place))
    program = start_with_tls(place, fake, place.folder / "certificate.pem")
    Totals().record(program, 4, 250)
    equal(program.leave(), (0, ""))
    equal([request[:2] for request in fake.requests], [("PUT", "/metrics/job/rnode/instance/i")])
    contains(gzip.decompress(fake.requests[0][2]).decode("utf-8"),
             "\npush_events_done_total 1000\n")
    # The same with a certificate nobody trusts: tried, refused, and no harm done.
    program = start_with_tls(place, fake)
    equal(program.leave(), (0, ""))
    equal(len(fake.requests), 1)


def exit_does_not_wait_for_a_stalled_tls_server(place):
    fake = Fake(place, hang, certificate(place))
    program = start_with_tls(place, fake, place.folder / "certificate.pem",
                             **without_leak_check())
    Totals().record(program, 1, 10)
    started = time.monotonic()
    status, errors = program.leave()
    equal((status, errors), (0, ""))
    equal(len(fake.requests), 1)
    if time.monotonic() - started > HANG_S / 2:
        raise Failure(f"the exit took {time.monotonic() - started:.1f} s")


def tls_that_has_been_shut_down_is_not_used(place):
    """A reporter that pushes behind OpenSSL's own atexit handler would crash the process."""
    fake = Fake(place, certificate=certificate(place))
    program = attach(place, fake.url, AT_END="push",
                     CA_FILE=str(place.folder / "certificate.pem"))
    program.do("push")
    program.process.stdin.write("exit 0\n")
    program.process.stdin.flush()
    contains(program.answer("exit"), "TIMED_OUT PUT https://127.0.0.1")
    equal(program.process.wait(harness.ANSWER_S), 0)
    equal(len(fake.requests), 1)


def tls_transfers_end_before_tls_does(place):
    fake = Fake(place, hang, certificate(place))
    program = attach(place, fake.url, AT_END="state", INTERVAL_MS="100",
                     CA_FILE=str(place.folder / "certificate.pem"), **without_leak_check())
    harness.wait_for("a push in flight", lambda: fake.requests)
    started = time.monotonic()
    program.process.stdin.write("exit 0\n")
    program.process.stdin.flush()
    contains(program.answer("exit"), "The process is ending")
    equal(program.process.wait(harness.ANSWER_S), 0)
    if time.monotonic() - started > HANG_S / 2:
        raise Failure(f"the exit took {time.monotonic() - started:.1f} s")


def bad_options_say_what_to_do(place):
    for options, says in (
            ("pushgateway=127.0.0.1:9091", "http:// or https://"),
            ("pushgateway=http://user:secret@h:x", "***@h:x"),
            ("pushgateway=http://h,pushgateway.job=", "empty"),
            ("pushgateway=http://h,pushgateway.label.a-b=x", "a-b"),
            ("pushgateway=http://h,pushgateway.gzip=perhaps", "pushgateway.gzip"),
            ("pushgateway=http://h,pushgateway.timeout=soon", "pushgateway.timeout"),
            ("pushgateway=http://h,pushgateway.jobb=x", "pushgateway.job")):
        program = Program(place, "push_program", "start", options)
        lacks(program.begun, "secret")
        contains(program.begun, says, options)
        equal(program.begun.split(" ")[0] == "OK", False, options)
        equal(program.leave(), (0, ""))


if __name__ == "__main__":
    harness.main([
        totals_are_exact,
        the_page_passes_promtool,
        labels_of_any_text_arrive,
        a_restarted_gateway_has_the_totals,
        a_gateway_that_was_down_misses_nothing,
        a_clash_of_types_is_explained,
        the_last_push_has_no_windows,
        a_group_is_deleted_only_when_asked_for,
        a_batch_program_reports_once,
        options_start_and_the_stop_flushes,
        what_all_processes_export_has_one_description,
        exit_without_stop_flushes,
        slow_and_strange_servers_lose_nothing,
        tls_trusts_only_known_authorities,
        a_gateway_with_tls_and_a_password_is_pushed_to,
        tls_still_works_at_exit,
        exit_does_not_wait_for_a_stalled_tls_server,
        tls_that_has_been_shut_down_is_not_used,
        tls_transfers_end_before_tls_does,
        bad_options_say_what_to_do,
    ])
