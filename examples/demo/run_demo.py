#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make demo: four nodes, a real Pushgateway and a real Prometheus for a minute.

    make demo                        live, then everything is stopped
    KEEP=1 make demo                 Prometheus and the gateway stay open
    CREST_DEMO=embedded make demo    no server: the nodes report to the console

What it shows as measured, it has from Prometheus with PromQL; what the nodes say about themselves
is only ever the other side of a comparison. Everything it starts, it ends by its process id. It
exits 0 when every comparison agreed, 1 when one did not or something could not be done, and says
what.
"""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import block_profile
import block_trace
import embedded
import kill_moment
import moments
import promql
import reconcile
import servers
import svg_report
import ways
from nodes import (COUNT, DEPLOYS_PER_SECOND, NAMES, SKEW_MS, SKEWED, TRANSFERS_PER_DEPLOY,
                   Network)
from screen import Screen
from table import Live

RUNS = servers.ROOT / "build/demo"
BUILD = servers.ROOT / os.environ.get("CREST_BUILD", "build/release")
# How long all figures are waited for, and how long the first.
PATIENT_S, FIRST_FIGURES_S = 12, 240
TABLE_UNTIL_S = 20
# A scrape that takes longer than its second leaves a table with holes: then it is read again.
TABLE_AT_MOST_S = 240
REDRAW_S = 1
BENCH_S = 120
TO_PASTE = [
    ("average latency to each level of consensus, seconds",
     "sum by (support) (rchain_casper_consensus_time_seconds_sum{outcome=\"ok\"}) / "
     "sum by (support) (rchain_casper_consensus_time_seconds_count{outcome=\"ok\"})", "support"),
    ("its 99th percentile over the last five minutes, from buckets",
     "histogram_quantile(0.99, sum by (le, support) "
     "(rate(rchain_casper_consensus_time_seconds_bucket{outcome=\"ok\"}[5m])))", "support"),
    ("longest inbound queue of the last five minutes, between two samples too",
     "max_over_time(rchain_comm_rp_transport_inbound_queue_waiting_max1m[5m])", "instance"),
]


class Demo:
    """What the phases share."""

    def __init__(self, screen, folder, state):
        self.screen = screen
        self.state, self.state_options = state
        self.folder = folder
        self.problems = []
        self.gateway = self.server = self.prometheus = self.network = None
        self.offsets = {}
        self.profile_ports = servers.free_ports(block_profile.NODES)
        self.profile = None
        self.began = time.time()
        self.happened = {}

    # ---- the phases, in order ----

    def start(self, started):
        keep = bool(os.environ.get("KEEP"))
        self.screen.phase(f"A Pushgateway, a Prometheus and {COUNT} nodes")
        self.gateway = servers.Pushgateway(started, self.folder, survives=keep)
        self.server = servers.Prometheus(started, self.folder, survives=keep)
        # Prometheus looks at its targets only five seconds after its start: it goes first.
        self.server.configure(self.gateway).launch()
        self.gateway.start()
        self.server.wait_ready()
        self.prometheus = promql.Client(self.server.url)
        self.network = Network(started, self.folder, self.options, self.state)
        self.network.wait_ready()
        self.screen.say(f"   Each node pushes every second to {self.gateway.url},\n"
                        f"   which Prometheus at {self.server.url} reads every second.\n"
                        f"   Offered to each node, whether or not it keeps up: "
                        f"{DEPLOYS_PER_SECOND} deploys a second, {TRANSFERS_PER_DEPLOY} transfers "
                        f"in each.\n   The clock of {NAMES[SKEWED]} is {SKEW_MS:,} ms ahead of the "
                        "others'.")

    def options(self, name):
        """The machine's figures are the same for all of them, so the first reports those."""
        groups = "on" if name == NAMES[0] else "process:malloc"
        return (f"service=rnode,instance={name},interval=1s,jitter=0,windows=1m,system={groups},"
                f"pushgateway={self.gateway.url},pushgateway.job=rnode,"
                f"{self.state_options},state.name={name},"
                + block_trace.options(self.folder, name)
                + "".join(block_profile.options(port) for port, profiled
                          in zip(self.profile_ports, NAMES) if profiled == name))

    def watch(self):
        """The live table."""
        self.screen.phase("What operators ask for, answered by Prometheus")
        self.profile = block_profile.Taken(self.profile_ports)
        live = Live(self.screen, self.prometheus, NAMES)
        first, whole = None, None
        while first is None or self.screen.seconds() < TABLE_UNTIL_S or (
                whole is None and self.screen.seconds() < TABLE_AT_MOST_S):
            tick = time.monotonic()
            self.network.check_alive()
            lines = live.read()
            if live.unknown == 0:
                whole = lines
            enough = live.unknown == 0 or (live.arrived and self.screen.seconds() > PATIENT_S)
            if first is None and enough:
                first = self.screen.seconds()
            if first is None and self.screen.seconds() > FIRST_FIGURES_S:
                raise servers.Failure(
                    f"{live.unknown} figures are still missing {FIRST_FIGURES_S} s after the "
                    f"start: Prometheus at {self.server.url} answers, but has nothing of them. The "
                    f"end of {self.server.log}:\n{servers.last_lines(self.server.log)}\nand of "
                    f"{self.network.nodes[0].log}:\n"
                    + servers.last_lines(self.network.nodes[0].log))
            self.screen.redraw(lines, live.summary if first else
                               "waiting for the first scrape, 5 s after Prometheus's start")
            time.sleep(max(0, REDRAW_S - (time.monotonic() - tick)))
        self.screen.settle(whole or lines)
        if whole is None:
            self.screen.say(f"   {live.unknown} figures ('–') are not to be had on this machine.")
        self.screen.say(self.screen.paint(
            f"   First complete after {first:.0f} s. Averages are the nodes' own, over the last "
            "minute, from every event.\n   A transfer has two comm events, and what was in an "
            "orphaned block is executed once more.", "dim"))

    def moment(self, title, act, key):
        self.screen.phase(title)
        self.happened[key] = act(self)

    def hot(self):
        """Where the processor's time of block validation goes, by a profile taken meanwhile."""
        self.screen.phase("Where block validation spends its time")
        self.happened["profile"] = self.profile.finish()
        block_profile.show(self.screen, self.happened["profile"])

    def costs(self):
        """What one node costs by each way, while it works."""
        self.screen.phase("What one node costs by each way")
        self.happened["ways"] = ways.measure(self.network, self.folder)
        ways.show(self.screen, self.happened["ways"])

    def finish(self):
        """Stops the nodes and compares what they say with what arrived."""
        self.offsets = block_trace.clock_offsets(self.prometheus)
        self.screen.phase("Exactly: what the nodes say at exit, and what Prometheus has")
        exits = self.network.stop()
        verdict = reconcile.reconcile(
            exits, lambda: reconcile.answered_series(self.prometheus))
        verdict.add(self.happened["kill"]["counts"], self.happened["kill"]["equal"])
        reconcile.show(self.screen, verdict, "Prometheus", self.problems)
        self.happened["verdict"] = verdict
        self.happened["own_proposed"] = moments.own_course(self.network, "proposed")

    def follow(self):
        """One slow block, by the spans that the nodes wrote up to their end."""
        self.screen.phase("One slow block, followed over four nodes")
        kill = self.happened["kill"]
        found = block_trace.follow(self.network, self.folder, self.offsets,
                                   {kill["node"]: kill["killed"]})
        self.happened["trace"] = found
        block_trace.show(self.screen, found, self.problems)

    def figures_to_keep(self):
        self.screen.phase("One increment")
        cost = increment_cost()
        self.happened["cost"] = cost
        self.screen.say(f"   {cost['crest_ns']:.2f} ns a crest_counter_inc, "
                        f"{cost['xadd_ns']:.2f} ns a lock xadd beside it: "
                        f"{cost['crest_ns'] / cost['xadd_ns']:.2f} of it.")
        self.screen.phase("To paste into Prometheus, with what it just answered")
        for what, query, label in TO_PASTE:
            self.screen.say("   " + self.screen.paint(f"# {what}", "dim"))
            self.screen.say("   " + query)
            found = sorted(self.prometheus.by(label, query).items())
            answer = "   ".join(f"{key}: {value:.4g}" for key, value in found)
            self.screen.say(self.screen.paint(f"     {label} {answer}", "green"))

    def report(self):
        path = RUNS / "report.svg"
        ended = time.time()
        text = svg_report.draw(self.prometheus, self.began, ended, self.happened)
        path.write_text(text, encoding="utf-8")
        return path


