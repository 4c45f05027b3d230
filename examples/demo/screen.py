# SPDX-License-Identifier: Apache-2.0
"""What the person watching sees: lines, colours where the terminal has them, and one block of lines
that is redrawn in place. Where output is not a terminal, or NO_COLOR or CI is set, the block is
printed once, when it is final, and progress is told in plain lines.
"""

import os
import re
import shutil
import sys
import textwrap
import time

ESCAPE = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")
PLAIN_EVERY_S = 3
WIDTH_MAX = 100
STYLES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "blue": "34",
          "cyan": "36"}


def visible(text):
    """The text without colours."""
    return ESCAPE.sub("", text)


class Screen:
    def __init__(self, out=sys.stdout):
        self.out = out
        self.live = out.isatty() and not any(os.environ.get(name) for name in ("NO_COLOR", "CI")) \
            and os.environ.get("TERM", "dumb") != "dumb"
        self.began = time.monotonic()
        self.drawn = 0
        self.told = 0.0
        if hasattr(out, "reconfigure"):
            out.reconfigure(encoding="utf-8", errors="replace")

    def seconds(self):
        """Since the demo began."""
        return time.monotonic() - self.began

    def paint(self, text, *styles):
        if not self.live or not styles:
            return text
        return f"\x1b[{';'.join(STYLES[style] for style in styles)}m{text}\x1b[0m"

    def width(self):
        return min(WIDTH_MAX, shutil.get_terminal_size((WIDTH_MAX, 40)).columns)

    def cut(self, line):
        """The line, cut where the terminal ends, or redrawing in place would go wrong."""
        width = shutil.get_terminal_size((WIDTH_MAX, 40)).columns
        if not self.live or len(visible(line)) <= width:
            return line
        kept, room = "", width
        for part in re.split(f"({ESCAPE.pattern})", line):
            if ESCAPE.fullmatch(part):
                kept += part
            else:
                kept += part[:room]
                room -= len(part[:room])
        return kept

    def fold(self, line):
        """The line, folded between words where a terminal is narrower; what is painted is left."""
        width = shutil.get_terminal_size((WIDTH_MAX, 40)).columns
        if not self.out.isatty() or len(line) <= width or ESCAPE.search(line):
            return line
        indent = " " * (len(line) - len(line.lstrip()))
        return "\n".join(textwrap.wrap(line, width, subsequent_indent=indent,
                                       break_long_words=False, break_on_hyphens=False,
                                       replace_whitespace=False))

    def say(self, text=""):
        """Lines that stay."""
        self.wipe()
        self.out.write("\n".join(map(self.fold, text.split("\n"))) + "\n")
        self.out.flush()

    def phase(self, title):
        """A heading with the time it began."""
        clock = f"{self.seconds():4.0f} s"
        rule = "─" * max(2, self.width() - len(title) - len(clock) - 5)
        self.say()
        self.say(f"{self.paint('──', 'dim')} {self.paint(title, 'bold')} "
                 f"{self.paint(rule + ' ' + clock, 'dim')}")

    def within(self, lines):
        """What of the block the terminal has room for, and a line that says what it lacks."""
        width, height = shutil.get_terminal_size((WIDTH_MAX, 40))
        columns = max((len(visible(line)) for line in lines), default=0) - width
        missing = len(lines) - (height - 1)
        if missing <= 0 and columns <= 0:
            return lines
        kept = lines[:height - 2]
        lacks = [f"{number} {what}" for number, what in
                 ((len(lines) - len(kept), "lines"), (columns, "columns")) if number > 0]
        return [*kept, self.paint(f"   … {' and '.join(lacks)} more than this terminal has", "dim")]

    def redraw(self, lines, summary=""):
        """The block: again in place of itself, or, on a plain stream, now and then its summary."""
        if not self.live:
            if summary and self.seconds() - self.told >= PLAIN_EVERY_S:
                self.told = self.seconds()
                self.say(f"   {self.seconds():4.0f} s  {summary}")
            return
        lines = self.within(lines)
        text = "\x1b[?25l" + (f"\x1b[{self.drawn}A" if self.drawn else "") + "\r"
        for line in lines:
            text += self.cut(line) + "\x1b[K\n"
        self.out.write(text + "\x1b[J")
        self.out.flush()
        self.drawn = len(lines)

    def wipe(self):
        """Takes the block away."""
        if self.drawn:
            self.out.write(f"\x1b[{self.drawn}A\r\x1b[J")
            self.drawn = 0

    def settle(self, lines):
        """The block as it stays."""
        self.wipe()
        for line in lines:
            self.out.write(line + "\n")
        self.out.flush()

    def wait(self, seconds, text):
        """Waits, and says for what."""
        until = time.monotonic() + seconds
        if not self.live:
            self.say(f"   {self.seconds():4.0f} s  {text} ({seconds:.0f} s)")
        while (left := until - time.monotonic()) > 0:
            if self.live:
                self.redraw([self.paint(f"   {text} … {left:.0f} s", "dim")])
            time.sleep(min(0.2, left))
        self.wipe()

    def close(self):
        """Leaves the terminal as it was."""
        if self.live:
            self.out.write("\x1b[?25h")
            self.out.flush()
