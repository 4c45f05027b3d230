# SPDX-License-Identifier: Apache-2.0
"""The fourth moment: a node is killed in the middle of a block, and goes on.

The node is held in its block first, so that its own books are whole: it says what it has counted,
and counts no more. Then it gets SIGKILL. `crest cat` reads what the dead process left, and the node
starts again with the same state directory. Totals go on, so increase() over the kill is what the
nodes wrote down themselves, of both lives.
"""

import json
import os
import signal
import subprocess
import time

import kill_card
import reconcile
from figures import JOB
from moments import BLOCKS, wait_for
from servers import ROOT, Failure
from table import small

KILLED = 3
HELD_S = 2.2
# Blocks that the node makes after its return, before the end of what is compared.
AFTER_BLOCKS = 2
# The node's ticker beats once a second, and a busy machine may let it wait.
BEAT_S, CLOCKS_S = 1.0, 5.0
CAT_S = 60
# A range of PromQL leaves out its left end in newer versions of Prometheus.
EDGE_S = 0.001
TOOL = ROOT / "tools/crest"
BUILD = ROOT / os.environ.get("CREST_BUILD", "build/release")
IN_FLIGHT = "rchain.casper.casper.propose-time"


# Events of the dead process that are shown.
LAST_EVENTS = 4


def crest_cat(*words):
    """What `crest cat` prints of a state file."""
    return crest("cat", *words)


def crest(name, *words):
    command = [TOOL, name, *map(str, words)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=CAT_S,
                              check=True,
                              env={**os.environ, "CREST_LIBEXEC": str(BUILD / "libexec")})
        return done.stdout
    except subprocess.CalledProcessError as error:
        raise Failure(f"'crest {name}' of {words[-1]} ended with status {error.returncode}: "
                      + error.stderr) from error
    except (OSError, subprocess.SubprocessError) as error:
        raise Failure(f"'crest {name}' of {words[-1]} did not work: {error}. 'make' builds "
                      f"it.") from error


def blocks_in_flight(path):
    """The operations in flight that are blocks in the making."""
    return [op for op in json.loads(crest_cat("--json", path))["in_flight"]
            if op["timer"] == IN_FLIGHT]


# ---- exact increases ----

def own_at(node, scraped):
    """What the node itself had at its push, where a scrape has just that; else None."""
    own = {what: len(node.said(what, until=scraped.get("push_time_seconds", 0)))
           for what in BLOCKS}
    return own if all(own[what] == scraped.get(name) for what, name in BLOCKS.items()) else None


def scrapes(demo, since):
    """{node: (scrape, what it had counted)}: of each node a scrape of a push after `since` that has
    what the node itself had. A block between a snapshot and its push makes it wait for the next."""
    found = {}
    names = "|".join([*BLOCKS.values(), "push_time_seconds"])

    def look():
        at = demo.prometheus.one(f"max(timestamp({BLOCKS['proposed']}{{{JOB}}}))")
        have = {}
        for labels, value in [] if at is None else demo.prometheus.instant(
                f'{{__name__=~"{names}",{JOB}}}', at):
            have.setdefault(labels["instance"], {})[labels["__name__"]] = value
        for node in demo.network:
            scraped = have.get(node.name, {})
            own = own_at(node, scraped)
            if node not in found and own and scraped["push_time_seconds"] > since:
                found[node] = at, own
        return len(found) == len(demo.network.nodes)
    wait_for("of each node a scrape that has what it had counted at its push", look)
    return found


def over(demo, function, what, node, begin, end):
    """increase() or resets() from one scrape of a node to another; whole, as both ends are."""
    span = round((end - begin + EDGE_S) * 1000)
    name = f'{BLOCKS[what]}{{{JOB},instance="{node.name}"}}'
    return round(demo.prometheus.one(f"{function}({name}[{span}ms])", at=end) or 0)


def compare_increases(demo, begin, end):
    """Shows them beside the nodes' own; returns {blocks: increase()}, how many equal, resets."""
    rows, grown, equal = [], {}, 0
    for what in BLOCKS:
        own = sum(end[node][1][what] - begin[node][1][what] for node in demo.network)
        grown[what] = sum(over(demo, "increase", what, node, begin[node][0], end[node][0])
                          for node in demo.network)
        equal += grown[what] == own
        rows.append((f"blocks {what}", own, grown[what], own - grown[what]))
        if grown[what] != own:
            demo.problems.append(f"over the kill increase() has {grown[what]} blocks {what}, the "
                                 f"nodes wrote down {own}")
    for line in small(demo.screen, ("over the kill, all nodes", "nodes' own", "increase()",
                                    "missing"), rows):
        demo.screen.say(line)
    again = sum(over(demo, "resets", what, node, begin[node][0], end[node][0])
                for what in BLOCKS for node in demo.network)
    demo.screen.say(f"   increase() is exact over it, and resets() is {again}: Prometheus does not "
                    "see that a process died.")
    if again:
        demo.problems.append(f"resets() over the kill is {again}: totals did not go on")
    return grown, equal, again


# ---- the kill ----

