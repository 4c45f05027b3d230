#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# crest-test: timeout=1200 sanitizers=none
"""The demo: it runs to its end with everything equal and leaves nothing running, also when it is
interrupted or cannot start; and its comparison does find what differs.
"""

import json
import math
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree

import harness
from harness import BUILD, Failure, ROOT, contains, equal, lacks, wait_for

sys.path[:0] = [str(ROOT / "examples/demo"), str(ROOT / "tools")]
import crest_catalogue  # noqa: E402
import promql  # noqa: E402
import reconcile  # noqa: E402
import svg_canvas  # noqa: E402
import ways  # noqa: E402

DEMO = ROOT / "examples/demo/run_demo.py"
# A ceiling: 100 s on a machine that has nothing else to do.
RUN_S = 900
EVERY_REQUIREMENT = [
    "comm events    offered", "deploys   offered", "transfers offered", "from a peer to this node",
    "until 99 % of nodes had it", "support 0 ", "support 1/3", "support 1 ", "to node-3",
    "its clock, as others see it", "commit, ms", "send, µs", "TCP's least, µs", "hiccups, ms",
    "resident, MiB", "minor / major", "context switches/s", "CPU busy, %", "stalled, %",
    "memory free, MiB", "age of these figures"]


def start(**settings):
    environment = {key: value for key, value in os.environ.items()
                   if key not in ("KEEP", "CREST_DEMO")}
    environment |= {"CREST_BUILD": str(BUILD), "CREST_SERVERS": str(harness.SERVERS), **settings}
    return subprocess.Popen([sys.executable, DEMO], stdin=subprocess.DEVNULL, env=environment,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                            encoding="utf-8")


def run_to_its_end(demo):
    """What it printed; one that takes too long is shown with that."""
    try:
        return demo.communicate(timeout=RUN_S)[0]
    except subprocess.TimeoutExpired:
        demo.send_signal(signal.SIGTERM)
        text, _ = demo.communicate(timeout=RUN_S)
        raise Failure(f"not at its end after {RUN_S} s:\n{text}") from None


def left_running(pid):
    """Command lines of what a demo with this process id started and that still runs."""
    found = []
    for entry in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = entry.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if "build/demo/run-" in words and f"-{pid}/" in words:
            found.append(words)
    return found


def nothing_is_left(pid):
    wait_for("everything the demo started to end", lambda: not left_running(pid))


def the_demo_runs(_):
    demo = start()
    text = run_to_its_end(demo)
    equal(demo.returncode, 0, "exit status after\n" + text)
    equal(left_running(demo.pid), [], "processes left")
    for row in EVERY_REQUIREMENT:
        contains(text, row, "the live table")
    lacks(text, "figures ('–') are not to be had", "output")
    counts = [line.split() for line in text.splitlines() if "counts compared" in line]
    equal(len(counts), 1, "lines with the comparison")
    equal(counts[0][0], counts[0][3], "counts compared and equal")
    equal(int(counts[0][0]) > 300, True, "number of counts")
    windows = re.search(r"blocks proposed +(\d+) +(\d+) to (\d+) +\d+\n", text)
    equal(windows is not None, True, "a line with the nodes' windows and their own count")
    counted, least, most = map(int, windows.groups())
    equal(0 < least <= counted <= most, True, f"{counted} lies within {least} and {most}")
    check_ways(text)
    check_kill(text)
    check_trace(text)
    check_profile(text)
    root = xml.etree.ElementTree.parse(ROOT / "build/demo/report.svg").getroot()
    equal(root.tag, "{http://www.w3.org/2000/svg}svg")
    equal(sum(part.tag.endswith("path") for part in root.iter()) > 70, True, "curves in the report")


def check_kill(text):
    """The block that the killed node was in, its books, and increase() over the kill."""
    block = re.search(r"… propose-time +(block-of-slot-\d+) +([\d.]+) s old +([\d.]+) s old",
                      text)
    equal(block is not None, True, "a line of crest cat with the block in flight")
    equal(0 < float(block.group(2)) and float(block.group(3)) >= 2, True, "ages of the block")
    books = re.search(r"(\d+) counts in the file of the dead process, (\d+) equal", text)
    equal(books is not None and int(books.group(1)) > 60, True, "counts in the file")
    equal(books.group(1), books.group(2), "counts in the file and the node's own")
    after = text[text.index("over the kill, all nodes"):]
    for what in ("proposed", "finalised", "orphaned"):
        row = re.search(rf"blocks {what} +(\d+) +(\d+) +(-?\d+)\n", after)
        equal(row is not None, True, f"a row of blocks {what} over the kill")
        equal((row.group(1), row.group(3)), (row.group(2), "0"), f"increase() of {what}")
    contains(after, "resets() is 0", "Prometheus over the kill")
    contains(text, f"; {int(books.group(1)) + 3} of them at the kill.", "the comparison")


