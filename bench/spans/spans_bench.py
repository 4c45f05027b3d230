#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a span costs the thread that records it, beside fastrace and OpenTelemetry's SDKs for Rust
and Go with their batch processors. By hand, with the libraries built:

    make && bench/spans/spans_bench.py [ROUNDS]

All programs live at once and take turns, round by round, so that a busy machine is busy for all;
what is compared is a round's ratio. A round of a side is the median of some measurements, after
each of which it flushes; what the exporters were given must be all that was made. Prints medians
with the first and third quartile. A side without its toolchain is left out, and named.
"""

import os
import pathlib
import shutil
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build/bench-spans"
LIBRARIES = ROOT / os.environ.get("CREST_BUILD", "build/release") / "lib"
# As many as fit into a thread's ring of Crest's, two slots each, and into the SDKs' queues.
SPANS = 200
MEASUREMENTS = 25
WORDS = {"alone": "operations of one span, with a text and a number",
         "texts": "operations of one span, with two texts",
         "tree": "a root and a hundred children, each with a text and a number"}
OWN = {"clock": "two readings of the clock", "timer": "the timer, not traced",
       "dropped": "traced, dropped by sampling", "decided": "the same, slow ones would be kept",
       "plain": "traced and kept, no attribute"}


def run(command, folder=ROOT):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: {done.stdout}{done.stderr}")
    return done.stdout.strip()


def build():
    """{side: its command}."""
    BUILD.mkdir(parents=True, exist_ok=True)
    run(["cc", "-O2", "-Iinclude", "-Ibuild/include", "bench/spans/spans_bench.c", "-o",
         BUILD / "crest", LIBRARIES / "libcrest.a", "-lck", "-lm", "-pthread"])
    found = {"crest": [BUILD / "crest"]}
    if shutil.which("cargo"):
        run(["cargo", "build", "--release", "--locked", "--target-dir", BUILD / "rust"],
            ROOT / "bench/spans/rust")
        for side in ("fastrace", "otel-rust"):
            found[side] = [BUILD / "rust/release/spans", side]
    if shutil.which("go"):
        run(["go", "build", "-o", BUILD / "go", "."], ROOT / "bench/spans/go")
        found["otel-go"] = [BUILD / "go"]
    for side, tool in (("fastrace", "cargo"), ("otel-rust", "cargo"), ("otel-go", "go")):
        if side not in found:
            print(f"without {side}: there is no {tool}")
    return found


class Side:
    def __init__(self, name, command):
        self.name = name
        self.process = subprocess.Popen(command, text=True, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)

    def measure(self, shape, kept=True):
        """(ns of the thread, ns of the process) a span; `kept`: all of them, or none."""
        took = []
        for _ in range(MEASUREMENTS):
            self.process.stdin.write(f"{shape} {SPANS}\n")
            self.process.stdin.flush()
            thread, whole, made, taken = self.process.stdout.readline().split()
            if int(taken) != (int(made) if kept else 0):
                sys.exit(f"{self.name} made {made} spans ({shape}), and {taken} were exported")
            took.append((float(thread), float(whole)))
        return [statistics.median(values) for values in zip(*took)]

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def shown(values, places=1):
    low, middle, high = statistics.quantiles(values, n=4)
    return f"{middle:,.{places}f} ({low:,.{places}f}-{high:,.{places}f})"


def beside_peers(sides, rounds):
    for shape, words in WORDS.items():
        took = {name: [] for name in sides}
        for number in range(rounds + 1):
            order = list(sides.items())
            for name, side in order if number % 2 else reversed(order):
                took[name].append(side.measure(shape))
        # the first round warms up
        took = {name: values[1:] for name, values in took.items()}
        print(f"\n{words}: ns of the recording thread, of the whole process, and of Crest's time "
              "how many times")
        for name, values in took.items():
            ratios = [theirs[0] / own[0] for theirs, own in zip(values, took["crest"])]
            print(f"  {name:10} {shown([v[0] for v in values]):>26} "
                  f"{shown([v[1] for v in values]):>26}   {shown(ratios, 2)}")


def against_the_clock(crest, rounds):
    took = {shape: [] for shape in (*OWN, "alone")}
    for _ in range(rounds + 1):
        for shape, values in took.items():
            values.append(crest.measure(shape, kept=shape in ("plain", "alone"))[0])
    took = {shape: values[1:] for shape, values in took.items()}
    print("\nCrest alone: ns of the recording thread, and of two readings of the clock how many "
          "times")
    for shape, values in took.items():
        words = OWN.get(shape, "kept, with a text and a number")
        ratios = [own / clock for own, clock in zip(values, took["clock"])]
        print(f"  {words:34} {shown(values):>22}   {shown(ratios, 2)}")


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    sides = {name: Side(name, command) for name, command in build().items()}
    beside_peers(sides, rounds)
    against_the_clock(sides["crest"], rounds)
    for side in sides.values():
        side.end()


if __name__ == "__main__":
    main()
