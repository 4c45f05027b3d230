# SPDX-License-Identifier: Apache-2.0
"""The sides of prometheus-cpp and of Rust, where `make bench` has built them: one round with one
thread, and their totals. Nothing is built or downloaded for it."""

import json
import re
import subprocess
import sys

import toolslib
from toolslib import BUILD, ROOT, equal

sys.path.insert(0, str(ROOT / "bench" / "runner"))
import bench_inputs  # noqa: E402
import bench_sides  # noqa: E402

# By peer, operations that must be there with one metric and with many.
OPERATIONS = {"prometheus-cpp": {"counter", "gauge", "histogram", "timer", "counter-labelled",
                                 "counter-by-name", "histogram-labelled"},
              "rust-prometheus": {"counter", "gauge", "histogram", "timer", "counter-labelled"},
              "rust-metrics": {"counter", "gauge", "histogram", "timer", "counter-by-name"},
              "rust-hdrhistogram": {"histogram"}}


def inputs(place):
    profile = {}
    for dated in json.loads((ROOT / "bench/profiles/history.json").read_text()):
        profile.update(dated["changes"])
    bench_inputs.write_inputs(place / "inputs", {**profile, "threads": [1]})
    return place / "inputs"


def built(program, folders):
    """Skips unless the program is there, and newer than what it is made of."""
    if not program.is_file():
        raise toolslib.Skip(f"{program.name} of make bench is not built")
    newest = max(path.stat().st_mtime for folder in folders
                 for path in (ROOT / "bench" / folder).rglob("*") if path.is_file())
    if program.stat().st_mtime < newest:
        raise toolslib.Skip(f"{program.name} of make bench is older than its sources")
    return program


def one_round(program, folder, peers):
    only = f"^({'|'.join(peers)})/.*/1$"
    done = subprocess.run([program, f"--inputs={folder}", f"--only={only}"], check=False, text=True,
                          input="round 0\nround 1\nfinish\n", stdout=subprocess.PIPE, timeout=120)
    said = [json.loads(line) for line in done.stdout.splitlines()]
    hello, ids = said[0], sorted(each["id"] for each in said[0]["benchmarks"])
    for each in hello["benchmarks"] + hello["missing"]:
        if not bench_sides.ID.fullmatch(each["id"]) or not re.search(only, each["id"]):
            raise toolslib.Failure(f"{each} was not asked for")
    for peer in peers:
        for spread in ("hot", "random"):
            there = {name.split("/")[1] for name in ids if name.startswith(f"{peer}/")
                     and f"/{spread}/" in name}
            equal(OPERATIONS[peer] - there, set(), f"operations of {peer}, {spread}, that lack")
    rounds = [each for each in said if "value" in each]
    equal(sorted(each["id"] for each in rounds), sorted(ids * 2), "samples of two rounds")
    if not all(0.1 < each["value"] < 1e6 for each in rounds):
        raise toolslib.Failure(f"no such times: {rounds}")
    checks = [each for each in said if "check" in each]
    checked = {each["check"].split(" ")[0] for each in checks if each["asked"] > 0}
    equal({name.rsplit("/", 1)[0] for name in ids} - checked, set(), "benchmarks without a total")
    equal([each for each in checks if each["found"] != each["asked"]], [], "wrong totals")
    equal((done.returncode, said[-1]), (0, {"done": "finish"}), "the end")


def prometheus_cpp(place):
    program = built(BUILD / "bench/prometheus-cpp", ["side", "peers/prometheus-cpp"])
    one_round(program, inputs(place), ["prometheus-cpp"])


def rust(place):
    program = built(ROOT / "build/bench/rust/release/side", ["peers/rust"])
    one_round(program, inputs(place), [peer for peer in OPERATIONS if peer.startswith("rust")])


if __name__ == "__main__":
    toolslib.main([prometheus_cpp, rust])
