#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# crest-test: timeout=300 sanitizers=address
"""A node with a state file is killed with SIGKILL at random moments and starts again, many times
over: the differences that its receiver gets add up to what it counted, to the unit. Twice may come
the last report before a kill, whose arrival the node did not live to write down, and nothing else.
"""

import collections
import os
import pathlib
import random
import shutil
import socket
import tempfile
import time

import harness
from harness import Failure, Program, Skip, equal, wait_for
from peerlib import Peer, Sum, good

INTERVAL_MS = 100
KILLS = 12
RECORDS_MAX = 50
# The last before a kill, the first after it, and one that a busy machine lets pass in between.
NEWEST = 3
SHARED_MEMORY = pathlib.Path("/dev/shm")

LINES = rb"(?m)^peer\.events:(\d+)\|c"
POINTS = rb'"name":"peer\.events".*?"asInt":"(\d+)"'


class Differences(Sum):
    """A sum that also knows the newest differences."""

    def __init__(self, pattern):
        super().__init__(pattern)
        self.value, self.newest = 0, collections.deque(maxlen=NEWEST)

    def take(self, body):
        before = self.value
        super().take(body)
        if self.value != before:
            self.newest.append(self.value - before)


def lines(call):
    text = b""
    while True:
        text += call.read()
        whole, _, text = text.rpartition(b"\n")
        call.peer.known.take(whole + b"\n")


def succeeded(program):
    """How many reports have succeeded."""
    reports, failures = map(int, program.do("state").split(" ")[:2])
    return reports - failures


def start(place, folder, options):
    program = Program(place, "peer_program", f"service=peer,atexit=off,jitter=0,state={folder},"
                      f"interval={INTERVAL_MS}ms,{options}")
    harness.contains(program.begun, "OK")
    return program


def reported(program):
    """Waits for a report that began after now."""
    done = succeeded(program)
    wait_for("two reports", lambda: succeeded(program) >= done + 2)


def goes_on_over_kills(place, options, peer, whole):
    """whole: the manner of a receiver that takes everything."""
    if not os.access(SHARED_MEMORY, os.W_OK):
        raise Skip("no /dev/shm")
    folder = pathlib.Path(tempfile.mkdtemp(prefix="crest-delivered-", dir=SHARED_MEMORY))
    seed = random.randrange(1 << 32)
    chance = random.Random(seed)
    known, total, twice = peer.known, 0, 0
    peer.manner = whole
    try:
        for turn in range(KILLS):
            program = start(place, folder, options)
            until = time.monotonic() + chance.random() * 3 * INTERVAL_MS / 1000
            while time.monotonic() < until or turn == 0 and succeeded(program) == 0:
                count = chance.randrange(RECORDS_MAX)
                program.do(f"record {count}")
                total += count
            program.kill()
            program = start(place, folder, options)
            reported(program)
            program.kill()
            wait_for("the rest to be read", lambda: known.value >= total + twice)
            excess = known.value - total - twice
            if excess not in (0, *known.newest):
                raise Failure(f"seed {seed}, kill {turn}: {excess} too many, with {twice} before; "
                              f"the last differences: {[*known.newest]}")
            twice += excess
    finally:
        shutil.rmtree(folder)
    if total == 0:
        raise Failure("nothing was counted")
    print(f"{KILLS * 2} kills, {total} events, {twice} came twice")
    equal(known.value, total + twice)


def statsd_tcp(place):
    peer = Peer(place, Differences(LINES))
    goes_on_over_kills(place, f"statsd=tcp://127.0.0.1:{peer.port}", peer, lines)


def statsd_unix(place):
    peer = Peer(place, Differences(LINES), socket.AF_UNIX, socket.SOCK_DGRAM)
    goes_on_over_kills(place, f"statsd=unix://{peer.path}", peer, good)


def otlp(place):
    peer = Peer(place, Differences(POINTS))
    goes_on_over_kills(place, f"otlp=http://127.0.0.1:{peer.port},otlp.encoding=json,"
                       "otlp.temporality=delta", peer, good)


if __name__ == "__main__":
    harness.main([statsd_tcp, statsd_unix, otlp], servers=())
