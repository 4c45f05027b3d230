#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# crest-test: timeout=300
"""A scripted OTLP receiver that takes bodies and fails all the same, or takes none and says it did:
totals and sums of differences are exact afterwards. What any HTTP server may do wrong is in
test_broken_servers.py.
"""

import email.utils
import json
import time

import harness
from goservers import KINDS
from harness import Failure, Program, contains, equal, wait_for
from otlplib import Points
from peerlib import Peer, after_request, deaf, good, page
from pushlib import Authority, Fake
from test_broken_servers import state, through_all


def takes(*pieces, then=None):
    """Takes one body, says these pieces, and closes, or does `then`."""
    def manner(call):
        body, _ = call.request()
        call.peer.known.take(body)
        for piece in pieces:
            call.send(piece)
        if then is not None:
            then(call)
    return manner


def answer(body, status="200 OK", *headers):
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", "Content-Type: application/json",
             *headers, "", ""]
    return "\r\n".join(lines).encode() + body


def in_a_second(call):
    """Retry-After as a date."""
    call.request()
    date = email.utils.formatdate(time.time() + 1, usegmt=True)
    call.send(page("503 Service Unavailable", f"Retry-After: {date}"))


MANNERS = {
    "takes it, closes": takes(),
    "takes it, half a status line": takes(b"HTTP/1.1 2"),
    "takes it, half a head": takes(b"HTTP/1.1 200 OK\r\nContent-Le"),
    "takes it, half an answer": takes(b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{}"),
    "takes it, silent": takes(then=deaf),
    "takes it, 429": takes(page("429 Too Many Requests")),
    "takes it, 502": takes(page("502 Bad Gateway")),
    "takes it, 503, Retry-After": takes(page("503 Unavailable", "Retry-After: 1")),
    "takes it, 504": takes(page("504 Gateway Timeout")),
    "takes it, rejects one point of another": takes(answer(
        b'{"partialSuccess":{"rejectedDataPoints":"1","errorMessage":"a name"}}')),
    "takes it, warns": takes(answer(b'{"partialSuccess":{"errorMessage":"soon no more"}}')),
    "200 and HTML": after_request(page("200 OK")),
    "200 and another JSON": after_request(answer(b'["hello"]')),
    "200 and 1 MB": after_request(answer(b" " * 1000000)),
    "200, all rejected": after_request(answer(
        b'{"partialSuccess":{"rejectedDataPoints":"99999"}}')),
    "400": after_request(answer(b'{"code":3,"message":"bad"}', "400 Bad Request")),
    "413": after_request(answer(b"", "413 Content Too Large")),
    "503, Retry-After a date": in_a_second,
}


def totals_are_exact(place):
    peer = Peer(place, Points("peer.events"))
    through_all(place, f"otlp=http://127.0.0.1:{peer.port},otlp.encoding=json", peer, peer.known,
                good, MANNERS, True)
    wait_for("the series' end", lambda: peer.known.stale)


def differences_are_exact(place):
    peer = Peer(place, Points("peer.events"))
    through_all(place, f"otlp=http://127.0.0.1:{peer.port},otlp.encoding=json,"
                "otlp.temporality=delta,otlp.compression=gzip", peer, peer.known, good, MANNERS,
                True)
    equal(peer.known.stale, False, "the end of differences")


def small_bodies_are_exact_one_by_one(place):
    """Some of a report's bodies arrive, some do not, in another pattern each time."""
    peer = Peer(place, Points("peer.events"))
    turn, taken = 0, set()

    def moody(call):
        nonlocal turn
        while True:
            body, _ = call.request()
            turn += 1
            # what it has taken it does not refuse, however it answered then
            if turn % 3 == 0 and body not in taken:
                call.send(answer(b"", "400 Bad Request"))
                continue
            call.peer.known.take(body)
            taken.add(body)
            if turn % 5 == 0:
                return
            call.send(answer(b"{}") if turn % 7 else answer(b"", "503 Later"))

    peer.manner = moody
    program = Program(place, "peer_program", "service=peer,atexit=off,jitter=0,interval=100ms,"
                      f"otlp=http://127.0.0.1:{peer.port},otlp.encoding=json,otlp.body=1KiB,"
                      "otlp.temporality=delta")
    contains(program.begun, "OK")
    for _ in range(30):
        program.do("record 100")
        time.sleep(0.05)
    peer.manner = good
    wait_for("all events", lambda: peer.known.value == 3000)
    program.do("record 7")
    equal(program.tell("stop")[0], "OK")
    equal(peer.known.value, 3007)


def a_413_goes_on_where_it_stood(place):
    """No point is sent twice, and none is left out."""
    peer = Peer(place, Points("peer.events"))
    taken, answers = [], []

    def narrow(call):
        rest = b""
        while True:
            body, rest = call.request(rest)
            answers.append(len(answers) == 2)
            if answers[-1]:
                call.send(answer(b"", "413 Content Too Large"))
                continue
            taken.append(body)
            call.peer.known.take(body)
            call.send(answer(b"{}"))

    peer.manner = narrow
    program = Program(place, "peer_program", "service=peer,atexit=off,interval=1h,otlp.body=4KiB,"
                      f"otlp=http://127.0.0.1:{peer.port},otlp.encoding=json")
    contains(program.begun, "OK")
    program.do("record 9")
    equal(program.tell("stop")[0], "OK")
    equal(peer.known.value, 9)
    points = [point for body in taken for point in points_of(body)]
    equal(len(points), len(set(points)), "points, and how many of them are different")
    equal(sum(answers), 1, "refusals")
    if len(points) < 50 or len(taken) < 6:
        raise Failure(f"{len(points)} points in {len(taken)} bodies are too few for this test")


def points_of(body):
    """(name, attributes, time) of each point of a JSON body."""
    for resource in json.loads(body)["resourceMetrics"]:
        for metric in resource["scopeMetrics"][0]["metrics"]:
            for kind in KINDS:
                for point in metric.get(kind, {}).get("dataPoints", []):
                    yield metric["name"], json.dumps(point.get("attributes")), point["timeUnixNano"]


def a_receiver_is_left_alone_as_long_as_it_asks(place):
    peer = Peer(place, Points("peer.events"))
    calls = []

    def later(call):
        call.request()
        calls.append(time.monotonic())
        call.send(page("429 Too Many Requests", "Retry-After: 2"))

    peer.manner = later
    program = Program(place, "peer_program", "service=peer,atexit=off,jitter=0,interval=100ms,"
                      f"otlp=http://127.0.0.1:{peer.port},otlp.encoding=json,otlp.timeout=20s")
    contains(program.begun, "OK")
    wait_for("three requests", lambda: len(calls) >= 3)
    pauses = [later - earlier for earlier, later in zip(calls, calls[1:])]
    if min(pauses) < 1.9:
        raise Failure(f"it asked for 2 s and got {pauses}")
    contains(state(program)[3], "in 2 s, as it asks")
    # the end is not put off
    peer.manner = good
    program.do("record 5")
    equal(program.tell("stop")[0], "OK")
    equal(peer.known.value, 5)


def secrets_go_over_tls_to_whom_is_trusted(place):
    """And are read anew for each report."""
    authority = Authority(place, "authority")
    certificate, key = authority.sign("server")
    with open(certificate, "ab") as both:
        both.write(key.read_bytes())
    fake = Fake(place, certificate=certificate)
    headers = place.folder / "headers"
    headers.write_text("api-key: swordfish\n")
    headers.chmod(0o600)
    options = (f"service=peer,atexit=off,jitter=0,interval=1s,otlp={fake.url},"
               f"otlp.headers-file={headers}")
    program = Program(place, "peer_program", f"{options},otlp.ca-file={authority.file}")
    contains(program.begun, "OK")
    wait_for("a report", lambda: fake.requests)
    equal(fake.requests[0][:2], ("POST", "/v1/metrics"))
    equal(fake.headers[0]["api-key"], "swordfish")
    headers.write_text("api-key: next\n")
    wait_for("the next key", lambda: fake.headers[-1]["api-key"] == "next")
    equal(program.tell("stop")[0], "OK")
    doubter = Program(place, "peer_program", options)
    wait_for("a failure that says what to do", lambda: "otlp.ca-file" in state(doubter)[3])


if __name__ == "__main__":
    harness.main([secrets_go_over_tls_to_whom_is_trusted, totals_are_exact, differences_are_exact,
                  small_bodies_are_exact_one_by_one, a_413_goes_on_where_it_stood,
                  a_receiver_is_left_alone_as_long_as_it_asks],
                 servers=())
