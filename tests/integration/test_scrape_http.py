#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# crest-test: timeout=480
"""What HTTP clients see of the scrape endpoint: well-behaved ones, wrong ones and hostile ones. A
node that is abused goes on recording, stays small, and still answers whoever asks properly.
"""

import contextlib
import gzip
import http.client
import os
import resource
import socket
import struct
import threading
import time

import harness
from harness import ANSWER_S, Failure, Program, contains, equal, holds_at_last, lacks, wait_for
from scrapelib import Node, everything, slow_reader, until

TEXT = "text/plain; version=0.0.4; charset=utf-8"
OPENMETRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8"
# What abuse may add to a node's memory: its connections' buffers and what it is sending.
MEMORY_ADDED_MAX = 16 << 20


def bounded(added, bound, what):
    """Whether memory stays within a bound; a sanitizer has bounds of its own."""
    if added > bound and not os.environ.get("CREST_SAN"):
        raise Failure(f"{what}: {added} bytes more than before, {bound} are allowed")


def unchunked(rest):
    """The body that chunks make up."""
    body = b""
    while rest:
        size, _, rest = rest.partition(b"\r\n")
        body += rest[:int(size, 16)]
        rest = rest[int(size, 16) + 2:]
    return body


# ---- as it should be ----

def formats_and_encodings(place):
    """Accept and Accept-Encoding decide, and the headers say what was decided."""
    node = Node(place)
    for accept, wanted in (("", TEXT), ("*/*", TEXT), ("text/plain", TEXT),
                           ("application/openmetrics-text;version=1.0.0,text/plain;q=0.5",
                            OPENMETRICS),
                           ("application/openmetrics-text;q=0, */*", TEXT), ("image/png", TEXT)):
        status, headers, body = node.ask(Accept=accept)
        equal((status, headers["Content-Type"]), (200, wanted), accept)
        equal(headers["Vary"], "Accept, Accept-Encoding")
        equal(int(headers["Content-Length"]), len(body))
        equal(body.endswith(b"# EOF\n"), wanted == OPENMETRICS, accept)
        lacks(headers, "Content-Encoding")
    for coding, packed in (("gzip", True), ("gzip;q=0", False), ("deflate", False),
                           ("*;q=0.1", True), ("identity", False)):
        status, headers, body = node.ask(Accept_Encoding=coding)
        equal(headers.get("Content-Encoding") == "gzip", packed, coding)
        contains((gzip.decompress(body) if packed else body).decode(), "scrape_level ")
    node.do("many 20000")
    status, headers, body = node.ask()
    equal(headers.get("Transfer-Encoding"), "chunked")
    equal(body.count(b"\nscrape_many_"), 20000)
    status, headers, packed = node.ask(Accept_Encoding="gzip")
    equal(gzip.decompress(packed).count(b"\nscrape_many_"), 20000)
    if len(packed) * 5 > len(body):
        raise Failure(f"gzip made {len(packed)} of {len(body)} bytes")


def names_narrow_the_page(place):
    node = Node(place)
    _, _, body = node.ask("/metrics?name[]=scrape_level&name%5B%5D=scrape%5Fbalance&x=y")
    samples = [line for line in body.decode().splitlines() if not line.startswith("#")]
    equal([sample.split()[0] for sample in samples], ["scrape_balance", "scrape_level"])
    equal(node.ask("/metrics?name[]=there_is_none")[0], 200)
    status, _, body = node.ask("/metrics?name[]=a%00b")
    equal(status, 400)
    contains(body.decode(), "zero byte")
    names = "&".join(["name[]=scrape_level"] * 800)
    equal(node.ask(f"/metrics?{names}")[0], 200)
    equal(node.ask("/metrics?" + "&".join(["name[]=x"] * 1000))[0], 200)
    equal(node.ask("/metrics?" + "&".join(["name[]=x"] * 1001))[0], 414)
    equal(node.ask("/" + "x" * 16000)[0], 404)
    equal(node.ask("/" + "x" * 17000)[0], 414)


def methods_and_paths(place):
    node = Node(place)
    equal(node.ask("/-/healthy")[::2], (200, b"Healthy\n"))
    status, headers, body = node.ask("/")
    equal((status, headers["Content-Type"]), (200, "text/html; charset=utf-8"))
    contains(body.decode(), 'href="metrics"')
    for path in ("/metrics/", "/metric", "//metrics", "/..", "/-/ready"):
        equal(node.ask(path)[0], 404, path)
    for path in ("/metrics", "/", "/-/healthy"):
        status, headers, body = node.ask(path, "HEAD")
        equal((status, body), (200, b""), path)
    for method in ("POST", "PUT", "DELETE", "OPTIONS", "PATCH", "BREW"):
        status, headers, _ = node.ask("/metrics", method)
        equal((status, headers["Allow"]), (405, "GET, HEAD"), method)
    equal(node.ask("/metrics", "POST", b"x" * 1000)[0], 405)
    equal(node.ask("/metrics", "GET", b"x" * 1000)[0], 413)


