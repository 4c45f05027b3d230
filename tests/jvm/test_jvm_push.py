#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# crest-test: servers=demo timeout=480
"""A Java program, a real Pushgateway and a real Prometheus: every total that the program knows is
read back exactly, whatever threads counted it, however the program ends, and across a gateway that
is killed and comes back.
"""

import os
import re
import shutil
import signal
import subprocess
import sys

import jvmlib

sys.path.insert(0, str(jvmlib.ROOT / "tests/integration"))

import harness  # noqa: E402
from harness import (Failure, Program, Prometheus, Pushgateway, contains,  # noqa: E402
                     equal, wait_for)

SIZES = [1, 100, 700, 3000, 50000, 1000000, 20000000]
WORK_NS = [1000000, 7000000, 300000000, 4000000000, 20000000000]
WORK_BOUNDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
KIND_TAIL = " é☃😀"
VIRTUAL_SINCE = 21
JDKS = []


class JavaProgram(Program):
    """ReportMain of the jar's tests, with the jar itself on the class path."""

    def __init__(self, place, jdk, **environment):
        self.jdk = jdk
        super().__init__(place, "java", **{"CREST_OPTS": "", **environment})

    def command(self):
        path = f"{jvmlib.jar()}:{jvmlib.TEST_CLASSES}"
        return [self.jdk.java, *self.jdk.options(), "-XX:TieredStopAtLevel=1", "-cp", path,
                "io.crest.ReportMain"]


class Totals:
    """What `record` has counted so far."""

    def __init__(self):
        self.events = 0
        self.kinds = [0, 0, 0]
        self.sizes = [0] * len(SIZES)
        self.work = {"ok": [0] * len(WORK_NS), "error": [0] * len(WORK_NS)}

    def record(self, program, kind, threads, times):
        equal(program.do(f"record {kind} {threads} {times}"), str(threads), "threads")
        for thread in range(threads):
            for i in range(times):
                self.events += 1
                self.kinds[(thread + i) % 3] += 2
                self.sizes[i % len(SIZES)] += 1
                self.work["ok" if i % 10 else "error"][i % len(WORK_NS)] += 1

    def values(self):
        """[(query, value)]"""
        yield "java_events_total", self.events
        for number, times in enumerate(self.kinds):
            yield f'java_kinds_total{{kind="kind {number}{KIND_TAIL}"}}', times
        yield "java_size_bytes_count", sum(self.sizes)
        yield "java_size_bytes_sum", sum(
            size * times for size, times in zip(SIZES, self.sizes))
        for outcome, times in self.work.items():
            series = f'{{outcome="{outcome}"}}'
            yield f"java_work_seconds_count{series}", sum(times)
            for bound in WORK_BOUNDS:
                below = sum(n for ns, n in zip(WORK_NS, times) if ns <= bound * 1e9)
                yield f'java_work_seconds_bucket{{outcome="{outcome}",le="{bound}"}}', below

    def check(self, prometheus):
        for query, value in self.values():
            prometheus.check_value(query, value)


