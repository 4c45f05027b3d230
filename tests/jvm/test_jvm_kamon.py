#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# crest-test: servers=demo timeout=400
"""A real Kamon application, which knows nothing of Crest, gains reporters by a jar on its class
path and one line of configuration. It writes down what it records (KamonApplication.java in the
test tree); a real Pushgateway and a real Prometheus must have the same to the last unit, each
bucket included.
"""

import collections
import json
import os
import re
import subprocess
import sys

import jvmlib

sys.path.insert(0, str(jvmlib.ROOT / "tests/integration"))

import harness  # noqa: E402
from harness import Failure, Prometheus, Pushgateway, contains, equal  # noqa: E402

RUN_S = 300
HIGHEST = 3_600_000_000_000
EXPORTED = {
    "counter app.events": "app_events_total", "counter app.requests": "app_requests_total",
    "counter app.sent": "app_sent_bytes_total", "counter app.last": "app_last_total",
    "counter 9 app/lives": "metric_9_app_lives_total", "gauge app.heat": "app_heat",
    "gauge app.memory": "app_memory_bytes", "histogram app.size": "app_size",
    "timer app.time": "app_time_seconds", "samples app.queue": "app_queue",
}
SAME = {"counter app.same", "counter app-same"}
SAME_EXPORTED = {"app_same_total", "app_same_kamon_total"}


def run(place, jdk, options, *java_options):
    """Runs the application to its end; what it has recorded, and what it has told its log."""
    folder = place.folder / f"application-{jdk.feature}-{len(java_options)}"
    folder.mkdir()
    (folder / "application.conf").write_text(
        f"kamon.metric.tick-interval = 4 seconds\nkamon.crest.options = {json.dumps(options)}\n"
        "kamon.crest.stop-timeout = 60 seconds\nkamon.crest.range-samplers = histogram\n")
    jars = [jvmlib.jar(), jvmlib.TEST_CLASSES, *jvmlib.test_libraries()]
    command = [jdk.java, *jdk.options(), "-XX:TieredStopAtLevel=1", *java_options, "-cp",
               ":".join(str(entry) for entry in (folder, *jars)),
               "io.crest.kamon.KamonApplication", folder / "truth"]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          encoding="utf-8", timeout=RUN_S, check=False,
                          env={**os.environ, "CREST_OPTS": ""})
    if done.returncode != 0:
        raise Failure(f"{jdk}: status {done.returncode}\n{done.stdout}{done.stderr}")
    truth = (folder / "truth").read_text(encoding="utf-8")
    return [parse_truth(line) for line in truth.splitlines()], done.stderr


def parse_truth(line):
    """(metric with its kind, labels, total or {value: times})"""
    series, _, what = line.rpartition(" =")
    at = series.index(" {")
    values = what.split()
    if len(values) == 1 and ":" not in values[0]:
        return series[:at], json.loads(series[at:]), float(values[0])
    pairs = (value.split(":") for value in values)
    return series[:at], json.loads(series[at:]), {int(v): int(n) for v, n in pairs}


def unescaped(text):
    return re.sub(r"\\(.)", lambda found: {"n": "\n"}.get(found[1], found[1]), text)