def connections_are_kept(place):
    """Several requests on a connection, also at once, and with HTTP/1.0."""
    node = Node(place)
    node.do("many 5000")
    one = b"GET /-/healthy HTTP/1.1\r\nHost: localhost\r\n\r\n"
    last = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    got = node.raw(one * 50 + last)
    equal(got.count(b"Healthy\n"), 50)
    head, _, chunks = got.rpartition(b"HTTP/1.1 200 OK")[2].partition(b"\r\n\r\n")
    contains(head.decode(), "chunked")
    equal(unchunked(chunks).count(b"\nscrape_many_"), 5000)
    connection = http.client.HTTPConnection("127.0.0.1", node.port, timeout=ANSWER_S)
    for _ in range(5):
        connection.request("GET", "/metrics")
        equal(connection.getresponse().read().count(b"\nscrape_many_"), 5000)
    connection.close()
    old = b"GET %s HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"
    with node.connect() as client:
        client.sendall(old % b"/-/healthy")
        contains(until(client, b"Healthy\n").lower(), "connection: keep-alive")
        client.sendall(old % b"/metrics")
        equal(everything(client).count(b"\nscrape_many_"), 5000)


def filters_options_and_labels(place):
    options = (",prometheus.include=scrape.* crest.scrapes,prometheus.exclude=*.level"
               ",prometheus.created=on,prometheus.gzip=off,prometheus.windows=off"
               ",service=node,version=2.1,instance=i-1,resource.region=eu")
    node = Node(place, options)
    node.do("record 1 100")
    page = node.page()
    contains(page, 'crest_target_info{service="node",version="2.1",instance="i-1",region="eu"} 1')
    contains(page, "scrape_events_done_total 100")
    contains(page, "crest_scrapes_total")
    for missing in ("scrape_level", "crest_series", "queue_depth_max1m", "_created"):
        lacks(page, missing)
    page = node.page(Accept=OPENMETRICS, Accept_Encoding="gzip")
    contains(page, "scrape_events_done_created ")
    quiet = Node(place, ",prometheus.exemplars=off")
    quiet.do("record 1 100")
    # The id of an operation that a timer holds, once a tick has seen it.
    wait_for("an exemplar", lambda: " # {" in node.page(Accept=OPENMETRICS))
    time.sleep(1.2)
    lacks(quiet.page(Accept=OPENMETRICS), " # {")


# ---- limits ----

def is_quiet(node, what):
    """There is a second in which it hardly uses a processor; one that spins has none."""
    def quiet_second():
        began, used = time.monotonic(), cpu_seconds(node)
        time.sleep(1)
        return cpu_seconds(node) - used < 0.3 * (time.monotonic() - began)

    wait_for(f"a second without spinning {what}", quiet_second)


def slow_readers_delay_nobody(place):
    """Beyond the limit of pages at once there is a 503 that says when to come back; health is still
    told, and when their time is over the slow ones are cut off so that they notice."""
    node = Node(place, ",windows=off,prometheus.concurrency=3")
    node.do("many 200000")
    before = node.memory()
    began = time.monotonic()
    node.page()
    alone_s = time.monotonic() - began
    # all that a busy machine may add to what comes before they are cut off
    seconds = int(4 + 20 * alone_s)
    with contextlib.ExitStack() as stack:
        slow = [stack.enter_context(slow_reader(node, seconds=seconds)) for _ in range(2)]
        began = time.monotonic()
        node.page()
        beside_s = time.monotonic() - began
        if beside_s > seconds / 2:
            raise Failure(f"a page took {beside_s:.2f} s beside slow readers, {alone_s:.2f} alone")
        slow.append(stack.enter_context(slow_reader(node, seconds=seconds)))
        wait_for("the third page", lambda: node.ask("/-/healthy")[0] == 200
                 and node.ask()[0] == 503)
        status, headers, body = node.ask()
        equal((status, headers["Retry-After"]), (503, "1"))
        contains(body.decode(), "prometheus.concurrency")
        equal(node.ask("/-/healthy")[0], 200)
        wait_for("the slow ones to be cut off", lambda: node.ask()[0] == 200, 2 * seconds)
        added = node.memory() - before
        bounded(added, 3 * (200000 * 16 + (1 << 20)) + (4 << 20), "three slow readers")
        wait_for("the readers that were cut off to be counted",
                 lambda: node.value('crest_scrapes_total{code="499"}') >= 3, 2 * seconds)
        for client in slow:
            cut_off(client)
    if node.value('crest_scrapes_total{code="503"}') < 1:
        raise Failure("the refused are not counted")
    wait_for("no other page in flight", lambda: node.value("crest_scrapes_in_flight") == 1)


