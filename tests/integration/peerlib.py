# SPDX-License-Identifier: Apache-2.0
"""A scripted peer: one server that can be every broken one. It takes connections over TCP or a
Unix datagram socket, treats each as its manner says, and keeps what it was told while it was good.

    peer = Peer(place, Counter(rb"peer_events_total (\\d+)"))
    node = Program(place, "peer_program", f"pushgateway={peer.url},interval=300ms")
    peer.manner = HTTP_MANNERS["half a status line"]
    ...
    peer.manner = good
"""

import gzip
import os
import random
import re
import select
import socket
import struct
import threading
import time
import zlib

PIECE = 65536
# A connection that is held on to is let go when the manner changes, or at last after so long.
HELD_S = 30
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
NO_CONTENT = b"HTTP/1.1 204 No Content\r\n\r\n"


class Gone(Exception):
    """The client closed, or the peer's manner has changed."""


def reset(connection):
    """Closes at once, so that the other side sees a reset."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


class Last:
    """What a server knows of a total that is told whole each time."""

    def __init__(self, pattern):
        self.pattern = re.compile(pattern)
        self.value = None

    def take(self, body):
        found = self.pattern.findall(body)
        if found:
            self.value = int(found[-1])


class Sum(Last):
    """The same where differences are told: whole lines count, over all connections."""

    def take(self, body):
        self.value = (self.value or 0) + sum(map(int, self.pattern.findall(body)))


class Call:
    """One connection, with its means."""

    def __init__(self, peer, connection):
        self.peer, self.connection = peer, connection
        self.manner = peer.manner
        self.until = time.monotonic() + HELD_S

    def going_on(self):
        if self.peer.closed or self.peer.manner is not self.manner \
                or time.monotonic() > self.until:
            raise Gone

    def read(self, size=PIECE):
        while True:
            self.going_on()
            if select.select([self.connection], [], [], 0.02)[0]:
                piece = self.connection.recv(size)
                if not piece:
                    raise Gone
                return piece

    def send(self, data):
        view = memoryview(data)
        while view:
            self.going_on()
            if select.select([], [self.connection], [], 0.02)[1]:
                view = view[self.connection.send(view[:PIECE]):]

    def wait(self, seconds=HELD_S):
        """Does nothing, and reads nothing."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            self.going_on()
            time.sleep(0.01)

    def request(self, rest=b""):
        """A whole request: its body, decompressed, and what came after it."""
        data = rest
        while b"\r\n\r\n" not in data:
            data += self.read()
        head, data = data.split(b"\r\n\r\n", 1)
        length = re.search(rb"(?i)\r\ncontent-length: *(\d+)", head)
        length = int(length[1]) if length else 0
        while len(data) < length:
            data += self.read()
        body = data[:length]
        if re.search(rb"(?i)\r\ncontent-encoding: *gzip", head):
            body = gzip.decompress(body)
        return body, data[length:]


class Peer:
    """Listens, and is what `manner(call)` makes of it. known: a Last or a Sum."""

    def __init__(self, place, known, family=socket.AF_INET, kind=socket.SOCK_STREAM):
        self.known, self.kind = known, kind
        self.manner, self.closed, self.calls = good, False, 0
        self.family, self.listener = family, None
        self.path = str(place.folder / "peer.socket")
        self.address = ("127.0.0.1", 0) if family == socket.AF_INET else self.path
        self.open()
        if family == socket.AF_INET:
            self.address = self.listener.getsockname()
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()
        place.started.append(self)

    @property
    def port(self):
        return self.address[1]

    def open(self):
        self.listener = socket.socket(self.family, self.kind)
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if self.family == socket.AF_UNIX and os.path.exists(self.path):
            os.unlink(self.path)
        self.listener.bind(self.address)
        if self.kind == socket.SOCK_STREAM:
            self.listener.listen(64)

    def serve(self):
        while not self.closed:
            refuses = self.manner is refuse
            if refuses and self.listener is not None:
                self.listener.close()
                self.listener = None
            elif not refuses and self.listener is None:
                self.open()
            if self.listener is None or not select.select([self.listener], [], [], 0.02)[0]:
                time.sleep(0 if self.listener else 0.01)
                continue
            if self.kind == socket.SOCK_DGRAM:
                self.take_datagram()
                continue
            connection, _ = self.listener.accept()
            self.calls += 1
            threading.Thread(target=self.treat, args=(connection,), daemon=True).start()

    def take_datagram(self):
        if self.manner is deaf:
            time.sleep(0.02)
            return
        self.calls += 1
        self.known.take(self.listener.recv(PIECE) + b"\n")

    def treat(self, connection):
        connection.setblocking(False)
        try:
            Call(self, connection).manner(Call(self, connection))
        except (Gone, OSError, ValueError, EOFError, zlib.error):
            pass
        finally:
            connection.close()

    def kill(self):
        self.closed = True
        self.thread.join()
        if self.listener is not None:
            self.listener.close()


