# SPDX-License-Identifier: Apache-2.0
"""Three moments: a burst between two samples, a gateway that is killed, blocks that overlap.

Each is a function of the running demo that says what it does, does it, and shows in a small table
what Prometheus answers beside what the nodes know themselves. It returns what the report draws.
What must not be and is goes into `demo.problems`.
"""

import time

from figures import CONSENSUS, JOB, whole
from reconcile import CLOCKS_S_PER_S
from servers import Failure
from table import small

SEEN_S = 240
LOOK_EVERY_S = 0.2
BURST_MESSAGES = 2000
BURST_WATCHED_S = 4
OUTAGE_S = 4
SECOND_OUTAGE_S = 3
OVERLAP_WATCHED_S = 6
TICK_S = 1
# From a block that is counted to the line that tells of it.
SAID_S = 0.05
WINDOW_ROUNDING = 0.01
QUEUE = "rchain_comm_rp_transport_inbound_queue"
PACKETS = "rchain_comm_rp_transport_packets_enqueued"
UNBOUND = "rchain_casper_unbound_consensus_time"
# what a node says on standard output: the counter that must agree with it
BLOCKS = {"proposed": "rchain_casper_blocks_proposed_total",
          "finalised": "rchain_casper_blocks_finalised_total",
          "orphaned": "rchain_casper_blocks_orphaned_total"}


def wait_for(what, look, seconds=SEEN_S):
    """Polls until there is a result; on giving up, says what it waited for."""
    until = time.monotonic() + seconds
    while not (found := look()):
        if time.monotonic() > until:
            raise Failure(f"Waited {seconds} s in vain for {what}. The logs of all are in the "
                          "folder of this run, below build/demo.")
        time.sleep(LOOK_EVERY_S)
    return found


def known(demo, query):
    """The figure of a query; after a scrape that came too late there is none until the next."""
    found = []

    def look():
        found[:] = [demo.prometheus.one(query)]
        return found[0] is not None
    wait_for(query, look)
    return found[0]


# ---- 1 ----

def watch_queue(demo, node, mine, deepest, happened):
    """Watches both readings for some seconds after the burst; returns Crest's."""
    def look():
        most = demo.prometheus.one(f"{QUEUE}_waiting_max1m{mine}") or 0
        now = demo.prometheus.one(f"{QUEUE}_sampled{mine}") or 0
        passed = time.time() - happened
        demo.screen.redraw([f"   {passed:3.0f} s after it: the gauge of {node.name} says "
                            f"{now:.0f}, the range sampler's maximum {whole(most)}"])
        pushed = demo.prometheus.one(f"push_time_seconds{mine}") or 0
        return most >= deepest and pushed > happened + BURST_WATCHED_S and most
    most = wait_for(f"the burst of {node.name} in Prometheus", look)
    demo.screen.wipe()
    return most