def pages_are_not_held(place):
    """Beside its snapshot, of at most 16 bytes a series, a page costs less than 1 MiB, however long
    it is and however slowly it is read."""
    for series in (10000, 300000):
        node = Node(place)
        node.do(f"many {series}")
        length = len(node.page())
        for coding in (b"localhost", b"localhost\r\nAccept-Encoding: gzip"):
            before = node.memory()
            with slow_reader(node, coding):
                wait_for("the page to be begun", lambda node=node: node.ask("/-/healthy"))
                time.sleep(0.7)
                added = node.memory() - before
            bounded(added, series * 16 + (1 << 20), f"a page of {length} bytes")


def cut_off(client):
    """Reads on to the end, which is no proper end of a page."""
    with contextlib.suppress(ConnectionResetError):
        while part := client.recv(1 << 20):
            if part.endswith(b"0\r\n\r\n"):
                raise Failure("a page that was cut off ends as if it were whole")


def the_deadline_is_the_scrapers(place):
    """A page that cannot be made in time is a 503, not half a page that looks like one."""
    node = Node(place)
    node.do("many 100000")
    status, headers, body = node.ask(X_Prometheus_Scrape_Timeout_Seconds="0.001")
    equal((status, headers["Retry-After"]), (503, "1"))
    contains(body.decode(), "could not be made in the time")
    equal(node.ask(X_Prometheus_Scrape_Timeout_Seconds="60")[0], 200)
    equal(node.ask(X_Prometheus_Scrape_Timeout_Seconds="nonsense")[0], 200)


def still_a_node(node, what):
    """Records without a pause meanwhile, and answers a proper scrape."""
    equal(node.ask("/-/healthy")[0], 200, what)
    contains(node.page(), "scrape_events_done_total")


def malformed_requests_are_refused(place):
    node = Node(place)
    before = node.memory()
    node.do("spin")
    host = b"Host: localhost\r\n"
    cases = [
        ("a long path", b"GET /" + b"a" * 100000 + b" HTTP/1.1\r\n" + host + b"\r\n", b" 4"),
        ("a long query", b"GET /metrics?" + b"name[]=x&" * 20000 + b" HTTP/1.1\r\n\r\n", b" 4"),
        ("many names", b"GET /metrics?" + b"name[]=x&" * 2000 + b" HTTP/1.1\r\n" + host
         + b"\r\n", b" 4"),
        ("a long header", b"GET / HTTP/1.1\r\nA: " + b"b" * 200000 + b"\r\n\r\n", b" 431 "),
        ("many headers", b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 20000 + b"\r\n", b" 431 "),
        ("a header without end", b"GET / HTTP/1.1\r\n" + b"x" * 200000, b" 431 "),
        ("zeros", b"\0" * 50000, b""),
        ("garbage", bytes(range(256)) * 300, b""),
        ("TLS", bytes.fromhex("16030100f8010000f40303") + b"\x55" * 300 + b"\r\n\r\n", b""),
        ("no version", b"GET /metrics\r\n\r\n", b""),
        ("a wrong version", b"GET /metrics HTTP/9.9\r\n" + host + b"\r\n", b""),
        ("HTTP/2", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b""),
        ("a line alone", b"\r\n\r\n\r\n", b""),
        ("a wrong length", b"GET / HTTP/1.1\r\nContent-Length: -5\r\n\r\n", b""),
        ("two lengths", b"GET / HTTP/1.1\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef",
         b""),
        ("a chunk too long", b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
         b"ffffffffffffffffff\r\n", b""),
        ("a body without end", b"POST / HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n"
         + b"x" * 1000000, b""),
        ("a wrong escape", b"GET /%zz%1 HTTP/1.1\r\n" + host + b"Connection: close\r\n\r\n",
         b" 404 "),
        ("a zero in the path", b"GET /metrics%00 HTTP/1.1\r\n" + host + b"\r\n", b" 400 "),
        ("no Host", b"GET /metrics HTTP/1.1\r\nConnection: close\r\n\r\n", b" 400 "),
        ("two Hosts", b"GET /metrics HTTP/1.1\r\n" + host + host + b"Connection: close\r\n\r\n",
         b" 400 "),
        ("a Host that is none", b"GET / HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n\r\n",
         b" 400 "),
    ]
    for what, sent, wanted in cases:
        got = node.raw(sent, half_close=wanted == b"")
        if wanted not in got[:40] or (got and not got.startswith(b"HTTP/1.")):
            raise Failure(f"{what}: {got[:200]!r}")
        still_a_node(node, what)
    counted = int(node.do("still"))
    equal(node.value("scrape_spins_done_total"), counted)
    bounded(node.memory() - before, MEMORY_ADDED_MAX, "malformed requests")


