# SPDX-License-Identifier: Apache-2.0
"""Draws bars with whiskers, and lines, by gnuplot.

    chart = bars("counter", "Counter: add one", "ns", [Bar("Crest", "#1f5fbf", 2.5, 2.4, 2.7)])
    svg = draw(chart, "svg")

What is drawn is passed in; nothing here knows what a benchmark is. Scales are logarithmic where a
linear one would flatten the smaller half, and a chart says so.
"""

import dataclasses
import math
import shutil
import subprocess

from read_results import number

WIDTH = 1040
LETTER_PX = 7.9         # a letter's width, on the wide side
TICK_PX = 40            # between two marks of an axis, so that their numbers do not touch
ROW_PX = 22
LEFT_PX_MOST = 560      # for the labels of bars; a longer one would be cut
FONT = "DejaVu Sans,12"
LOG_FROM = 12           # a linear scale shows no bar below a twelfth of the longest well
DRAW_SECONDS_MOST = 60
INK, GRID = "#222222", "#d9d9d9"


class Missing(Exception):
    """There is no gnuplot, or it fails; says what to do."""


@dataclasses.dataclass
class Bar:
    """A row: what it is, its colour, the bar's end, its whisker, and words after it."""
    label: str
    colour: str
    value: float
    low: float
    high: float
    words: str = ""
    apart: bool = False   # a gap above it


@dataclasses.dataclass
class Line:
    """A line of (x, y, low, high)."""
    label: str
    colour: str
    points: list
    dashed: bool = False


@dataclasses.dataclass
class Chart:
    """What to draw: gnuplot's commands without terminal and output, and a text for readers who
    cannot see it."""
    name: str
    title: str
    height: int
    commands: str
    words: str


def quoted(text):
    return '"' + str(text).replace("\\", "\\\\").replace('"', '\\"') + '"'


def wants_log(values):
    return bool(values) and min(values) > 0 and max(values) / min(values) > LOG_FROM


def ends_of(drawn):
    """The ends that a scale has to reach of (median, low, high). Where only whiskers, or at most
    a quarter of the medians, are zero or less, the ends are of the values above zero: the scale
    stays logarithmic, and noise around zero lies on its axis."""
    ends = [end for each in drawn for end in each]
    above = [end for end in ends if end > 0]
    few = sum(median <= 0 for median, _, _ in drawn) <= len(drawn) / 4
    return above if few and wants_log(above) else ends


def said_of_nothing(medians):
    return "; zero and less lies on the axis" if any(median <= 0 for median in medians) else ""


def around(values):
    """Ends of a logarithmic axis: the 1, 2 or 5 times a power of ten next below and above."""
    steps = [step * 10.0 ** power for power in range(-9, 16) for step in (1, 2, 5)]
    least, most = min(values), max(values)
    return (max(step for step in steps if step < least * 0.9),
            min(step for step in steps if step > most))


def head(title, height, left):
    return [
        f"set title {quoted(title)} offset 0,-0.3 font ',14' tc rgb '{INK}' noenhanced",
        f"set border 1 lc rgb '{INK}'", "set tics nomirror out scale 0.6",
        f"set grid lc rgb '{GRID}' lt 1", "unset key",
        f"set lmargin at screen {left / WIDTH:.4f}",
        f"set tmargin at screen {1 - 34 / height:.4f}",
        f"set bmargin at screen {58 / height:.4f}",
    ]


def log_ticks(axis, low, high, pixels):
    """As many marks as can be read on `pixels`: 1, 2, 5, or the powers of ten, or some of them."""
    powers = math.log10(high / low) or 1
    for steps, every in (((1, 2, 5), 1), ((1,), 1), ((1,), 2), ((1,), 3)):
        if pixels * every / powers / len(steps) >= TICK_PX * 0.9:
            break
    marks = [step * 10.0 ** power for power in range(-9, 16, every) for step in steps]
    inside = [mark for mark in marks if low * 0.999 <= mark <= high * 1.001]
    return f"set {axis}tics (" + ", ".join(f"{quoted(plain(mark))} {mark:g}"
                                           for mark in inside) + ")"


