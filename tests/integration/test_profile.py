#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# crest-test: timeout=900 sanitizers=no
"""Profiles a node over HTTP, and has Go's own `go tool pprof` read what comes: the CPU profile,
by operation, of slow operations only, on the wall clock, and of where every thread is."""

import http.client
import json
import os
import pathlib
import re
import shutil
import subprocess
import threading
import time
import xml.etree.ElementTree

import harness
from harness import ANSWER_S, Failure, Program, Skip, contains, equal, lacks, wait_for

PPROF_S = 200
SVG = "http://www.w3.org/2000/svg"


class Node:
    """profile_program, which serves profiles on a free port."""

    def __init__(self, place, options=""):
        self.place = place
        self.program = Program(place, "profile_program",
                               "profile=on,profile.listen=127.0.0.1:0" + options)
        status, _, self.url = self.program.begun.partition(" ")
        equal(status, "OK", self.program.begun)
        self.port = int(re.search(r":(\d+)/", self.url).group(1))

    def ask(self, path, method="GET", body=None, host=None, headers=None):
        """(status, headers, body)"""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=ANSWER_S)
        try:
            connection.request(method, path, body,
                               {**({"Host": host} if host else {}), **(headers or {})})
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read()
        finally:
            connection.close()

    def folded(self, path):
        status, _, body = self.ask(path)
        equal(status, 200, body)
        return body.decode()

    def fetch(self, name, path):
        """A profile, in a file."""
        status, _, body = self.ask(path)
        equal(status, 200, body)
        file = self.place.folder / f"{name}.pb.gz"
        file.write_bytes(body)
        return file

    def pprof(self, source, *arguments):
        """What go tool pprof says of a file, or of a URL, which it asks itself."""
        if shutil.which("go") is None:
            raise Skip("there is no go (Debian: golang-go)")
        done = subprocess.run(
            ["go", "tool", "pprof", *arguments, source], capture_output=True, text=True,
            timeout=PPROF_S, check=False,
            env={**os.environ, "PPROF_TMPDIR": str(self.place.folder / "pprof")})
        equal(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout


def worked(place, samples):
    """A node that has worked until there were so many samples."""
    node = Node(place)
    node.program.do("work")
    wait_for("samples", lambda: int(node.program.do("samples")) > samples, seconds=PPROF_S)
    return node


def shares_are_right(node):
    """Of each ten blocks: 70 ms, 30 ms and 200 ms. Of 150 samples a share is within 15 points."""
    wanted = {"execute_deploys": 70, "verify_signatures": 30, "replay_history": 200}
    found = dict.fromkeys(wanted, 0)

    def look():
        for line in node.folded("/debug/pprof/profile?seconds=3&folded=1").splitlines():
            for name in wanted:
                if "validate_block" in line and f";{name}" in line:
                    found[name] += int(line.rsplit(" ", 1)[1])
        return sum(found.values()) > 150 * 10101010

    wait_for("150 samples of blocks", look, seconds=PPROF_S)
    for name in wanted:
        if abs(found[name] / sum(found.values()) - wanted[name] / 300) > 0.15:
            raise Failure(f"of {sum(found.values())} ns: {found}")


def the_slow_profile_is_of_slow_blocks(node):
    slow = node.pprof(node.fetch("slow", "/debug/pprof/slow"), "-traces")
    contains(slow, "replay_history")
    contains(slow, "op:")
    lines = node.folded("/debug/pprof/slow?folded=1").splitlines()
    total = {"replay_history": 0, "execute_deploys": 0}
    for line in lines:
        for name in total:
            if "[casper.block-time]" in line and f";{name}" in line:
                total[name] += int(line.rsplit(" ", 1)[1])
    # 200 ms of each slow block against 7; a block that does not replay may be the eighth
    if total["replay_history"] < 4 * total["execute_deploys"] or not total["replay_history"]:
        raise Failure(f"the slow profile has {total}\n" + "\n".join(lines))


def every_thread_is_seen_where_it_waits(node):
    threads = node.folded("/debug/pprof/threads?debug=1")
    stuck = [line for line in threads.splitlines() if line.startswith("thread fetcher;")]
    equal(len(stuck), 1, threads)
    contains(stuck[0], "[casper.block-time]")
    contains(stuck[0], "fetch_block")
    traces = node.pprof(node.fetch("threads", "/debug/pprof/threads"), "-traces")
    contains(traces, "stuck")  # its operation
    contains(traces, "sleeping")
    wall = node.pprof(node.fetch("wall", "/debug/pprof/wall?seconds=2"), "-top",
                      "-nodefraction=0")
    contains(wall, "Type: wall")
    contains(wall, "fetch_block")


def pprof_reads_what_a_node_did(place):
    node = worked(place, 10)
    shares_are_right(node)
    file = node.fetch("cpu", "/debug/pprof/profile?seconds=5")
    contains(node.pprof(file, "-top", "-nodefraction=0"), "Type: cpu")
    contains(node.pprof(file, "-tags"), "casper.block-time")
    contains(node.pprof(f"http://127.0.0.1:{node.port}/debug/pprof/profile?seconds=5", "-top"),
             "validate_block")
    the_slow_profile_is_of_slow_blocks(node)
    every_thread_is_seen_where_it_waits(node)
    a_flame_graph_is_drawn(node)
    the_five_lines_of_the_page(node)


def a_flame_graph_is_drawn(node):
    done = subprocess.run([harness.ROOT / "tools/crest", "profile", "--seconds=5",
                           str(node.program.process.pid)],
                          capture_output=True, text=True, timeout=PPROF_S, check=False)
    equal(done.returncode, 0, done.stderr)
    contains(done.stderr, "in all")
    titles = xml.etree.ElementTree.fromstring(done.stdout).iter(f"{{{SVG}}}title")
    names = [title.text.partition(":")[0] for title in titles]
    for name in ("all", "[casper.block-time]", "validate_block"):
        if name not in names:
            raise Failure(f"no {name} in the graph: {names}")


def the_five_lines_of_the_page(node):
    """Those of docs/profiling.md, run as they stand but for the program and its port."""
    text = (harness.ROOT / "docs/profiling.md").read_text(encoding="utf-8")
    lines = re.search(r"From zero to a flame graph:\n\n```sh\n(.*?)```", text, re.DOTALL).group(1)
    lines = lines.replace(":27379", f":{node.port}").replace("tools/crest", str(harness.ROOT
                                                                            / "tools/crest"))
    lines = [line for line in lines.splitlines() if "./node" not in line and ":8080" not in line]
    equal(len(lines), 3, "lines of the page")
    for line in lines:
        if line.startswith("go ") and shutil.which("go") is None:
            continue
        done = subprocess.run(["sh", "-c", line], cwd=node.place.folder, capture_output=True,
                              text=True, timeout=PPROF_S, check=False,
                              env={**os.environ, "PPROF_TMPDIR": str(node.place.folder / "pprof")})
        equal(done.returncode, 0, line + done.stderr)
    for name in ("cpu.svg", "slow.svg"):
        contains((node.place.folder / name).read_text(encoding="utf-8"), "validate_block")
    a_click_shows_a_part(node.place, (node.place.folder / "cpu.svg").read_text(encoding="utf-8"))


CLICK = """<script>
var boxes = Array.from(document.querySelectorAll('g.f'));
function shown() { return boxes.filter(function (g) { return g.style.display != 'none'; }); }
function wide(g) { return +g.children[1].getAttribute('width'); }
var box = boxes.find(function (g) { return g.dataset.n == 'replay_history'; });
var before = [shown().length, wide(box)];
box.dispatchEvent(new MouseEvent('click'));
var clicked = [shown().length, wide(box)];
boxes[0].dispatchEvent(new MouseEvent('click'));
document.title = JSON.stringify([before, clicked, [shown().length, wide(box)]]);
</script>"""


def a_click_shows_a_part(place, graph):
    """In a browser: a click on a function gives it the whole width, one on the root gives it back.
    Without a browser that part is left out."""
    browser = os.environ.get("CREST_CHROMIUM") or shutil.which("chromium")
    if browser is None:
        return
    page = place.folder / "click.html"
    page.write_text(f"<!DOCTYPE html><meta charset=utf-8><body>{graph}{CLICK}", encoding="utf-8")
    done = subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom",
                           f"--user-data-dir={place.folder}/chromium", page.as_uri()],
                          capture_output=True, text=True, timeout=PPROF_S, check=False)
    title = re.search(r"<title>(\[\[.*?\]\])</title>", done.stdout)
    if title is None:
        raise Failure(done.stdout[-500:] + done.stderr[-500:])
    (all_boxes, width), (fewer, whole), (again, back) = json.loads(title.group(1))
    equal(whole > 1190 > width, True, f"the box is {width} wide, then {whole}")
    equal(fewer < all_boxes, True, f"{fewer} boxes of {all_boxes} after the click")
    equal((again, round(back)), (all_boxes, round(width)), "after a click on the root")