def increment_cost():
    program = BUILD / "examples/demo/increment_cost"
    try:
        done = subprocess.run([program], capture_output=True, timeout=BENCH_S, check=True)
        return json.loads(done.stdout)
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        raise servers.Failure(f"{program}, which times an increment, did not do so: {error}. "
                              "'make examples' builds it.") from error


def keep_open(screen, started, demo):
    """Leaves both servers running, and says how to end them."""
    started.kept = [demo.server.process, demo.gateway.process]
    pids = " ".join(str(process.pid) for process in started.kept)
    screen.say(f"   Prometheus stays open:        {demo.server.url}/graph\n"
               f"   and the Pushgateway:          {demo.gateway.url}\n"
               f"   To end both:                  kill {pids}")


def with_servers(screen, folder):
    with servers.state_folder() as state, servers.Started() as started:
        demo = Demo(screen, folder, state)
        demo.start(started)
        demo.watch()
        demo.moment("Moment 1 of 4: a burst that ends between two samples", moments.burst, "burst")
        demo.moment("Moment 2 of 4: the gateway is killed", moments.outage, "outage")
        demo.moment("Moment 3 of 4: blocks that overlap", moments.overlap, "overlap")
        demo.moment("Moment 4 of 4: a node is killed in the middle of a block",
                    kill_moment.killed_in_a_block, "kill")
        demo.hot()
        demo.costs()
        demo.finish()
        demo.follow()
        demo.figures_to_keep()
        path = demo.report()
        screen.phase("Done")
        screen.say(f"   The whole run in one picture: {path.relative_to(servers.ROOT)}\n"
                   f"   Logs and data:                {folder.relative_to(servers.ROOT)}")
        if os.environ.get("KEEP"):
            keep_open(screen, started, demo)
    return demo.problems