def trickling_requests_end(place):
    """A byte now and then does not hold a connection: the whole request has its time."""
    node = Node(place)
    clients = [node.connect() for _ in range(20)]
    began = time.monotonic()
    for byte in b"GET /metrics HTTP/1.1\r\nX-Slow: " + b"a" * 1000:
        for client in clients:
            with contextlib.suppress(ConnectionError):
                client.send(bytes([byte]))
        if time.monotonic() - began > 12:
            break
        time.sleep(0.2)
    still_a_node(node, "trickling")
    wait_for("connections that trickle to be closed", lambda: node.value(
        'crest_scrape_connections_closed_total{cause="slow"}') >= 20)
    for client in clients:
        lacks(everything(client).decode(), "200 OK")
        client.close()


def ten_thousand_connections(place):
    """As many as this process may have, held open; those who ask are still answered at once."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    count = min(10000, resource.getrlimit(resource.RLIMIT_NOFILE)[0] - 200)
    node = Node(place)
    before = node.memory()
    node.do("spin")
    clients, slowest = [], 0
    for number in range(count):
        client = socket.socket()
        client.settimeout(ANSWER_S)
        client.connect(("127.0.0.1", node.port))
        clients.append(client)
        if number % 500 == 499:
            began = time.monotonic()
            still_a_node(node, f"{number} connections")
            slowest = max(slowest, time.monotonic() - began)
    bounded(node.memory() - before, MEMORY_ADDED_MAX, f"{count} connections")
    if slowest > ANSWER_S / 3:
        raise Failure(f"{count} connections: {slowest:.2f} s for an answer")
    wait_for("the connections that made room to be counted", lambda: node.value(
        'crest_scrape_connections_closed_total{cause="crowded"}') >= count - 100)
    for client in clients:
        client.close()
    counted = int(node.do("still"))
    equal(node.value("scrape_spins_done_total"), counted)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def no_descriptors(place):
    """Out of descriptors it neither spins nor ends, and goes on when there are some."""
    node = Node(place)
    opened = int(node.do("descriptors 1024"))
    node.do(f"descriptors {opened + 3}")
    clients = [node.connect() for _ in range(30)]
    time.sleep(0.3)
    is_quiet(node, "while there are no descriptors")
    node.do("descriptors 1024")
    still_a_node(node, "descriptors again")
    for client in clients:
        client.close()


def all_connections_are_busy(place):
    """Those who come then wait in the kernel's queue, without keeping the node from its work."""
    node = Node(place, ",windows=off,prometheus.connections=4")
    node.do("many 100000")
    with contextlib.ExitStack() as stack:
        slow = [stack.enter_context(slow_reader(node)) for _ in range(4)]
        time.sleep(0.5)
        waiting = stack.enter_context(node.connect())
        waiting.sendall(b"GET /-/healthy HTTP/1.0\r\n\r\n")
        is_quiet(node, "while all connections are busy")
        slow[0].close()
        contains(until(waiting, b"Healthy"), "Healthy")


def cpu_seconds(node):
    with open(f"/proc/{node.program.process.pid}/stat", encoding="ascii") as stat:
        fields = stat.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100


