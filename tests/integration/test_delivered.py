#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# crest-test: timeout=300 sanitizers=address
"""A node with a state file is killed with SIGKILL at random moments and starts again, many times
over: the differences that its receiver gets add up to what it counted, to the unit, and those of a
histogram to its records and, with OTLP, their sum. Twice may come the last report before a kill,
whose arrival the node did not live to write down, of a histogram a part of it, and nothing else.
"""

import collections
import os
import pathlib
import random
import re
import shutil
import socket
import tempfile
import time

import harness
from harness import Failure, Program, Skip, equal, wait_for
from peerlib import Peer, good

INTERVAL_MS = 100
KILLS = 12
RECORDS_MAX = 50
# The last before a kill, the first after it, and one that a busy machine lets pass in between.
NEWEST = 3
SHARED_MEMORY = pathlib.Path("/dev/shm")

FIRST_VALUE = 100  # peer_program's; each further record of a command is one more

LINES = re.compile(rb"(?m)^peer\.events:(\d+)\|c")
VALUES = re.compile(rb"(?m)^peer\.size:\d+\|ms(?:\|@([\d.e-]+))?")
POINTS = re.compile(rb'"name":"peer\.events".*?"asInt":"(\d+)"')
RECORDS = re.compile(rb'"name":"peer\.size"[^]]*?"count":"(\d+)","sum":(\d+)')


def statsd_figures(body):
    """Events and records; a line of the rate 1/n stands for n of them, whose sum is only near."""
    return (sum(map(int, LINES.findall(body))),
            sum(round(1 / float(rate or 1)) for rate in VALUES.findall(body)))


def otlp_figures(body):
    records = [tuple(map(int, pair)) for pair in RECORDS.findall(body)]
    return (sum(map(int, POINTS.findall(body))), sum(count for count, _ in records),
            sum(values for _, values in records))


class Differences:
    """Sums of what a receiver was told, which also knows the newest differences."""

    def __init__(self, figures):
        self.figures = figures
        self.value = tuple(0 for _ in figures(b""))
        self.newest = [collections.deque(maxlen=NEWEST) for _ in self.value]

    def take(self, body):
        told = self.figures(body)
        self.value = tuple(map(sum, zip(self.value, told)))
        for newest, more in zip(self.newest, told):
            if more != 0:
                newest.append(more)

    def has(self, totals):
        return all(value >= total for value, total in zip(self.value, totals))


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


def excess_of(known, totals):
    """What came twice, of events, records and their sum; a failure if it is not of the newest
    reports."""
    excess = tuple(value - total for value, total in zip(known.value, totals))
    events, *of_records = excess
    # a report has one line of events, and as many records: over TCP they may come in many pieces
    most = [max(map(sum, known.newest[:2])), *map(sum, known.newest[2:])]
    if events not in (0, *known.newest[0]) or any(
            not 0 <= more <= bound for more, bound in zip(of_records, most)):
        raise Failure(f"{excess} too many; the last: {list(map(list, known.newest))}")
    return excess


def record(program, chance):
    """Events, records and their sum."""
    count = chance.randrange(RECORDS_MAX)
    program.do(f"record {count}")
    return count, count, count * FIRST_VALUE + count * (count - 1) // 2


def plus(*all_figures):
    return tuple(map(sum, zip(*all_figures)))


def goes_on_over_kills(place, options, peer, whole):
    """whole: the manner of a receiver that takes everything."""
    if not os.access(SHARED_MEMORY, os.W_OK):
        raise Skip("no /dev/shm")
    folder = pathlib.Path(tempfile.mkdtemp(prefix="crest-delivered-", dir=SHARED_MEMORY))
    seed = random.randrange(1 << 32)
    chance = random.Random(seed)
    known = peer.known
    total = twice = known.value
    peer.manner = whole
    print(f"seed {seed}")
    try:
        for turn in range(KILLS):
            program = start(place, folder, options)
            until = time.monotonic() + chance.random() * 3 * INTERVAL_MS / 1000
            while time.monotonic() < until or turn == 0 and succeeded(program) == 0:
                total = plus(total, record(program, chance))
            program.kill()
            program = start(place, folder, options)
            reported(program)
            program.kill()
            wait_for("the rest to be read", lambda: known.has(plus(total, twice)))
            twice = plus(twice, excess_of(known, plus(total, twice)))
    finally:
        shutil.rmtree(folder)
    if total[0] == 0:
        raise Failure("nothing was counted")
    print(f"{KILLS * 2} kills; events, records and their sum: {total}; twice came {twice}")
    equal(known.value, plus(total, twice))


def statsd_tcp(place):
    peer = Peer(place, Differences(statsd_figures))
    goes_on_over_kills(place, f"statsd=tcp://127.0.0.1:{peer.port}", peer, lines)


def statsd_unix(place):
    peer = Peer(place, Differences(statsd_figures), socket.AF_UNIX, socket.SOCK_DGRAM)
    goes_on_over_kills(place, f"statsd=unix://{peer.path}", peer, good)


def otlp(place):
    peer = Peer(place, Differences(otlp_figures))
    goes_on_over_kills(place, f"otlp=http://127.0.0.1:{peer.port},otlp.encoding=json,"
                       "otlp.temporality=delta", peer, good)


if __name__ == "__main__":
    harness.main([statsd_tcp, statsd_unix, otlp], servers=())
