# SPDX-License-Identifier: Apache-2.0
"""Writes SVG by hand: texts, shapes, and small panels with axes. Knows nothing of nodes or metrics.

    canvas = Canvas(1280, 400)
    canvas.text(40, 60, "A title", size=24, weight=600)
    panel = canvas.panel(40, 90, 300, 100, (0, 60), (0, 1200))
    panel.grid()
    panel.curve([(0, 3), (1, 5)], "#2f6fb0")
    text = canvas.finish("A title")
"""

import math
from xml.sax.saxutils import escape, quoteattr

INK, MUTED, FAINT, RULE, PAPER = "#1d2733", "#5b6775", "#94a0ad", "#e4e8ec", "#fbfbf9"
FONTS = "Inter, 'Helvetica Neue', Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif"


def number(value):
    """Coordinates to a tenth: enough for the eye, short in the file."""
    text = f"{value:.1f}"
    return text.removesuffix(".0")


def attributes(pairs):
    return "".join(f" {name.rstrip('_').replace('_', '-')}="
                   + quoteattr(number(value) if isinstance(value, float) else str(value))
                   for name, value in pairs.items() if value is not None)


def nice_top(most):
    """The end of an axis: the next of 1, 1.5, 2, 3, 4, 5, 6, 8 times a power of ten."""
    if most <= 0:
        return 1.0
    power = 10 ** math.floor(math.log10(most))
    for step in (1, 1.5, 2, 3, 4, 5, 6, 8, 10):
        if step * power >= most * 0.999:
            return step * power
    return 10 * power


def tick_text(value):
    if value == 0:
        return "0"
    if value >= 1000:
        return f"{value:,.0f}"
    return f"{value:g}" if value >= 1 else f"{value:.2g}"


class Canvas:
    def __init__(self, width, height):
        self.width = width
        self.height = height
        self.parts = []

    def add(self, name, content=None, **pairs):
        text = f"<{name}{attributes(pairs)}"
        self.parts.append(text + ("/>" if content is None else f">{content}</{name}>"))

    def text(self, x, y, content, size=12, color=INK, anchor=None, weight=None, **more):
        self.add("text", escape(str(content)), x=float(x), y=float(y), font_size=size, fill=color,
                 text_anchor=anchor, font_weight=weight, **more)

    def words(self, x, y, parts, size=12, weight=None):
        """One line in several colours, a little apart: [(text, color)]."""
        spans = "".join(f"<tspan{attributes({'dx': 12 if index else None, 'fill': color})}>"
                        f"{escape(text)}</tspan>" for index, (text, color) in enumerate(parts))
        self.add("text", spans, x=float(x), y=float(y), font_size=size, font_weight=weight)

    def box(self, x, y, width, height, fill, **more):
        self.add("rect", x=float(x), y=float(y), width=float(width), height=float(height),
                 fill=fill, **more)

    def rule(self, x1, y1, x2, y2, color=RULE, width=1, **more):
        self.add("line", x1=float(x1), y1=float(y1), x2=float(x2), y2=float(y2), stroke=color,
                 stroke_width=width, **more)

    def dot(self, x, y, radius, color, **more):
        self.add("circle", cx=float(x), cy=float(y), r=radius, fill=color, **more)

    def panel(self, x, y, width, height, across, up):
        return Panel(self, x, y, width, height, across, up)

    def finish(self, title, description=""):
        head = (f'<svg xmlns="http://www.w3.org/2000/svg" width="{self.width}" '
                f'height="{self.height}" viewBox="0 0 {self.width} {self.height}" role="img" '
                f'font-family="{FONTS}">\n<title>{escape(title)}</title>\n'
                f'<desc>{escape(description)}</desc>\n'
                f'<rect width="{self.width}" height="{self.height}" fill="{PAPER}"/>\n')
        return head + "\n".join(self.parts) + "\n</svg>\n"


class Panel:
    """A rectangle with its own scales: `across` and `up` are (lowest, highest)."""

    def __init__(self, canvas, x, y, width, height, across, up):
        self.canvas = canvas
        self.x, self.y, self.width, self.height = x, y, width, height
        self.across, self.up = across, up

    def to_x(self, value):
        low, high = self.across
        return self.x + self.width * (min(max(value, low), high) - low) / (high - low)

    def to_y(self, value):
        low, high = self.up
        return self.y + self.height * (1 - (min(max(value, low), high) - low) / (high - low))

    def band(self, start, end, color):
        left, right = self.to_x(start), self.to_x(end)
        if right > left:
            self.canvas.box(left, self.y, right - left, self.height, color)

    def grid(self, ticks=None, labels=False):
        """Horizontal lines, and their values left of the panel."""
        low, high = self.up
        for value in ticks or (low, (low + high) / 2, high):
            y = self.to_y(value)
            self.canvas.rule(self.x, y, self.x + self.width, y, FAINT if value == low else RULE)
            if labels:
                self.canvas.text(self.x - 7, y + 3.5, tick_text(value), 10, MUTED, "end")

    def seconds(self, step, unit_at_end=True):
        """Values below the panel."""
        low, high = self.across
        value = math.ceil(low / step) * step
        while value <= high:
            last = value + step > high
            x = self.to_x(value)
            self.canvas.rule(x, self.y + self.height, x, self.y + self.height + 4, FAINT)
            self.canvas.text(x, self.y + self.height + 16,
                             f"{value:g} s" if last and unit_at_end else f"{value:g}", 10, MUTED,
                             "middle")
            value += step

    def curve(self, points, color, width=1.6, gap=1.9, steps=False, **more):
        """A line through the points, interrupted where they are more than `gap` apart."""
        path, before = "", None
        for time, value in points:
            x, y = self.to_x(time), self.to_y(value)
            if before is None or time - before[0] > gap:
                path += f"M{number(x)} {number(y)}"
            elif steps:
                path += f"H{number(x)}V{number(y)}"
            else:
                path += f"L{number(x)} {number(y)}"
            before = (time, value)
        if path:
            self.canvas.add("path", d=path, fill="none", stroke=color, stroke_width=width,
                            stroke_linejoin="round", stroke_linecap="round", **more)
