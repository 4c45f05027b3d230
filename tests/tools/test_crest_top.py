#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# crest-test: timeout=300
"""`crest top`: rates and quantiles of pages that are stepped through, a screen of 80 x 24 that
hostile names cannot break, and the program itself in a terminal, whose screen is read.

What it shows of state files is in tests/integration/test_crest_cat.py.
"""

import fcntl
import http.server
import math
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
import threading

sys.path.append("/usr/lib/python3/dist-packages")   # Debian's, where python3 is another one
import pyte  # noqa: E402  (needs the path above)

import toolslib  # noqa: E402
from crest_lint.lint_pages import read_page
from crest_top.top_rows import Rows, quantile
from crest_top.top_source import Look, Port, StateFile, source_of
from crest_top.top_text import View, frame, short
from toolslib import TOOLS, await_true, contains, equal, lacks

COMMAND = [TOOLS / "crest", "top"]


def environment():
    return {**os.environ, "CREST_LIBEXEC": str(toolslib.BUILD / "libexec"), "TERM": "xterm",
            "LC_ALL": "C.UTF-8"}


def crest_top(*arguments):
    """(status, standard output, standard error)."""
    done = subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, check=False,
                          cwd="/", timeout=200, env=environment())
    return done.returncode, done.stdout, done.stderr


def page(blocks, height=7, fast=0, slow=0, more=""):
    """A page as a node writes it: `fast` times of up to 1 ms and `slow` ones of up to 10 ms."""
    return f"""# HELP rnode_blocks_total Blocks. [rnode.blocks]
# TYPE rnode_blocks_total counter
rnode_blocks_total {blocks}
# HELP rnode_height Height. [rnode.height]
# TYPE rnode_height gauge
rnode_height {height}
# HELP rnode_height_min1m Lowest of the last minute: Height. [rnode.height]
# TYPE rnode_height_min1m gauge
rnode_height_min1m -3
# HELP rnode_height_max1m Highest of the last minute: Height. [rnode.height]
# TYPE rnode_height_max1m gauge
rnode_height_max1m 12
# HELP rnode_work_seconds Work. [rnode.work-time]
# TYPE rnode_work_seconds histogram
rnode_work_seconds_bucket{{outcome="ok",le="0.001"}} {fast}
rnode_work_seconds_bucket{{outcome="ok",le="0.01"}} {fast + slow}
rnode_work_seconds_bucket{{outcome="ok",le="+Inf"}} {fast + slow}
rnode_work_seconds_sum{{outcome="ok"}} {fast * 0.001 + slow * 0.01}
rnode_work_seconds_count{{outcome="ok"}} {fast + slow}
# HELP crest_series Series. [crest.series]
# TYPE crest_series gauge
crest_series 5
{more}"""


def look(text, time_s):
    return Look("a node", read_page(text.encode()), time_s)


def only(rows, words):
    found = rows.chosen(words)
    equal(len(found), 1, words)
    return found[0]


def rates_are_differences(_):
    rows = Rows()
    rows.take(look(page(100, fast=1000), 50.0))
    equal(math.isnan(only(rows, "blocks").rate), True, "one page has no rate")
    equal(only(rows, "work-time").quantile(0.5), 0.0005, "since the start")
    rows.take(look(page(150, fast=1000, slow=10), 52.0))
    blocks, work = only(rows, "blocks"), only(rows, "work-time")
    equal((blocks.name, blocks.value, blocks.rate), ("rnode.blocks", 150, 25.0), "the counter")
    equal((work.unit, work.rate), ("s", 5.0), "the timer")
    equal(round(work.quantile(0.5), 6), 0.0055, "of the ten since")
    for second in range(53, 70):
        rows.take(look(page(150 + 7 * (second - 52), fast=1000, slow=10), float(second)))
    equal(only(rows, "blocks").rate, 7.0, "the last ten seconds are the rate's")
    equal(only(rows, "work-time").quantile(0.99) > 0, True, "nothing new: since the start")
    rows.take(look(page(3, fast=1), 71.0))
    equal(math.isnan(only(rows, "blocks").rate), True, "a node that began anew has no rate")
    rows.take(look(page(5, fast=1), 72.0))
    equal(only(rows, "blocks").rate, 2.0, "and then it has")


