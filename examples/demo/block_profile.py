# SPDX-License-Identifier: Apache-2.0
"""What nodes' processor time goes to while they validate blocks: a profile of each over half a
minute, taken beside everything else, and their slow profiles.

    taken = Taken(ports)         begins, in threads of their own
    found = taken.finish()       waits for their end, and asks for the slow blocks
    show(screen, found)          the three hottest functions of validation
    draw(canvas, found, …)       the slow blocks' flame graph, of which height(found) is how high
"""

import sys
import threading
import urllib.error
import urllib.request

from servers import ROOT
from svg_canvas import INK, MUTED, RULE
from table import small

sys.path.append(str(ROOT / "tools"))
from crest_profile.profile_flame import Node as Frame, boxes, colour  # noqa: E402
from crest_profile.profile_stacks import (amount, demangled, read_folded,  # noqa: E402
                                          without_addresses)

# but for the one that is killed
NODES = 3
TIMER = "rchain.casper.casper.add-block-time"
HZ = 500  # the kernel's tick bounds it: 250 on most
SECONDS = 30
ANSWER_S = 120
HOTTEST = 3
ROW, HEAD, FOOT = 17, 34, 22
LETTER = 6.2
OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def options(port):
    """What is added to the node's options."""
    return f",profile=on,profile.hz={HZ},profile.listen=127.0.0.1:{port}"


def of_validation(text):
    """{stack: ns} of what was done within validations, without what leads there."""
    stacks = without_addresses(demangled(read_folded(text)))
    found = {}
    for stack, value in stacks.items():
        if f"[{TIMER}]" in stack:
            inside = stack[stack.index(f"[{TIMER}]") + 1:]
            found[inside] = found.get(inside, 0) + value
    while found and len({stack[0] for stack in found}) == 1 and min(map(len, found)) > 1:
        found = {stack[1:]: value for stack, value in found.items()}
    return found


class Taken:
    """Profiles of the nodes at these ports, under way."""

    def __init__(self, ports):
        self.ports = ports
        self.text, self.why = "", ""
        self.threads = [threading.Thread(target=self.take, args=(port,), daemon=True)
                        for port in ports]
        for thread in self.threads:
            thread.start()

    def ask(self, port, what):
        try:
            with OPENER.open(f"http://127.0.0.1:{port}/debug/pprof/{what}",
                             timeout=SECONDS + ANSWER_S) as answer:
                return answer.read().decode("utf-8", "replace")
        except urllib.error.HTTPError as error:
            self.why = error.read().decode("utf-8", "replace").strip()
        except OSError as error:
            self.why = str(error)
        return ""

    def take(self, port):
        self.text += self.ask(port, f"profile?folded=1&seconds={SECONDS}")

    def finish(self):
        for thread in self.threads:
            thread.join()
        slow = "".join(self.ask(port, "slow?folded=1") for port in self.ports)
        return {"validation": of_validation(self.text), "slow": of_validation(slow),
                "all": sum(read_folded(self.text).values()), "why": self.why}


def hottest(stacks):
    """[(function, ns)] of the functions themselves, the hottest first."""
    own = {}
    for stack, value in stacks.items():
        own[stack[-1]] = own.get(stack[-1], 0) + value
    return sorted(own.items(), key=lambda pair: (-pair[1], pair[0]))[:HOTTEST]


def show(screen, found):
    stacks = found["validation"]
    total = sum(stacks.values())
    if not total:
        screen.say(f"   No sample fell into a validation"
                   + (f": {found['why']}" if found["why"] else "") + ".")
        return
    screen.say(f"   {SECONDS} s of {NODES} nodes, {HZ} samples a second of processor time at "
               f"most: {amount(total, 'ns')} within validations,\n   "
               f"{100 * total / found['all']:.0f} % of their {amount(found['all'], 'ns')}. The "
               "three hottest functions of block validation:")
    rows = [(function, amount(value, "ns"), f"{100 * value / total:.0f} %")
            for function, value in hottest(stacks)]
    for line in small(screen, ("function", "itself", "of validation"), rows):
        screen.say(line)
    screen.say(screen.paint(f"   go tool pprof -tagfocus=timer={TIMER} "
                            "http://…/debug/pprof/profile", "dim"))


# ---- the slow blocks' flame graph ----

def frames(found, width):
    root = Frame("slow blocks")
    for stack, value in found["slow"].items():
        root.add(stack, value)
    return root, list(boxes(root, width / root.value)) if root.value else []


def height(found):
    _, drawn = frames(found, 1000)
    return HEAD + FOOT + ROW * (1 + max((level for *_, level in drawn), default=0))


def draw(canvas, found, x, top, width):
    """Draws it from `top` on, height(found) high: a box a frame, callers above what they call."""
    inner = width - 24
    root, drawn = frames(found, inner)
    words = ", ".join(f"{function} {100 * value / sum(found['validation'].values()):.0f} %"
                      for function, value in hottest(found["validation"]))
    canvas.text(x, top, "The slowest blocks of the last minute, as a flame graph", 14,
                weight=600)
    canvas.text(x + width, top, f"hottest in validation: {words}" if words else "", 12.5, MUTED,
                "end")
    canvas.box(x, top + 14, width, height(found) - 30, "#ffffff", rx=6, stroke=RULE)
    if not drawn:
        canvas.text(x + 16, top + 32, "No sample fell into a slow block.", 12, MUTED)
    for frame, left, wide, level in drawn:
        y = top + 20 + ROW * level
        name = f"{frame.name} ({amount(root.value, 'ns')})" if level == 0 else frame.name
        room = int((wide - 6) / LETTER)
        canvas.box(x + 12 + left, y, max(wide - 0.8, 0.4), ROW - 1,
                   "#cfd8e2" if level == 0 else colour(frame.name), rx=2)
        if room >= 3:
            canvas.text(x + 16 + left, y + 12, name if room >= len(name) else name[:room - 1] + "…",
                        11, INK)
