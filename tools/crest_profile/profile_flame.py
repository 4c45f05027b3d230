# SPDX-License-Identifier: Apache-2.0
"""A flame graph as SVG: a box a frame, as wide as its share, the root at the bottom.

A click on a box shows what is above it in the whole width; a click on the lowest box shows all
again. Without a script, in an image viewer, it is a picture; boxes' titles say names and shares.
"""

import colorsys
import zlib
from xml.sax.saxutils import escape

from crest_profile.profile_stacks import NO_XML, amount

WIDTH = 1200
ROW = 17
LETTER = 6.6  # of the monospaced font at 11 px
LEAST = 0.3  # pixels: a narrower box is left out

SCRIPT = """
var boxes = document.querySelectorAll('g.f'), letter = %s, width = %s;
function show(left, wide, level) {
  boxes.forEach(function (g) {
    var x = +g.dataset.x, w = +g.dataset.w, l = +g.dataset.l, r = g.children[1], t = g.children[2];
    var around = l < level && x <= left + 1e-9 && x + w >= left + wide - 1e-9;
    var inside = l >= level && x >= left - 1e-9 && x + w <= left + wide + 1e-9;
    g.style.display = around || inside ? '' : 'none';
    var from = around ? 0 : (x - left) / wide * width, size = around ? width : w / wide * width;
    r.setAttribute('x', from);
    r.setAttribute('width', Math.max(size - 0.5, 0.2));
    t.setAttribute('x', from + 3);
    var n = g.dataset.n, room = Math.floor((size - 6) / letter);
    t.textContent = room >= n.length ? n : room > 2 ? n.slice(0, room - 1) + '…' : '';
    g.style.opacity = around ? 0.6 : 1;
  });
}
boxes.forEach(function (g) {
  g.onclick = function () { show(+g.dataset.x, +g.dataset.w, +g.dataset.l); };
});
"""


class Node:
    """A frame in its place: what it has, and what it calls."""

    def __init__(self, name):
        self.name = name
        self.value = 0
        self.below = {}

    def add(self, stack, value):
        node = self
        node.value += value
        for name in stack:
            node = node.below.setdefault(name, Node(name))
            node.value += value


def hexadecimal(hue, saturation, lightness):
    """A colour as every viewer knows it; degrees and hundredths."""
    parts = colorsys.hls_to_rgb(hue / 360, lightness / 100, saturation / 100)
    return "#" + "".join(f"{round(255 * part):02x}" for part in parts)


def colour(name):
    """Of a name, always the same: warm for functions, blue for operations, grey without a name."""
    seed = zlib.crc32(name.encode())
    if name.startswith("["):
        return hexadecimal(200 + seed % 25, 60, 68 + seed % 10)
    if "+0x" in name or ".so" in name:
        return hexadecimal(0, 0, 74 + seed % 10)
    return hexadecimal(10 + seed % 42, 75 + seed % 15, 62 + seed // 64 % 12)


def fitted(name, wide):
    room = int((wide - 6) / LETTER)
    if room >= len(name):
        return name
    return name[:room - 1] + "…" if room > 2 else ""


def boxes(root, scale):
    """(node, left, width, level) of a node and all above it, in pixels; stacks may be deep."""
    waiting = [(root, 0.0, 0)]
    while waiting:
        node, left, level = waiting.pop()
        wide = node.value * scale
        if wide < LEAST:
            continue
        yield node, left, wide, level
        above = []
        for name in sorted(node.below):
            above.append((node.below[name], left, level + 1))
            left += node.below[name].value * scale
        waiting += reversed(above)


def box(node, left, wide, level, top, total, unit):
    y = top - (level + 1) * ROW
    title = f"{node.name}: {amount(node.value, unit)}, {100 * node.value / total:.2f} %"
    return (f'<g class="f" data-x="{left:.4f}" data-w="{wide:.4f}" data-l="{level}" '
            f'data-n="{escape(node.name, {chr(34): "&quot;"})}"><title>{escape(title)}</title>'
            f'<rect x="{left:.2f}" y="{y}" width="{max(wide - 0.5, 0.2):.2f}" height="{ROW - 1}" '
            f'rx="2" fill="{colour(node.name)}"/>'
            f'<text x="{left + 3:.2f}" y="{y + 12}">{escape(fitted(node.name, wide))}</text></g>\n')


def flame_graph(stacks, heading, unit):
    """The whole picture of {(frames, root first): value}."""
    root = Node("all")
    for stack, value in stacks.items():
        root.add(stack, value)
    drawn = list(boxes(root, WIDTH / root.value))
    height = (max(level for _, _, _, level in drawn) + 1) * ROW + 34
    text = (f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
            f'viewBox="0 0 {WIDTH} {height}" font-family="monospace" font-size="11">\n'
            f'<rect width="{WIDTH}" height="{height}" fill="#fffdf8"/>\n'
            f'<text x="6" y="18" font-size="14">{escape(NO_XML.sub(chr(0xfffd), heading))}: '
            f'{escape(amount(root.value, unit))}</text>\n')
    text += "".join(box(*one, height - 6, root.value, unit) for one in drawn)
    return text + f"<script><![CDATA[{SCRIPT % (LETTER, WIDTH)}]]></script>\n</svg>\n"
