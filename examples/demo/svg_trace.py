# SPDX-License-Identifier: Apache-2.0
"""The waterfall of one block as a part of the report: a row for each span, a band for each node."""

from svg_canvas import FAINT, INK, MUTED, RULE

ROW_HEIGHT, HEAD, FOOT = 17, 62, 34
BLUE, TEAL, RED, GREEN = "#2563a8", "#12908e", "#b3372f", "#2c7a4b"
BANDS = ("#ffffff", "#f6f8fa")
BAR = 9
NAMES_WIDTH, INDENT = 300, 12
TICKS = 6
THIN = 1.6


def height(found):
    return HEAD + FOOT + ROW_HEIGHT * len(found["rows"])


def step_of(end, most=TICKS):
    """A round step of an axis."""
    step = 1.0
    while end / step > most:
        step *= 2.5 if f"{step:g}"[0] == "2" else 2
    return step


def draw(canvas, found, x, top, width):
    """Draws it from `top` on, `height(found)` high."""
    rows, proposer = found["rows"], found["proposer"]
    canvas.text(x, top, "One slow block, from its proposal to support 1", 14, weight=600)
    canvas.text(x + width, top, f"{found['block'][:16]}…, proposed by {proposer}: "
                f"{found['took_ms']:.1f} ms; the median of {found['blocks']} blocks is "
                f"{found['usual_ms']:.1f} ms", 12.5, MUTED, "end")
    high = height(found) - 14
    canvas.box(x, top + 14, width, high, "#ffffff", rx=6, stroke=RULE)
    left, right = x + NAMES_WIDTH, x + width - 70
    end = max(row.start_ms + row.took_ms for row in rows)
    first = top + HEAD - 10

    def across(ms):
        return left + (right - left) * ms / end

    step = step_of(end)
    ticks = [step * number for number in range(int(end / step) + 1)]
    y = first
    before, band, starts = None, 1, []
    for row in rows:
        if row.node != before:
            before, band = row.node, 1 - band
            starts.append((row.node, y))
        canvas.box(x + 1, y, width - 2, ROW_HEIGHT, BANDS[band])
        y += ROW_HEIGHT
    for ms in ticks:
        canvas.rule(across(ms), first, across(ms), y, RULE)
        canvas.text(across(ms), first - 6, f"{ms:g} ms" if ms == ticks[-1] else f"{ms:g}", 10,
                    MUTED, "middle")
    for number, row in enumerate(rows):
        middle = first + ROW_HEIGHT * (number + 0.5)
        color = RED if row.failed else BLUE if row.node == proposer else TEAL
        canvas.text(x + 76 + INDENT * row.depth, middle + 4, row.label, 11.5, INK)
        canvas.box(across(row.start_ms), middle - BAR / 2,
                   max(THIN, across(row.start_ms + row.took_ms) - across(row.start_ms)), BAR, color,
                   rx=1.5)
        canvas.text(x + width - 12, middle + 4, f"{row.took_ms:.2f}", 11, MUTED, "end")
    for node, at in starts:
        canvas.text(x + 16, at + 13, node, 12, weight=600)
        if at > first:
            canvas.rule(x + 1, at, x + width - 1, at, FAINT)
    verdict = found["verdict"]
    canvas.words(x + 16, y + 20, [
        (f"{len(verdict.pairs)} spans of the run compared with the nodes' own log, "
         f"{verdict.equal} equal.", GREEN if verdict.good else RED),
        ("One trace, as its id is the block's hash; clocks are set right by the nodes' pings.",
         MUTED)], 12)