def aborted_connections(place):
    """Clients that reset, half-close or leave in the middle, many at once, while others scrape."""
    node = Node(place, ",windows=off,prometheus.concurrency=10")
    node.do("many 20000")
    before = node.memory()
    stop = threading.Event()

    def abuse(how):
        while not stop.is_set():
            with contextlib.suppress(OSError), node.connect() as client:
                client.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"[:how * 10])
                if how == 5:
                    client.recv(1000)
                if how % 2:
                    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                                      struct.pack("ii", 1, 0))
                if how == 4:
                    client.shutdown(socket.SHUT_WR)

    threads = [threading.Thread(target=abuse, args=(how,)) for how in range(6)]
    for thread in threads:
        thread.start()
    try:
        whole = crowded = asked = 0
        began = time.monotonic()
        while asked < 60 or whole < 10 and time.monotonic() < began + ANSWER_S:
            asked += 1
            # Pages whose clients have gone take up places until they have noticed. And who has not
            # asked yet when as many have come as there are places makes room for them.
            try:
                status, _, body = node.ask()
            except ConnectionError:
                crowded += 1
                continue
            if status == 200:
                equal(body.count(b"\nscrape_many_"), 20000)
                whole += 1
            else:
                equal(status, 503)
        if whole < 10:
            raise Failure(f"of {asked} proper scrapes {whole} were answered")
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    # a page that has not noticed yet that nobody reads it may leave no place for ours
    holds_at_last(lambda: equal(node.value("crest_scrapes_in_flight"), 1, "pages in flight"))
    if crowded > node.value('crest_scrape_connections_closed_total{cause="crowded"}'):
        raise Failure(f"{crowded} scrapes got no answer, and not because others crowded them out")
    bounded(node.memory() - before, 2 * MEMORY_ADDED_MAX, "connections broken off")


# ---- the end ----

def stop_with_clients_attached(place):
    """Idle ones, ones in the middle of a request and ones that do not read: none prolongs it."""
    node = Node(place)
    node.do("many 100000")
    with contextlib.ExitStack() as stack:
        idle = stack.enter_context(node.connect())
        asking = stack.enter_context(node.connect())
        asking.sendall(b"GET /metr")
        for _ in range(3):
            stack.enter_context(slow_reader(node, seconds=600))
        time.sleep(0.2)
        is_quiet(node, "while nobody reads on")
        # the readers would take ten minutes, and a page that is being made some seconds
        took_ms = int(node.do("stop 60000"))
        if took_ms > 60000:
            raise Failure(f"a stop within a minute took {took_ms} ms")
        for client in (idle, asking):
            equal(everything(client), b"")
    try:
        node.connect(2)
        raise Failure("the port is still open after the stop")
    except ConnectionRefusedError:
        pass


def a_page_is_finished_before_the_stop(place):
    node = Node(place)
    node.do("many 100000")
    with node.connect() as client:
        client.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
        first = client.recv(100)
        reader = threading.Thread(target=lambda: rest.append(everything(client)))
        rest = [first]
        reader.start()
        node.do("stop 60000")
        reader.join()
    page = b"".join(rest)
    if not page.endswith(b"0\r\n\r\n"):
        raise Failure(f"the page ends with {page[-50:]!r}")


def a_child_does_not_keep_the_port(place):
    """Neither the port nor open connections live on in a child that was forked."""
    node = Node(place)
    with node.connect() as client:
        client.sendall(b"GET /-/healthy HTTP/1.1\r\nHost: localhost\r\n\r\n")
        contains(until(client, b"Healthy\n"), "Healthy")
        node.do("fork")
        still_a_node(node, "after the fork")
        node.do("stop 60000")
        equal(client.recv(10), b"", "a connection that the parent closed")
    with socket.socket() as again:
        again.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        again.bind(("127.0.0.1", node.port))
        again.listen()
    node.do("reap")


def wrong_options_are_sentences(place):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        for options, says in (
                (f"prometheus=127.0.0.1:{port}", "Another program listens there"),
                ("prometheus=nonsense", "a port is a number"),
                ("prometheus=127.0.0.1:0,prometheus.concurrency=0", "not a number from 1 to 100"),
                ("prometheus=127.0.0.1:0,prometheus.windows=some", "not off, ranges or all"),
                ("prometheus=127.0.0.1:0,prometheus.gzip=perhaps", "prometheus.gzip"),
                ("prometheus=127.0.0.1:0,prometheus.timeout=1h", "too long for a scrape"),
                ("prometheus=127.0.0.1:0,prometheus.port=1", "prometheus.port")):
            program = Program(place, "scrape_program", options)
            status, _, message = program.begun.partition(" ")
            if status == "OK" or says not in message:
                raise Failure(f"{options}: {program.begun}")
        program = Program(place, "scrape_program", f"prometheus='127.0.0.1:{port} | 127.0.0.1:0'")
        contains(program.begun, "OK http://127.0.0.1:")


harness.main([formats_and_encodings, names_narrow_the_page, methods_and_paths, connections_are_kept,
              filters_options_and_labels, slow_readers_delay_nobody, pages_are_not_held,
              the_deadline_is_the_scrapers, malformed_requests_are_refused,
              trickling_requests_end, ten_thousand_connections, no_descriptors,
              all_connections_are_busy, aborted_connections, stop_with_clients_attached,
              a_page_is_finished_before_the_stop, a_child_does_not_keep_the_port,
              wrong_options_are_sentences], servers=())