def check_profile(text):
    """The hottest functions of validation, each with its share; the report has the flame graph."""
    at = text.index("Where block validation spends its time")
    rows = re.findall(r"^   (\S+) +[\d.]+ (?:s|ms|us) +(\d+) %$", text[at:], re.MULTILINE)
    equal(0 < len(rows) <= 3, True, f"rows of functions: {rows} in {text[at:at + 1500]}")
    shares = [int(share) for _, share in rows]
    equal(shares, sorted(shares, reverse=True), "the hottest first")
    report = (ROOT / "build/demo/report.svg").read_text(encoding="utf-8")
    contains(report, "as a flame graph")
    contains(report, "hottest in validation: " + rows[0][0])


def check_trace(text):
    """All spans are what the nodes said; the waterfall has all nodes. The timers that made spans
    are those of which METRICS.md says so."""
    found = re.search(r"(\d+) spans compared, (\d+) equal", text)
    equal(found is not None and int(found.group(1)) > 300, True, "number of spans compared")
    equal(found.group(1), found.group(2), "spans equal")
    waterfall = text[text.index("followed over four nodes"):found.start()]
    nodes = re.findall(r"^   (node-\d) ", waterfall, re.M)
    equal((len(nodes), len(set(nodes))), (4, 4), f"nodes in the waterfall: {nodes}")
    contains(waterfall, f"proposed by {nodes[0]}:", "the proposer comes first")
    folder = ROOT / re.search(r"Logs and data: +(\S+)", text).group(1)
    # the naive timer names no operation: each of its spans is a trace of its own
    names = {json.loads(line)["name"] for path in folder.glob("*.spans.jsonl")
             for line in path.read_text().splitlines()} - {"rchain.casper.unbound-consensus-time"}
    files = sorted((ROOT / "examples/node").glob("*.metrics.yaml"))
    manifests, problems = crest_catalogue.load(files)
    equal(problems, [], "problems of the manifests")
    traced = ("rchain.casper.", "rchain.block-storage.")
    equal(sorted(names), sorted(metric.name for manifest in manifests
                                for metric in manifest.metrics
                                if metric.span and metric.name.startswith(traced)),
          "timers that made spans")


def check_ways(text):
    """The rows of what one node costs, each within what the others say."""
    found = {}
    for label, _ in ways.WAYS.values():
        row = re.search(re.escape(label) + r" +([\d, or]+?) {2,}([\d,]+) +([\d,]+) +([\d.]+)\n",
                        text)
        equal(row is not None, True, f"a row of {label}")
        equal(len(row.group()) <= 77, True, "columns of a row, three before it left out")
        series, size, gzipped, ms = (part.replace(",", "") for part in row.groups())
        found[label] = (series, int(size), int(gzipped))
        equal(0 < int(gzipped) < int(size), True, f"{label}: gzipped")
        equal(0 < float(ms) < 1000, True, f"{label}: milliseconds")
    (classic, page, _), (native, protobuf, _), (either, *_) = list(found.values())[:3]
    equal(either, f"{classic} or {native}", "series with both")
    equal(int(native) < int(classic) and protobuf < page / 2, True, "native is less")
    points = int(found["OTLP as JSON"][0])
    # a family may have got a series between the two snapshots
    equal(0 <= points - int(native) <= 9, True, f"{points} points, and {native} native series")


def an_interrupted_demo_leaves_nothing(_):
    for how, after_s in ((signal.SIGINT, 1), (signal.SIGTERM, 4), (signal.SIGKILL, 2)):
        demo = start()
        wait_for("the demo's servers to run", lambda: len(left_running(demo.pid)) > 1)
        time.sleep(after_s)
        equal(demo.poll(), None, "exit status before the signal")
        demo.send_signal(how)
        text = run_to_its_end(demo)
        nothing_is_left(demo.pid)
        if how != signal.SIGKILL:
            equal(demo.returncode, 1, "exit status")
            contains(text, f"Interrupted ({how.name})", "output")


def a_missing_server_is_named(place):
    demo = start(CREST_SERVERS=str(place.folder))
    text = run_to_its_end(demo)
    equal(demo.returncode, 1, "exit status")
    contains(text, f"{place.folder}/prometheus could not be started", "output")
    contains(text, "make servers", "output")
    nothing_is_left(demo.pid)


