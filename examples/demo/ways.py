# SPDX-License-Identifier: Apache-2.0
"""What one node costs by each way that its figures can go: series, bytes, time of a processor. The
node makes a report for each while the network runs, and says what it cost; the bodies are looked
into here.
"""

import collections
import gzip
import json
import re
import time

from servers import Failure, last_lines
from table import small

SEEN_S = 240
SAMPLE = re.compile(r"^([a-zA-Z_:][\w:]*)(?:\{.*\})? \S+$", re.MULTILINE)
HISTOGRAM = re.compile(r"^# TYPE (\S+) histogram$", re.MULTILINE)
# name at the node: what it is, how its series are counted
WAYS = {
    "text": ("text, scraped or to a Pushgateway", "classic"),
    "native": ("protobuf, native histograms", "native"),
    "both": ("protobuf, native and classic ones", "classic or native"),
    "otlp_explicit": ("OTLP, explicit histograms", "classic"),
    "otlp": ("OTLP, exponential histograms", "native"),
    "otlp_json": ("OTLP as JSON", "points"),
    "influxdb": ("InfluxDB lines", "lines"),
    "statsd": ("StatsD, one second's changes", "names"),
}


class Way:
    """One row."""

    def __init__(self, name, series, body, said):
        self.name = name
        self.label = WAYS[name][0]
        self.series = series
        self.bytes = said["bytes"]
        self.gzipped = len(gzip.compress(body, 1))
        self.cpu_us = said["cpu_us"]


def series_of_page(page):
    """As Prometheus keeps them: (with classic histograms, with native ones). A family of whose
    values nothing is known has one bucket, and stays classic."""
    lines = collections.Counter(SAMPLE.findall(page))
    native = dict(lines)
    for family in HISTOGRAM.findall(page):
        if lines[family + "_bucket"] > lines[family + "_count"]:
            del native[family + "_bucket"], native[family + "_sum"]
    return sum(lines.values()), sum(native.values())


def series_of_otlp(body):
    """As Prometheus makes them of OTLP's JSON."""
    metrics = [metric for part in json.loads(body)["resourceMetrics"]
               for scope in part["scopeMetrics"] for metric in scope["metrics"]]
    points = [point for metric in metrics for data in metric.values() if isinstance(data, dict)
              for point in data["dataPoints"]]
    return sum(len(point["bucketCounts"]) + 2 if "bucketCounts" in point else 1 for point in points)


def series_of(name, bodies):
    classic, native = series_of_page(bodies["text"].decode())
    how = WAYS[name][1]
    if how == "names":
        lines = bodies[name].decode().splitlines()
        return f"{len({line.partition(':')[0] for line in lines if line}):,}"
    if how == "points":
        return f"{series_of_otlp(bodies[name]):,}"
    if how == "lines":
        return f"{bodies[name].count(10):,}"
    return {"classic": f"{classic:,}", "native": f"{native:,}",
            "classic or native": f"{classic:,} or {native:,}"}[how]


def measure(network, folder):
    """The rows, of the first node."""
    node = network.nodes[0]
    node.tell(f"ways {folder}")
    until = time.monotonic() + SEEN_S
    while not (said := node.said("ways")):
        network.check_alive()
        if time.monotonic() > until:
            raise Failure(f"{node.name} was asked what a report costs by each way, and has said "
                          f"nothing for {SEEN_S} s. The end of its log, {node.log}:\n"
                          + last_lines(node.log))
        time.sleep(0.05)
    found = said[0]["ways"]
    missing = WAYS.keys() - found.keys()
    if missing:
        raise Failure(f"{node.name} could not report by {', '.join(sorted(missing))}. The end of "
                      f"its log, {node.log}:\n" + last_lines(node.log))
    bodies = {name: (folder / f"{name}.way").read_bytes() for name in WAYS}
    return [Way(name, series_of(name, bodies), bodies[name], found[name]) for name in WAYS]


def show(screen, ways):
    rows = [(way.label, way.series, f"{way.bytes:,}", f"{way.gzipped:,}",
             f"{way.cpu_us / 1000:.2f}") for way in ways]
    for line in small(screen, ("a report of node-0", "series", "bytes", "gzipped", "ms"), rows):
        screen.say(line)
    screen.say(screen.paint(
        "   Series: as Prometheus keeps them; of InfluxDB lines, of StatsD names.\n"
        "   Milliseconds of a processor: the least of seven, with the snapshot, without\n"
        "   gzip; the last two, which are sent, once.", "dim"))
