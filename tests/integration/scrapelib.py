# SPDX-License-Identifier: Apache-2.0
"""A node that serves, and clients of its scrape endpoint that are written by hand."""

import contextlib
import http.client
import socket

from harness import ANSWER_S, Failure, Program, equal


class Node:
    """scrape_program, serving on a free port."""

    def __init__(self, place, options=",windows=off"):
        self.program = Program(place, "scrape_program", f"prometheus=127.0.0.1:0{options}")
        status, _, url = self.program.begun.partition(" ")
        equal(status, "OK", self.program.begun)
        self.port = int(url.rsplit(":", 1)[1].split("/")[0])

    def do(self, line):
        return self.program.do(line)

    def connect(self, timeout=ANSWER_S):
        return socket.create_connection(("127.0.0.1", self.port), timeout)

    def ask(self, path="/metrics", method="GET", body=None, **headers):
        """(status, headers, body) of one request on a connection of its own."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=ANSWER_S)
        try:
            connection.request(method, path, body,
                               {name.replace("_", "-"): value for name, value in headers.items()})
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read()
        finally:
            connection.close()

    def page(self, **headers):
        status, _, body = self.ask(**headers)
        equal(status, 200)
        return body.decode()

    def value(self, name):
        """A sample of the page by its name and labels as they stand there."""
        for line in self.page().splitlines():
            if line.startswith(name + " "):
                return float(line.rpartition(" ")[2])
        raise Failure(f"no {name} on the page")

    def raw(self, sent, half_close=False):
        """Everything that comes back for these bytes until the server closes."""
        with self.connect() as client:
            with contextlib.suppress(OSError):
                client.sendall(sent)
                if half_close:
                    client.shutdown(socket.SHUT_WR)
            return everything(client)

    def memory(self):
        return int(self.do("memory").split()[0])


def everything(client):
    got = b""
    with contextlib.suppress(ConnectionError):
        while part := client.recv(65536):
            got += part
    return got


def until(client, end):
    """What comes, up to this end of it; or all when there is no more."""
    got = b""
    while end not in got and (part := client.recv(65536)):
        got += part
    return got.decode()


def slow_reader(node, host=b"localhost", seconds=ANSWER_S):
    """A client that asks for the page, and takes its time with reading it: more than it has."""
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    client.settimeout(ANSWER_S)
    client.connect(("127.0.0.1", node.port))
    client.sendall(b"GET /metrics HTTP/1.1\r\nHost: %s\r\n"
                   b"X-Prometheus-Scrape-Timeout-Seconds: %d\r\n\r\n" % (host, seconds))
    return client
