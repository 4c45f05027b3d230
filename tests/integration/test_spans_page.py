#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`crest op` against a program with spans: from its scrape port, /spans, and from the file of
spans-json, which must say the same; and what /spans answers to whom.

    tests/integration/test_spans_page.py [WORD ...]     those with a word in their name; all
"""

import http.client
import json
import os
import re
import subprocess

import harness
from harness import Program, contains, equal

CREST = harness.ROOT / "tools/crest"


def one_operation(*words, status=0):
    """What `crest op` prints, and what it says."""
    done = subprocess.run([CREST, "op", *map(str, words)], capture_output=True, text=True,
                          timeout=harness.READY_S, check=False,
                          env={**os.environ, "CREST_LIBEXEC": str(harness.BUILD / "libexec")})
    equal(done.returncode, status, f"the status of crest op {words}: {done.stderr}")
    return done.stdout, done.stderr


def traced(place, address="127.0.0.1", more=""):
    """(the program, its port)."""
    port = harness.free_port()
    program = Program(place, "span_program", f"prometheus={address}:{port},instance=node-1{more}")
    equal(program.begun.split()[0], "OK", program.begun)
    return program, port


def answer(port, path="/spans", address="127.0.0.1", host=None):
    """(status, type, text)."""
    connection = http.client.HTTPConnection(address, port, timeout=harness.READY_S)
    try:
        connection.request("GET", path, headers={"Host": host or f"127.0.0.1:{port}"})
        found = connection.getresponse()
        return found.status, found.getheader("Content-Type"), found.read().decode()
    finally:
        connection.close()


def the_port_and_the_file_show_one_tree(place):
    file = place.folder / "spans.jsonl"
    program, port = traced(place, more=f",spans-json={file}")
    equal(answer(port), (200, "application/x-ndjson", ""), "before any span")
    program.do("block 5 4")
    program.do("block 6 1")
    program.do("flush")
    status, kind, text = answer(port)
    equal((status, kind), (200, "application/x-ndjson"), "/spans")
    lines = [json.loads(line) for line in text.splitlines()]
    equal(len(lines), 9, "spans: two blocks, five steps, two stores")
    operation = next(line["operation"] for line in lines if line["name"] == "span.block-time")
    shown, said = one_operation(operation, f"http://127.0.0.1:{port}")
    equal(said, "", "what it says")
    contains(shown.splitlines()[0], f"{operation}: ")
    contains(shown.splitlines()[0], ", 6 spans, 1 node")
    names = re.findall(r"s  ([│├└─ ]*span\.\S+)", shown)
    equal(names, ["span.block-time", "├─ span.step-time", "│  └─ span.store-time",
                  "├─ span.step-time", "├─ span.step-time", "└─ span.step-time"], "the tree")
    contains(shown, 'ERROR "no parent" peer=café height=-2 weight=2.5 final=true')
    contains(shown, "· stored")
    contains(shown, "span.store-time  shard=<7> kind=café", "a series' labels")
    program.do("stop")
    equal(one_operation(operation, file)[0], shown, "the file shows the same")
    listed, _ = one_operation("-", file)
    equal(len(listed.splitlines()), 2, "two operations")


def old_spans_make_room(place):
    program, port = traced(place)
    for number in range(100, 130):
        program.do(f"block {number} 100")  # what the thread's ring holds between two flushes
        program.do("flush")
    _, _, text = answer(port)
    lines = [json.loads(line) for line in text.splitlines()]
    equal(len(text.encode()) <= 1 << 20, True, f"{len(text.encode())} bytes are at most 1 MiB")
    equal(len(text.encode()) > 1 << 19, True, f"{len(text.encode())} bytes are most of it")
    newest = lines[-1]["operation"]
    contains(one_operation(newest, f"http://127.0.0.1:{port}")[0], ", 102 spans, 1 node")
    program.do("hostile 7")
    program.do("flush")
    shown, _ = one_operation("-", f"http://127.0.0.1:{port}")
    contains(shown, "1 span, 1 not ok")


def spans_are_for_the_machine_itself(place):
    program, port = traced(place, "0.0.0.0")
    program.do("block 5 1")
    program.do("flush")
    equal(answer(port)[0], 200, "the machine itself")
    status, _, text = answer(port, host="node.example")
    equal(status, 403, "a name of its own, as a page in a browser has by rebinding")
    contains(text, "on the machine itself only")
    own = subprocess.run(["hostname", "-I"], capture_output=True, text=True, check=False).stdout
    outside = next((word for word in own.split() if "." in word and not word.startswith("127.")),
                   None)
    if outside is not None:
        equal(answer(port, address=outside)[0], 403, "an address of the network")
    contains(answer(port, "/")[2], "spans")
    _, said = one_operation("1234", f"http://127.0.0.1:{port}", status=1)
    contains(said, "there is no span of 1234")
    program.do("stop")


if __name__ == "__main__":
    harness.main([the_port_and_the_file_show_one_tree, old_spans_make_room,
                  spans_are_for_the_machine_itself], servers=())
