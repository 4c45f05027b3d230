#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# crest-test: timeout=480
"""Writes textfiles for a real node_exporter, and asks a real Prometheus what arrived. Totals must
be equal to the last unit.

What the program records is in textfile_program.c; Totals here computes the same.
"""

import os
import re
import resource
import subprocess
import time

import harness
from harness import (Failure, NodeExporter, Program, Prometheus, contains, equal, holds_at_last,
                     lacks, wait_for)

KINDS = ["plain", 'a"b\\c\nd', "café ☃"]


class Totals:
    """What textfile_program has recorded after some `record THREADS TIMES`."""

    def __init__(self):
        self.kinds = [0] * len(KINDS)
        self.sizes = []
        self.work = {"ok": [], "error": []}
        self.ways = 0
        self.queue = 0

    def record(self, program, threads, times):
        program.do(f"record {threads} {times}")
        for thread in range(threads):
            for i in range(times):
                self.kinds[(thread + i) % len(KINDS)] += 2
                self.sizes.append(i % 100 * 1000)
                self.work["ok" if i % 10 else "error"].append((i % 1000 + 1) * 1000)
        self.ways += threads * times
        self.queue += threads * (times % 2)

    def check(self, prometheus, group=""):
        """All of it, in the series with these label matchers."""
        for kind, wanted in zip(KINDS, self.kinds):
            prometheus.check_value(f"file_kinds_seen_total{{{group} kind={promql(kind)}}}", wanted)
        holds_at_last(lambda: self.check_now(prometheus, group))

    def check_now(self, prometheus, group):
        plain = f"{{{group}}}"
        equal(prometheus.value(f"file_level{plain}"), -7.25)
        equal(prometheus.value(f"file_queue_length{plain}"), self.queue)
        check_histogram(prometheus, "file_message_size_bytes", group, self.sizes, 1)
        for outcome, durations in self.work.items():
            check_histogram(prometheus, "file_work_time_seconds",
                            f'{group} outcome="{outcome}",', durations, 1e-9)
        way = f'{{{group} outcome="ok"}}'
        equal(prometheus.value(f"file_way_seconds_count{way}"), self.ways)
        for name in ("stage", "since_start"):
            found = prometheus.value(f'sum(file_way_{name}_seconds_count{plain})')
            if not found or found % self.ways:
                raise Failure(f"{name}: {found} of {self.ways} operations")


def check_histogram(prometheus, name, group, values, unit):
    """Count, sum and every bucket exactly; quantiles within the bucket that has them."""
    found = {float(labels["le"]): value
             for labels, value in prometheus.query(f"{name}_bucket{{{group}}}")}
    bounds = sorted(found)
    equal(bounds[-1:], [float("inf")], name)
    for bound in bounds:
        # the bucket of the range that holds a bound, a hundredth wide, counts below it
        least = sum(1 for value in values if value * unit <= bound * (1 + 1e-12))
        most = sum(1 for value in values if value * unit <= bound * 1.01)
        if not least <= found[bound] <= most:
            raise Failure(f"{name}_bucket{{le={bound}}}: found {found[bound]}, wanted {least}")
    equal(prometheus.value(f"{name}_count{{{group}}}"), len(values), name)
    total = prometheus.number(f"{name}_sum{{{group}}}")
    equal(round(total / unit), sum(values), f"{name}_sum")
    for quantile in (0.5, 0.9, 0.99):
        exact = sorted(values)[int(quantile * (len(values) - 1))] * unit
        said = prometheus.number(f"histogram_quantile({quantile}, {name}_bucket{{{group}}})")
        low = max([0] + [bound for bound in bounds if bound < exact])
        high = min(bound for bound in bounds if bound >= exact)
        if not low * 0.999 <= said <= high * 1.001:
            raise Failure(f"{name}: quantile {quantile} is {said}, and {exact} in truth")


