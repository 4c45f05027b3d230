# SPDX-License-Identifier: Apache-2.0
"""Four node processes: starts them, talks to them over standard input, and keeps what they say on
standard output about themselves. That is the truth the figures from Prometheus are compared with;
no figure shown as measured is taken from here.
"""

import json
import os
import pathlib
import re
import subprocess
import threading
import time

from servers import ROOT, Failure, free_ports, last_lines

COUNT = 4
NAMES = [f"node-{index}" for index in range(COUNT)]
PROGRAM = pathlib.Path(os.environ.get("CREST_BUILD", "build/release")) / "examples/node/node"
DEPLOYS_PER_SECOND = 30
TRANSFERS_PER_DEPLOY = 5
# One of them has a clock that is this far ahead, as clocks of other machines are.
SKEWED, SKEW_MS = 2, 2000
READY_S = 240
STOP_S = 60
# Series that only grow, in the name or before its labels.
TOTAL = re.compile(r"_(total|count|sum)($|\{)")


class Node:
    """One node; a thread reads its events with the time they were said. It may be started again,
    and then goes on: events are those of all its lives."""

    def __init__(self, started, folder, index, ports, options, state):
        self.started = started
        self.name = NAMES[index]
        self.log = folder / f"{self.name}.log"
        self.page = folder / f"{self.name}.page"
        self.state_file = state / f"{self.name}.crest" if state else None
        self.events = []
        self.lives = 0
        self.command = [
            ROOT / PROGRAM, "--index", str(index), "--nodes", str(COUNT),
            "--ports", ",".join(map(str, ports)), "--data", folder / f"{self.name}.data",
            "--deploys-per-second", str(DEPLOYS_PER_SECOND),
            "--transfers-per-deploy", str(TRANSFERS_PER_DEPLOY),
            "--clock-skew-ms", str(SKEW_MS if index == SKEWED else 0),
            "--page", self.page, "--events"]
        environment = {key: value for key, value in os.environ.items() if key != "CREST_OPTS"}
        self.environment = {**environment, "CREST_OPTS": options}
        self.launch()

    def launch(self):
        self.lives += 1
        with open(self.log, "ab") as log:
            self.process = self.started.launch(
                self.command, env=self.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=log)
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    @property
    def ready(self):
        return len(self.said("ready")) == self.lives

    def read(self):
        for line in self.process.stdout:
            try:
                self.events.append((time.time(), json.loads(line)))
            except ValueError:
                self.events.append((time.time(), {"event": "garbled", "line": repr(line)}))

    def tell(self, line):
        try:
            self.process.stdin.write(line.encode() + b"\n")
            self.process.stdin.flush()
        except OSError as error:
            raise Failure(f"{self.name} takes no commands ('{line}'): {error}. The end of its log, "
                          f"{self.log}:\n{last_lines(self.log)}") from error

    def said(self, event, until=float("inf")):
        """The events of that kind, up to a moment in Unix time."""
        return [what for when, what in list(self.events)
                if what["event"] == event and when <= until]

    def check_alive(self):
        if self.process.poll() is not None:
            raise Failure(f"{self.name} ended with status {self.process.returncode}. The end of "
                          f"its log, {self.log}:\n{last_lines(self.log)}")


def both_lives(held, ended):
    """What a node counted before it was killed and after: totals add up, levels are the last."""
    series = {name: value + (held["series"].get(name, 0) if TOTAL.search(name) else 0)
              for name, value in ended["series"].items()}
    return {**ended, "series": {**held["series"], **series},
            "within": {name: held["within"].get(name, 0) + ended["within"].get(name, 0)
                       for name in {**held["within"], **ended["within"]}}}


class Network:
    """The four of them. `options` is given the node's name and returns its CREST_OPTS; their state
    files lie in the folder `state`."""

    def __init__(self, started, folder, options, state=None):
        ports = free_ports(COUNT)
        self.nodes = [Node(started, folder, index, ports, options(NAMES[index]), state)
                      for index in range(COUNT)]

    def restart(self, index):
        """After its end: the same again."""
        self.nodes[index].reader.join(STOP_S)
        self.nodes[index].launch()
        self.wait_ready()

    def __iter__(self):
        return iter(self.nodes)

    def check_alive(self):
        for node in self.nodes:
            node.check_alive()

    def wait_ready(self):
        until = time.monotonic() + READY_S
        while not all(node.ready for node in self.nodes):
            self.check_alive()
            if time.monotonic() > until:
                silent = ", ".join(n.name for n in self.nodes if not n.ready)
                raise Failure(f"{silent}: not connected to its neighbours {READY_S} s after the "
                              f"start. The end of {self.nodes[0].log}:\n"
                              + last_lines(self.nodes[0].log))
            time.sleep(0.02)

    def stop(self):
        """Stops all, and returns {name: what it said at exit}."""
        for node in self.nodes:
            node.tell("stop")
        until = time.monotonic() + STOP_S
        for node in self.nodes:
            try:
                status = node.process.wait(max(0.1, until - time.monotonic()))
            except subprocess.TimeoutExpired as error:
                raise Failure(f"{node.name} was told to stop and still runs {STOP_S} s later. The "
                              f"end of its log, {node.log}:\n{last_lines(node.log)}") from error
            node.reader.join(STOP_S)
            if status != 0 or len(node.said("exit")) != 1:
                raise Failure(f"{node.name} ended with status {status} and "
                              f"{len(node.said('exit'))} exit reports; wanted 0 and 1. The end of "
                              f"its log, {node.log}:\n{last_lines(node.log)}")
        return {node.name: node.said("exit")[0] if node.lives == 1
                else both_lives(node.said("held")[0], node.said("exit")[0]) for node in self.nodes}