def burst(demo):
    screen, prometheus = demo.screen, demo.prometheus
    node = demo.network.nodes[1]
    mine = f'{{{JOB},instance="{node.name}"}}'
    screen.say(f"   A neighbour sends {node.name} {BURST_MESSAGES} messages at once. A gauge of "
               "its inbound queue is read\n   once a second; a range sampler is told of each "
               "change.")
    began = time.time()
    node.tell(f"burst {BURST_MESSAGES}")
    said = wait_for(f"{node.name} to say that the burst arrived",
                    lambda: [e for e in node.said("burst")])[-1]
    happened = time.time()

    deepest = watch_queue(demo, node, mine, said["deepest"], happened)
    peak = known(demo, f"{PACKETS}_peak1m{mine}")
    usual = known(demo, f"{PACKETS}_rate1m{mine}")
    seconds = int(time.time() - began) + 4
    sampled = known(demo, f"max_over_time({QUEUE}_sampled{mine}[{seconds}s])")
    samples = [value for _, points in prometheus.samples(f"{QUEUE}_sampled{mine}", seconds)
               for _, value in points]
    rows = [("deepest inbound queue", whole(said["deepest"]), whole(deepest), whole(sampled)),
            ("messages in one second", f"{said['notes']} in {said['arrived_within_ms']:.1f} ms",
             f"{peak:,.0f}/s at peak", f"{usual:,.0f}/s on average")]
    for line in small(screen, ("", "the node knows", "Crest, exact", "as it is sampled"), rows):
        screen.say(line)
    screen.say(screen.paint("   gauge: " + " ".join(whole(value) for value in samples)
                            + f"    {QUEUE}_sampled", "dim"))
    screen.say(screen.paint(f"   Crest: {whole(deepest)}    {QUEUE}_waiting_max1m    "
                            f"{PACKETS.removeprefix('rchain_comm_rp_transport_')}_peak1m", "dim"))
    if sampled >= said["deepest"]:
        screen.say("   This time a reading fell into the burst, as one in a hundred does.")
    if deepest != said["deepest"]:
        demo.problems.append(f"{QUEUE}_waiting_max1m of {node.name} is {deepest:.0f}, the node's "
                             f"own deepest was {said['deepest']}")
    return {"node": node.name, "when": happened, "truth": said["deepest"], "crest": deepest,
            "sampled": sampled, "messages": said["notes"], "ms": said["arrived_within_ms"]}


# ---- 2 ----

def totals(demo):
    """{what: total of all nodes}, as Prometheus has them."""
    query = "sum by (__name__) ({__name__=~\"" + "|".join(BLOCKS.values()) + f"\",{JOB}}})"
    found = demo.prometheus.by("__name__", query)
    return {what: found.get(name) for what, name in BLOCKS.items()}


def totals_and_own(demo, since):
    """By node: totals of a push after `since` in Prometheus, and what the node had counted at that
    push. They differ where the push fell between a block and the line that tells of it."""
    names = "|".join([*BLOCKS.values(), "push_time_seconds"])
    found = {(labels["__name__"], labels["instance"]): value for labels, value
             in demo.prometheus.instant(f'{{__name__=~"{names}",{JOB}}}')}
    for node in demo.network:
        pushed = found.get(("push_time_seconds", node.name), 0)
        if pushed >= since:
            yield (node.name, {what: found.get((name, node.name), 0)
                               for what, name in BLOCKS.items()},
                   {what: len(node.said(what, until=pushed)) for what in BLOCKS})


def agreeing(demo, look, good):
    """What look() gave of each node when it was good; where it never was, the last after SEEN_S.
    Each node for itself: on a busy machine they seldom are good all at once."""
    until = time.monotonic() + SEEN_S
    last, agreed = {}, {}
    while len(agreed) < len(demo.network.nodes) and time.monotonic() < until:
        for name, *found in look():
            last[name] = found
            if good(*found):
                agreed.setdefault(name, found)
        time.sleep(LOOK_EVERY_S)
    if len(last) < len(demo.network.nodes):
        raise Failure(f"Prometheus has nothing of {len(demo.network.nodes) - len(last)} nodes that "
                      f"they pushed since the gateway came back, {SEEN_S} s ago")
    return {**last, **agreed}


def settled(demo, since):
    """Prometheus' totals of all nodes, and the nodes' own."""
    found = agreeing(demo, lambda: totals_and_own(demo, since), lambda theirs, own: theirs == own)
    return [{what: sum(both[side][what] for both in found.values()) for what in BLOCKS}
            for side in (0, 1)]


def windows_and_own(demo):
    """Blocks proposed in the window that the nodes computed themselves, by node: what the window
    has, at least, at most. A window ends at a tick of its node, up to a second before the push:
    between two bounds the node's own count is."""
    rate = BLOCKS["proposed"].replace("_total", "_rate1m")
    names = f"{rate}|crest_window_covered_seconds|push_time_seconds"
    found = {(labels["__name__"], labels["instance"]): value for labels, value
             in demo.prometheus.instant(f'{{__name__=~"{names}",window=~"1m|",{JOB}}}')}
    for node in demo.network:
        per_second, covered, pushed = (found.get((name, node.name)) for name in names.split("|"))
        if per_second is None or not covered or pushed is None:
            continue

        def own(first, last, node=node):
            return len(node.said("proposed", until=last)) - len(node.said("proposed", until=first))
        yield (node.name, per_second * covered,
               own(pushed - covered + SAID_S, pushed - TICK_S - SAID_S),
               own(pushed - covered - TICK_S - SAID_S, pushed + SAID_S))