class Reader(Program):
    """The program that docs/jvm.md begins with, in a folder with nothing but the jar."""

    def __init__(self, place, jdk, port):
        self.jdk = jdk
        self.folder = place.folder
        text = (harness.ROOT / "docs/jvm.md").read_text(encoding="utf-8")
        source = re.search(r"^```java\n(.*?)^```", text, re.M | re.S).group(1)
        (place.folder / "Node.java").write_text(source.replace(
            "System.in.read()", 'System.out.println("ready"); System.in.read()'), encoding="utf-8")
        shutil.copy(jvmlib.jar(), place.folder)
        done = subprocess.run(
            [jdk.java.parent / "javac", "-Xlint:all", "-Werror", "-cp", jvmlib.jar().name,
             "Node.java"],
            cwd=place.folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        equal(done.returncode, 0, f"javac's status: {done.stdout}{done.stderr}")
        super().__init__(place, "node", CREST_OPTS=f"prometheus={port}")

    def command(self):
        return [self.jdk.java, *self.jdk.options(), "-cp",
                f"{self.folder}/{jvmlib.jar().name}:{self.folder}", "Node"]


def the_program_of_the_docs_runs(place):
    port = harness.free_port()
    program = Reader(place, JDKS[0], port)
    page = harness.Server(place, "node", port).get("/metrics")
    contains(page, "\ncasper_blocks_created_total 1000\n")
    contains(page, '\ncomm_messages_total{kind="ping",peer="10.0.0.7"} 1000\n')
    contains(page, '\ncasper_add_block_time_seconds_count{outcome="ok"} 1\n')
    said = f"crest: metrics are at http://127.0.0.1:{port}/metrics\n"
    equal(program.leave(""), (0, said), "how it ended, and what it said")


def newest():
    return JDKS[-1]


def options(gateway, **more):
    more = {"service": "java", "interval": "200ms", "jitter": "0.1",
            "pushgateway": gateway.url, "pushgateway_timeout": "10s", **more}
    return ",".join(f"{key.replace('_', '.')}={value}" for key, value in more.items())


def record_everywhere(program, totals, times):
    totals.record(program, "platform", 6, times)
    if program.jdk.feature >= VIRTUAL_SINCE:
        totals.record(program, "virtual", 60, times // 10)


def totals_are_read_back_while_the_gateway_comes_and_goes(place):
    gateway = Pushgateway(place).start()
    prometheus = Prometheus(place, [gateway]).start()
    program, totals = JavaProgram(place, newest()), Totals()
    program.do("start " + options(gateway))
    record_everywhere(program, totals, 2000)
    totals.check(prometheus)
    gateway.kill()
    record_everywhere(program, totals, 1000)
    gateway.start()
    totals.check(prometheus)
    median = prometheus.number("histogram_quantile(0.5, sum by (le) (java_work_seconds_bucket))")
    if not 0.25 <= median <= 0.5:
        raise Failure(f"the median is 0.3 s, in the bucket from 0.25 s to 0.5 s, not {median} s")
    record_everywhere(program, totals, 100)
    program.do("stop 30000")
    totals.check(prometheus)
    equal(program.leave("return")[0], 0, "exit status")


def one_page_has_what_java_and_the_library_counted(place):
    port = harness.free_port()
    target = harness.Server(place, "java", port)
    program, totals = JavaProgram(place, newest()), Totals()
    program.do(f"start windows=off,hiccups=on,system=on,service=dü,prometheus={port}")
    record_everywhere(program, totals, 100)
    page = target.get("/metrics")
    contains(page, f"\njava_events_total {totals.events}\n")
    contains(page, f'\njava_kinds_total{{kind="kind 0{KIND_TAIL}"}} {totals.kinds[0]}\n')
    contains(page, 'service="dü"')
    contains(page, "\nprocess_cpu_seconds_total ")
    prometheus = Prometheus(place, [target]).start()
    prometheus.check_value("java_events_total", totals.events)
    status, message = program.tell(f"start prometheus={port}")
    equal(status, "ALREADY", message)
    equal(program.leave("return")[0], 0, "exit status")


def the_last_counts_arrive(place, jdk, end):
    """end(program) ends it; what it returns is the exit status that is wanted."""
    gateway = Pushgateway(place).start()
    program, totals = JavaProgram(place, jdk), Totals()
    program.do("start " + options(gateway, interval="1h", jitter="0"))
    program.do("late 7")
    program.do("busy 2")
    totals.record(program, "platform", 2, 50)
    wanted, late = end(program)
    equal(program.process.wait(harness.ANSWER_S), wanted, f"exit status on {jdk}")
    # the process waits two seconds for it; a busy gateway may take in later what it was sent
    wait_for("what was pushed at exit", gateway.groups)
    page = gateway.page()
    for name, value in [("java_events_total", totals.events), ("java_late_total", late)]:
        line = f'{name}{{instance="{os.uname().nodename}",job="java"}} {value}\n'
        contains(page, line, f"the page after the end on {jdk}")


def ended_by(line, wanted, late=7):
    def end(program):
        program.process.stdin.write(line + "\n")
        program.process.stdin.close()
        return wanted, late
    return end


def terminated(program):
    program.process.send_signal(signal.SIGTERM)
    return 128 + signal.SIGTERM, 7


def on_each_jdk(place, end):
    for jdk in (JDKS[0], newest()) if len(JDKS) > 1 else JDKS:
        the_last_counts_arrive(place, jdk, end)


def main_that_returns_flushes(place):
    on_each_jdk(place, ended_by("return", 0))


def main_that_throws_flushes(place):
    the_last_counts_arrive(place, newest(), ended_by("throw", 1))


def system_exit_flushes(place):
    on_each_jdk(place, ended_by("exit 3", 3))


def halt_flushes_what_there_is(place):
    on_each_jdk(place, ended_by("halt 4", 4, late=0))


def sigterm_flushes(place):
    on_each_jdk(place, terminated)


def kill_loses_what_was_not_pushed(place):
    gateway = Pushgateway(place).start()
    program, totals = JavaProgram(place, newest()), Totals()
    program.do("start " + options(gateway, interval="1h", jitter="0"))
    totals.record(program, "platform", 1, 5)
    program.kill()
    equal(gateway.groups(), [], "groups")


def atexit_off_flushes_nothing(place):
    gateway = Pushgateway(place).start()
    program = JavaProgram(place, newest())
    program.do("start " + options(gateway, interval="1h", jitter="0", atexit="off"))
    equal(program.leave("exit 0")[0], 0, "exit status")
    equal(gateway.groups(), [], "groups")


def a_gateway_that_is_gone_holds_no_exit(place):
    gateway = Pushgateway(place).start()
    program = JavaProgram(place, newest())
    program.do("start " + options(gateway, interval="1h", jitter="0"))
    gateway.hold()
    equal(program.leave("exit 5", harness.ANSWER_S / 2)[0], 5, "exit status")
    gateway.go_on()


def failures_are_heard_without_a_listener(place):
    heard = "crest: pushgateway"
    program = JavaProgram(place, newest())
    program.do("start jitter=0,interval=100ms,windows=off,pushgateway=http://127.0.0.1:1")
    wait_for("the failure", lambda: heard in program.errors.read_text(errors="replace"))
    program.leave("halt 0")
    silent = JavaProgram(place, newest())
    silent.do("start log=off,atexit=off,jitter=0,interval=1h,pushgateway=http://127.0.0.1:1")
    status, _ = silent.tell("stop 5000")
    equal(status, "UNREACHABLE", "the stop")
    equal(silent.leave("halt 0"), (0, ""), "how it ended, and what it said")


def the_jvms_own_figures_are_in_the_last_report(place):
    gateway = Pushgateway(place).start()
    program = JavaProgram(place, newest(), CREST_OPTS="jvm=on,jvm.interval=100ms")
    program.do("start " + options(gateway, interval="1h", jitter="0"))
    equal(program.leave("exit 0"), (0, ""), "how it ended, and what it said")
    wait_for("what was pushed at exit", gateway.groups)
    contains(gateway.page(), "\njvm_")


def the_operator_has_the_last_word(place):
    gateway = Pushgateway(place).start()
    program = JavaProgram(place, newest(), CREST_OPTS=f"service=mine,pushgateway={gateway.url}")
    status, message = program.tell("start service=x,intervall=1s")
    equal(status, "INVALID_OPTIONS", message)
    contains(message, "intervall")
    program.do("start service=x,interval=200ms,pushgateway=http://127.0.0.1:1")
    equal(wait_for("a push", gateway.groups)[0]["job"], "mine", "job")


def main():
    JDKS.extend(jvmlib.needs("built"))
    harness.main([
        totals_are_read_back_while_the_gateway_comes_and_goes,
        one_page_has_what_java_and_the_library_counted,
        main_that_returns_flushes,
        main_that_throws_flushes,
        system_exit_flushes,
        halt_flushes_what_there_is,
        sigterm_flushes,
        kill_loses_what_was_not_pushed,
        atexit_off_flushes_nothing,
        a_gateway_that_is_gone_holds_no_exit,
        failures_are_heard_without_a_listener,
        the_jvms_own_figures_are_in_the_last_report,
        the_operator_has_the_last_word,
        the_program_of_the_docs_runs,
    ])


if __name__ == "__main__":
    main()
