#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# crest-test: timeout=900
"""Profiles a JVM over HTTP: Flight Recorder's samples are in the profile, under their methods'
names, with the operation that the thread was in; what the library's own signal found of that code
is counted, and not there twice. In a JVM without Flight Recorder the log says so, once.
"""

import collections
import os
import re
import subprocess
import sys
import urllib.request

import jvmlib

sys.path.insert(0, str(jvmlib.ROOT / "tests/integration"))

import harness  # noqa: E402
from harness import Failure, contains, equal, lacks, wait_for  # noqa: E402

STREAMS_SINCE = 14
PATIENCE_S = 300
PERIOD_NS = 10_000_000
OPTIONS = "profile=on,profile.listen=127.0.0.1:0,service=profiled"
HOT, COLD = "io.crest.ProfileMain.replayHistory", "io.crest.ProfileMain.gossip"
TIMER = "[jfr.block-time]"


class Node:
    """ProfileMain, until it is told to end."""

    def __init__(self, place, jdk, options=()):
        self.file = place.folder / f"java-{jdk.feature}-{len(options)}.out"
        command = [jdk.java, *jdk.options(), *options, "-cp",
                   f"{jvmlib.jar()}:{jvmlib.TEST_CLASSES}", "io.crest.ProfileMain", OPTIONS]
        with self.file.open("wb") as said:
            # pylint: disable=consider-using-with # ended by leave()
            self.process = subprocess.Popen([str(part) for part in command], stdin=subprocess.PIPE,
                                            stdout=said, stderr=subprocess.STDOUT,
                                            env={**os.environ, "CREST_OPTS": ""})

    def said(self):
        return self.file.read_text(encoding="utf-8", errors="replace")

    def address(self):
        """Where it serves its profiles."""
        found = []

        def look():
            if self.process.poll() is not None:
                raise Failure(f"the JVM has ended: {self.said()[-4000:]}")
            found[:] = re.findall(r"http://127\.0\.0\.1:\d+", self.said())
            return bool(found)

        wait_for("the address of the profiles", look, seconds=PATIENCE_S)
        return found[0]

    def folded(self, seconds):
        url = f"{self.address()}/debug/pprof/profile?seconds={seconds}&debug=1"
        with urllib.request.urlopen(url, timeout=PATIENCE_S) as answer:
            return answer.read().decode()

    def leave(self):
        """What it printed, its page at the end."""
        try:
            self.process.stdin.write(b"\n")
            self.process.stdin.close()
            equal(self.process.wait(PATIENCE_S), 0, "status of the JVM")
        finally:
            self.process.kill()
            self.process.wait()
        return self.said()


def own_times(folded):
    """Nanoseconds by (operation, innermost function)."""
    times = collections.Counter()
    for line in folded.splitlines():
        stack, _, value = line.rpartition(" ")
        frames = stack.split(";")
        timer = next((frame for frame in frames if frame.startswith("[jfr.")), "")
        times[timer, frames[-1]] += int(value)
    return times


def java_is_in_the_profile(place):
    for jdk in JDKS:
        if jdk.feature < STREAMS_SINCE:
            continue
        node = Node(place, jdk)
        try:
            seen = own_times("")

            def look(node=node, seen=seen):
                """They come a second after they were taken, and the first ones later than that."""
                text = node.folded(3)
                seen.update(own_times(text))
                if seen[TIMER, HOT] < 100 * PERIOD_NS:
                    return False
                contains(text, "io.crest.ProfileMain.main;")
                contains(text, "io.crest.ProfileMain.validateBlock;" + HOT)
                return True

            wait_for("a hundred samples of Java", look, seconds=PATIENCE_S)
        finally:
            said = node.leave()
        the_block_is_hottest(seen)
        elsewhere = re.search(r'^crest_profile_samples_total\{result="elsewhere"\} (\S+)$', said,
                              re.M)
        equal(elsewhere is not None and float(elsewhere.group(1)) > 0, True,
              "samples that were left to Flight Recorder")
        lacks(said, "no Java code", "log")


def the_block_is_hottest(seen):
    """Its row is the first of all; nine parts in ten are within it, and what is outside it is
    outside it. A sample may be at the border of two, and the clock's own code is either's."""
    (timer, name), most = seen.most_common(1)[0]
    equal((timer, name), (TIMER, HOT), f"the hottest row of {seen.most_common(5)}")
    outside = seen["", HOT]
    if outside * 10 > most:
        raise Failure(f"{outside} ns of {HOT} are outside of its operation, {most} within")
    if seen[TIMER, COLD] * 20 > most:
        raise Failure(f"{seen[TIMER, COLD]} ns of {COLD} are in the operation")


def without_flight_recorder(place):
    jdk = JDKS[-1]
    node = Node(place, jdk, ("--limit-modules=java.base,jdk.unsupported",))
    node.address()
    said = node.leave()
    equal(said.count("crest: profiles have no Java code in them"), 1, said[:2000])
    contains(said, "jdk.jfr")


if __name__ == "__main__":
    JDKS = jvmlib.needs("built")
    harness.main([java_is_in_the_profile, without_flight_recorder], servers=())
