#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# crest-test: timeout=300
"""Whom the scrape endpoint answers, as what, and for how long: Hosts and targets, codings, and
clients that stop reading."""

import contextlib
import time

import harness
from harness import Failure, contains, equal, wait_for
from scrapelib import Node, slow_reader


def requests_are_for_this_machine(place):
    """A page in a browser, whose name its owner lets lead here, reads nothing; who is meant to may
    be said. A target with a host in it goes before the Host."""
    def asked(node, host, target="/metrics"):
        got = node.raw(b"GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n"
                       % (target.encode(), host.encode()))
        head, _, body = got.partition(b"\r\n\r\n")
        contains(head.decode(), "X-Content-Type-Options: nosniff")
        return int(head.split()[1]), body.decode()

    node = Node(place)
    for host in ("localhost", f"localhost:{node.port}", "127.0.0.1", "[::1]", "a.localhost", ""):
        equal(asked(node, host)[0], 200, host)
    for host in ("evil.example", "127.0.0.1.evil.example", "10.1.2.3", f"evil:{node.port}"):
        for path in ("/metrics", "/", "/-/healthy", "/nothing"):
            status, body = asked(node, host, path)
            equal(status, 403, f"{host}{path}")
            contains(body, "prometheus.hosts=NAME")
    equal(asked(node, "evil.example", "http://localhost/metrics")[0], 200)
    equal(asked(node, "localhost", "http://evil.example/metrics")[0], 403)
    equal(asked(node, "localhost", f"HTTP://127.0.0.1:{node.port}/-/healthy")[1], "Healthy\n")
    equal(asked(node, "localhost", "http://localhost")[0], 200)
    equal(asked(node, "localhost", "ftp://localhost/metrics")[0], 404)
    equal(node.raw(b"GET /-/healthy HTTP/1.0\r\n\r\n").split()[1], b"200")
    node = Node(place, ",prometheus.hosts='node-1.lan node-1'")
    for host, status in (("node-1", 200), ("NODE-1.lan:80", 200), ("node-2", 403)):
        equal(asked(node, host)[0], status, host)
    node = Node(place, ",prometheus.hosts=*")
    equal(asked(node, "evil.example")[0], 200)


def codings_are_refused(place):
    node = Node(place)
    for codings, status in (("identity;q=0", 406), ("*;q=0", 406), ("gzip, identity;q=0", 200),
                            ("*;q=0, identity", 200), ("br;q=1", 200)):
        equal(node.ask(Accept_Encoding=codings)[0], status, codings)
    node = Node(place, ",prometheus.gzip=off")
    equal(node.ask(Accept_Encoding="gzip, identity;q=0")[0], 406)


def readers_that_stop_are_cut_off(place):
    """However long they have asked for: as many as there may be, and then the page is there again
    after seconds. One that reads slowly, but reads, is not."""
    node = Node(place)
    node.do("many 300000")
    with contextlib.ExitStack() as stack:
        for _ in range(4):
            stack.enter_context(slow_reader(node, seconds=600))
        steady = stack.enter_context(slow_reader(node, seconds=600))
        wait_for("all pages to be under way", lambda: node.ask()[0] == 503)
        began = time.monotonic()
        while time.monotonic() - began < 13:
            if not steady.recv(65536):
                raise Failure("a reader that reads was cut off")
            time.sleep(0.3)
        wait_for("the page to be there again", lambda: node.ask()[0] == 200)
        if not steady.recv(65536):
            raise Failure("a reader that reads was cut off")


harness.main([requests_are_for_this_machine, codings_are_refused, readers_that_stop_are_cut_off],
             servers=())