def window_is_right(counted, least, most):
    return least - WINDOW_ROUNDING <= counted <= most + WINDOW_ROUNDING


def show_windows(demo):
    """The query that is right after a restart of the gateway, beside rate(), which is not."""
    screen = demo.screen
    windows = agreeing(demo, lambda: windows_and_own(demo), window_is_right)
    for name, window in windows.items():
        if not window_is_right(*window):
            demo.problems.append(f"{name}: its window of a minute has {window[0]:.1f} blocks "
                                 f"proposed, the node's own count is {window[1]} to {window[2]}")
    proposed = f"{BLOCKS['proposed']}{{{JOB}}}[1m]"
    grown = demo.prometheus.one(f"sum(increase({proposed}))") or 0
    counted, least, most = (sum(window[i] for window in windows.values()) for i in range(3))
    rows = [("blocks proposed", f"{counted:.0f}", f"{least} to {most}", f"{grown:.0f}")]
    for line in small(screen, ("in the last minute", "nodes' windows", "nodes' own",
                               "increase()"), rows):
        screen.say(line)
    return {"windows": counted, "least": least, "most": most, "increase": grown}


def own_course(network, what):
    """[(time, total)] of what all nodes said of themselves."""
    times = sorted(when for node in network for when, event in list(node.events)
                   if event["event"] == what)
    return [(when, index + 1) for index, when in enumerate(times)]


def failed_pushes(demo):
    return demo.prometheus.one(
        f'sum(crest_report_time_seconds_count{{{JOB},outcome!="ok",reporter="pushgateway"}})') or 0


def outage(demo):
    screen, gateway = demo.screen, demo.gateway
    screen.say("   The Pushgateway gets SIGKILL while four nodes push to it each second. It comes "
               "back twice:\n   first with its persistence file, then with that file deleted too.")
    before = totals(demo)
    failed_before = failed_pushes(demo)
    away, columns = [], []
    for lost_file, seconds, text in ((False, OUTAGE_S, "the gateway is away"),
                                     (True, SECOND_OUTAGE_S, "away again, its file deleted")):
        start = time.time()
        gateway.kill()
        if lost_file:
            gateway.file.unlink(missing_ok=True)
        screen.wait(seconds, text)
        gateway.start()
        back = time.time()
        away.append((start, back))
        columns.append(settled(demo, back))
    failed = wait_for("pushes to be counted that failed while the gateway was away",
                      lambda: max(0, failed_pushes(demo) - failed_before))
    rows = []
    lost = 0
    for what in BLOCKS:
        row = [f"blocks {what}", whole(before[what])]
        missing = 0
        for theirs, own in columns:
            row += [whole(theirs[what]), whole(own[what])]
            # one too many here does not cancel one too few there
            missing += abs(own[what] - theirs[what])
        rows.append((*row, whole(missing)))
        lost += missing
        if missing:
            demo.problems.append(f"after the gateway's restarts Prometheus has {missing:.0f} "
                                 f"blocks {what} more or fewer than the nodes counted")
    head = ("totals of all nodes", "before", "file kept", "nodes' own", "file lost", "nodes' own",
            "missing")
    for line in small(screen, head, rows):
        screen.say(line)
    screen.say(f"   {whole(failed)} pushes failed meanwhile (crest_report_time_seconds_count"
               '{outcome="error"}), each was repeated\n   with all that was new. Of the last '
               "minute:")
    windows = show_windows(demo)
    screen.say("   increase() takes a counter that went back, with the gateway's older file or "
               "without one, for a new one\n   and counts it twice, and leaves out what was there "
               "before the first scrape. The totals are right, and\n   so are the nodes' own "
               "windows: …_rate1m * crest_window_covered_seconds.")
    return {"away": away, "failed": failed, "missing": lost, **windows}


