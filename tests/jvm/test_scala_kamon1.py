#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# crest-test: timeout=900 slow
"""An application of Kamon 1.x on Scala 2.12 gains Crest's reporters by a jar and a line of its
configuration; and hears of a gateway that is dead.
"""

import os
import re
import subprocess
import sys

import jvmlib

sys.path.insert(0, str(jvmlib.ROOT / "tests/integration"))
sys.path.insert(0, str(jvmlib.ROOT / "jvm-shim/crest-scala"))

import harness  # noqa: E402
import scala_jars  # noqa: E402
from harness import contains, equal, wait_for  # noqa: E402
from test_scala_spans import fetched  # noqa: E402

LINES = """\
app_events_total 3
app_requests_total{http_method="GET"} 4
app_sent_bytes_total 2048
app_level 7
app_time_seconds_bucket{le="0.005"} 1
app_time_seconds_bucket{le="0.075"} 3
app_time_seconds_bucket{le="+Inf"} 4
app_queue 5
metric_9_lives_total 9
app_events_kamon 1
""".splitlines()


def everything_arrives_from_kamon_1(place):
    paths = fetched()
    jdk = jvmlib.jdks()[0]
    libraries = [jvmlib.jar(), *paths["kamon1"].split(":"), *paths["slf4j"].split(":"),
                 *scala_jars.library(paths["compiler-2.12"])]
    sources = [*scala_jars.sources(scala_jars.OF_KAMON1),
               jvmlib.ROOT / "tests/jvm/scala_kamon1/Kamon1Checks.scala"]
    classes = scala_jars.compiled(jdk.java, paths, "2.12", sources, libraries,
                                  place.folder / "classes")
    page = place.folder / "page.prom"
    (place.folder / "application.conf").write_text(
        'kamon.reporters = ["io.crest.kamon.Kamon1Reporter"]\n'
        "kamon.metric.tick-interval = 1 second\n"
        f'kamon.crest.options = "interval=300ms,jitter=0,textfile={page},'
        'pushgateway=http://127.0.0.1:1"\n')
    command = [jdk.java, *jdk.options(), "-XX:TieredStopAtLevel=1", "-cp",
               ":".join(map(str, (place.folder, classes, *libraries))), "checks.Kamon1Checks"]
    with (place.folder / "log").open("w+", encoding="utf-8") as log, subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=log, stderr=log,
            env={**os.environ, "CREST_OPTS": ""}) as program:
        try:
            for wanted, told in ((LINES, b"1"), (["app_events_total 5"], b"2")):
                wait_for(f"{wanted[0]} and what follows", lambda: holds(page, wanted),
                         jvmlib.TIMEOUT_S / 10)
                program.stdin.write(told)
                program.stdin.flush()
            equal(program.wait(jvmlib.TIMEOUT_S), 0, "exit status")
        finally:
            if program.poll() is None:
                print(page.read_text(encoding="utf-8") if page.exists() else "no page")
                program.kill()
            log.seek(0)
            said = log.read()
    contains(said, "WARN io.crest.kamon.Kamon1Reporter - crest: pushgateway: PUT http://127.0.0.1")
    equal(re.findall(r"ERROR.*not forwarded.*", said), [], "metrics that are not forwarded")
    contains(page.read_text(encoding="utf-8"), 'service="kamon-application"')


def holds(page, wanted):
    lines = page.read_text(encoding="utf-8").splitlines() if page.exists() else []
    return set(wanted) <= set(lines)


if __name__ == "__main__":
    JDKS = jvmlib.needs("built")
    harness.main([everything_arrives_from_kamon_1], servers=())