# ---- manners of any server ----


def takes_all(answer):
    """An HTTP server that takes everything, and says so."""
    def manner(call):
        rest = b""
        while True:
            body, rest = call.request(rest)
            call.peer.known.take(body)
            call.send(answer)
    return manner


good = takes_all(OK)
good_without_content = takes_all(NO_CONTENT)


def refuse(_call):
    """Nothing listens."""


def reset_at_once(call):
    reset(call.connection)


def close_at_once(call):
    call.connection.close()


def deaf(call):
    """Reads nothing and says nothing."""
    call.wait()


def garbage(call):
    call.send(random.Random(18).randbytes(5000))
    call.wait(0.2)


def tls_alert(call):
    """What a TLS server says to a client that speaks plainly."""
    call.send(bytes([21, 3, 1, 0, 2, 2, 70]))
    call.wait(0.2)


def zeros(call):
    call.send(bytes(100000))
    call.wait(0.2)


def endless(call):
    """1 GB, and more."""
    for _ in range(20000):
        call.send(b"x" * PIECE)


ANY_MANNERS = {
    "refuse": refuse, "reset at once": reset_at_once, "close at once": close_at_once,
    "deaf": deaf, "garbage": garbage, "a TLS alert": tls_alert, "zeros": zeros,
    "1 GB unasked": endless,
}

# ---- of HTTP servers ----


def after_request(*pieces, pause_s=0.0, then=None):
    """Reads a request whole, says these pieces, and closes, or does `then`."""
    def manner(call):
        call.request()
        for piece in pieces:
            call.send(piece)
            if pause_s:
                call.wait(pause_s)
        if then is not None:
            then(call)
    return manner


def page(status, *headers, body=b"<html><body><h1>It works!</h1></body></html>"):
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", "Content-Type: text/html",
             *headers, "", ""]
    return "\r\n".join(lines).encode() + body


def reset_in_the_head(call):
    call.read(20)
    reset(call.connection)


def early_answer(call):
    call.send(page("503 Service Unavailable"))
    call.wait(0.05)


def continues(call):
    call.request()
    while True:
        call.send(b"HTTP/1.1 100 Continue\r\n\r\n")


def endless_headers(call):
    call.request()
    call.send(b"HTTP/1.1 200 OK\r\n")
    while True:
        call.send(b"X-More: " + b"y" * 5000 + b"\r\n")


def endless_body(call):
    call.request()
    call.send(b"HTTP/1.1 500 Oh\r\nContent-Length: 1073741824\r\n\r\n")
    endless(call)


def redirects_to_itself(call):
    call.request()
    call.send(page("307 Temporary Redirect", f"Location: http://127.0.0.1:{call.peer.port}/"))


def drip(call):
    call.request()
    for byte in page("200 OK"):
        call.send(bytes([byte]))
        call.wait(0.05)


# A small answer that is large when it is decompressed.
BOMB = page("400 Bad Request", "Content-Encoding: gzip", body=gzip.compress(bytes(20_000_000), 9))

HTTP_MANNERS = {
    **ANY_MANNERS,
    "reset in the head": reset_in_the_head,
    "reset after the request": after_request(then=lambda call: reset(call.connection)),
    "close after the request": after_request(),
    "silent": after_request(then=deaf),
    "half a status line": after_request(b"HTTP/1.1 2"),
    "half a head": after_request(b"HTTP/1.1 500 No\r\nContent-Le"),
    "half a body": after_request(b"HTTP/1.1 500 No\r\nContent-Length: 99\r\n\r\nabc"),
    "bad chunks": after_request(b"HTTP/1.1 500 No\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\nq"),
    "no HTTP": after_request(b"220 mail.example.org ESMTP\r\n"),
    "HTTP/2 preface": after_request(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
    "a status that is none": after_request(b"HTTP/1.1 999999 What\r\n\r\n"),
    "HTML 404": after_request(page("404 Not Found")),
    "HTML 500": after_request(page("500 Internal Server Error", body=b"<b>\xff\x00</b>" * 3000)),
    "401": after_request(page("401 Unauthorized", 'WWW-Authenticate: Basic realm="x"')),
    "400": after_request(page("400 Bad Request", body=b"line 1: what?\n")),
    "413": after_request(page("413 Content Too Large")),
    "429": after_request(page("429 Too Many Requests", "Retry-After: 1")),
    "503, Retry-After garbage": after_request(page("503 No", "Retry-After: soon, \xfc")),
    "redirect": after_request(page("302 Found", "Location: http://127.0.0.1:1/")),
    "redirect to itself": redirects_to_itself,
    "early answer": early_answer, "100 for ever": continues, "headers for ever": endless_headers,
    "1 GB": endless_body, "a gzip bomb": after_request(BOMB), "drip": drip,
}
