#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# crest-test: timeout=300
"""What `crest events` shows of processes that run and were killed, of copies of their files, and of
files that are none; rules at run time; lines of text and JSON.

    tests/integration/test_crest_events.py [WORD ...]     those with a word in their name; all
"""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile

import harness
from harness import Program, Skip, contains, equal, lacks, wait_for

SHM = pathlib.Path("/dev/shm")
CREST = harness.ROOT / "tools/crest"
TOOL = harness.BUILD / "libexec/crest-events"
PROGRAM = harness.BUILD / "tests/programs/event_program"
ENVIRONMENT = {**os.environ, "CREST_LIBEXEC": str(harness.BUILD / "libexec")}


class Folder:
    """A folder for files of events, on tmpfs."""

    def __init__(self, place):
        if not os.access(SHM, os.W_OK):
            raise Skip("there is no /dev/shm to write to")
        self.path = pathlib.Path(tempfile.mkdtemp(prefix="crest-events-", dir=SHM))
        place.started.append(self)

    def node(self, place, *more):
        return Program(place, "event_program",
                       ",".join([f"events={self.path},events.name=node", *more]))

    def kill(self):
        shutil.rmtree(self.path, ignore_errors=True)


def events(*words, status=0):
    """What it prints, and what it says."""
    done = subprocess.run([CREST, "events", *map(str, words)], capture_output=True, check=False,
                          timeout=harness.READY_S, env=ENVIRONMENT)
    out, err = done.stdout.decode(), done.stderr.decode()
    equal(done.returncode, status, f"the status of crest events {words}: {err}")
    return out, err


def as_json(*words):
    return [json.loads(line) for line in events("tail", "--once", "--json", "-n", "all",
                                                *words)[0].splitlines()]


def kill(node):
    node.process.send_signal(signal.SIGKILL)
    node.process.wait()


def accounted(path, written):
    """read + lost = written, in events and in bytes."""
    totals = json.loads(events("stat", "--json", path)[0].splitlines()[0])
    equal(totals["written"], written, "written")
    equal((totals["read"] + totals["lost"], totals["readBytes"] + totals["lostBytes"]),
          (totals["written"], totals["writtenBytes"]), f"read and lost: {totals}")
    equal(totals["unreadable"], 0, "unreadable")
    return totals


def one_is_shown_running_killed_and_copied(place):
    folder = Folder(place)
    node = folder.node(place)
    pid = node.process.pid
    node.do("emit 3")
    node.do("say a \"b\"\x1b[31m, and more than forty bytes of it, so it is cut")
    for where in (folder.path, folder.path / "node.events", pid):
        text, said = events("tail", "--once", where)
        contains(said, f"node, pid {pid}, from ")
        contains(said, ": runs; ")
        lines = text.splitlines()
        equal(bool(re.fullmatch(r"# \d{4}-\d\d-\d\d UTC", lines[0])), True, lines[0])
        names = [line.split()[2] for line in lines[1:]]
        equal(names, 3 * ["event.number", "event.counted"] + ["event.text"], "by time")
        equal(bool(re.fullmatch(r"\d\d:\d\d:\d\d\.\d{6} info      event\.number +number=2 less=-2",
                                lines[5])), True, lines[5])
        contains(lines[7], r'said="a \"b\"\u001b[31m, and more than forty ', "escaped")
        contains(lines[7], r'"... digest=01ab7c22 half=0.5 yes=true of="block 17"', "all types")
        contains(said, "# 7 read and 0 overwritten of 7 events")
    kill(node)
    text, said = events("tail", folder.path)  # it has ended, so this does, too
    contains(said, ": was killed, last heartbeat ")
    equal(len(text.splitlines()), 8, text)
    copy = place.folder / "post-mortem"
    shutil.copy(folder.path / "node.events", copy)
    equal(events("tail", copy)[0], text, "of a copy")
    shown = as_json(copy)
    equal([event["event"] for event in shown], names, "as JSON")
    equal(shown[4]["values"], {"number": 2, "less": -2}, "values")
    said_values = shown[6]["values"]
    equal((said_values["digest"], said_values["half"], said_values["yes"], said_values["of"]),
          ("01ab7c22", 0.5, True, "block 17"), "values of all types")
    equal(shown[6]["severity"], "warning", "severity")
    equal(list(shown[6]["cut"]), ["said"], "what was cut")
    accounted(copy, 7)

    again = folder.node(place)
    again.do("emit 1")
    equal(len(as_json(folder.path)), 2, "the new run's own")
    equal(events("tail", "--dead", folder.path)[0], text, "the last run that has ended")
    contains(events("tail", "--dead", "--once", again.process.pid)[0], "number=2")


