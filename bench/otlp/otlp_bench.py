#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Encoding a snapshot as OTLP, beside the pages of the same snapshot and beside OpenTelemetry's Go
SDK: transform and marshalling, without its network. By hand, with the libraries built:

    make && bench/otlp/otlp_bench.py [ROUNDS]

Both sides' programs live at once and take turns, so that a busy machine is busy for both; what is
compared is a round's ratio. Prints medians with the smallest and the largest.
"""

import pathlib
import shutil
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build/bench-otlp"
EXPORTER = "go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
SHAPES = {"counters": 2000, "short": 500, "long": 500}
OWN = ("otlp", "json", "explicit", "text", "native", "only")


def run(command, folder=ROOT):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: {done.stdout}{done.stderr}")
    return done.stdout.strip()


def build_own():
    program = BUILD / "otlp_bench"
    run(["cc", "-O2", "-Iinclude", "-Ibuild/include", "bench/otlp/otlp_bench.c", "-o", program,
         "build/release/lib/libcrest.a", "-lck", "-lm", "-pthread"])
    return program


def build_go():
    """The transform is internal to the exporter: its sources are copied from Go's module cache."""
    folder = BUILD / "go"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(ROOT / "bench/otlp/go", folder)
    at = run(["go", "list", "-mod=mod", "-m", "-f", "{{.Dir}}", EXPORTER], folder)
    (folder / "transform").mkdir()
    for source in pathlib.Path(at, "internal/transform").glob("*.go"):
        if not source.name.endswith("_test.go"):
            (folder / "transform" / source.name).write_text(source.read_text())
    run(["go", "build", "-mod=mod", "-o", "otlp_bench", "."], folder)
    return folder / "otlp_bench"


class Side:
    def __init__(self, program, shape):
        self.process = subprocess.Popen([program, shape, str(SHAPES[shape])], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def says(self, what):
        self.process.stdin.write(what + "\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def shown(values):
    return f"{statistics.median(values):,.1f} ({min(values):,.1f}-{max(values):,.1f})"


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 9
    BUILD.mkdir(parents=True, exist_ok=True)
    own = build_own()
    go = build_go() if shutil.which("go") else None
    for shape, count in SHAPES.items():
        crest = Side(own, shape)
        peer = Side(go, shape) if go else None
        took = {what: [] for what in OWN}
        ratios, peers = [], []
        for _ in range(rounds):
            for what in OWN:
                took[what].append(crest.says(what))
            if peer:
                before = crest.says("otlp")
                peers.append(peer.says("otlp"))
                ratios.append(2 * peers[-1] / (before + crest.says("otlp")))
        print(f"{shape}, {count} series, ns each")
        for what, values in took.items():
            print(f"  {what:9} {shown(values)}")
        print(f"  bytes     {crest.says('bytes')}")
        if peer:
            print(f"  Go SDK    {shown(peers)}, {shown(ratios)} times otlp, "
                  f"{peer.says('bytes')} bytes")
            peer.end()
        crest.end()


if __name__ == "__main__":
    main()