def plain(mark):
    return f"{mark:,.0f}" if mark >= 1 or not mark else f"{mark:.9f}".rstrip("0")


def bars(name, title, unit, rows, limit=None, limit_words=""):
    """Horizontal bars, the first on top. With a `limit` there is a line across at it."""
    said = "; ".join(f"{row.label}: {row.words or number(row.value)}" for row in rows)
    y, places = 0.0, []
    for row in rows:
        y -= 1.5 if row.apart and places else 1
        places.append(y)
    height = int(ROW_PX * -y + 112 + (16 if limit is not None else 0))
    ends = ends_of([(row.value, row.low, row.high) for row in rows])
    ends += [limit] if limit is not None else []
    logarithmic = wants_log(ends)
    left = min(LEFT_PX_MOST, 44 + int(LETTER_PX * max(len(row.label) for row in rows)))
    room = 12 + LETTER_PX * max(len(row.words) for row in rows)  # for the words after the whiskers
    share = max(0.2, 1 - room / (WIDTH - left - 24))
    lines = head(title, height, left)
    if logarithmic:
        low, high = around(ends)[0], max(ends)
        right = low * (high / low) ** (1 / share)
        lines += ["set logscale x", log_ticks("x", low, high * 2, share * (WIDTH - left))]
        unit += ", logarithmic" + said_of_nothing(row.value for row in rows)
        rows = [dataclasses.replace(row, value=max(row.value, low), low=max(row.low, low),
                                    high=max(row.high, low)) for row in rows]
    else:
        low, right = min(0, min(ends)), max(ends) / share or 1
    # Beside the limit words start behind its line, or it would cross them.
    words_at = "$4" if limit is None else f"$4 > {limit:g} ? $4 : {limit:g}"
    data = "\n".join(
        f"{row.value:.9g} {place:g} {row.low:.9g} {row.high:.9g} "
        f"{int(row.colour.lstrip('#'), 16)} {quoted(row.words)}"
        for row, place in zip(rows, places))
    marks = ", ".join(f"{quoted(row.label)} {place:g}" for row, place in zip(rows, places))
    if limit is not None:
        lines += [f"set arrow 1 from {limit:g}, graph 0 to {limit:g}, graph 1 nohead front "
                  f"lw 1.5 dt 2 lc rgb '{INK}'",
                  f"set label 1 {quoted(limit_words)} at {limit:g}, graph 1 offset 0,0.5 center "
                  "noenhanced",
                  f"set tmargin at screen {1 - 50 / height:.4f}",
                  f"set title {quoted(title)} offset 0,0.5 font ',14' noenhanced"]
    lines += [
        "$rows << END", data, "END", f"set rmargin at screen {1 - 24 / WIDTH:.4f}",
        f"set xrange [{low:.9g}:{right:.9g}]", f"set yrange [{y - 0.8:g}:-0.2]",
        f"set ytics scale 0 noenhanced ({marks})", "unset grid",
        f"set grid xtics lc rgb '{GRID}' lt 1",
        f"set xlabel {quoted(unit)} offset 0,0.2 noenhanced",
        "set style fill solid 1 noborder",
        f"plot $rows using ({low:.9g}):2:({low:.9g}):1:($2-0.36):($2+0.36):5 "
        "with boxxyerror lc rgb variable,"
        f" '' using 1:2:3:4 with xerrorbars pt 0 ps 0 lw 1.2 lc rgb '{INK}',"
        f" '' using ({words_at}):2:6 with labels left offset 0.8,0 noenhanced tc rgb '{INK}'"]
    return Chart(name, title, height, "\n".join(lines) + "\n", said)


def apart(xs, pixels):
    """The ascending places whose numbers do not touch along so many pixels."""
    if xs[0] > 0:
        places = [math.log(x / xs[0]) for x in xs]
    else:
        places = [x - xs[0] for x in xs]
    kept, last = [], -math.inf
    for x, place in zip(xs, places):
        if place - last >= (places[-1] or 1) * TICK_PX / pixels:
            kept.append(x)
            last = place
    return kept