def what_is_overwritten_is_counted(place):
    folder = Folder(place)
    node = folder.node(place, "events.size=16KiB")
    node.do("threads 3 20000")
    node.do("emit 20000")
    written, written_bytes, refused = map(int, node.do("totals").split())
    equal((written, refused), (3 * 20000 + 2 * 20000, 0), "written")
    totals = accounted(folder.path, written)
    equal(totals["writtenBytes"], written_bytes, "bytes")
    equal(0 < totals["read"] < written and totals["lost"] > 0, True, f"{totals}")
    kill(node)
    equal(accounted(folder.path, written), totals, "the same when it is dead")
    last = as_json("-n", "2", folder.path)
    equal([event["event"] for event in last], ["event.number", "event.counted"], "the last ones")
    equal(last[0]["values"]["number"], 19999, "the very last number")
    text, _ = events("stat", folder.path)
    contains(text, f"of {written} events")
    contains(text, "event.counted")


def it_follows_until_the_process_ends(place):
    folder = Folder(place)
    node = folder.node(place, "events.size=16KiB")
    node.do("emit 1")
    printed, told = place.folder / "followed", place.folder / "told"
    with open(printed, "wb") as out, open(told, "wb") as err:
        following = subprocess.Popen([CREST, "events", "tail", "--json", folder.path], stdout=out,
                                     stderr=err, env=ENVIRONMENT)
    try:
        wait_for("the first events", lambda: "event.counted" in printed.read_text())
        node.do("emit 2")
        wait_for("later ones", lambda: '"number":2' in printed.read_text())
        following.send_signal(signal.SIGSTOP)
        status = pathlib.Path(f"/proc/{following.pid}/stat")
        wait_for("its stop", lambda: status.read_text().rpartition(")")[2].split()[0] == "T")
        node.do("emit 5000")
        following.send_signal(signal.SIGCONT)
        wait_for("the last one", lambda: '"number":5002' in printed.read_text())
        node.do("say the end")
        kill(node)
        equal(following.wait(harness.READY_S), 0, "its status")
    finally:
        following.kill()
        following.wait()
    shown = [json.loads(line) for line in printed.read_text().splitlines()]
    lost = sum(line.get("lost", 0) for line in shown)
    read = sum("event" in line for line in shown)
    equal(shown[-1]["values"]["said"], "the end", "the last event of a killed process")
    equal(lost > 0 and read + lost == 2 * 5003 + 1, True, f"{read} + {lost}")
    contains(told.read_text(), f"# {read} read and {lost} overwritten of {2 * 5003 + 1} events")


def rules_change_while_it_runs(place):
    folder = Folder(place)
    node = folder.node(place, "events.rules=*: notice; event.number: info limit=5/h")
    node.do("emit 20")
    node.do("detail 2")
    equal([event["values"]["number"] for event in as_json(folder.path)], [0, 1, 2, 3, 4],
          "five of the numbers, and no other")
    equal(node.do("counted"), "20", "the counter of what is off")
    wait_for("the limiter's summary", lambda: [event["values"] for event in as_json(folder.path)
                                               if event["event"] == "crest.event-limit"] ==
             [{"event": "event.number", "suppressed": 15}])
    status, said = node.tell("rules event: loud")
    equal(status, "INVALID_OPTIONS", said)
    contains(said, 'the rule "event: loud" given to crest_events_set: it does not know "loud"')
    node.do("rules event.detail: debug maximum; event.number: off")
    node.do("emit 20")
    node.do("detail 2")
    steps = [event["values"]["step"] for event in as_json(folder.path)
             if event["event"] == "event.detail.step"]
    equal(steps, [0, 1], "what is on now")
    equal(sum(event["event"] == "event.number" for event in as_json(folder.path)), 5, "what is off")
    equal(node.do("counted"), "40", "the counter")


