# SPDX-License-Identifier: Apache-2.0
"""CREST_DEMO=embedded: the same four nodes without any server. Each reports to its own console,
which is shown here, the rows that answer the requirements; at exit each writes its metrics page,
and that is compared with what it counted itself.
"""

import re
import time

import reconcile
from nodes import COUNT, NAMES, Network
from servers import ROOT, Failure, Started, last_lines

WATCH_S = 26
REPORT_S = 4
FIRST_REPORT_S = 240
BURST_AFTER_S = 9
BURST_MESSAGES = 2000
LOOK_EVERY_S = 0.2
NAME_MOST = 42
TITLE = re.compile(r"^Crest  \d{4}-", re.M)
WORDS = ("counter", "gauge", "range sampler", "distribution")
WANTED = re.compile(
    r"^rchain\.(rspace\.(replay\.)?comm\.|block-api\.deploys-|casper\.transfers-|"
    r"casper\.(unbound-)?consensus-time.*\"ok\"|casper\.blocks-|comm\.discovery.*ping-time.*\"ok\"|"
    r"casper\.block-(propagation|coverage)-time.*\"ok\"|"
    r"block-storage\.lmdb\.\w+-time.*\"ok\"|comm\.rp\.transport\.inbound-queue)|"
    r"^peer\.clock-(offset|error)|^process\.hiccups.*\"ok\"|"
    r"^process\.(cpu|resident-memory|page-faults|threads)( |\{)|"
    r"^host\.(cpu\.usage.*combined|memory\.available|swapping)")


def options(name):
    return f"service=rnode,instance={name},console={REPORT_S}s,console.format=table,jitter=0"


def tables(node):
    """What the node's console has shown so far, a table each; the last may still be growing."""
    text = node.log.read_text(encoding="utf-8", errors="replace")
    starts = [match.start() for match in TITLE.finditer(text)]
    return [text[start:end] for start, end in zip(starts, [*starts[1:], len(text)])]


def wanted_lines(table):
    """Title, heads of sections, and the rows that answer operators' questions; narrower, since
    of timers only the outcome ok is among them."""
    sections = []
    for line in table.splitlines():
        if TITLE.match(line):
            sections.append([(line, "", 0)])
        elif line.startswith(WORDS) or WANTED.match(line):
            name, figures = re.match(f"({'|'.join(WORDS)}|\\S+)(.*)", line).groups()
            if name in WORDS:
                sections.append([])
            start = len(line) - len(figures.lstrip())
            short = shorter(re.sub(r',?outcome="ok"|\{outcome="ok"\}', "", name))
            sections[-1].append((short, line, start))
    longest = max((len(name) for rows in sections for name, line, _ in rows if line), default=0)
    lines = []
    for rows in sections:
        # columns stand below each other, independent of the text before the first of them
        first = min(start for _, _, start in rows)
        lines += [f"{name:<{longest}}  {line[first:]}" if line else name
                  for name, line, _ in rows]
    return lines


def shorter(name):
    """So that a row has room in a terminal of 100 columns."""
    return name if len(name) <= NAME_MOST else name[:12] + "…" + name[13 - NAME_MOST:]


def watch(screen, network):
    """Shows the nodes' newest tables in turn."""
    node, told, burst = None, {}, False
    while screen.seconds() < WATCH_S or len(told) < COUNT:
        network.check_alive()
        if not burst and screen.seconds() > BURST_AFTER_S:
            network.nodes[1].tell(f"burst {BURST_MESSAGES}")
            burst = True
        node = network.nodes[int(screen.seconds() / REPORT_S) % COUNT]
        shown = tables(node)
        if not shown and screen.seconds() > FIRST_REPORT_S:
            raise Failure(f"{node.name} was started with {options(node.name)} and has shown "
                          f"nothing on its console after {FIRST_REPORT_S} s. The end of its log, "
                          f"{node.log}:\n{last_lines(node.log)}")
        lines = wanted_lines(shown[-1]) if shown else ["   waiting for the first report"]
        if shown:
            told[node.name] = len(shown)
        screen.redraw(lines, f"{node.name} has reported {len(shown)} times")
        time.sleep(LOOK_EVERY_S)
    screen.wipe()


def page_series(network):
    """{(node, name, labels): value} of the pages the nodes wrote at exit."""
    found = {}
    for node in network:
        try:
            text = node.page.read_text()
        except OSError as error:
            raise Failure(f"{node.name} was told to write its metrics page to {node.page}, which "
                          f"cannot be read: {error}") from error
        for line in text.splitlines():
            if line and not line.startswith("#"):
                series, _, value = line.rpartition(" ")
                found[(node.name, *reconcile.key_of(series))] = float(value)
    return found


def run(screen, folder):
    problems = []
    with Started() as started:
        screen.phase(f"{COUNT} nodes and no server: each reports to its console every {REPORT_S} s")
        network = Network(started, folder, options)
        network.wait_ready()
        screen.say(f"   {', '.join(NAMES)} run; their consoles are shown here in turn, and kept "
                   f"in\n   {folder.relative_to(ROOT)}/. After {BURST_AFTER_S} s {NAMES[1]} gets a "
                   "burst:\n   its inbound-queue says so under max1m, the sampled gauge does not.")
        watch(screen, network)
        exits = network.stop()
    node = network.nodes[1]
    screen.phase(f"The last table of {node.name}, which had the burst")
    for line in wanted_lines(tables(node)[-1]):
        screen.say(line)
    screen.phase("Exactly: what the nodes say at exit, and what their metrics pages have")
    verdict = reconcile.reconcile(exits, lambda: page_series(network), seconds=0)
    reconcile.show(screen, verdict, "their pages", problems)
    screen.phase("Done")
    return problems