# ---- 3 ----

def most_in_flight(network):
    """The most blocks that were proposed and neither finalised nor orphaned at one time."""
    changes = []
    for node in network:
        for when, what in list(node.events):
            if what["event"] in BLOCKS:
                changes.append((when, 1 if what["event"] == "proposed" else -1))
    most = now = 0
    for _, change in sorted(changes):
        now += change
        most = max(most, now)
    return most


def timers(demo):
    """{node: (blocks, truth, bound, unbound, what truth and bound may differ by)} in milliseconds,
    of the same blocks: sums and counts are asked for at once, or a scrape might come between
    them."""
    names = f"({CONSENSUS}|{UNBOUND})_seconds_(sum|count)"
    found = {(labels["__name__"], labels["instance"]): value for labels, value
             in demo.prometheus.instant(
                 f'{{__name__=~"{names}",{JOB},outcome="ok",support=~"1|"}}')}
    means = {}
    for node in demo.network:
        bound, count, unbound, unbound_count = (
            found.get((f"{name}_seconds_{part}", node.name), 0)
            for name in (CONSENSUS, UNBOUND) for part in ("sum", "count"))
        finalised = node.said("finalised")[:int(count)]
        took = [event["took_ms"] for event in finalised]
        within = [event["within_ms"] for event in finalised]
        if count == 0 or len(took) < count or unbound_count == 0:
            return None
        means[node.name] = (count, sum(took) / count, 1000 * bound / count,
                            1000 * unbound / unbound_count, sum(within) / count)
    return means


def overlap(demo):
    screen, network = demo.screen, demo.network
    orphans = sum(len(node.said("orphaned")) for node in network)
    screen.say(f"   Up to {most_in_flight(network)} blocks were in flight at a time, {orphans} "
               "were orphaned. One timer keeps the start of\n   \"the block\" in a variable, the "
               "other is bound to the block's hash. Time to support 1:")
    until = time.monotonic() + OVERLAP_WATCHED_S
    while True:
        means = wait_for("consensus times in Prometheus", lambda: timers(demo))
        lines, found = overlap_table(screen, means)
        if time.monotonic() >= until:
            break
        screen.redraw(lines)
        time.sleep(LOOK_EVERY_S)
    screen.settle(lines)
    real, crest, wrong = found
    screen.say(f"   Bound: {crest - real:+.3f} ms off. Not bound: {wrong - real:+.1f} ms off, "
               f"{100 * (wrong - real) / real:+.0f} %.")
    for name, (_, truth, bound, _, within) in means.items():
        if abs(bound - truth) > CLOCKS_S_PER_S * truth + within:
            demo.problems.append(f"{name}: Crest's mean time to support 1 is {bound:.3f} ms, the "
                                 f"node's own {truth:.3f} ms")
    return {"means": means, "orphans": orphans, "truth": real, "bound": crest, "unbound": wrong}


def overlap_table(screen, means):
    """The lines, and the means over all nodes: truth, bound, not bound."""
    names = list(means)
    everything = sum(means[name][0] for name in names)

    def row(label, index):
        mean = sum(means[name][0] * means[name][index] for name in names) / everything
        return (label, *(f"{means[name][index]:.2f}" for name in names), f"{mean:.2f}"), mean
    truth, real = row("the nodes' own clock, ms", 1)
    bound, crest = row("Crest, bound, ms", 2)
    unbound, wrong = row("not bound, ms", 3)
    rows = [("blocks finalised", *(whole(means[name][0]) for name in names), whole(everything)),
            truth, bound, unbound]
    return (small(screen, ("mean over the same blocks", *names, "all"), rows, marked=(2,)),
            (real, crest, wrong))
