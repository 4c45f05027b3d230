# SPDX-License-Identifier: Apache-2.0
"""What the tests of bench/runner share: its modules, and a folder of sides that are not real.

    import benchlib

    bench = benchlib.plant(place, fake="good")      # a bench/ with one side, that behaves
    status, said, results = benchlib.run(bench, "--runs", "2")
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys

import toolslib

BENCH = toolslib.ROOT / "bench"
PROGRAM = toolslib.ROOT / "tests" / "tools" / "bench_side_program.py"
LIMIT_S = 60  # of a side's next line: a busy machine may take seconds to start an interpreter

sys.path.insert(0, str(BENCH / "runner"))

HISTORY = [
    {"date": "2020-01-01", "version": "0.1.0", "text": "first", "changes": {
        "started": False, "library": {"interval": "60s", "windows": "1m"}, "threads": [1],
        "metrics": 10, "label_keys": 2, "label_values": 4, "even_most": 100,
        "bounds_ns": [1000, 2000],
        "values": {"distribution": "log-normal", "median_ns": 1000, "sigma": 1.5, "least_ns": 10,
                   "most_ns": 100000, "seed": 7}}},
    {"date": "2020-02-01", "version": "0.2.0", "text": "second", "changes": {
        "threads": [1, 2], "values": {"sigma": 2.0}, "library": {"jitter": "0.1"}}},
    {"date": "2020-03-01", "text": "third", "changes": {"series": [1000], "scraped": False}},
]
TARGETS = [
    {"id": "crest/counter/hot/1", "against": "limit/lock-xadd/hot/1", "ratio": 0.3},
    {"id": "crest/counter/hot/1", "against": "prometheus-cpp/counter/hot/1", "faster": 5},
    {"id": "crest/gauge/hot/1", "against": "limit/store-double/hot/1", "over": 0.4},
]


def write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content), encoding="utf-8")


def plant(place, history=None, sides=None, **ways):
    """A bench/ with profiles, targets, and a side for each name, which behaves as its way says."""
    bench = pathlib.Path(place) / "bench"
    write(bench / "profiles/history.json", history or HISTORY)
    write(bench / "profiles/base.json", {"text": "the base", "runs": 2, "rounds": 3,
                                         "sides": sides or list(ways) or ["fake"], "only": "."})
    for name, content in {
            "more": {"text": "more metrics", "metrics": 12},
            "on": {"started": True, "library": {"windows": "1m"}},
            "off": {"started": True, "library": {"windows": "off"}},
            "none": {"started": False, "library": {"windows": "off"}}}.items():
        write(bench / f"profiles/overlays/{name}.json", content)
    write(bench / "profiles/twins.json", {
        "windows": {"claim": "Windows cost nothing.", "with": "on", "without": "off"},
        "two": {"claim": "Two at once.", "with": "on", "without": "none"},
        "same": {"claim": "Nothing.", "with": "on", "without": "on"}})
    write(bench / "targets.json", TARGETS)
    for name, way in ways.items():
        write(bench / name / "side.json", {
            "name": name, "text": "not real", "limit_s": LIMIT_S, "carries_out": ["library"],
            "run": [sys.executable, str(PROGRAM), way]})
    return bench


def run(bench, *arguments, env=None):
    """The program's exit status, what it printed, and the results file if it wrote one."""
    output = bench.parent / "output"
    shutil.rmtree(output, ignore_errors=True)
    done = subprocess.run(
        [sys.executable, str(BENCH / "runner/bench.py"), "--bench", str(bench), "--output",
         str(output), *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
        env={**os.environ, "STRICT": "", **(env or {})}, timeout=900)
    results = output / "results.json"
    return (done.returncode, done.stdout.decode("utf-8", "replace"),
            json.loads(results.read_text(encoding="utf-8")) if results.exists() else None)