def a_server_that_ends_is_shown_with_its_log(place):
    for name in ("prometheus", "prometheus-pushgateway"):
        script = place.folder / name
        script.write_text("#!/bin/sh\necho cannot do this today >&2\nexit 3\n")
        script.chmod(0o755)
    demo = start(CREST_SERVERS=str(place.folder))
    text = run_to_its_end(demo)
    equal(demo.returncode, 1, "exit status")
    contains(text, "ended with status 3", "output")
    contains(text, "cannot do this today", "output")


def the_demo_needs_no_server(place):
    demo = start(CREST_DEMO="embedded", CREST_SERVERS=str(place.folder))
    text = run_to_its_end(demo)
    equal(demo.returncode, 0, "exit status after\n" + text)
    contains(text, "rchain.casper.unbound-consensus-time", "console table")
    contains(text, "counts compared", "output")
    nothing_is_left(demo.pid)


def a_difference_is_found(_):
    exits = {"node-0": {"series": {"a_total": 7, 'b_total{kind="x"}': 1,
                                   "t_seconds_sum": 0.5, "t_seconds_count": 10},
                        "within": {"t_seconds_sum": 0.001}}}
    own, errors = reconcile.own_series(exits), reconcile.own_errors(exits)
    none = frozenset()
    kind = frozenset({("kind", "x")})
    good = {("node-0", "a_total", none): 7.0, ("node-0", "b_total", kind): 1.0,
            ("node-0", "t_seconds_sum", none): 0.4991, ("node-0", "t_seconds_count", none): 10.0}
    verdict = reconcile.Verdict(own, good, errors)
    equal((verdict.good, verdict.counts, verdict.equal, verdict.sums_near), (True, 3, 3, 1))
    for key, value in ((("node-0", "a_total", none), 6.0), (("node-0", "a_total", none), None),
                       (("node-0", "b_total", kind), 2.0),
                       (("node-0", "t_seconds_sum", none), 0.502)):
        changed = {k: v for k, v in {**good, key: value}.items() if v is not None}
        verdict = reconcile.Verdict(own, changed, errors)
        equal((verdict.good, [row[:3] for row in verdict.different]), (False, [key]), str(key))
    equal(reconcile.Verdict({}, {}, {}).good, False, "a comparison of nothing")


def a_silent_prometheus_is_named(_):
    client = promql.Client(f"http://127.0.0.1:{harness.free_port()}")
    try:
        client.one("up")
    except promql.Refused as refused:
        contains(str(refused), client.url, "message")
        contains(str(refused), "query=up", "message")
    else:
        raise Failure("a query of nobody was answered")


def series_are_counted_as_they_are_kept(_):
    one = "# TYPE n histogram\nn_bucket{le=\"+Inf\"} 2\nn_sum 3\nn_count 2\n"
    equal(ways.series_of_page(one), (3, 3), "one bucket, which is not native")
    page = ("# TYPE a histogram\na_bucket{le=\"1\"} 1\na_bucket{le=\"+Inf\"} 2\na_sum 3\n"
            "a_count 2\n# TYPE b counter\nb_total{c=\"}d\"} 1\n# TYPE x_count gauge\nx_count 7\n")
    equal(ways.series_of_page(page), (6, 3))
    bodies = {"text": page.encode(), "statsd": b"a:1|c\na:-2|g\nb:3|c\n\n",
              "influxdb": b"a b=1\nc d=2\n", "otlp_json": json.dumps({"resourceMetrics": [{
                  "scopeMetrics": [{"metrics": [
                      {"name": "a", "sum": {"dataPoints": [{}, {}]}},
                      {"name": "b", "histogram": {"dataPoints": [{"bucketCounts": [1]}]}}]}]}]})}
    for name, wanted in (("text", "6"), ("native", "3"), ("both", "6 or 3"), ("statsd", "2"),
                         ("influxdb", "2"), ("otlp_json", "5")):
        equal(ways.series_of(name, bodies), wanted, name)


def axes_end_above_what_they_show(_):
    for most in (0.0007, 0.15, 1, 29.9, 299, 460.3, 1844, 99999):
        top = svg_canvas.nice_top(most)
        equal(most * 0.999 <= top <= most * 2.5, True, f"the end of an axis for {most}: {top}")
    equal(math.isfinite(svg_canvas.nice_top(0)), True)


harness.main([the_demo_runs, an_interrupted_demo_leaves_nothing, a_missing_server_is_named,
              a_server_that_ends_is_shown_with_its_log, the_demo_needs_no_server,
              a_difference_is_found, a_silent_prometheus_is_named,
              series_are_counted_as_they_are_kept, axes_end_above_what_they_show])
