# SPDX-License-Identifier: Apache-2.0
"""The card of the fourth moment: what a node that was killed counted, before and after, and the
block that it was in. Constants of the report are the caller's, svg_report.py's.
"""

from figures import JOB
from moments import BLOCKS
from svg_canvas import MUTED

BLUE, GREY, RED, DEAD = "#2563a8", "#7d8895", "#b3372f", "#f4e2dc"
PLOT_TOP, PLOT_HEIGHT = 133, 139
BEFORE_S, AFTER_S, LATER_S = 6, 5, 3
BAR_HEIGHT = 13


def own_course(node, began):
    """[(seconds, blocks proposed)] by the node's own events, of both lives."""
    times = [when - began for when, event in list(node.events) if event["event"] == "proposed"]
    return [(when, index + 1) for index, when in enumerate(times)]


def draw(report):
    kill, canvas = report.happened["kill"], report.canvas
    held, killed, back, end = (kill[key] - report.began
                               for key in ("held", "killed", "back", "end"))
    x, y, width = report.card(3, "A node is killed in the middle of a block", [
        f"{kill['node']} gets SIGKILL. What it counted lies in a file on tmpfs; it goes on "
        "from it.",
        f"crest cat, of the dead process: {kill['op']},",
        f"in flight for {kill['age']:.1f} s at the last heartbeat. increase() over the kill is "
        "what",
        f"all nodes wrote down themselves: {kill['grown']['proposed']} blocks proposed.",
        f"Its last event: {kill['last_events'][-1] if kill['last_events'] else 'none'}"])
    low, high = held - BEFORE_S, max(end + LATER_S, back + AFTER_S)
    own = [point for point in kill["course"] if low <= point[0] <= high]
    counts = [count for _, count in own] or [0, 1]
    bottom, top = (min(counts) - 2) // 5 * 5, -(-(max(counts) + 1) // 5) * 5
    panel = canvas.panel(x + 56, y + PLOT_TOP, width - 80, PLOT_HEIGHT, (low, high), (bottom, top))
    panel.band(killed, back, DEAD)
    panel.grid(labels=True)
    panel.seconds(5)
    panel.curve(own, GREY, 1.4, gap=1e9, steps=True)
    query = f"{BLOCKS['proposed']}{{{JOB},instance=\"{kill['node']}\"}}"
    for points in report.points(query):
        within = [point for point in points if low <= point[0] <= high]
        panel.curve(within, BLUE, 2.2)
        for time_s, value in within:
            canvas.dot(panel.to_x(time_s), panel.to_y(value), 2.4, BLUE)
    at, until = panel.to_x(held), panel.to_x(killed)
    line = panel.y + panel.height - 24
    canvas.box(at, line, until - at, BAR_HEIGHT, RED, opacity=0.75)
    canvas.text(at - 6, line + BAR_HEIGHT - 3, "in a block", 11.5, RED, "end")
    canvas.rule(until, panel.y, until, panel.y + panel.height, RED, 1, stroke_dasharray="2 3")
    canvas.text(until - 6, panel.y + 12, "SIGKILL", 11.5, RED, "end")
    report.legend(x, y, [(f"blocks proposed by {kill['node']}:", MUTED), ("in Prometheus", BLUE),
                         ("its own, of both lives", GREY), ("dead", RED)])
