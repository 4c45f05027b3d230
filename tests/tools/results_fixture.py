# SPDX-License-Identifier: Apache-2.0
"""Results files for tests: their shape is that of `make bench`, their numbers are made up."""

import copy
import json
import random
import statistics

OPERATIONS = {"counter": 2.0, "gauge": 1.0, "histogram": 3.0, "timer": 30.0}
PEERS = {"crest": 1.0, "crest-exported": 2.0, "prometheus-cpp": 8.0, "rust-prometheus": 4.0}
LIMITS = {"lock-xadd": 8.0, "store-double": 0.8, "plain-hdr": 4.0, "clock-twice": 20.0,
          "thread-local-add": 1.9}


def benchmark(value, draw, unit="ns", runs=5, rounds=3):
    return {"unit": unit, "side": "fixture", "disturbed": 0, "overlap_least": 1.0,
            "runs": [[value * draw.uniform(1, 1.05) for _ in range(rounds)] for _ in range(runs)]}


def spread_of(entry):
    samples = [sample for run in entry["runs"] for sample in run]
    return {"median": statistics.median(statistics.median(run) for run in entry["runs"]),
            "min": min(samples), "max": max(samples)}


def row(benchmarks, name, against, kind, value):
    """A row with a target of one of the kinds `ratio` and `faster`."""
    cost, other = spread_of(benchmarks[name]), spread_of(benchmarks[against])
    ratio = {"median": cost["median"] / other["median"], "min": cost["min"] / other["max"],
             "max": cost["max"] / other["min"]}
    found = ratio["median"] if kind == "ratio" else 1 / ratio["median"]
    part = found / value if kind == "ratio" else value / found
    return {"section": "counter", "text": name, "id": name, "cost": {**cost, "unit": "ns"},
            "against": against, "ratio": ratio, "found": found, "part": part, "met": part <= 1,
            "target": {"kind": kind, "value": value, "text": f"{kind} {value}"}}


def results(seed=1, times=1.0, runs=5, threads=(2, 4)):
    """The object of a results file; what Crest takes is multiplied by `times`."""
    draw = random.Random(seed)
    found = {f"limit/{name}/hot/1": benchmark(value, draw, runs=runs)
             for name, value in LIMITS.items()}
    for operation, value in OPERATIONS.items():
        for peer, slower in PEERS.items():
            value_here = value * slower * (times if peer.startswith("crest") else 1)
            found[f"{peer}/{operation}/hot/1"] = benchmark(value_here, draw, runs=runs)
            found[f"{peer}/{operation}/random/1"] = benchmark(2 * value_here, draw, runs=runs)
            for count in threads:
                for how in ("same", "separate"):
                    found[f"{peer}/{operation}/hot/{count}-{how}"] = \
                        benchmark(value_here, draw, runs=runs)
    for size in (1000, 10000):
        found[f"crest/page-counters/{size}/1"] = benchmark(40 * times, draw, runs=runs)
        found[f"prometheus-cpp/page-counters/{size}/1"] = benchmark(900, draw, runs=runs)
        found[f"crest/start-up/{size - 1000}/1"] = benchmark(3, draw, "ms", runs=runs)
        found[f"crest/memory-counter/{size}/1"] = benchmark(80 * times, draw, "B", runs=runs)
    found["crest/thread-exit/1000/1"] = benchmark(700 * times, draw, runs=runs)
    rows = [row(found, "crest/counter/hot/1", "limit/lock-xadd/hot/1", "ratio", 0.3),
            row(found, "crest/histogram/hot/1", "limit/plain-hdr/hot/1", "ratio", 0.5),
            row(found, "crest/counter/hot/1", "prometheus-cpp/counter/hot/1", "faster", 5),
            {"section": "counter", "text": "another", "id": "crest/counter/hot/1",
             "against": "go-client/counter/hot/1", "why": "go is not installed",
             "target": {"kind": "faster", "value": 3, "text": "faster 3"}}]
    return {"format": 1, "started": "2001-02-03T04:05:06Z", "seconds": 7.0, "commit": "f" * 40,
            "dirty": False, "version": "0.0.0-fixture", "profile_name": "base", "overlays": [],
            "defaults": "of a fixture", "inputs": {"values.i64": "0"},
            "profile": {"runs": runs, "rounds": 3, "metrics": 1000, "threads": list(threads)},
            "machine": {"processor": "Fixture Xeon", "processors": "2", "kernel": "0.fixture",
                        "compiler": "gcc 0", "libc": "glibc 0", "virtual": "no"},
            "load": {"before": 0.1, "after": 0.2, "steal_percent": 0.0, "busy": ""},
            "sides": {"crest": {"state": "run", "versions": {"crest": "0"}},
                      "go": {"state": "skipped", "why": "go is not installed (Debian: golang)"}},
            "benchmarks": found, "missing": {"crest/counter/hot/8-same": "there are 4 processors"},
            "checks": {"compared": 9, "wrong": []}, "rows": rows}


def write(path, data):
    """To a file, whose path comes back."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(data), encoding="utf-8")
    return path


def changed(data, **parts):
    """A copy with other parts; None takes one away."""
    data = copy.deepcopy(data)
    for name, value in parts.items():
        if value is None:
            data.pop(name, None)
        else:
            data[name] = value
    return data
