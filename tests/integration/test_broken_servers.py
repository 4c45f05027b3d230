#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# crest-test: timeout=300
"""Every broken server, under every reporter: each failure has a sentence, the node goes on, and
when the server is whole again its totals are exact to the last unit.

A reporter is a row of REPORTERS, a server a row of peerlib's manners.
"""

import socket
import urllib.error

import harness
from harness import Failure, Program, equal, wait_for
from otlplib import Points
from peerlib import ANY_MANNERS, HTTP_MANNERS, Last, Peer, Sum, good, good_without_content

INTERVAL_MS = 200
RECORDED = 1000
SENTENCE_LEAST = 15


def good_lines(call):
    """A StatsD server: whole lines count."""
    text = b""
    while True:
        text += call.read()
        whole, _, text = text.rpartition(b"\n")
        call.peer.known.take(whole + b"\n")


def unix_peer(place, known):
    return Peer(place, known, socket.AF_UNIX, socket.SOCK_DGRAM)


UNIX = {name: ANY_MANNERS[name] for name in ("refuse", "deaf")}

OTLP_EVENTS = rb'"name":"peer\.events".*?"asInt":"(\d+)"'
# name: (options with {place}, peer, what it knows, the good manner, the broken ones)
REPORTERS = {
    "pushgateway": ("pushgateway=http://127.0.0.1:{0.port}", Peer,
                    lambda: Last(rb"\npeer_events_total (\d+)\n"), good, HTTP_MANNERS),
    "pushgateway_protobuf": (
        "pushgateway=http://127.0.0.1:{0.port},pushgateway.protobuf=on,"
        "pushgateway.delete-on-stop=on", Peer, None, good, HTTP_MANNERS),
    "influxdb": ("influxdb=http://127.0.0.1:{0.port}/node", Peer,
                 lambda: Last(rb"(?m)^peer\.events,?\S* count=(\d+)i"), good_without_content,
                 HTTP_MANNERS),
    "otlp": ("otlp=http://127.0.0.1:{0.port},otlp.encoding=json,otlp.compression=gzip", Peer,
             lambda: Points("peer.events"), good, HTTP_MANNERS),
    "otlp_differences": ("otlp=http://127.0.0.1:{0.port},otlp.encoding=json,otlp.temporality=delta",
                         Peer, lambda: Points("peer.events"), good, HTTP_MANNERS),
    "otlp": ("otlp=http://127.0.0.1:{0.port},otlp.encoding=json,otlp.compression=gzip", Peer,
             lambda: Last(OTLP_EVENTS), good, HTTP_MANNERS),
    "otlp_differences": ("otlp=http://127.0.0.1:{0.port},otlp.encoding=json,otlp.temporality=delta",
                         Peer, lambda: Sum(OTLP_EVENTS), good, HTTP_MANNERS),
    "statsd_tcp": ("statsd=tcp://127.0.0.1:{0.port}", Peer,
                   lambda: Sum(rb"(?m)^peer\.events:(\d+)\|c"), good_lines, ANY_MANNERS),
    "statsd_unix": ("statsd=unix://{0.path}", unix_peer,
                    lambda: Sum(rb"(?m)^peer\.events:(\d+)\|c"), good, UNIX),
}
# What a server may have taken before it broke off; differences that it threw away are lost to it.
SUMS = ("statsd_tcp", "statsd_unix")


def state(program):
    reports, failures, streak, *error = program.do("state").split(" ", 3)
    return int(reports), int(failures), int(streak), "".join(error)


def one_manner(program, peer, name, broken):
    """Reports to the broken server until one has failed, or two have been made; what was said."""
    reports, failures, _, _ = state(program)
    peer.manner = broken
    program.do(f"record {RECORDED}")
    now = wait_for(f"a report to a server: {name}", lambda: (
        lambda found: found if found[1] > failures or found[0] > reports + 2 else None
    )(state(program)))
    if now[1] > failures and (len(now[3]) < SENTENCE_LEAST or " " not in now[3]):
        raise Failure(f"{name}: no sentence: {now[3]!r}")
    return now[3] if now[1] > failures else "no failure"