def wrong_requests_are_refused(place):
    node = worked(place, 1)
    seen = threading.Event()
    answers = []

    def long_ones():
        while not seen.is_set():
            answers.append(node.ask("/debug/pprof/profile?seconds=4")[0])

    first = threading.Thread(target=long_ones)
    first.start()
    wait_for("a 429", lambda: node.ask("/debug/pprof/threads")[0] == 429, seconds=PPROF_S)
    seen.set()
    first.join()
    equal(set(answers) - {200, 429}, set())
    equal(node.ask("/debug/pprof/profile?seconds=61")[0], 400)
    equal(node.ask("/debug/pprof/profile?seconds=x")[0], 400)
    equal(node.ask("/debug/pprof/heap")[0], 404)
    equal(node.ask("/metrics")[0], 404)
    equal(node.ask("/debug/pprof/profile", "POST", "x")[0], 405)
    equal(node.ask("/debug/pprof/threads", host="evil.example")[0], 403)
    equal(node.ask("/debug/pprof/")[0], 200)
    other_sites_are_refused(node)
    # a client that goes frees its place
    gone = []

    def is_held():
        gone.append(http.client.HTTPConnection("127.0.0.1", node.port, timeout=ANSWER_S))
        gone[-1].request("GET", "/debug/pprof/profile?seconds=60")
        return node.ask("/debug/pprof/threads")[0] == 429

    wait_for("that profile", is_held, seconds=PPROF_S)
    for connection in gone:
        connection.close()
    wait_for("its end", lambda: node.ask("/debug/pprof/threads")[0] == 200)
    # a stop waits neither for a profile's minute nor for its own deadline, which is 30 s
    wait_for("that profile", is_held, seconds=PPROF_S)
    begun = time.monotonic()
    node.program.do("stop")
    if time.monotonic() - begun > 25:
        raise Failure("the stop has waited for the profile")
    status, said = node.program.leave()
    equal(status, 0, said)


