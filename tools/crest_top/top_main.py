# SPDX-License-Identifier: Apache-2.0
"""The command line and the terminal of crest top; docs/man/crest-top.1 is its manual.

    sys.exit(main(sys.argv[1:]))
"""

import argparse
import curses
import locale
import os
import queue
import select
import shutil
import sys
import threading
import time

from crest_top.top_rows import Rows
from crest_top.top_source import Unusable, source_of
from crest_top.top_text import HEAD, KEYS, LOUD, PLAIN, View, frame

EXIT_OK, EXIT_UNREADABLE, EXIT_UNUSABLE = 0, 1, 2
ORDERS = ("name", "rate", "p99")
KEY_WAIT_MS = 100
INTERVAL_LEAST_S, INTERVAL_MOST_S = 0.1, 3600.0


class Parser(argparse.ArgumentParser):
    def error(self, message):
        self.print_usage(sys.stderr)
        print(f"crest top: {message}; see crest top --help", file=sys.stderr)
        sys.exit(EXIT_UNUSABLE)


def seconds(text):
    value = float(text)
    if not INTERVAL_LEAST_S <= value <= INTERVAL_MOST_S:
        raise ValueError
    return value


def parse(arguments):
    parser = Parser(prog="crest top", description="A node's figures in a terminal, as they move: "
                    "rates, levels, quantiles, and what is in flight. 80 columns are enough.")
    parser.add_argument("source", metavar="SOURCE", help="http://HOST:PORT, HOST:PORT or :PORT of "
                        "a node's scrape port, or a state file, its folder or a process's number: "
                        "of a node that runs, or of one that was killed")
    parser.add_argument("--interval", metavar="SECONDS", type=seconds, default=1.0,
                        help="between looks, 0.1 to 3600 (default: 1)")
    parser.add_argument("--search", metavar="WORDS", default="", help="only series that have all "
                        "of these words in their names or label values")
    parser.add_argument("--sort", choices=ORDERS, default="name", help="the order of series")
    parser.add_argument("--own", action="store_true", help="Crest's own series too")
    parser.add_argument("--once", action="store_true", help="no terminal: two looks, an interval "
                        "apart, printed as one table")
    return parser.parse_args(arguments)


class Looker(threading.Thread):
    """Looks each interval, beside the terminal: a source that is slow holds no key up."""

    def __init__(self, source, interval_s):
        super().__init__(daemon=True)
        self.source, self.interval_s = source, interval_s
        self.found = queue.Queue()

    def run(self):
        while True:
            begun = time.monotonic()
            try:
                self.found.put(self.source.look())
            except Unusable as problem:
                self.found.put(str(problem))
            time.sleep(max(0.05, self.interval_s - (time.monotonic() - begun)))


class Top:
    """The rows, and how they are looked at."""

    def __init__(self, options):
        self.rows = Rows()
        self.view = View(search=options.search, order=options.sort, own=options.own)
        self.view.title = options.source
        self.view.problem = "no look yet"

    def take(self, found):
        view = self.view
        if isinstance(found, str):
            view.problem = found
            return
        view.problem = ""
        view.title, view.alive = found.title, found.alive
        view.in_flight, view.in_flight_known = found.in_flight, found.in_flight_known
        self.rows.take(found)
        self.choose()

    def choose(self):
        view = self.view
        view.rows = self.rows.chosen(view.search, view.order, view.own)
        view.hidden = len(self.rows.rows) - len(view.rows)

    def key(self, key):
        """False: leave."""
        view = self.view
        if view.typing:
            self.typed(key)
        elif key in ("q", "Q"):
            return False
        elif key == "/":
            view.typing, view.search = True, ""
        elif key == "s":
            view.order = ORDERS[(ORDERS.index(view.order) + 1) % len(ORDERS)]
        elif key == "o":
            view.own = not view.own
        elif key == "p":
            view.paused = not view.paused
        view.top += {curses.KEY_UP: -1, "k": -1, curses.KEY_DOWN: 1, "j": 1, curses.KEY_PPAGE: -10,
                     curses.KEY_NPAGE: 10, curses.KEY_HOME: -1 << 30,
                     curses.KEY_END: 1 << 30}.get(key, 0)
        self.choose()
        return True

    def typed(self, key):
        view = self.view
        if key in ("\n", "\r", curses.KEY_ENTER):
            view.typing = False
        elif key == "\x1b":
            view.typing, view.search = False, ""
        elif key in ("\x7f", "\b", curses.KEY_BACKSPACE):
            view.search = view.search[:-1]
        elif isinstance(key, str) and key.isprintable():
            view.search += key


def draw(screen, view):
    lines, columns = screen.getmaxyx()
    styles = {PLAIN: curses.A_NORMAL, HEAD: curses.A_REVERSE, LOUD: curses.A_BOLD,
              KEYS: curses.A_DIM}
    screen.erase()
    for at, (line, style) in enumerate(frame(view, columns, lines)):
        try:
            screen.addstr(at, 0, line, styles[style])
        except curses.error:
            pass    # the last column of the last line, after which there is no place for the cursor
    screen.refresh()


def gone(terminal):
    """The other end of the terminal was closed: each read fails at once."""
    poll = select.poll()
    poll.register(terminal, 0)
    return bool(poll.poll(0))


def watch(screen, options, source):
    curses.curs_set(0)
    curses.use_default_colors()
    screen.timeout(KEY_WAIT_MS)
    top, looker = Top(options), Looker(source, options.interval)
    looker.start()
    draw(screen, top.view)
    while True:
        changed = False
        try:
            key = screen.get_wch()
            changed = True
            if not top.key(key):
                return EXIT_OK
        except curses.error:    # no key in time, or no terminal any more
            if gone(sys.stdin):
                return EXIT_OK
        except KeyboardInterrupt:
            return EXIT_OK
        while not looker.found.empty():
            found = looker.found.get()
            if not top.view.paused:
                top.take(found)
                changed = True
        if changed:
            draw(screen, top.view)


def once(options, source):
    """Two looks as one table, of any length."""
    top = Top(options)
    first = source.look()
    top.take(first)
    if first.alive:
        time.sleep(options.interval)
        top.take(source.look())
    columns = max(80, shutil.get_terminal_size((80, 24)).columns)
    lines = len(top.view.rows) + 4 + len(top.view.in_flight[:4]) + 2
    for line, style in frame(top.view, columns, max(lines, 10)):
        if style != KEYS and line.strip():
            print(line.rstrip())
    return EXIT_OK


def run(options):
    source = source_of(options.source)
    if options.once:
        return once(options, source)
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        print("crest top: this is no terminal; --once prints a table", file=sys.stderr)
        return EXIT_UNUSABLE
    source.look()   # says what is wrong before the screen is taken
    os.environ.setdefault("ESCDELAY", "25")
    try:
        return curses.wrapper(watch, options, source)
    except curses.error as error:
        print(f"crest top: the terminal {os.environ.get('TERM', 'without a TERM')!r} cannot be "
              f"used: {error}; --once prints a table", file=sys.stderr)
        return EXIT_UNUSABLE


def main(arguments):
    locale.setlocale(locale.LC_ALL, "")
    sys.stdout.reconfigure(errors="replace")
    try:
        status = run(parse(arguments))
        sys.stdout.flush()
        return status
    except Unusable as problem:
        print(f"crest top: {problem}", file=sys.stderr)
        return EXIT_UNREADABLE
    except BrokenPipeError:  # as less does, when it has seen enough
        sys.stderr.close()
        return EXIT_OK
    except KeyboardInterrupt:
        return EXIT_OK
