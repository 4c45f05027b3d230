# SPDX-License-Identifier: Apache-2.0
"""The screen of crest top, as lines of text: no terminal is needed to make them.

    for line, style in frame(view, columns=80, lines=24):
        print(line)

80 columns hold all of it; what a wider terminal has more goes to names and trends.
"""

import dataclasses
import math
import unicodedata

PLAIN, HEAD, LOUD, KEYS = "plain", "head", "loud", "keys"
BARS = "▁▂▃▄▅▆▇█"
COLUMNS_LEAST, LINES_LEAST = 60, 8
NUMBER = 9
FLIGHT_LINES = 4
HELP = "q quit  / search  s sort  o own  p pause  ↑↓ scroll"


@dataclasses.dataclass
class View:
    """What the screen shows."""

    title: str = ""
    problem: str = ""       # why there is nothing newer
    alive: bool = True
    rows: list = dataclasses.field(default_factory=list)
    hidden: int = 0         # rows that the search or the choice of own ones leaves out
    in_flight: list = dataclasses.field(default_factory=list)
    in_flight_known: bool = False
    search: str = ""
    typing: bool = False
    order: str = "name"
    own: bool = False
    paused: bool = False
    top: int = 0            # the first row that is shown


def wide(character):
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def fit(text, columns, right=False):
    """Exactly so many columns: cut with …, filled with spaces. What is not printable is written as
    its number, so that a name can neither move the cursor nor turn the line's direction."""
    text = "".join(c if c.isprintable() and not unicodedata.combining(c) else f"\\u{ord(c):04x}"
                   for c in text[:columns + 1])
    width = sum(map(wide, text))
    if width > columns:
        kept, width = "", 0
        for character in text:
            if width + wide(character) > columns - 1:
                break
            kept, width = kept + character, width + wide(character)
        text, width = kept + "…", width + 1
    space = " " * (columns - width)
    return space + text if right else text + space


def short(value, unit=""):
    """Four digits at most, or five of a plain number, and the unit: 12.3M, 4.56ms, 17.2KiB."""
    if math.isnan(value):
        return "-"
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    size = abs(value)
    if unit == "s" and size:
        for name, scale in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9)):
            if size >= scale * 0.9995 or name == "ns":
                return f"{digits(value / scale)}{name}"
    if unit == "B":
        for name in ("B", "KiB", "MiB", "GiB", "TiB"):
            if abs(value) < 1024 or name == "TiB":
                return f"{digits(value)}{name}"
            value /= 1024
    if unit == "" and size < 1e5 and value == int(value):
        return str(int(value))
    for name, scale in (("", 1.0), ("k", 1e3), ("M", 1e6), ("G", 1e9), ("T", 1e12)):
        if size < 999.5 * scale or name == "T":
            return f"{digits(value / scale)}{name}{unit}"
    return ""


def digits(value):
    if value == int(value) and abs(value) < 10000:
        return str(int(value))
    return f"{value:.3g}" if abs(value) < 999.5 else f"{value:.0f}"


def bars(values, columns):
    """The latest values as bars from the lowest to the highest."""
    values = list(values)[-columns:]
    known = [value for value in values if math.isfinite(value)]
    if not known:
        return ""
    low, high = min(known), max(known)
    low = min(low, 0.0) if low >= 0 else low
    step = (high - low) / (len(BARS) - 1)
    return "".join(" " if not math.isfinite(value) else
                   BARS[round((value - low) / step) if step > 0 else 0] for value in values)


def row_line(row, columns):
    name, trend = widths(columns)
    if row.kind == "histogram":
        middle, end = short(row.quantile(0.5), row.unit), short(row.quantile(0.99), row.unit)
    elif row.kind == "gauge":
        middle = short(row.value, row.unit)
        end = "" if math.isnan(row.highest) else short(row.highest, row.unit)
    else:
        middle, end = short(row.value, row.unit), ""
    rate = "" if row.kind == "gauge" else short(row.rate)
    return " ".join([fit(row.shown, name), fit(rate, NUMBER, True), fit(middle, NUMBER, True),
                     fit(end, NUMBER, True), fit(bars(row.trend, trend), trend)])


def widths(columns):
    """(of names, of trends)."""
    rest = columns - 3 * (NUMBER + 1) - 1
    trend = max(8, min(60, rest * 2 // 5))
    return rest - trend, trend


def head_line(columns):
    name, trend = widths(columns)
    return " ".join([fit("SERIES", name), fit("RATE/s", NUMBER, True),
                     fit("NOW p50", NUMBER, True), fit("MAX p99", NUMBER, True),
                     fit("TREND", trend)])


def flight_lines(view):
    if not view.in_flight_known:
        return []
    if not view.in_flight:
        return ["nothing in flight"]
    more = len(view.in_flight) - FLIGHT_LINES + 1
    shown = view.in_flight[:FLIGHT_LINES - 1 if more > 1 else FLIGHT_LINES]
    lines = ["in flight, the oldest first" + ("" if view.alive else ", when it was last seen")]
    return lines + shown + ([f"and {more} more"] if more > 1 else [])


def state_line(view):
    words = []
    if view.problem:
        words.append(view.problem)
    elif not view.alive:
        words.append("dead: these are its last figures")
    if view.paused:
        words.append("paused")
    if view.typing:
        words.append(f"search: {view.search}_")
    elif view.search:
        words.append(f"only with '{view.search}'")
    words.append(f"{len(view.rows)} series by {view.order}"
                 + (f", {view.hidden} hidden" if view.hidden else ""))
    return "; ".join(words)


def frame(view, columns, lines):
    """[(line, style)], exactly so many of exactly so many columns."""
    if columns < COLUMNS_LEAST or lines < LINES_LEAST:
        said = f"crest top needs {COLUMNS_LEAST} x {LINES_LEAST}"
        return [(fit(said, columns), PLAIN)] + [(fit("", columns), PLAIN)] * (lines - 1)
    below = flight_lines(view)[:max(0, lines - LINES_LEAST)]
    room = lines - 4 - len(below)
    view.top = max(0, min(view.top, len(view.rows) - room))
    shown = view.rows[view.top:view.top + room]
    loud = view.problem or not view.alive or view.paused
    out = [(fit(view.title, columns), PLAIN), (fit(state_line(view), columns),
                                               LOUD if loud else PLAIN),
           (head_line(columns), HEAD)]
    out += [(row_line(row, columns), PLAIN) for row in shown]
    out += [(fit("", columns), PLAIN)] * (room - len(shown))
    out += [(fit(line, columns), PLAIN) for line in below]
    place = f"{view.top + 1}-{view.top + len(shown)} of {len(view.rows)}" if view.rows else ""
    return out + [(fit(f"{HELP}  {place}", columns), KEYS)]