def hold(demo, node):
    """Stops the node in mid-block; returns what it says of itself, and when the block began."""
    node.tell("hold")
    held = wait_for(f"{node.name} to be held in the middle of a block",
                    lambda: node.said("held"))[-1]
    return held, time.time() - held["seconds"]


def watch_held(demo, node, began):
    """Until the block is old enough to see, by the state file of the node, which still runs."""
    def look():
        flight = blocks_in_flight(node.state_file)
        passed = time.time() - began
        demo.screen.redraw([f"   {node.name} has been in one block for {passed:.1f} s; its state "
                            f"file has {len(flight)} block in the making"])
        return passed >= HELD_S and flight
    wait_for(f"the block of {node.name} in its state file", look)
    demo.screen.wipe()


def kill(demo, node):
    node.process.send_signal(signal.SIGKILL)
    node.process.wait()
    return time.time()


def block_left(demo, node, held, began, killed):
    """(operation, age) of the block that the dead process was in; a problem if it is another."""
    expected, most = f"block-of-slot-{held['slot']}", killed - began
    blocks = blocks_in_flight(node.state_file)
    if [op["op"] for op in blocks] != [expected]:
        demo.problems.append(f"{node.name} was killed in {expected}; its state file has "
                             f"{[op['op'] for op in blocks]} in flight")
        return "none", 0
    age = blocks[0]["age_ns"] / 1e9
    if not most - BEAT_S - CLOCKS_S <= age <= most + CLOCKS_S:
        demo.problems.append(f"{expected} was {most:.1f} s old when {node.name} was killed; its "
                             f"state file says {age:.1f} s at the last heartbeat")
    return expected, age


def short(event):
    """(name, values) of an event, for a table: of hashes the beginning."""
    values = " ".join(f"{name}={value[:12] + '…' if name == 'hash' else value}"
                      for name, value in event["values"].items())
    return event["event"].rpartition(".")[2], values


def events_left(demo, node, held, killed):
    """The last events of the dead process, out of its rings: the newest block that was built is the
    one that it was in."""
    events = [json.loads(line) for line in
              crest("events", "tail", "--once", "--dead", "--json", "-n", "all",
                    node.state_file.with_suffix(".events")).splitlines()]
    built = [event["values"]["slot"] for event in events
             if event["event"] == "rchain.casper.block-built"]
    if built[-1:] != [held["slot"]]:
        demo.problems.append(f"{node.name} was killed in the block of slot {held['slot']}; the "
                             f"last that its events say was built are those of {built[-3:]}")
    last = events[-LAST_EVENTS:]
    shown = [(*short(event), f"{killed - event['timeUnixNano'] / 1e9:.1f} s before")
             for event in last]
    for line in small(demo.screen, ("crest events, of the dead process", "", "when killed"), shown):
        demo.screen.say(line)
    return [" ".join(short(event)) for event in last]


def page_left(node):
    """{(node, name, labels): value} of the page that the dead process would have written."""
    lines = [line.rpartition(" ") for line in crest_cat(node.state_file).splitlines()
             if line and not line.startswith("#")]
    return {(node.name, *reconcile.key_of(series)): float(value) for series, _, value in lines}


def compare_books(demo, node, held):
    """The dead process's file against all that the node had counted itself."""
    books = reconcile.Verdict(reconcile.own_series({node.name: held}), page_left(node),
                              reconcile.own_errors({node.name: held}))
    demo.screen.say(f"   {books.counts} counts in the file of the dead process, {books.equal} "
                    f"equal to what {node.name} had counted itself.")
    if not books.good:
        demo.problems.append(f"the state file of {node.name} differs from what it had counted: "
                             f"{books.different[:3]}")
    return books


def killed_in_a_block(demo):
    screen, network = demo.screen, demo.network
    node = network.nodes[KILLED]
    screen.say(f"   {node.name} hangs in the middle of a block, as on a disk that does not answer, "
               "and gets SIGKILL.\n   Its figures lie in a file on tmpfs (state=DIR), which the "
               "kernel keeps. Then it starts again.")
    begin = scrapes(demo, 0)
    held, began = hold(demo, node)
    watch_held(demo, node, began)
    killed = kill(demo, node)
    op, age = block_left(demo, node, held, began, killed)
    for line in small(screen, ("crest cat, of the dead process", "in flight",
                               "at the last heartbeat", "when killed"),
                      [("… " + IN_FLIGHT.rpartition(".")[2], op, f"{age:.1f} s old",
                        f"{killed - began:.1f} s old")], marked=(0,)):
        screen.say(line)
    last_events = events_left(demo, node, held, killed)
    books = compare_books(demo, node, held)
    network.restart(KILLED)
    back = time.time()
    wait_for(f"{node.name} to propose blocks again", lambda: len(node.said("proposed"))
             >= len(node.said("proposed", until=back)) + AFTER_BLOCKS)
    end = scrapes(demo, time.time())
    grown, equal, again = compare_increases(demo, begin, end)
    return {"node": node.name, "held": began, "killed": killed, "back": back, "age": age, "op": op,
            "last_events": last_events, "end": end[node][0],
            "course": kill_card.own_course(node, demo.began), "grown": grown, "resets": again,
            "counts": books.counts + len(BLOCKS), "equal": books.equal + equal}