def rules_are_read_again_from_their_file(place):
    folder = Folder(place)
    rules = place.folder / "node.rules"
    rules.write_text("# all\n*: error\n")
    node = folder.node(place, f"events.rules-file={rules}")

    def numbers():
        node.do("emit 1")
        return [event for event in as_json(folder.path) if event["event"] == "event.number"]
    equal(numbers(), [], "nothing at first")
    rules.write_text("*: error\nevent: info\n")
    wait_for("the new rules", numbers)
    rules.write_text("*: lout\n")
    wait_for("the log", lambda: 'it does not know "lout"' in node.errors.read_text())
    contains(node.errors.read_text(), "the rules that were in force stay")
    equal(len(numbers()) < len(numbers()), True, "they do")
    bad = Program(place, "event_program", f"events=on,events.rules-file={place.folder}/none")
    contains(bad.begun, "INVALID_OPTIONS the file of events' rules ")
    bad = Program(place, "event_program", "events=on,events.rules=x y")
    contains(bad.begun, 'INVALID_OPTIONS the rule "x y" of events.rules ')
    bad = Program(place, "event_program", f"events.rules=,events.rules-file={rules}")
    contains(bad.begun, "are both given")


def what_is_confidential_stays(place):
    folder = Folder(place)
    lines = place.folder / "lines"
    node = folder.node(place, f"events-json={lines}.json,events-text={lines}.text",
                       "events.rules=event.secret: to=log:text:json; event.text: to=log:json")
    node.do("secret hunter2")
    node.do("emit 1")
    node.do("say hello")
    node.do("stop")
    written = [json.loads(line) for line in (place.folder / "lines.json").read_text().splitlines()]
    equal([event["event"] for event in written], ["event.number", "event.counted", "event.text"],
          "the lines of JSON")
    text = (place.folder / "lines.text").read_text()
    equal([line.split()[2] for line in text.splitlines()], ["event.number", "event.counted"],
          "the lines of text")
    contains(text, " info event.number number=0 less=0 thread=")
    log = node.errors.read_text()
    contains(log, ' warning event.text said="hello" digest=01ab7c22 half=0.5')
    lacks(log + text + str(written), "hunter2", "what left the ring")
    # the ring has it, and the tool shows it where that is asked for
    for form in ((), ("--json",), ("--chrome",)):
        lacks(events("tail", "--once", *form, folder.path)[0], "hunter2", f"{form}")
        contains(events("tail", "--once", "--confidential", *form, folder.path)[0], "hunter2",
                 f"{form}")
    contains(events("tail", "--once", folder.path)[0], "(confidential)")


def chrome_and_perfetto_can_load_it(place):
    """The members that the Trace Event Format wants, each of its type."""
    folder = Folder(place)
    node = folder.node(place)
    node.do("threads 2 3")
    node.do("say \\ \"quoted\" \t and é")
    trace = json.loads(events("tail", "--chrome", "-n", "all", folder.path)[0])
    instants = [event for event in trace["traceEvents"] if event["ph"] == "i"]
    equal(len(instants), 7, "events")
    for event in instants:
        equal({key: type(event[key]) for key in ("name", "cat", "s", "ts", "pid", "tid", "args")},
              {"name": str, "cat": str, "s": str, "ts": float, "pid": int, "tid": int,
               "args": dict}, "members")
        equal(event["pid"], node.process.pid, "the process")
    equal(len({event["tid"] for event in instants}), 3, "threads")
    equal(instants[-1]["args"]["said"], "\\ \"quoted\" \t and é", "a text")
    equal(instants[-1]["args"]["digest"], "01ab7c22", "bytes")
    told = {event["name"] for event in trace["traceEvents"] if event["ph"] == "M"}
    contains(told, "process_name", "metadata")


