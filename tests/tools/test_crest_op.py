#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# crest-test: timeout=300
"""`crest op`: a tree of one operation from files, from a port, and from a state file; and what it
makes of sources that lie."""

import http.server
import json
import os
import re
import socket
import subprocess
import threading

import toolslib
from toolslib import TOOLS, contains, equal, lacks

HASH = "0xa0a1a2a3a4a5a6a7a8a9aaabacadaeafb0b1b2b3b4b5b6b7b8b9babbbcbdbebf"
TRACE = "a0a1a2a3a4a5a6a7a8a9aaabacadaeaf"
T0_MS = 1700000000000


def crest_op(*arguments, feed=None, **more):
    """(status, standard output, standard error)."""
    done = subprocess.run([TOOLS / "crest", "op", *map(str, arguments)], capture_output=True,
                          text=True, check=False, cwd="/", timeout=200, input=feed,
                          env={**os.environ, **more,
                               "CREST_LIBEXEC": str(toolslib.BUILD / "libexec")})
    return done.returncode, done.stdout, done.stderr


def span(number, parent, begin_ms, end_ms, name="casper.work-time", **more):
    """A line as spans-json= writes it."""
    ids = {"parentSpanId": f"{parent:016x}"} if parent else {}
    return json.dumps({"traceId": TRACE, "spanId": f"{number:016x}", **ids, "name": name,
                       "kind": "internal", "startTimeUnixNano": (T0_MS + begin_ms) * 10 ** 6,
                       "endTimeUnixNano": (T0_MS + end_ms) * 10 ** 6, "outcome": "ok",
                       "kept": "sampled", "operation": HASH, "instance": "node-1", **more})


def written(place, name, lines):
    path = place / name
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return path


def tree(text):
    """Of each line with a span: (depth of the tree, name and what is said)."""
    found = []
    for line in text.splitlines():
        match = re.match(r".{24} +\+\S+ \S+ +\S+ \S+  ((?:[│ ]  )*(?:[├└]─ )?)(.*)", line)
        if match:
            found.append((len(match[1]) // 3, match[2]))
    return found


def block(place):
    """A block's files of two nodes."""
    first = written(place, "node-1.jsonl", [
        span(2, 1, 2, 801, "comm.fetch-time",
             attributes={"peer": "node-2", "tries": 3, "hit": False},
             events=[{"timeUnixNano": (T0_MS + 5) * 10 ** 6, "name": "asked"}]),
        span(1, 0, 0, 1532, "casper.block-time", outcome="timeout", message="no quorum"),
        span(4, 1, 812, 1501, "casper.transfer-time",
             folded={"count": 612, "sum_ns": 6 * 10 ** 8, "max_ns": 2 * 10 ** 7}),
        span(9, 0, 0, 99999, traceId="f" * 32, operation="7")])
    second = written(place, "node-2.jsonl", [
        span(3, 2, 12, 701, "comm.serve-time", instance="node-2"),
        span(5, 0xff, 1502, 1532, "casper.support-time", instance="node-2", outcome="error")])
    return first, second


def shows_one_tree_of_two_nodes(place):
    files = block(place)
    status, out, err = crest_op("0xa0a1", *files)
    equal((status, err), (0, ""), "the status")
    contains(out.splitlines()[0], f"{HASH}: 1.53 s since 2023-11-14 22:13:20.000 UTC, 5 spans, "
             "2 nodes")
    contains(out, f"trace {TRACE}")
    equal(tree(out), [
        (0, 'casper.block-time  TIMEOUT "no quorum"  [node-1]'),
        (1, "comm.fetch-time  peer=node-2 tries=3 hit=false"),
        (2, "comm.serve-time  [node-2]"),
        (1, "casper.transfer-time  ×612, longest 20 ms  [node-1]"),
        (0, "casper.support-time  ERROR (below 00000000000000ff, which is not here)  [node-2]"),
    ], "the tree")
    contains(out, "· asked after 3 ms")
    bars = [line[:24] for line in out.splitlines() if line[:1] in "█ " and "casper." in line]
    equal((bars[0], bars[1], bars[2]), ("█" * 24, " " * 12 + "█" * 12, " " * 23 + "█"), "the bars")
    for same in (HASH, HASH[2:], TRACE, HASH.upper().replace("X", "x"), "A0A1"):
        equal(crest_op(same, *files)[1], out, same)
    whole = "".join(path.read_text() for path in files)
    for pipe in ("-", "/dev/stdin"):  # the second is what <(command) of a shell is
        equal(crest_op("a0a1", pipe, feed=whole)[1], out, pipe)
    contains(crest_op("7", *files)[1], "7: 100 s since")
    lines = [json.loads(line) for line in crest_op("--json", HASH, *files)[1].splitlines()]
    equal(sorted(int(line["spanId"], 16) for line in lines), [1, 2, 3, 4, 5], "as JSON")
    equal([line.split()[2] for line in crest_op("-", *files)[1].splitlines()], ["7", HASH],
          "the list, slowest first")


class Port(http.server.BaseHTTPRequestHandler):
    text = ""

    def do_GET(self):  # noqa: the library's name
        body = self.text.encode() if self.path == "/spans" else b"there is no such page"
        self.send_response(200 if self.path == "/spans" else 404)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def reads_a_port(place):
    Port.text = "".join(path.read_text() for path in block(place))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Port)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}"
    for way in (url, url + "/", url + "/spans"):
        status, out, err = crest_op("0xa0a1", way)
        equal((status, err, len(tree(out))), (0, "", 5), way)
    status, _, err = crest_op("0xa0a1", url + "/other")
    equal(status, 2, "another page")
    contains(err, "404 there is no such page")
    server.shutdown()
    server.server_close()
    status, _, err = crest_op("0xa0a1", url)
    equal(status, 2, "no server")
    contains(err, "Connection refused")
    with socket.create_server(("127.0.0.1", 0)) as other:
        threading.Thread(target=lambda: other.accept()[0].sendall(b"220 mail\r\n"),
                         daemon=True).start()
        status, _, err = crest_op("0xa0a1", f"http://127.0.0.1:{other.getsockname()[1]}")
    equal(status, 2, "a server of something else")
    contains(err, "does not speak HTTP")
    lacks(err, "Traceback", "what it says")


