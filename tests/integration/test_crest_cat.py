#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `crest cat`, `crest op` and `crest top` show of nodes that run, were killed, and go on.

    tests/integration/test_crest_cat.py [WORD ...]     those with a word in their name; all
"""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time

import harness
from harness import Failure, Program, Skip, contains, equal, lacks, wait_for

SHM = pathlib.Path("/dev/shm")
CREST = harness.ROOT / "tools/crest"
ENVIRONMENT = {**os.environ, "CREST_LIBEXEC": str(harness.BUILD / "libexec")}


class Folder:
    """A folder for state files, on tmpfs."""

    def __init__(self, place):
        if not os.access(SHM, os.W_OK):
            raise Skip("there is no /dev/shm to write to")
        self.path = pathlib.Path(tempfile.mkdtemp(prefix="crest-cat-", dir=SHM))
        place.started.append(self)

    def node(self, place):
        """A node whose file is here, opened at load."""
        return Program(place, "peer_program", "interval=1s",
                       CREST_OPTS=f"state={self.path},state.name=node")

    def kill(self):
        shutil.rmtree(self.path, ignore_errors=True)


def cat(*words, status=0):
    """What it prints, and what it says."""
    done = subprocess.run([CREST, "cat", *map(str, words)], capture_output=True, text=True,
                          timeout=harness.READY_S, check=False,
                          env=ENVIRONMENT)
    equal(done.returncode, status, f"the status of crest cat {words}: {done.stderr}")
    return done.stdout, done.stderr


def value(page, name):
    found = re.search(rf"^{name} (\S+)$", page, re.M)
    if found is None:
        raise Failure(f"there is no {name} on the page:\n{page}")
    return int(found.group(1))


def one_operation(*words):
    """What `crest op` prints."""
    done = subprocess.run([CREST, "op", *map(str, words)], capture_output=True, text=True,
                          timeout=harness.READY_S, check=False, env=ENVIRONMENT)
    equal((done.returncode, done.stderr), (0, ""), f"crest op {words}")
    return done.stdout


def kill(node):
    node.process.send_signal(signal.SIGKILL)
    node.process.wait()


def a_node_is_shown_running_and_killed_and_going_on(place):
    folder = Folder(place)
    node = folder.node(place)
    pid = node.process.pid
    node.do("record 1000")
    node.do("begin block-17")
    node.do("begin block-18")
    page, said = cat(folder.path)
    equal(value(page, "peer_events_total"), 1000, "of one that runs")
    contains(said, f"pid {pid}, from ")
    contains(said, ": runs, last heartbeat ")
    equal(value(cat(pid)[0], "peer_events_total"), 1000, "by its process id")

    kill(node)
    killed_at = time.time()
    page, said = cat(folder.path)
    contains(said, ": was killed, last heartbeat ")
    equal((value(page, "peer_events_total"), value(page, "peer_size_bytes_count")), (1000, 1000),
          "of one that was killed")
    equal(value(page, "peer_size_bytes_sum"), sum(range(100, 1100)), "the sum")
    flight, _ = cat("--in-flight", folder.path)
    lines = flight.splitlines()
    contains(lines[0], "2 operations in flight")
    equal([line.split()[-2:] for line in lines[1:]],
          [["peer.work-time", "block-17"], ["peer.work-time", "block-18"]], "the oldest first")
    shown = json.loads(cat("--json", folder.path)[0])
    equal([op["op"] for op in shown["in_flight"]], ["block-17", "block-18"], "as JSON")

    again = folder.node(place)
    again.do("record 5")
    page, _ = cat(folder.path)
    equal(value(page, "peer_events_total"), 1005, "it goes on")
    equal(value(page, 'crest_previous_ends_total{how="killed"}'), 1, "how the run before ended")
    before, said = cat("--previous", folder.path)
    equal(value(before, "peer_events_total"), 1000, "the run before")
    contains(said, "a later run goes on from its totals")
    equal(time.time() - killed_at < 60, True, "in time")


def it_follows_until_it_is_ended(place):
    folder = Folder(place)
    node = folder.node(place)
    node.do("record 1")
    printed = place.folder / "followed"
    with open(printed, "wb") as file:
        following = subprocess.Popen([CREST, "cat", "--follow", folder.path], stdout=file,
                                     stderr=subprocess.DEVNULL,
                                     env=ENVIRONMENT)
    try:
        wait_for("the first page", lambda: "peer_events_total 1\n" in printed.read_text())
        node.do("record 2")
        wait_for("a later page", lambda: "peer_events_total 3\n" in printed.read_text())
    finally:
        following.terminate()
        following.wait()


def an_operation_is_shown_as_open(place):
    """Of a node that runs, by its number, and of one that was killed, by its folder."""
    folder = Folder(place)
    node = folder.node(place)
    node.do("begin block 77")
    node.do("begin block 78")
    pid = node.process.pid
    text = one_operation("block 77", pid)
    contains(text, "0 spans, 1 node, 1 still open when last seen")
    contains(text, "peer.work-time  OPEN  [")
    contains(text, f"(pid {pid}, running)]")
    lacks(text, "block 78")
    kill(node)
    contains(one_operation("block 77", folder.path), f"(pid {pid}, dead)]")
    listed = one_operation("-", folder.path).splitlines()
    equal(sorted(line.split("  ")[-2] for line in listed), ["block 77", "block 78"], "the list")
    # beside what it had finished of the operation
    finished = place.folder / "spans.jsonl"
    finished.write_text(json.dumps({"traceId": "7" * 32, "spanId": "7" * 16, "name": "early",
                                    "operation": "block 77", "startTimeUnixNano": 1,
                                    "endTimeUnixNano": 2}))
    text = one_operation("block 77", folder.path, finished)
    contains(text, "1 span, 1 node, 1 still open when last seen")
    contains(text, "early")
    contains(text, "peer.work-time  OPEN")


def an_operation_that_ended_is_shown_after_a_kill(place):
    """Its spans are in the state file, though no exporter had them."""
    folder = Folder(place)
    node = Program(place, "span_program", f"state={folder.path},state.name=node,instance=node-1")
    contains(node.begun, "OK")
    pid = node.process.pid
    node.do("block 5 4")
    node.do("block 6 1")
    node.do("flush")
    kill(node)
    spans = json.loads(cat("--json", folder.path)[0])["spans"]
    equal(len(spans), 9, "spans: two blocks, five steps, two stores")
    operation = next(span["operation"] for span in spans if span["name"] == "span.block-time")
    shown = one_operation(operation, folder.path)
    contains(shown.splitlines()[0], f"{operation}: ")
    contains(shown.splitlines()[0], ", 6 spans, 1 node")
    names = re.findall(r"s  ([│├└─ ]*span\.\S+)", shown)
    equal(names, ["span.block-time", "├─ span.step-time", "│  └─ span.store-time",
                  "├─ span.step-time", "├─ span.step-time", "└─ span.step-time"], "the tree")
    contains(shown, 'ERROR "no parent" peer=café height=-2 weight=2.5 final=true')
    contains(shown, "· stored")
    contains(shown, "span.store-time  shard=<7> kind=café", "a series' labels")
    contains(shown, f"[node-1 (pid {pid}, dead)]")
    equal(len(one_operation("-", folder.path).splitlines()), 2, "two operations")
    # a span that a file of spans-json= has too is shown once
    copy = place.folder / "spans.jsonl"
    copy.write_text("".join(json.dumps(span) + "\n" for span in spans))
    contains(one_operation(operation, folder.path, copy).splitlines()[0], "6 spans, 1 node")


def old_spans_make_room_for_new_ones(place):
    """Of 12 operations the last are there, and what is there is within the bound."""
    folder = Folder(place)
    node = Program(place, "span_program", f"state={folder.path},state.name=node")
    for number in range(100, 112):
        node.do(f"block {number} 60")
        node.do("flush")
    node.do("hostile 7")
    node.do("flush")
    kill(node)
    shown = json.loads(cat("--json", folder.path)[0])
    equal(shown["process"]["damaged"], 0, "damaged records")
    spans = shown["spans"]
    equal(100 < len(spans) < 400, True, f"{len(spans)} spans of 745")
    contains(one_operation("-", folder.path), "1 span, 1 not ok")


def its_figures_are_a_table_alive_and_dead(place):
    folder = Folder(place)
    node = folder.node(place)
    node.do("record 1000")
    node.do("begin block-17")
    for look, said in (("alive", ": runs, last heartbeat "), ("dead", ": was killed, last")):
        done = subprocess.run([CREST, "top", "--once", "--interval", "0.1", folder.path],
                              capture_output=True, text=True, timeout=harness.READY_S, check=False,
                              env={**ENVIRONMENT, "LC_ALL": "C.UTF-8"})
        equal((done.returncode, done.stderr), (0, ""), look)
        contains(done.stdout, said)
        rows = {line.split()[0]: line.split()[1:] for line in done.stdout.splitlines()}
        # a counter's rate, of two looks at a node that runs, and its total
        equal(rows["peer.events"][:2], ["0" if look == "alive" else "-", "1000"], look)
        equal(rows["peer.size"][0], rows["peer.events"][0], look)
        contains(done.stdout, "block-17")
        equal("dead: these are its last figures" in done.stdout, look == "dead", look)
        if look == "alive":
            kill(node)


def what_is_no_state_file_gets_a_sentence(place):
    folder = Folder(place)
    contains(cat(folder.path, status=1)[1], str(folder.path))
    contains(cat(1, status=1)[1], "1")
    contains(cat(place.folder / "missing", status=1)[1], "missing")
    (folder.path / "node.crest").write_bytes(b"no state file" * 1000)
    contains(cat(folder.path, status=1)[1], "node.crest")
    contains(cat(status=2)[1], "crest cat --help")


def a_set_user_id_program_has_no_file(place):
    """Its caller could choose by CREST_OPTS where it writes."""
    if os.getuid() != 0:
        raise Skip("only root can make a program of another user's")
    folder = Folder(place)
    program = harness.BUILD / "tests/programs/peer_program_of_another"
    shutil.copy(harness.BUILD / "tests/programs/peer_program", program)
    try:
        os.chown(program, 65534, 65534)
        program.chmod(0o4755)
        node = Program(place, program.name, f"state={folder.path},interval=1s")
        contains(node.begun, "PARTIAL")
        contains(node.begun, "a set-user-ID or set-group-ID program keeps no such file")
        equal(list(folder.path.iterdir()), [], "what it wrote")
        node.do("record 3")
    finally:
        program.unlink()


if __name__ == "__main__":
    harness.main([a_node_is_shown_running_and_killed_and_going_on, it_follows_until_it_is_ended,
                  an_operation_is_shown_as_open, an_operation_that_ended_is_shown_after_a_kill,
                  old_spans_make_room_for_new_ones, its_figures_are_a_table_alive_and_dead,
                  what_is_no_state_file_gets_a_sentence,
                  a_set_user_id_program_has_no_file], servers=())