def other_sites_are_refused(node):
    """A page that a browser shows cannot have a profile taken, by an image or by a script."""
    threads = "/debug/pprof/threads"
    for headers in ({"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"},
                    {"Origin": "https://evil.example"}, {"Origin": "null"}):
        status, _, body = node.ask(threads, headers=headers)
        equal(status, 403, headers)
        contains(body.decode(), "page of another site")
    for headers in ({"Sec-Fetch-Site": "none"}, {"Sec-Fetch-Site": "same-origin"}):
        equal(node.ask(threads, headers=headers)[0], 200, headers)


def options_are_checked(place):
    for options, wanted in (("profile=maybe", "profile=maybe is not on or off"),
                            ("profile=on,profile.hz=2000", "profile.hz=2000 is not a number"),
                            ("profile=on,profile.listen=nowhere:x", "nowhere:x"),
                            ("profile=on,profile.sigal=3", "profile.sigal")):
        program = Program(place, "profile_program", options)
        contains(program.begun, wanted)
    silent = Program(place, "profile_program", "profile=on,profile.listen=off")
    equal(silent.begun.strip(), "OK")
    silent.do("work")
    wait_for("samples", lambda: int(silent.do("samples")) > 5, seconds=PPROF_S)
    silent.do("stop")


ORIGINAL = harness.BUILD / "tests/programs/profile_program"


def copy_at_work(place, copy):
    """A node whose program is this file, when there are some samples."""
    program = Program.__new__(Program)
    program.command = lambda: [copy]
    program.__init__(place, copy.name, "profile=on,profile.listen=127.0.0.1:0")
    node = Node.__new__(Node)
    node.program, node.place = program, place
    node.port = int(re.search(r":(\d+)/", program.begun).group(1))
    program.do("work")
    wait_for("samples", lambda: int(program.do("samples")) > 50, seconds=PPROF_S)
    return node