def lines(name, title, x_words, y_words, drawn):
    """Lines over a logarithmic x, with whiskers, and the key at the right."""
    # A key has a line's label and its sample; it takes the room that the longest label needs.
    height = max(380, 21 * len(drawn) + 110)
    ends = ends_of([point[1:] for line in drawn for point in line.points])
    xs = sorted({point[0] for line in drawn for point in line.points})
    room = 96 + int(LETTER_PX * max(len(line.label) for line in drawn))
    text = head(title, height, 104)
    logarithmic = wants_log(ends)
    if logarithmic:
        low, high = around(ends)
        least = low
        text += ["set logscale y", log_ticks("y", low, high, height - 92),
                 f"set yrange [{low:g}:{high:g}]"]
        y_words += ", logarithmic"
        x_words += said_of_nothing(point[1] for line in drawn for point in line.points)
    else:
        least = -math.inf
        text += [f"set yrange [{min(0, min(ends)):g}:{max(ends) * 1.1 or 1:g}]"]
    marks = ", ".join(f"{quoted(plain(x))} {x:g}" for x in apart(xs, WIDTH - room - 104))
    text += [
        "set border 3", "set pointintervalbox 0", f"set xtics ({marks})",
        f"set xrange [{xs[0] / 1.15:g}:{xs[-1] * 1.15:g}]" if xs[0] > 0 else
        f"set xrange [{xs[0] - 0.04 * (xs[-1] - xs[0]):g}:{xs[-1] * 1.04 or 1:g}]",
        "set logscale x" if xs[0] > 0 else "unset logscale x",
        f"set xlabel {quoted(x_words)} offset 0,0.2 noenhanced",
        f"set ylabel {quoted(y_words)} noenhanced",
        f"set rmargin at screen {1 - room / WIDTH:.4f}",
        f"set key at screen {1 - (room - 16) / WIDTH:.4f}, screen {1 - 34 / height:.4f} left top "
        "vertical maxcols 1 Left reverse noenhanced samplen 2.5 spacing 1.1"]
    plots = []
    for index, line in enumerate(drawn):
        data = "\n".join(" ".join(f"{value:.9g}" for value in (
            point[0], *(max(end, least) for end in point[1:]))) for point in line.points)
        text += [f"$line{index} << END", data, "END"]
        dash = 2 if line.dashed else 1
        plots.append(f"$line{index} using 1:2:3:4 with yerrorbars notitle pt -1 lw 1 "
                     f"lc rgb '{line.colour}', $line{index} using 1:2 with linespoints lw 2 "
                     f"dt {dash} pt {6 if line.dashed else 7} ps 0.6 lc rgb '{line.colour}' "
                     f"title {quoted(line.label)}")
    text.append("plot " + ", ".join(plots))
    said = "; ".join(line.label + ": " + ", ".join(f"{plain(point[0])} {number(point[1])}"
                                                   for point in line.points) for line in drawn)
    return Chart(name, title, height, "\n".join(text) + "\n", said)


def draw(chart, kind="svg"):
    """The bytes of the picture, `svg` or `png`; raises Missing."""
    program = shutil.which("gnuplot")
    if not program:
        raise Missing("There are no charts, because gnuplot is not installed "
                      "(Debian: apt-get install gnuplot-nox).")
    terminal = "svg" if kind == "svg" else "pngcairo"
    script = (f"set terminal {terminal} size {WIDTH},{chart.height} font '{FONT}' "
              f"background rgb 'white'\n{chart.commands}")
    try:
        done = subprocess.run([program, "-"], input=script.encode(), capture_output=True,
                              timeout=DRAW_SECONDS_MOST, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Missing(f"There are no charts, because gnuplot failed: {error}") from error
    if done.returncode != 0 or not done.stdout:
        why = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise Missing(f"Not drawn, because gnuplot failed at {chart.name}: "
                      f"{(why or ['it printed nothing'])[-1]}")
    return done.stdout