def what_is_declared_is_listed(place):
    folder = Folder(place)
    folder.node(place)
    page, _ = events("doc", folder.path)
    contains(page, "## event\n\n| event | severity | values | what it says |\n| --- |")
    contains(page, "| `event.text` | warning | `said` text up to 40, `digest` bytes up to 16, "
             "`half` double, `yes` bool, `of` op | A text, with values of each type. |")
    contains(page, "| `event.secret` | error, confidential | `secret` text up to 128 |")
    contains(page, "| `event.detail.step` | debug, detailed | `step` u64 |")
    contains(page, "| `event.counted` | info |  | It is counted, too. |")
    equal(events("doc", PROGRAM)[0], page, "the same of the program, which is not run")
    listed, _ = events("list", PROGRAM)
    contains(listed, "warning   normal    event.text(said, digest, half, yes, of)\n"
             "                    A text, with values of each type.\n")
    fields = {event["event"]: event["fields"] for event in
              map(json.loads, events("list", "--json", PROGRAM)[0].splitlines())}
    equal(fields["event.secret"], [{"name": "secret", "type": "text", "bound": 128}], "as JSON")


def the_page_of_the_example_node_is_what_it_declares(_):
    page = (harness.ROOT / "examples/node/EVENTS.md").read_text(encoding="utf-8")
    contains(page, "## rchain\n", "its events")
    equal(page[page.index("## "):], events("doc", harness.BUILD / "examples/node/node")[0],
          "examples/node/EVENTS.md and what the node declares: 'make event-pages' makes it anew")


def what_is_no_file_of_events_gets_a_sentence(place):
    folder = Folder(place)
    node = folder.node(place)
    node.do("emit 3")
    kill(node)
    whole = (folder.path / "node.events").read_bytes()
    hostile = place.folder / "hostile"
    contains(events("tail", 1, status=1)[1], "process 1")
    contains(events("tail", place.folder / "missing", status=1)[1], "missing")
    contains(events("tail", place.folder, status=1)[1], "has no file NAME.events")
    contains(events("list", CREST, status=1)[1], "crest")
    contains(events("list", "/bin/sh", status=1)[1], "it has no section crest_events")
    for bytes_there in (0, 1, 7, 100):
        hostile.write_bytes(whole[:bytes_there])
        contains(events("tail", hostile, status=1)[1], "hostile", f"{bytes_there} bytes")
    hostile.write_bytes(b"no events" * 10000)
    contains(events("stat", hostile, status=1)[1], "hostile")
    # wherever a bit is wrong, there is a page or a sentence
    for what, bytes_there, places in (
            ("stat", whole, [*range(0, 600, 23), *range(4096, 4700, 97)]),
            ("list", PROGRAM.read_bytes(), range(0, 64, 3))):
        for at in places:
            hostile.write_bytes(bytes_there[:at] + bytes([bytes_there[at] ^ 0x41])
                                + bytes_there[at + 1:])
            done = subprocess.run([TOOL, what, hostile], capture_output=True, check=False,
                                  timeout=harness.READY_S)
            equal(done.returncode in (0, 1), True, f"byte {at}: {done.returncode} {done.stderr}")
    for words in ((), ("tail",), ("show", "x"), ("tail", "x", "y"), ("tail", "-n", "x", "y"),
                  ("list", "--chrome", "x"), ("doc", "--json", "x"), ("tail", "--wrong", "x")):
        contains(events(*words, status=2)[1], "'crest events --help' says what there is",
                 f"{words}")


if __name__ == "__main__":
    harness.main([one_is_shown_running_killed_and_copied, what_is_overwritten_is_counted,
                  it_follows_until_the_process_ends, rules_change_while_it_runs,
                  rules_are_read_again_from_their_file, what_is_confidential_stays,
                  chrome_and_perfetto_can_load_it, what_is_declared_is_listed,
                  the_page_of_the_example_node_is_what_it_declares,
                  what_is_no_file_of_events_gets_a_sentence], servers=())