def samples(page):
    """{(name, labels): value}, a label without a value being none, and without the group's."""
    found = {}
    for line in page.splitlines():
        match = re.fullmatch(r'([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)', line)
        if not match or line.startswith("#"):
            continue
        labels = {key: unescaped(value) for key, value in
                  re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', match[2] or "")}
        key = frozenset((k, v) for k, v in labels.items()
                        if v and k not in ("job", "instance"))
        if (match[1], key) in found:
            raise Failure(f"twice on the page: {line}")
        found[match[1], key] = float(match[3])
    return found


def begin(value):
    """Where Kamon's bucket of this value begins, which is all that it tells of it: 128 buckets a
    power of two."""
    value = min(value, HIGHEST)
    shift = max(0, value.bit_length() - 8)
    return value >> shift << shift


def check_distribution(page, name, labels, values):
    """Each cumulative count, and the sum, of the values as Kamon reports them."""
    reported = collections.Counter()
    for value, times in values.items():
        reported[begin(value)] += times
    scale = 1_000_000_000 if name.endswith("_seconds") else 1
    own = frozenset(labels.items())
    bounds = {dict(key)["le"]: count for (sample, key), count in page.items()
              if sample == name + "_bucket"
              and frozenset(pair for pair in key if pair[0] != "le") == own}
    if len(bounds) < 10:
        raise Failure(f"{name} {labels}: only the buckets {bounds}")
    for bound, count in bounds.items():
        wanted = sum(times for value, times in reported.items()
                     if value <= float(bound) * scale)
        equal(count, wanted, f"{name}{labels} up to {bound}")
    equal(page[name + "_count", own], sum(values.values()), f"{name}_count{labels}")
    total = sum(value * times for value, times in reported.items())
    equal(page[name + "_sum", own], float(total) if scale == 1 else total / scale,
          f"{name}_sum{labels}")


def check(page, truth):
    """All that the application has recorded is on the page."""
    same = sorted(total for metric, _, total in truth if metric in SAME)
    equal(sorted(page[name, frozenset()] for name in SAME_EXPORTED), same, "app.same and app-same")
    for metric, labels, what in truth:
        if metric in SAME:
            continue
        name = EXPORTED[metric]
        if isinstance(what, dict):
            check_distribution(page, name, labels, what)
        else:
            equal(page.get((name, frozenset(labels.items()))), what, f"{metric} {labels}")
    series = sum(metric.startswith(("counter app.", "counter app-")) for metric, _, _ in truth)
    found = [key for key in page if key[0].startswith("app_") and key[0].endswith("_total")]
    equal(len(found), series, f"series of counters: {found}")


def arrives(place, jdk):
    gateway = Pushgateway(place).start()
    prometheus = Prometheus(place, [gateway]).start()
    truth, log = run(place, jdk, f"pushgateway={gateway.url},interval=1s,service=shop")
    check(samples(gateway.page()), truth)
    contains(log, "Kamon's metric 9 app/lives is metric.9_app_lives in Crest")
    equal(log.count("ERROR"), 0, "errors in the log")
    groups = gateway.groups()
    equal(len(groups), 1, "groups")
    equal(groups[0]["job"], "shop")
    if not groups[0]["instance"].startswith("kamon-application@"):
        raise Failure(f"the instance is not Kamon's: {groups}")
    # what it has not got is no label for Prometheus
    prometheus.check_value('app_requests_total{http_method="GET",error=""}', 18)
    prometheus.check_value("sum(app_requests_total)", 31)
    prometheus.check_value('sum(crest_misuse_total{cause!="name-clash"})', 0)


def everything_arrives_from_the_oldest_jdk(place):
    arrives(place, JDKS[0])


def everything_arrives_from_the_newest_jdk(place):
    if len(JDKS) == 1:
        raise harness.Skip("one JDK is tried; make check JDKS=all tries all that are here")
    arrives(place, JDKS[-1])


def a_gateway_that_is_dead_is_in_the_log(place):
    _, log = run(place, JDKS[-1], "pushgateway=http://127.0.0.1:1,interval=1s")
    contains(log, "WARN io.crest.kamon.CrestReporter - crest: ")
    contains(log, "127.0.0.1:1")


def without_the_library_it_runs_all_the_same(place):
    gateway = Pushgateway(place).start()
    _, log = run(place, JDKS[0], f"pushgateway={gateway.url}", "-Dcrest.native=off")
    equal(gateway.groups(), [], "groups")
    contains(log, "Crest records nothing. It is switched off by -Dcrest.native=off.")
    equal(log.count("ERROR"), 1, "errors in the log")


def options_that_are_none_do_no_harm(place):
    _, log = run(place, JDKS[0], "pushgateway")
    contains(log, "Crest reports nothing: ")
    equal(log.count("ERROR"), 1, "errors in the log")


if __name__ == "__main__":
    JDKS = jvmlib.needs("built")
    harness.main([everything_arrives_from_the_oldest_jdk, everything_arrives_from_the_newest_jdk,
                  a_gateway_that_is_dead_is_in_the_log, without_the_library_it_runs_all_the_same,
                  options_that_are_none_do_no_harm])