def believes_any_ids(place):
    circle = [span(1, 3, 0, 9, "a"), span(2, 1, 1, 8, "b"), span(3, 2, 2, 7, "c"),
              span(4, 4, 3, 3, "its-own"), span(0, 0, 4, 4, "no-id"), span(2, 1, 5, 5, "twin"),
              span(6, 2, 6, 6, "of-the-first")]
    out = crest_op(HASH, written(place, "circle", circle))[1]
    equal(tree(out), [(0, "a  (below 0000000000000003, which is not here)  [node-1]"), (1, "b"),
                      (2, "c"), (2, "of-the-first"), (1, "twin"),
                      (0, "its-own  (below 0000000000000004, which is not here)"), (0, "no-id")],
          "circles and twins")
    wide = [span(1, 0, 0, 100000, "root")] + [span(i, 1, i, i + 1) for i in range(2, 100002)]
    status, out, _ = crest_op(HASH, written(place, "wide", wide))
    equal((status, len(tree(out))), (0, 51), "100,000 children")
    contains(out, "… 99950 more, 100 s in all; --all shows them")
    deep = [span(i, i - 1, i, 30000, "deep") for i in range(1, 3001)]
    status, out, _ = crest_op(HASH, written(place, "deep", deep))
    equal((status, tree(out)[-1][0]), (0, 2999), "3,000 floors")


def shows_no_control_characters(place):
    lines = [span(1, 0, 0, 1, "x\x1b[2J", message="a\nb", attributes={"k\r": "v" * 10 ** 6}),
             span(2, 1, 5, 2, "ends-before-it-starts", instance="\x07"),
             span(3, 1, 0, 1, 5, attributes=[], events={}, folded=7, outcome=None),
             '{"traceId": "' + TRACE + '", "startTimeUnixNano": "1700000000000000000"}',
             '{"traceId": 7}', "[" * 100000, "null", "{}", '"text"', ""]
    status, out, err = crest_op(TRACE, written(place, "bad", lines))
    equal(status, 0, "the status")
    for bad in ("\x1b", "\r", "\x07"):
        lacks(out, bad, "what it shows")
    contains(out, 'x\\u001b[2J  "a\\u000ab" k\\u000d=' + "v" * 200 + "…")
    contains(err, "left out 4 lines without a span")
    status, out, err = crest_op(TRACE, written(place, "none", ["x", "y"]))
    equal((status, out), (2, ""), "a file of something else")
    contains(err, "none of its 2 lines is a span")


def takes_any_numbers(place):
    lines = [span(1, 0, 0, 1, "root", startTimeUnixNano=10 ** 400, endTimeUnixNano=-10 ** 400,
                  events=[{"timeUnixNano": 10 ** 400, "name": "never"}]),
             span(2, 1, 0, 1, "a", folded={"count": "\x1b[2J", "max_ns": "x"}),
             span(3, 1, 0, 1, "b", folded={"count": 10 ** 400, "max_ns": None}),
             span(4, 1, 0, 1, "c", folded={"count": 7, "max_ns": 1e999})]
    status, out, err = crest_op(HASH, written(place, "numbers", lines))
    equal((status, err), (0, ""), "the status")
    equal([said for _, said in tree(out)],
          ["root  [node-1]", "a  ×0, longest 0 ns", "b  ×0, longest 0 ns", "c  ×7, longest 0 ns"],
          "what is not a number of 64 bits is 0")
    status, out, err = crest_op(HASH, place / "numbers", PYTHONIOENCODING="ascii")
    equal((status, err), (0, ""), "a terminal without these characters")
    contains(out, "7, longest 0 ns")


def says_what_is_wrong(place):
    files = block(place)
    status, out, err = crest_op("1234", *files)
    equal((status, out), (1, ""), "another operation")
    contains(err, f"there is no span of 1234 among 6 spans, of {HASH}, 7 for example")
    status, _, err = crest_op("0xa0a1", written(place, "empty", []))
    equal(status, 1, "an empty file")
    contains(err, "is spans= set")
    status, _, err = crest_op("0xa0a1", place / "missing")
    equal(status, 2, "no file")
    contains(err, "missing: No such file or directory")
    status, out, err = crest_op("0xa0a1", place / "missing", *files)
    equal((status, len(tree(out))), (0, 5), "one file of three is missing")
    contains(err, "missing: No such file or directory")
    equal(crest_op("0xa0a1")[0], 2, "no source")
    contains(crest_op("a0", *files)[2], "there is no span of a0", "too few digits")


if __name__ == "__main__":
    toolslib.main([shows_one_tree_of_two_nodes, reads_a_port, believes_any_ids,
                   shows_no_control_characters, takes_any_numbers, says_what_is_wrong])
