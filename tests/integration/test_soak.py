#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# crest-test: timeout=240 sanitizers=none
"""A node's life at speed: threads, series, registries, reporters, polls and probes come and go,
servers break and die, clocks step. Every count is equal, and heap, arena, resident memory,
descriptors and threads are flat: they grow by less than one object a cycle, by least squares in
long runs. In short ones tables that still fill would tilt that line, so there it is the median of
the growth from sample to sample, which a leak raises each time and a table now and then.

    test_soak.py                 12 s in all, with four runs that leak on purpose, and must be found
    test_soak.py --minutes 60    `make check-long`; 3: its short form
"""

import random
import socket
import statistics
import subprocess
import sys
import threading
import time

import harness
from harness import Failure
from peerlib import HTTP_MANNERS, Last, Peer, good

SECONDS = 6.0
LEAK_SECONDS = 3.0
COLUMNS = ("cycles", "heap", "arena", "resident", "descriptors", "threads", "records")
# The most that each may grow a cycle. A leak of one object is at least 32 bytes of heap (malloc's
# smallest), 64 of arena, 1 descriptor, 1 thread. Resident memory is in pages, so its bound is for
# long runs.
MOST = {"heap": 16, "arena": 32, "descriptors": 0.05, "threads": 0.05}
MOST_RESIDENT_KIB = 0.5
LONG_S = 120  # series come and go then, too
WARM = 0.4  # of the samples, before which caches fill
KEPT_LEAST = 6


def slope(xs, ys):
    """Of the line with the least squares."""
    mean_x, mean_y = sum(xs) / len(xs), sum(ys) / len(ys)
    square = sum((x - mean_x) ** 2 for x in xs)
    return sum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys)) / square if square else 0.0


def median_slope(xs, ys):
    """Of the steps from one sample to the next."""
    return statistics.median((after - before) / (x_after - x) for x, x_after, before, after
                             in zip(xs, xs[1:], ys, ys[1:]))


def slopes(samples, seconds):
    """Growth a cycle of each column, of the samples after the caches have filled."""
    kept = samples[int(len(samples) * WARM):]
    if len(kept) < KEPT_LEAST:
        raise Failure(f"only {len(samples)} samples")
    columns = dict(zip(COLUMNS, zip(*kept)))
    line = slope if seconds >= LONG_S else median_slope
    return {name: line(columns["cycles"], columns[name]) for name in COLUMNS[1:]}


def grown(samples, seconds):
    """The columns that grow by more than they may, with by how much."""
    found = slopes(samples, seconds)
    most = dict(MOST)
    if seconds >= LONG_S:
        most["resident"] = MOST_RESIDENT_KIB
    return {name: found[name] for name, bound in most.items() if found[name] > bound}


def disturb(peer, over):
    """Servers break, die, and come back."""
    choice = random.Random(18)
    manners = [good, good, *HTTP_MANNERS.values()]
    while not over.wait(choice.uniform(0.02, 0.4)):
        peer.manner = choice.choice(manners)


def soak(place, seconds, leak=""):
    """Its samples. A busy machine that gives too few of them is given more time."""
    samples = run(place, seconds, leak)
    while len(samples) * (1 - WARM) < KEPT_LEAST + 1 and seconds < LONG_S / 2:
        seconds *= 3
        samples = run(place, seconds, leak)
    return samples


def run(place, seconds, leak):
    """Runs the program; its samples. What it found wrong is a failure."""
    peer = Peer(place, Last(rb"(?m)^soak_events_total (\d+)$"))
    over = threading.Event()
    statsd = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    statsd.bind(("127.0.0.1", 0))
    breaker = threading.Thread(target=disturb, args=(peer, over))
    if not leak:
        breaker.start()
    try:
        done = subprocess.run(
            [harness.BUILD / "tests/programs/soak_program", str(seconds), place.folder,
             f"http://127.0.0.1:{peer.port}", f"udp://127.0.0.1:{statsd.getsockname()[1]}",
             *([leak] if leak else [])], capture_output=True, text=True, check=False,
            timeout=seconds + 120, stdin=subprocess.DEVNULL)
    finally:
        over.set()
        if not leak:
            breaker.join()
        statsd.close()
    *lines, last = done.stdout.splitlines() or ["nothing"]
    if last != "OK" or done.returncode != 0:
        raise Failure(f"status {done.returncode}: {last}; {done.stderr[-2000:]}")
    return [tuple(map(int, line.split())) for line in lines]


def what_is_measured_is_flat(place, seconds=SECONDS):
    began = time.monotonic()
    samples = soak(place, seconds)
    found = slopes(samples, seconds)
    print(f"     {samples[-1][0]} cycles, {samples[-1][-1]} records of each kind in "
          f"{time.monotonic() - began:.0f} s; a cycle: "
          + ", ".join(f"{name} {found[name]:+.4f}" for name in COLUMNS[1:-1]), flush=True)
    bad = grown(samples, seconds)
    if bad:
        raise Failure(f"it grows: {bad}; {samples[0]} to {samples[-1]}")


def leaking(name, column):
    def test(place):
        bad = grown(soak(place, LEAK_SECONDS, name), LEAK_SECONDS)
        if column not in bad:
            raise Failure(f"a leak of one {name} a cycle was not found: {bad}")
    test.__name__ = f"a_leak_of_one_{name}_a_cycle_is_found"
    return test


if __name__ == "__main__":
    if "--minutes" in sys.argv:
        minutes = float(sys.argv[sys.argv.index("--minutes") + 1])
        del sys.argv[1:]

        def for_long(place):
            what_is_measured_is_flat(place, minutes * 60)
        harness.main([for_long], servers=())
    harness.main([what_is_measured_is_flat, leaking("heap", "heap"), leaking("arena", "arena"),
                  leaking("descriptor", "descriptors"), leaking("thread", "threads")], servers=())