def a_file_that_was_replaced_names_nothing(place):
    """The build id on disk is another's, or there is no file at all, or one that is cut short."""
    copy = place.folder / "replaced"
    shutil.copy(ORIGINAL, copy)
    node = copy_at_work(place, copy)
    contains(node.folded("/debug/pprof/threads?debug=1"), "fetch_block")
    other = place.folder / "other"
    for content in (pathlib.Path("/bin/ls").read_bytes(), ORIGINAL.read_bytes()[:5000], b"", None):
        if content is None:
            copy.unlink()
        else:
            other.write_bytes(content)
            other.replace(copy)
        text = node.folded("/debug/pprof/threads?debug=1")
        lacks(text, "fetch_block", "stacks")
        contains(text, "[casper.block-time]")
        if not re.search(r"thread fetcher;.*replaced\+0x[0-9a-f]+;", text):
            raise Failure("no address of the program:\n" + text)
    shutil.copy(ORIGINAL, copy)  # the same again
    contains(node.folded("/debug/pprof/threads?debug=1"), "fetch_block")


def a_stripped_program_keeps_its_stacks(place):
    if shutil.which("strip") is None:
        raise Skip("there is no strip")
    copy = place.folder / "stripped"
    subprocess.run(["strip", "-o", copy, ORIGINAL], check=True)
    node = copy_at_work(place, copy)
    lines = node.folded("/debug/pprof/profile?seconds=4&folded=1").splitlines()
    busy = [line for line in lines if "[casper.block-time]" in line]
    # The C library's own two frames come first. They are local names of it, clone3 and
    # start_thread, which are there only with its debug package.
    whole = re.compile(r"\[casper\.block-time\];(\w+;start_thread|libc\.so\.6\+0x[0-9a-f]+;"
                       r"libc\.so\.6\+0x[0-9a-f]+);stripped\+0x")
    if not busy or not all(whole.match(line) for line in busy):
        raise Failure("\n".join(lines))


STATIC = """
#include <crest/profile.h>
#include <stdio.h>

__attribute__((noinline)) void burn_here(uint64_t samples)
{
    while (crest_profiler_status().samples < samples)
        for (volatile int i = 0; i < 100000; i++)
            continue;
}

static int put(void *file, const void *bytes, size_t length)
{
    return fwrite(bytes, 1, length, file) == length ? 0 : -1;
}

int main(void)
{
    crest_error error = {CREST_OK, ""};
    crest_profile *profile = NULL;
    if (crest_profiler_start(NULL, &error) == CREST_OK)
        profile = crest_profile_begin(CREST_PROFILE_CPU, &error);
    if (profile != NULL) {
        burn_here(30);
        if (crest_profile_end(profile, &error) == CREST_OK)
            crest_profile_write(profile, CREST_PROFILE_FOLDED, put, stdout, &error);
    }
    puts(error.message);
    return error.status != CREST_OK || crest_profiler_stop(NULL) != CREST_OK;
}
"""


def static_profile(place, *options):
    source, program = place.folder / "static.c", place.folder / "static"
    source.write_text(STATIC, encoding="utf-8")
    archive = harness.BUILD / "lib/libcrest.a"
    made = subprocess.run([*os.environ.get("CC", "cc").split(), "-O2", "-static", *options, "-o",
                           program, source, f"-I{harness.ROOT}/include", archive, "-lck",
                           "-lpthread"], capture_output=True, text=True, check=False)
    if made.returncode != 0:
        raise Skip("nothing can be linked statically here: " + made.stderr.strip()[-200:])
    done = subprocess.run([program], capture_output=True, text=True, timeout=PPROF_S, check=False)
    equal(done.returncode, 0, done.stdout + done.stderr)
    lacks(done.stdout, "[unknown]", "stacks")
    return done.stdout


def a_static_program_has_names_and_may_have_stacks(place):
    """It has one module. Its tables have an index only if the linker was told to make one: some
    compilers leave it out, and the stack then ends with the function that ran."""
    contains(static_profile(place), "burn_here")
    contains(static_profile(place, "-Wl,--eh-frame-hdr"), ";main;burn_here")


harness.main([pprof_reads_what_a_node_did, wrong_requests_are_refused, options_are_checked,
              a_stripped_program_keeps_its_stacks, a_static_program_has_names_and_may_have_stacks,
              a_file_that_was_replaced_names_nothing],
             servers=())