def through_all(place, options, peer, known, whole, manners, exact):
    peer.manner = whole
    program = Program(place, "peer_program", "service=peer,atexit=off,jitter=0,"
                      f"interval={INTERVAL_MS}ms,{options}")
    harness.contains(program.begun, "OK")
    total, descriptors = 0, None
    for name, broken in manners.items():
        if "LOOK" in harness.os.environ:
            print(f"{name}: {one_manner(program, peer, name, broken)}", flush=True)
        else:
            one_manner(program, peer, name, broken)
        peer.manner = whole
        streak = state(program)
        program.do(f"record {RECORDED}")
        total += 2 * RECORDED
        wait_for(f"a good report after: {name}", lambda: state(program)[0] > streak[0] + 1
                 and state(program)[2] == 0)
        if known is None:
            continue
        if exact:
            wait_for(f"{total} events after: {name}; {known.value}",
                     lambda: known.value == total)
        elif known.value is not None and known.value > total:
            raise Failure(f"{name}: {known.value} events of {total}")
        descriptors = descriptors or int(program.do("descriptors"))
    found = int(program.do("descriptors"))
    if descriptors and found > descriptors + 1:
        raise Failure(f"{found} descriptors open, {descriptors} at first")
    before = known.value if known else 0
    program.do(f"record {RECORDED}")
    status, said = program.tell("stop")
    equal(status, "OK", said)
    if known is not None:
        wait_for("the last report", lambda: known.value == (before or 0) + RECORDED)


def reporter(name):
    def test(place):
        options, make, what, whole, manners = REPORTERS[name]
        known = what() if what else Last(rb"(?!)")
        peer = make(place, known)
        through_all(place, options.format(peer), peer, known if what else None, whole, manners,
                    name not in SUMS)
    test.__name__ = f"{name}_to_every_broken_server"
    return test


# ---- the other way round: every broken client of the scrape endpoint ----

HEAD = b"GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\n"
CLIENTS = {
    "closes at once": [b""],
    "half a request": [HEAD[:20]],
    "no end of the head": [HEAD],
    "garbage": [bytes(range(256)) * 20],
    "zeros": [bytes(100000)],
    "a TLS hello": [bytes([22, 3, 1, 0, 5, 1, 0, 0, 1, 3])],
    "HTTP/2": [b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
    "a body of 1 GB": [b"POST /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\n"
                       b"Content-Length: 1073741824\r\n\r\n", *[b"x" * 65536] * 200],
    "a header of 1 MB": [HEAD + b"X-Long: " + b"y" * 1000000 + b"\r\n\r\n"],
    "1,000 requests at once": [(HEAD + b"\r\n") * 1000],
    "bad chunks": [b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"],
    "another host": [b"GET /metrics HTTP/1.1\r\nHost: evil.example\r\n\r\n"],
    "no host": [b"GET /metrics HTTP/1.1\r\n\r\n"],
    "another method": [b"DELETE /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"],
    "a negative length": [b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n"],
}
ENDS = {"reset": lambda it: it.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                                          b"\1\0\0\0\0\0\0\0"),
        "close": lambda it: None, "half-close": lambda it: it.shutdown(socket.SHUT_WR)}


def misuse(port, pieces, end):
    with socket.socket() as client:
        client.settimeout(5)
        client.connect(("127.0.0.1", port))
        try:
            for piece in pieces:
                client.sendall(piece)
            end(client)
        except OSError:
            pass  # the endpoint has had enough of it


def scrape_from_every_broken_client(place):
    port = harness.free_port()
    program = Program(place, "peer_program", f"service=peer,atexit=off,prometheus=127.0.0.1:{port}")
    harness.contains(program.begun, "OK")
    total = 0

    def page_is_whole():
        with harness.OPENER.open(f"http://127.0.0.1:{port}/metrics", timeout=20) as answer:
            return f"\npeer_events_total {total}\n" in answer.read().decode()

    equal(page_is_whole(), True, "the first page")
    descriptors = int(program.do("descriptors"))
    for name, pieces in CLIENTS.items():
        for how, end in ENDS.items():
            misuse(port, pieces, end)
            program.do(f"record {RECORDED}")
            total += RECORDED
            if not page_is_whole():
                raise Failure(f"{name}, {how}: the next page is not whole")
    hold = [socket.create_connection(("127.0.0.1", port)) for _ in range(20)]
    for one in hold:
        one.sendall(HEAD + b"\r\n")  # and read nothing

    def page_is_whole_at_last():
        try:
            return page_is_whole()
        except urllib.error.HTTPError as error:
            if error.code != 503:  # five pages are being made: documented, and soon over
                raise
            return False

    wait_for("a page beside 20 clients that do not read", page_is_whole_at_last)
    for one in hold:
        one.close()
    wait_for(f"descriptors to close; {descriptors} at first",
             lambda: int(program.do("descriptors")) <= descriptors + 1)
    equal(program.tell("stop")[0], "OK")


if __name__ == "__main__":
    harness.main([*map(reporter, REPORTERS), scrape_from_every_broken_client], servers=())
