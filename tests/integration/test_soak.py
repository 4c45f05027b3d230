#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# crest-test: timeout=1200 sanitizers=none waits slow
"""A node's life: a plugin, threads, series, registries, reporters, polls and probes come and go,
servers break and die, clocks step, and another node is killed again and again. Every count is
equal, the last push has them all, and heap, arena, resident memory, descriptors and threads are
flat: they grow by less than one object a cycle (in three minutes, by less than one block of counts
in ten). The slope is Theil and Sen's, the median of those
between all pairs of samples: a leak tilts each of them, a table that grows now and then few.

    test_soak.py                 3 minutes that mostly rest, with four short runs that leak on
                                 purpose, and must be found
    test_soak.py --minutes 60    `make check-long`: without rest, and 1,000 kills and more
"""

import os
import random
import re
import socket
import statistics
import subprocess
import sys
import threading
import time

import harness
from harness import Failure, equal
from peerlib import HTTP_MANNERS, Last, Peer, good

SECONDS = 180
PACE_MS = 40  # it rests, so that it takes a sixth of a processor
LEAK_SECONDS = 3.0
LEAK_SAMPLES = 8
COLUMNS = ("cycles", "heap", "arena", "resident", "descriptors", "threads", "records")
# The most that each may grow a cycle. A leak of one object is at least 32 bytes of heap (malloc's
# smallest), 64 of arena, 1 descriptor, 1 thread. Resident memory is in pages.
MOST = {"heap": 24, "arena": 56, "resident": 0.5, "descriptors": 0.05, "threads": 0.05}
# In three minutes blocks of counts (7 KiB) still come where random values had not been: 250 to 340
# bytes of arena a cycle on a machine that does 14 cycles a second, and ever fewer.
WARMING = {**MOST, "arena": 640, "resident": 1.0}
WARM = 0.6  # of the samples, before which caches fill
KEPT_LEAST = 4
KEPT_MOST = 400  # of which the slope is made
KILLS_LEAST = 1000  # of a long run; one takes about 25 ms
KILLS_PAUSE_S = 2


def slope(xs, ys):
    """Theil and Sen's."""
    return statistics.median((y - y_before) / (x - x_before)
                             for at, (x, y) in enumerate(zip(xs, ys))
                             for x_before, y_before in zip(xs[:at], ys[:at]))


def slopes(samples):
    """Growth a cycle of each column, of the samples after the caches have filled."""
    kept = samples[int(len(samples) * WARM):]
    kept = kept[::len(kept) // KEPT_MOST + 1]
    if len(kept) < KEPT_LEAST:
        raise Failure(f"only {len(samples)} samples")
    columns = dict(zip(COLUMNS, zip(*kept)))
    return {name: slope(columns["cycles"], columns[name]) for name in COLUMNS[1:]}


def grown(samples, most):
    """The columns that grow by more than they may, with by how much."""
    found = slopes(samples)
    return {name: found[name] for name, bound in most.items() if found[name] > bound}


def plugin(place):
    """Its path. It has the library of the program that loads it."""
    path = place.folder / "plugin.so"
    subprocess.run(
        [*os.environ.get("CC", "gcc").split(), "-std=gnu11", "-O2", f"-I{harness.ROOT}/include",
         "-DWITHOUT_HOST", "-DFOR_LONG", "-shared", "-fPIC", "-o", path,
         harness.ROOT / "tests/checks/plugin/plugin_module.c"], check=True)
    return path


def disturb(peer, over, seconds):
    """Servers break, die, and come back; at last they are good."""
    choice = random.Random(18)
    manners = [good, good, *HTTP_MANNERS.values()]
    until = time.monotonic() + seconds
    while not over.wait(choice.uniform(0.02, 0.4)) and time.monotonic() < until:
        peer.manner = choice.choice(manners)
    peer.manner = good


def run(place, seconds, pace_ms=0, leak=""):
    """Runs the program; its samples. What it found wrong is a failure."""
    peer = Peer(place, Last(rb"(?m)^soak_events_total (\d+)$"))
    over = threading.Event()
    statsd = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    statsd.bind(("127.0.0.1", 0))
    breaker = threading.Thread(target=disturb, args=(peer, over, 0 if leak else seconds))
    breaker.start()
    try:
        done = subprocess.run(
            [harness.BUILD / "tests/programs/soak_program", str(seconds), str(pace_ms),
             place.folder, f"http://127.0.0.1:{peer.port}",
             f"udp://127.0.0.1:{statsd.getsockname()[1]}", plugin(place),
             *([leak] if leak else [])], capture_output=True, text=True, check=False,
            timeout=4 * seconds + 300, stdin=subprocess.DEVNULL)
    finally:
        over.set()
        breaker.join()
        statsd.close()
    *lines, last = done.stdout.splitlines() or ["nothing"]
    if last != "OK" or done.returncode != 0:
        raise Failure(f"status {done.returncode}: {last}; {done.stderr[-2000:]}")
    *samples, end = [tuple(map(int, line.split())) for line in lines]
    equal(peer.known.value, end[-1], "what the last push said")
    return samples


def what_is_measured_is_flat(place, seconds=SECONDS, pace_ms=PACE_MS, most=None):
    began = time.monotonic()
    samples = run(place, seconds, pace_ms)
    found = slopes(samples)
    print(f"     {samples[-1][0]} cycles, {samples[-1][-1]} records of each kind in "
          f"{time.monotonic() - began:.0f} s; a cycle: "
          + ", ".join(f"{name} {found[name]:+.4f}" for name in COLUMNS[1:-1]), flush=True)
    bad = grown(samples, most or WARMING)
    if bad:
        raise Failure(f"it grows: {bad}; {samples[0]} to {samples[-1]}")


def leaking(name, column):
    def test(place):
        seconds, samples = LEAK_SECONDS, []
        while len(samples) < LEAK_SAMPLES:  # a busy machine is given more time
            samples = run(place, seconds, leak=name)
            seconds *= 3
        bad = grown(samples, MOST)
        if column not in bad:
            raise Failure(f"a leak of one {name} a cycle was not found: {bad}")
    test.__name__ = f"a_leak_of_one_{name}_a_cycle_is_found"
    return test


def kills_lose_nothing(seconds):
    """Runs of test_state_kills until the time is over and there were enough."""
    done, until, said = 0, time.monotonic() + seconds, ""
    while done < KILLS_LEAST or time.monotonic() < until:
        ended = subprocess.run([harness.BUILD / "tests/unit/adopt/test_state_kills", "100"],
                               capture_output=True, text=True, check=False,
                               stdin=subprocess.DEVNULL)
        if ended.returncode == harness.EXIT_SKIPPED:
            raise harness.Skip(ended.stdout.strip())
        if ended.returncode != 0:
            raise Failure(f"after {done} kills: {ended.stdout}{ended.stderr}")
        done += 100
        said = re.search(r"\d+ kills.*", ended.stdout)[0]
        time.sleep(KILLS_PAUSE_S)
    print(f"     {done} kills; the last: {said}", flush=True)


if __name__ == "__main__":
    if "--minutes" in sys.argv:
        minutes = float(sys.argv[sys.argv.index("--minutes") + 1])
        del sys.argv[1:]

        def for_long(place):
            what_is_measured_is_flat(place, minutes * 60, 0, MOST)

        def nodes_are_killed(_place):
            kills_lose_nothing(minutes * 60)
        harness.main([for_long, nodes_are_killed], servers=())
    harness.main([what_is_measured_is_flat, leaking("heap", "heap"), leaking("arena", "arena"),
                  leaking("descriptor", "descriptors"), leaking("thread", "threads")], servers=())
