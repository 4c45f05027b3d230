# SPDX-License-Identifier: Apache-2.0
"""Writes the inputs of all sides: values, order, names, labels, bounds. See bench/README.md."""

import array
import hashlib
import math
import random
import sys

import bench_profile

VALUES = 65536


def durations(settings, draw):
    """Durations in nanoseconds, cut at both ends."""
    least, most = settings["least_ns"], settings["most_ns"]
    for _ in range(VALUES):
        if settings["distribution"] == "even":
            yield draw.randint(least, most)
        else:
            value = settings["median_ns"] * math.exp(settings["sigma"] * draw.gauss(0, 1))
            yield int(min(max(value, least), most))


def label_values(profile, metric):
    """The label values of a metric: its number, written to the base of values a key may have."""
    values = []
    for key in range(profile["label_keys"]):
        values.append(f"v{key}-{metric % profile['label_values']}")
        metric //= profile["label_values"]
    return values


def write_numbers(path, kind, numbers):
    data = array.array(kind, numbers)
    if sys.byteorder != "little":
        data.byteswap()
    path.write_bytes(data.tobytes())


def write_inputs(folder, profile):
    """Writes the folder that `--inputs` names; the SHA-256 of each file."""
    folder.mkdir(parents=True, exist_ok=True)
    draw = random.Random(profile["values"]["seed"])
    write_numbers(folder / "values.i64", "q", durations(profile["values"], draw))
    write_numbers(folder / "even.i64", "q",
                  (draw.randint(0, profile["even_most"]) for _ in range(VALUES)))
    metrics = profile["metrics"]
    write_numbers(folder / "order.u32", "I", (draw.randrange(metrics) for _ in range(VALUES)))
    lines = {
        "names.txt": [f"bench.rpc.requests-{metric:04}" for metric in range(metrics)],
        "labels.txt": ["\t".join(label_values(profile, metric)) for metric in range(metrics)],
        "bounds.txt": [str(bound) for bound in profile["bounds_ns"]],
        "workload.txt": [f"{key} {value}" for key, value
                         in bench_profile.workload_settings(profile).items()],
    }
    for name, text in lines.items():
        (folder / name).write_text("\n".join(text) + "\n", encoding="utf-8")
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(folder.iterdir())}
