#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# crest-test: timeout=300 alone
"""Probes over a way whose delay is known: what crest reports is what the kernel says, what `ss`
says, and what the way takes.

The way is a tun device that sends each packet back after 20 ms (delayed_link.py), so that the
kernel's own TCP runs over it; without the rights for that, the tests are skipped.
"""

import re
import socket
import subprocess
import sys
import threading
import time

import harness
from delayed_link import DelayedLink, HERE, THERE, Unavailable
from harness import Failure, Program, equal, wait_for

DELAY_S = 0.02
# What this machine may add to a round trip, packets being carried by a Python thread: to the best
# of them, and to their mean.
LATE_S = 0.1
LATE_MEAN_S = 1
LINK = None
# The tests share the link, which one of them breaks.
ONE_AT_A_TIME = threading.Lock()


def alone(test):
    def locked(place):
        with ONE_AT_A_TIME:
            test(place)
    locked.__name__ = test.__name__
    return locked


def echo_server():
    """Listens on this end of the link and echoes on each connection; the port."""
    listener = socket.create_server((HERE, 0), backlog=100)

    def echo(peer):
        while True:
            try:
                data = peer.recv(65536)
                if not data:
                    break
                peer.sendall(data)
            except OSError:
                break
        peer.close()

    def accept():
        while True:
            peer, _ = listener.accept()
            peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=echo, args=(peer,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    return listener.getsockname()[1]


def state(program, which):
    names = ("tries", "answers", "errors", "timeouts", "rtt_ns")
    return dict(zip(names, map(int, program.do(f"state {which}").split())))


def figures(program, name, outcome=""):
    values = program.do(f"figures {name} {outcome}").split()
    return dict(zip(("count", "least", "sum", "most", "gauge"), map(float, values)))


def between(found, least, most, what):
    if not least <= found <= most:
        raise Failure(f"{what}: {found}, not between {least} and {most}")


def probed(place):
    """A program that has probed in all ways for a while, and now says nothing any more."""
    program = Program(place, "probe_program", THERE, str(echo_server()))
    program.do("watch 50")
    program.do("dial 100 5000")
    program.do("ping 40 5000")
    for which, answers in (("ping", 20), ("dial", 8), ("watch", 10)):
        wait_for(f"{answers} answers of {which}",
                 lambda w=which, n=answers: state(program, w)["answers"] >= n)
    program.do("stop ping")
    seen = state(program, "watch")["tries"]
    time.sleep(0.3)  # what is under way arrives
    wait_for("two readings", lambda: state(program, "watch")["tries"] >= seen + 8)
    return program


@alone
def round_trips(place):
    """Each way of probing finds the delay of the way, and no less."""
    program = probed(place)
    round_trip_ns = 2 * DELAY_S * 1e9
    for name, outcome in (("probe.ping-time", "ok"), ("probe.connect-time", "ok"),
                          ("probe.socket.rtt", "")):
        found = figures(program, name, outcome)
        between(found["least"], round_trip_ns, round_trip_ns + LATE_S * 1e9, f"least {name}")
        between(found["sum"] / found["count"], round_trip_ns,
                round_trip_ns + LATE_MEAN_S * 1e9, f"mean {name}")
        print(f"     {name}: least {found['least'] / 1e6:.2f} ms, "
              f"mean {found['sum'] / found['count'] / 1e6:.2f} ms of {int(found['count'])}")
    least = figures(program, "probe.socket.rtt-least")["gauge"]
    between(least, round_trip_ns, round_trip_ns + LATE_S * 1e9, "the kernel's least")
    equal(figures(program, "probe.connect-time", "error")["count"], 0)


@alone
def as_ss_says(place):
    """The last figures are the kernel's, asked for in the program and by ss, to the microsecond."""
    program = probed(place)
    found = subprocess.run(["ss", "-Htin", "sport", "=", f":{program.begun}"],
                           capture_output=True, text=True, check=False)
    match = re.search(r"\brtt:([\d.]+)/([\d.]+)", found.stdout)
    if not match:
        raise harness.Skip(f"ss does not say: {found.stdout} {found.stderr}")
    rtt_ms, variation_ms = map(float, match.groups())
    kernel_ns, kernel_variation_ns = map(int, program.do("kernel").split())
    reported_ns = state(program, "watch")["rtt_ns"]
    equal(reported_ns, kernel_ns, "the probe's last reading")
    equal(figures(program, "probe.socket.rtt-variation")["gauge"], kernel_variation_ns)
    between(reported_ns / 1e6, rtt_ms - 0.002, rtt_ms + 0.002, "beside ss")
    between(kernel_variation_ns / 1e6, variation_ms - 0.002, variation_ms + 0.002, "beside ss")
    acknowledged = int(re.search(r"bytes_acked:(\d+)", found.stdout).group(1))
    # the kernel counts the SYN as a byte; the probe began after it
    equal(figures(program, "probe.socket.data-acknowledged")["count"], acknowledged - 1)
    print(f"     rtt {reported_ns / 1e6:.3f} ms, ss {rtt_ms} ms; {acknowledged - 1} bytes")


@alone
def a_way_that_breaks(place):
    """Packets are lost: pings and connects time out, segments are sent again, and it recovers."""
    program = Program(place, "probe_program", THERE, str(echo_server()))
    program.do("watch 50")
    program.do("dial 100 300")
    program.do("ping 50 300")
    wait_for("answers", lambda: state(program, "ping")["answers"] >= 5)
    LINK.dropping = True
    try:
        for which in ("ping", "dial"):
            wait_for(f"timeouts of {which}", lambda w=which: state(program, w)["timeouts"] >= 3)
        wait_for("segments sent again",
                 lambda: figures(program, "probe.socket.retransmits")["count"] >= 2)
    finally:
        LINK.dropping = False
    for which in ("ping", "dial"):
        answers = state(program, which)["answers"]
        wait_for(f"answers of {which}",
                 lambda w=which, n=answers: state(program, w)["answers"] >= n + 5)
    late = figures(program, "probe.ping-time", "timeout")
    equal((late["least"], late["most"]), (300e6, 300e6))
    ping = state(program, "ping")
    between(ping["answers"] + ping["timeouts"] + ping["errors"], ping["tries"] - 10,
            ping["tries"], "pings that have ended")


if __name__ == "__main__":
    try:
        LINK = DelayedLink(DELAY_S)
    except Unavailable as why:
        print(f"skipped: no link with a delay can be made here: {why}")
        sys.exit(harness.EXIT_SKIPPED)
    harness.main([round_trips, as_ss_says, a_way_that_breaks], servers=())