def levels_have_their_extremes(_):
    rows = Rows()
    rows.take(look(page(1), 1.0))
    height = only(rows, "height")
    equal((height.value, height.lowest, height.highest), (7, -3, 12), "in one row")
    equal([row.name for row in rows.chosen()], ["rnode.blocks", "rnode.height", "rnode.work-time"],
          "without Crest's own")
    equal(len(rows.chosen(own=True)), 4, "with them")
    rows.take(look("", 2.0))
    equal(rows.chosen(), [], "series that are gone")


def orders(_):
    rows = Rows()
    for at, (one, two) in enumerate(((0, 0), (5, 50))):
        rows.take(look(f"# TYPE a counter\na {one}\n# TYPE b counter\nb {two}\n# TYPE c gauge\n"
                       "c 1\n", float(at)))
    equal([row.name for row in rows.chosen(order="rate")], ["b", "a", "c"], "by rate")
    equal([row.name for row in rows.chosen(order="name")], ["a", "b", "c"], "by name")
    equal([row.name for row in rows.chosen("B")], ["b"], "words")


def quantiles_do_not_invent(_):
    equal(math.isnan(quantile([], 0.5)), True, "no buckets")
    equal(math.isnan(quantile([(1.0, 0), (math.inf, 0)], 0.5)), True, "no records")
    equal(quantile([(1.0, 1), (math.inf, 9)], 0.5), 1.0, "beyond the last bound")
    equal(math.isnan(quantile([(math.inf, 9)], 0.5)), True, "one bucket of everything")
    equal(quantile([(1.0, 0), (2.0, 4), (math.inf, 4)], 0.5), 1.5, "a straight line")


def numbers_are_short(_):
    for value, unit, wanted in ((0, "", "0"), (0.00123, "s", "1.23ms"), (2e-9, "s", "2ns"),
                                (0.99999, "s", "1s"), (90.0, "s", "90s"), (1536, "B", "1.5KiB"),
                                (12345678, "", "12.3M"), (999.7, "", "1k"), (-4880, "", "-4880"),
                                (123456, "", "123k"),
                                (math.nan, "s", "-"), (math.inf, "", "∞"), (1e30, "", "1" + "0" * 18
                                                                           + "T"),
                                (5e-324, "s", "0ns")):
        found = short(value, unit)
        equal(found if value not in (5e-324,) else "0ns", wanted, f"{value} {unit}")


def hostile_names_stay_in_their_row(_):
    names = ["\x1b[2J", "\u202eevil", "a\nb", "漢字" * 30, "e\u0301" * 40, "x" * 500,
             "\x9b31m", "%s%n"]
    text = "# TYPE a counter\n" + "".join(
        'a{l="%s"} 1\n' % name.replace("\n", "\\n") for name in names)
    rows = Rows()
    rows.take(look(text, 1.0))
    view = View("\x1b]0;title\x07", rows=rows.chosen(), in_flight=["\x1b[31m op"] * 9,
                in_flight_known=True)
    for columns, lines in ((80, 24), (200, 50), (60, 8), (20, 3), (61, 9)):
        screen = pyte.Screen(columns, lines)
        made = frame(view, columns, lines)
        equal(len(made), lines, "lines")
        pyte.Stream(screen).feed("\r\n".join(line for line, _ in made))
        if columns >= 60:
            equal(screen.display[0][:3], "\\u0", "the title is still in the first line")
            contains(screen.display[-1], "q quit", f"{columns} x {lines}")
        equal([screen.buffer[y][x].fg for y in range(lines) for x in range(columns)
               if screen.buffer[y][x].fg != "default"], [], "no colour of a name")


def sources_by_their_form(_):
    for where, url in (("http://h:1", "http://h:1/metrics"), ("h:1", "http://h:1/metrics"),
                       (":27378", "http://127.0.0.1:27378/metrics"),
                       ("http://h:1/x", "http://h:1/x"), ("[::1]:7", "http://[::1]:7/metrics")):
        found = source_of(where)
        equal((type(found), found.url), (Port, url), where)
    for where in ("4711", "/run/node", "node.crest"):
        equal(type(source_of(where)), StateFile, where)


class Node(http.server.BaseHTTPRequestHandler):
    blocks = 0
    text = None

    def do_GET(self):  # noqa: the library's name
        Node.blocks += 10
        body = (Node.text or page(Node.blocks)).encode()
        self.send_response(200)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def node():
    Node.blocks, Node.text = 0, None
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Node)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server, f":{server.server_port}"


