# SPDX-License-Identifier: Apache-2.0
"""Reads a results file of `make bench`; the error for an invalid one says in a sentence what is
wrong.

    results = read_results.read("build/bench/results.json")
    results.benchmarks["crest/counter/hot/1"].median

bench/README.md has the format; bench/runner/bench_results.py reads and writes it. Samples that are
no finite number are left out and reported in `notes`; an invalid file raises Unreadable.
"""

import dataclasses
import math
import pathlib
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "runner"))

import bench_results  # noqa: E402
import bench_stats  # noqa: E402

SENTENCE_MOST = 5  # ids that a sentence names before it says how many more there are


Unreadable = bench_results.Unreadable  # a file that cannot be used, and why


@dataclasses.dataclass
class Benchmark:
    """One id with its samples, run by run."""
    id: str
    unit: str
    side: str
    runs: list
    disturbed: int = 0
    overlap_least: float = 1.0
    medians: list = dataclasses.field(init=False)

    def __post_init__(self):
        self.medians = bench_stats.medians(self.runs)

    @property
    def median(self):
        return statistics.median(self.medians)

    @property
    def low(self):
        return min(min(run) for run in self.runs if run)

    @property
    def high(self):
        return max(max(run) for run in self.runs if run)

    @property
    def variation(self):
        """The standard deviation of the runs' medians by their mean; None of a single run."""
        mean = statistics.fmean(self.medians)
        if len(self.medians) < 2 or mean == 0:
            return None
        return statistics.stdev(self.medians) / abs(mean)

    @property
    def more_is_better(self):
        return self.unit.endswith("/s")

    @property
    def parts(self):
        """Peer, operation, spread and threads; what is not there is empty."""
        return (self.id.split("/", 3) + [""] * 3)[:4]


@dataclasses.dataclass
class Results:
    """A results file; `data` is all of it, as it was read."""
    path: pathlib.Path
    data: dict
    benchmarks: dict
    notes: list

    def part(self, name):
        """One of the objects of the file, empty where it is missing."""
        return self.data.get(name) or {}

    @property
    def rows(self):
        return self.data.get("rows") or []


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def clean_run(run, where, left_out):
    if not isinstance(run, list):
        raise Unreadable(f"{where}: a run is a list of samples, here it is {run!r:.40}")
    kept = []
    for sample in run:
        if sample is None:
            continue
        if not is_number(sample):
            raise Unreadable(f"{where}: a sample is a number or null, here it is {sample!r:.40}")
        if math.isfinite(sample):
            kept.append(sample)
        else:
            left_out.append(where)
    return kept


def some(names):
    """Names for a sentence, and how many more there are."""
    names = sorted(set(names))
    more = len(names) - SENTENCE_MOST
    return ", ".join(names[:SENTENCE_MOST]) + (f" and {more} more" if more > 0 else "")


def read_benchmarks(path, found, notes):
    benchmarks, empty, left_out = {}, [], []
    for name, each in found.items():
        where = f"{path}: benchmark {name}"
        if not isinstance(each, dict) or not isinstance(each.get("runs"), list):
            raise Unreadable(f"{where}: it has no list of runs")
        own = []
        runs = [clean_run(run, where, own) for run in each["runs"]]
        left_out += [name] * len(own)
        if not any(runs):
            empty.append(name)
            continue
        overlap = each.get("overlap_least")
        benchmarks[name] = Benchmark(name, str(each.get("unit", "ns")), str(each.get("side", "")),
                                     runs, each.get("disturbed") or 0,
                                     1.0 if overlap is None else overlap)
    if left_out:
        notes.append(f"{len(left_out)} samples are no finite numbers and are left out, of "
                     f"{some(left_out)}.")
    if empty:
        notes.append(f"Without a sample: {some(empty)}.")
    return benchmarks


def check_shape(path, data):
    """Raises Unreadable unless the parts of the file are of the types that they should be."""
    for name, kind in (("benchmarks", dict), ("machine", dict), ("load", dict), ("sides", dict),
                       ("missing", dict), ("checks", dict), ("profile", dict), ("rows", list)):
        if not isinstance(data.get(name) or kind(), kind):
            raise Unreadable(f"{path}: `{name}` is no {kind.__name__}")
    overlays, metrics = data.get("overlays"), (data.get("profile") or {}).get("metrics", 1)
    if not isinstance(overlays or [], list) or not all(isinstance(one, str)
                                                       for one in overlays or []):
        raise Unreadable(f"{path}: `overlays` is no list of names: {overlays!r:.60}")
    if not is_number(metrics):
        raise Unreadable(f"{path}: the profile's `metrics` is no number: {metrics!r:.60}")
    for row in data.get("rows") or []:
        if not isinstance(row, dict) or not isinstance(row.get("id"), str):
            raise Unreadable(f"{path}: a row of the table has no id: {row!r:.60}")
    if not data.get("benchmarks"):
        raise Unreadable(f"{path}: there is not one benchmark in it")


def read(path):
    """The results in a file; raises Unreadable."""
    path = pathlib.Path(path)
    try:
        data = bench_results.read_results(path)
    except RecursionError as error:
        raise Unreadable(f"{path} is no JSON that can be read: {error}") from error
    return checked(path, data)


def checked(path, data):
    """The results in what was read from a file; raises Unreadable."""
    check_shape(path, data)
    notes = []
    benchmarks = read_benchmarks(path, data["benchmarks"], notes)
    if not benchmarks:
        raise Unreadable(f"{path}: not one of its benchmarks has a sample")
    return Results(path, data, benchmarks, notes)


def spread(value):
    """(median, min, max) of a cost, a ratio, a finding: an object, or a number alone; or None."""
    if is_number(value) and math.isfinite(value):
        return value, value, value
    if not isinstance(value, dict):
        return None
    found = [value.get(key) for key in ("median", "min", "max")]
    return tuple(found) if all(is_number(each) and math.isfinite(each) for each in found) else None


def number(value):
    """Three digits that count, thousands separated."""
    if value == 0:
        return "0"
    size = abs(value)
    if size >= 100:
        return f"{value:,.0f}"
    places = max(0, 2 - math.floor(math.log10(size)))
    return f"{value:.{min(places, 6)}f}"


def with_range(found, unit=""):
    """A median and its range, for a table."""
    median, low, high = found
    unit = f" {unit}" if unit else ""
    same = number(low) == number(median) == number(high)
    return f"{number(median)}{unit}" + ("" if same else f" ({number(low)}–{number(high)})")