def interrupted(number, _frame):
    """What the exception is told may be lost on its way: Python's codecs put words around it."""
    servers.ignore_signals()
    interrupted.by = signal.Signals(number).name
    raise KeyboardInterrupt


interrupted.by = "SIGINT"   # as Python's own handler would have it


def main():
    # the first one ends the demo in order, and nothing after it gets in the way of that
    for number in servers.SIGNALS:
        signal.signal(number, interrupted)
    screen = Screen()
    RUNS.mkdir(parents=True, exist_ok=True)
    folder = RUNS / time.strftime(f"run-%Y%m%d-%H%M%S-{os.getpid()}")
    folder.mkdir()
    run = embedded.run if os.environ.get("CREST_DEMO") == "embedded" else with_servers
    try:
        problems = run(screen, folder)
    except (servers.Failure, promql.Refused) as failure:
        problems = [str(failure)]
    except KeyboardInterrupt:
        problems = [f"Interrupted ({interrupted.by}); everything that was started is stopped."]
    except BrokenPipeError:
        # no reader is left; Python would try to write once more when it ends
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        problems = ["The output has no reader any more; everything that was started is stopped."]
    finally:
        screen.close()
    for problem in problems:
        sys.stderr.write(f"demo: {problem}\n")
    sys.stderr.flush()
    return 1 if problems else 0


if __name__ == "__main__":
    os.chdir(servers.ROOT)
    sys.exit(main())