def promql(text):
    """A text as PromQL quotes it."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def start(place, exporter, *options, name="node"):
    path = exporter.folder / f"{name}.prom"
    program = Program(place, "textfile_program", ",".join(
        ["service=rnode,version=0.13,interval=100ms,jitter=0,textfile.timeout=30s",
         f"textfile={path}", *options]))
    equal(program.begun.strip(), "OK")
    return program, path


def no_errors(exporter):
    equal(exporter.lines("node_textfile_scrape_error "), ["node_textfile_scrape_error 0"])


def totals_are_exact(place):
    exporter = NodeExporter(place).start()
    prometheus = Prometheus(place, [exporter]).start()
    program, path = start(place, exporter)
    totals = Totals()
    for threads, times in ((8, 1000), (3, 777), (16, 101)):
        totals.record(program, threads, times)
        totals.check(prometheus)
    for name, kind in (("file_kinds_seen_total", "counter"), ("file_level", "gauge"),
                       ("file_work_time_seconds", "histogram")):
        equal(prometheus.metadata(name)["type"], kind, name)
    contains(prometheus.metadata("file_kinds_seen_total")["help"], 'Café \\ "quoted"\nsecond line.')
    wait_for("a peak", lambda: prometheus.value("file_queue_length_max1m"))
    prometheus.check_value('crest_target_info{service="rnode", version="0.13"}', 1)
    no_errors(exporter)
    equal(os.stat(path).st_mode & 0o7777, 0o644)
    lacks(exporter.page(), 'instance="')


def the_page_passes_promtool(place):
    exporter = NodeExporter(place)
    program, path = start(place, exporter)
    Totals().record(program, 2, 100)
    wait_for("the file", path.exists)
    program.do("stop")
    result = subprocess.run([harness.SERVERS / "promtool", "check", "metrics"],
                            input=path.read_text(encoding="utf-8"), text=True, capture_output=True,
                            encoding="utf-8", timeout=harness.ANSWER_S, check=False)
    if result.returncode != 0:
        raise Failure(f"promtool check metrics: {result.returncode}: {result.stderr}")


def a_restarted_and_a_stopped_exporter_miss_nothing(place):
    exporter = NodeExporter(place).start()
    prometheus = Prometheus(place, [exporter]).start()
    program, path = start(place, exporter)
    totals = Totals()
    totals.record(program, 4, 300)
    totals.check(prometheus)
    exporter.kill()
    totals.record(program, 4, 300)
    exporter.start()
    totals.check(prometheus)
    # what does not run reads nothing, and the writer does not wait for it
    exporter.hold()
    before = path.stat().st_ino
    wait_for("two more pages", lambda: path.stat().st_ino != before)
    totals.record(program, 4, 300)
    exporter.go_on()
    totals.check(prometheus)
    no_errors(exporter)


def others_files_do_no_harm(place):
    exporter = NodeExporter(place).start()
    program, path = start(place, exporter)
    totals = Totals()
    totals.record(program, 2, 300)
    wanted = f'file_kinds_seen_total{{kind="plain"}} {totals.kinds[0]}'
    wait_for("the totals", lambda: wanted in exporter.page())
    gone = exporter.folder / "gone.prom"
    gone.symlink_to(exporter.folder / "nowhere")
    contains(exporter.page(), wanted)
    equal(exporter.lines("node_textfile_scrape_error "), ["node_textfile_scrape_error 1"])
    gone.unlink()
    no_errors(exporter)
    # a temporary file that a killed writer left is none of node_exporter's
    (exporter.folder / f".{path.name}.0123456789abcdef.tmp").write_text("half a li")
    no_errors(exporter)
    contains(exporter.page(), wanted)


def pages_are_always_whole(place):
    exporter = NodeExporter(place).start()
    program, path = start(place, exporter)
    wait_for("the file", path.exists)
    seen = set()
    began = time.monotonic()
    while time.monotonic() < began + 4 or len(seen) < 5:
        if time.monotonic() > began + harness.READY_S:
            raise Failure(f"{len(seen)} pages in {harness.READY_S} s, wanted one every 100 ms")
        text = path.read_text(encoding="utf-8")
        if not text.endswith("\n") or "file_work_time_seconds_count" not in text:
            raise Failure(f"half a page: {len(text)} characters, ends in {text[-80:]!r}")
        seen.add(path.stat().st_ino)
        if len(seen) % 5 == 0:
            no_errors(exporter)
        program.do("record 1 10")


def a_limit_keeps_the_page_before(place):
    exporter = NodeExporter(place).start()
    prometheus = Prometheus(place, [exporter]).start()
    program, path = start(place, exporter)
    totals = Totals()
    totals.record(program, 2, 300)
    totals.check(prometheus)
    before = dict(zip(KINDS, totals.kinds))["plain"]
    pid = program.process.pid
    hard = resource.prlimit(pid, resource.RLIMIT_FSIZE)[1]
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (1000, hard))
    said = []

    def failed():
        said.append(program.do("log"))
        return "File too large" in said[-1]

    wait_for("a report that fails", failed)
    contains(said[-1], "The page before stays there")
    contains(said[-1], str(path))
    totals.record(program, 2, 300)
    time.sleep(0.5)
    contains(exporter.page(), f'file_kinds_seen_total{{kind="plain"}} {before}\n')
    # beside it only what a report that is just being tried writes to
    holds_at_last(lambda: equal([name.name for name in exporter.folder.iterdir()], [path.name]))
    no_errors(exporter)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (hard, hard))
    totals.check(prometheus)
    wait_for("the good news", lambda: "reports again" in program.do("log"))
    # the directory goes and comes back
    away = exporter.folder.with_name("away")
    exporter.folder.rename(away)
    wait_for("the bad news", lambda: "opening its directory" in program.do("log"))
    away.rename(exporter.folder)
    totals.record(program, 2, 300)
    totals.check(prometheus)


def two_nodes_of_one_machine(place):
    exporter = NodeExporter(place).start()
    prometheus = Prometheus(place, [exporter]).start()
    totals = {}
    for name in ("a", "b"):
        program, _ = start(place, exporter, f"textfile.label.node={name}", name=name)
        totals[name] = Totals()
        totals[name].record(program, 2, 500 if name == "a" else 700)
    for name in ("a", "b"):
        totals[name].check(prometheus, f'node="{name}",')
    no_errors(exporter)
    lacks(place.logs(), "collected before with the same name")


def its_own_families_are_left_out(place):
    exporter = NodeExporter(place).start()
    program, path = start(place, exporter)
    program.do("record 1 1")
    wait_for("the file", path.exists)
    contains(path.read_text(encoding="utf-8"),
             "# process_cpu_seconds_total left out: node_exporter has its own\n")
    wait_for("its own family", lambda: exporter.lines("process_cpu_seconds_total "))
    lacks(exporter.page(), "Not node_exporter's.")
    no_errors(exporter)
    lacks(place.logs(), "level=error")


def the_last_page_has_no_windows_or_goes(place):
    exporter = NodeExporter(place).start()
    stays, path = start(place, exporter, "textfile.windows=on", name="stays")
    goes, gone = start(place, exporter, "textfile.remove-on-stop=on", "textfile.label.node=goes",
                       name="goes")
    for program in (stays, goes):
        program.do("record 2 100")
    wait_for("windows", lambda: re.search(r"^file_kinds_seen_rate1m{", exporter.page(), re.M))
    wait_for("the other file", gone.exists)
    for program in (stays, goes):
        program.do("stop")
    text = path.read_text(encoding="utf-8")
    contains(text, 'file_kinds_seen_total{kind="plain"} ')
    equal(re.findall(r"^file\w+1m\b.*$", text, re.M), [])
    equal(gone.exists(), False)
    equal([line for line in exporter.page().splitlines() if 'node="goes"' in line], [])


harness.main(
    [totals_are_exact, the_page_passes_promtool, a_restarted_and_a_stopped_exporter_miss_nothing,
     others_files_do_no_harm, pages_are_always_whole, a_limit_keeps_the_page_before,
     two_nodes_of_one_machine, its_own_families_are_left_out,
     the_last_page_has_no_windows_or_goes],
    servers=("prometheus-node-exporter", "prometheus", "promtool"))