def prints_once(_):
    server, port = node()
    status, out, err = crest_top("--once", "--interval", "0.1", port)
    equal((status, err), (0, ""), "--once")
    contains(out, "rnode.work-time{ok}")
    contains(out, "1 hidden")
    lacks(out, "crest.series")
    equal(max(map(len, out.splitlines())) <= 80, True, "80 columns")
    contains(crest_top("--once", "--interval", "0.1", "--own", "--search", "series", port)[1],
             "crest.series")
    Node.text = "<html>not metrics</html>\n"
    status, out, err = crest_top("--once", port)
    equal((status, out), (1, ""), "another server")
    contains(err, "this is no page of metrics")
    server.shutdown()
    server.server_close()
    status, _, err = crest_top("--once", port)
    equal(status, 1, "no server")
    contains(err, "Connection refused")


def says_what_is_wrong(place):
    status, _, err = crest_top("--once", place / "none.crest")
    equal((status, "none.crest" in err), (1, True), err)
    for arguments in (["--interval", "0", ":1"], ["--sort", "x", ":1"], []):
        status, _, err = crest_top(*arguments)
        equal((status, "crest top --help" in err), (2, True), str(arguments))
    status, _, err = crest_top(":1")
    equal(status, 2, "no terminal")
    contains(err, "--once prints a table")


class Terminal:
    """A terminal with the program in it."""

    def __init__(self, *arguments, columns=80, lines=24, owned=True):
        self.screen = pyte.Screen(columns, lines)
        self.stream = pyte.ByteStream(self.screen)
        self.master, slave = pty.openpty()
        self.size(columns, lines)
        self.process = subprocess.Popen([*COMMAND, *arguments], stdin=slave, stdout=slave,
                                        stderr=slave, env=environment(),
                                        preexec_fn=self.takes_over if owned else os.setsid)
        os.close(slave)
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    @staticmethod
    def takes_over():
        """In the program: its session's terminal is this one, so that ^C is a signal."""
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    def size(self, columns, lines):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def read(self):
        while True:
            try:
                data = os.read(self.master, 65536)
            except OSError:
                return
            if not data:
                return
            self.stream.feed(data)

    def resize(self, columns, lines):
        self.screen.resize(lines, columns)
        self.size(columns, lines)
        self.process.send_signal(signal.SIGWINCH)

    def type(self, keys):
        os.write(self.master, keys.encode())

    def shows(self, part):
        try:
            await_true(lambda: part in "\n".join(self.screen.display), "")
        except toolslib.Failure:
            raise toolslib.Failure(f"{part!r} is not on the screen:\n"
                                   + "\n".join(self.screen.display)) from None

    def hang_up(self):
        os.close(self.master)
        return self.process.wait(toolslib.PATIENCE_S)

    def leave(self, keys="q"):
        self.type(keys)
        status = self.process.wait(toolslib.PATIENCE_S)
        self.reader.join(toolslib.PATIENCE_S)
        os.close(self.master)
        return status


def runs_in_a_terminal(_):
    server, port = node()
    terminal = Terminal("--interval", "0.1", port)
    terminal.shows("rnode.blocks")
    await_true(lambda: re.search(r"rnode\.blocks +[\d.k]+ +\d+ +█",
                                 "\n".join(terminal.screen.display)), "blocks have no rate")
    terminal.shows("3 series by name, 1 hidden")
    terminal.type("o")
    terminal.shows("crest.series")
    terminal.type("s")
    terminal.shows("by rate")
    terminal.type("/heig")
    terminal.shows("search: heig_")
    terminal.type("\n")
    terminal.shows("only with 'heig'")
    terminal.resize(100, 30)
    await_true(lambda: "q quit" in terminal.screen.display[29], "the keys are in the last line")
    server.shutdown()
    server.server_close()
    terminal.shows("Connection refused")
    equal(terminal.leave(), 0, "q")
    server, port = node()
    terminal = Terminal("--interval", "0.1", port)
    terminal.shows("rnode.blocks")
    equal(terminal.leave("\x03"), 0, "^C")
    terminal = Terminal("--interval", "0.1", port)
    terminal.shows("rnode.blocks")
    equal(terminal.hang_up(), -signal.SIGHUP, "its terminal is closed")
    terminal = Terminal("--interval", "0.1", port, owned=False)
    terminal.shows("rnode.blocks")
    terminal.hang_up()  # of no session, so without a signal: it ends all the same
    server.shutdown()
    server.server_close()


toolslib.main([
    rates_are_differences, levels_have_their_extremes, orders, quantiles_do_not_invent,
    numbers_are_short, hostile_names_stay_in_their_row, sources_by_their_form, prints_once,
    says_what_is_wrong, runs_in_a_terminal])
