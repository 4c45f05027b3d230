# SPDX-License-Identifier: Apache-2.0
"""What the tests of the example node share: starting nodes on free ports, reading what they say at
exit and the metrics page they write, and a count of checks that ends in the line run-tests reads.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import free_ports  # noqa: E402  (needs the path above)

BUILD = pathlib.Path(os.environ.get("CREST_BUILD") or ROOT / "build/release").resolve()
NODE = BUILD / "examples/node/node"
EXIT_SKIPPED = 77
STOP_S = 120
# A ceiling: on a busy machine things take long.
WAIT_S = 120
# Beside what the node knows itself to lie between its reading of a clock and Crest's: the rates of
# the two clocks, and that sums are printed in nanoseconds.
CLOCKS_S_PER_S = 1e-4
COUNTS_S = 1e-9

SERIES = re.compile(r"^(\w+)(?:\{(.*)\})?$")
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(EXIT_SKIPPED)


def wait_for(look, seconds=WAIT_S):
    """Calls look() until it returns something true, or so many seconds; what it returned."""
    until = time.monotonic() + seconds
    while not (found := look()) and time.monotonic() < until:
        time.sleep(0.02)
    return found


class Checks:
    """Counts checks; every one prints a line, a failed one with both values."""

    def __init__(self):
        self.passed = self.failed = 0

    def that(self, good, what, *values):
        if good:
            self.passed += 1
        else:
            self.failed += 1
        shown = "" if good else "".join(f"\n       {value!r}" for value in values)
        print(("ok   " if good else "FAIL ") + what + shown, flush=True)

    def finish(self):
        print(f"{self.passed} passed, {self.failed} failed, 0 skipped")
        sys.exit(1 if self.failed else 0)


def series(text):
    """A series as PromQL writes it -> (name, its labels as a frozenset): order does not matter."""
    name, labels = SERIES.match(text).groups()
    return name, frozenset(LABEL.findall(labels or ""))


def allowed(report, key):
    """How far an exported value may be from what the node counted itself: not at all where it is a
    count; a sum of durations by what lay between the readings of two clocks, and, of durations
    between two nodes, by what Crest's estimates of their clocks say of themselves."""
    name, _ = key
    if not name.endswith("_seconds_sum"):
        return COUNTS_S
    return COUNTS_S + CLOCKS_S_PER_S * report["series"][key] + report["within"][key]


def differences(report, answered):
    """What was exported otherwise than it was counted."""
    wrong = []
    for (name, labels), value in sorted(report["series"].items(), key=str):
        found = answered.get((name, labels))
        if found is None or abs(found - value) > allowed(report, (name, labels)):
            wrong.append((name, dict(labels), "counted", value, "exported", found))
    return wrong


def read_page(path):
    """A metrics page -> {series: value}."""
    values = {}
    for line in pathlib.Path(path).read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            name, value = line.rsplit(" ", 1)
            values[series(name)] = float(value)
    return values


class Node:
    """One running node process."""

    def __init__(self, folder, index, ports, *options, crest_opts=None, data=None):
        self.name = f"node-{index}"
        self.page = folder / f"page-{index}"
        self.output = folder / f"out-{index}"
        self.errors = folder / f"err-{index}"
        env = {key: value for key, value in os.environ.items() if key != "CREST_OPTS"}
        command = [str(NODE), "--index", str(index), "--ports", ",".join(map(str, ports)),
                   "--data", str(data or folder / f"data-{index}"), "--page", str(self.page),
                   "--events", *options]
        if crest_opts:
            command += ["--crest-opts", crest_opts]
        with open(self.output, "a") as out, open(self.errors, "a") as err:
            self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=out, stderr=err,
                                            text=True, env=env)

    def tell(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def wait(self):
        """Its exit status."""
        try:
            return self.process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            return "did not stop"

    def events(self, kind=None):
        # the last may not be whole yet
        lines = [json.loads(line) for line in self.output.read_text().split("\n")[:-1] if line]
        return [line for line in lines if kind in (None, line["event"])]

    def said(self):
        return self.errors.read_text()

    def report(self):
        """Its exit report, with the series parsed."""
        last = self.events("exit")[-1]
        for part in ("series", "within"):
            last[part] = {series(name): value for name, value in last[part].items()}
        return last

    def value(self, name, **labels):
        return self.report()["series"][(name, frozenset(labels.items()))]


class Network:
    """Some nodes in a temporary folder; ends what still runs and removes the folder."""

    def __init__(self, count):
        if not NODE.exists():
            skip(f"{NODE} is not built: make examples")
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="crest-node-"))
        self.ports = free_ports.take(count)
        self.nodes = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for node in self.nodes:
            if node.process.poll() is None:
                node.process.kill()
                node.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def start(self, index, *options, **more):
        node = Node(self.folder, index, self.ports, *options, **more)
        self.nodes.append(node)
        return node

    def start_all(self, *options, skews_ms=None, **more):
        """All of them; those named in skews_ms with a clock that is so far ahead."""
        return [self.start(index, *options,
                           *(["--clock-skew-ms", str(skews_ms[index])]
                             if index in (skews_ms or {}) else []), **more)
                for index in range(len(self.ports))]

    def stop_all(self):
        for node in self.nodes:
            if node.process.poll() is None:
                node.tell("stop")
        return [node.wait() for node in self.nodes]
