#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# crest-test: timeout=1200
"""The JVM's own figures in JVMs of their own: with every collector, held against what the beans say
and against the manifest; in runtimes that lack modules; with a long pause; in a class loader that
is dropped. With numbers of threads as arguments it prints what a collection costs instead."""

import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

import jvmlib

sys.path.insert(0, str(jvmlib.ROOT / "tools"))

MAIN = "io.crest.jvm.JvmMetricsMain"
MANIFEST = jvmlib.ROOT / "jvm-shim/jvm.metrics.yaml"
LINT = [jvmlib.ROOT / "tools/crest", "lint"]
COLLECTORS = ["Serial", "Parallel", "G1", "Z", "Shenandoah"]
CHURN_MIB = 200
SAMPLE = re.compile(r"^(\w+)(?:\{(.*)\})? (\S+)$", re.M)
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
SAID = re.compile(r"^@(\w+) (.*)$", re.M)
# Metrics that only newer JDKs have, and from which on.
SINCE = {"jvm.gc.cpu": 22}
CANONICAL = re.compile(r"^# HELP .* \[(jvm[\w.-]*)\]$", re.M)


class Failed(Exception):
    """What did not hold."""


def holds(condition, what):
    if not condition:
        raise Failed(what)


class Program:
    """One run of JvmMetricsMain: what it said, and its page."""

    def __init__(self, jdk, *arguments, options=()):
        command = [jdk.java, *jdk.options(), "-XX:TieredStopAtLevel=1", *options, "-cp",
                   f"{jvmlib.jar()}:{jvmlib.TEST_CLASSES}", MAIN, *arguments]
        status, self.output = jvmlib.bounded(command, None, jvmlib.TIMEOUT_S)
        if status != 0:
            raise Failed(f"ended with status {status}:\n{self.output[-4000:]}")
        self.said = {}
        for word, value in SAID.findall(self.output):
            self.said.setdefault(word, []).append(value)
        self.samples = [(name, dict(LABEL.findall(labels)), float(value))
                        for name, labels, value in SAMPLE.findall(self.output)]

    def one(self, word):
        holds(len(self.said.get(word, [])) == 1, f"@{word} once:\n{self.output[-2000:]}")
        return self.said[word][0]

    def beans(self, word):
        """alias: (count, milliseconds)"""
        rows = [line.split() for line in self.said[word]]
        return {alias: (int(count), int(millis)) for alias, count, millis in rows}

    def sum(self, name, **labels):
        return sum(value for sample, has, value in self.samples
                   if sample == name and labels.items() <= has.items())

    def values(self, name, label):
        return {has[label] for sample, has, _ in self.samples if sample == name and label in has}


def has_collector(jdk, name):
    done = subprocess.run([jdk.java, "-XX:+UnlockExperimentalVMOptions", f"-XX:+Use{name}GC",
                           "-version"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, check=False)
    return done.returncode == 0


# ---- collectors ----


def collections_are_those_of_the_beans(jdk, name, canonical):
    program = Program(jdk, "churn", str(CHURN_MIB),
                      options=["-XX:+UnlockExperimentalVMOptions", f"-XX:+Use{name}GC",
                               "-Xmx192m"])
    holds(program.one("failure") == "null", f"a failure: {program.one('failure')}")
    wall_s = int(program.one("wall")) / 1e9
    begun, started, ended, last = (program.beans(word)
                                   for word in ("before", "started", "ended", "last"))
    pauses = {alias for alias in last if not alias.endswith("cycles")}
    holds(program.values("jvm_gc_seconds_count", "collector") <= pauses, "cycles among the pauses")
    holds(program.values("jvm_gc_cycle_time_seconds_count", "collector") <= set(last) - pauses,
          "pauses among the cycles")
    for alias in last:
        metric = "jvm_gc_seconds" if alias in pauses else "jvm_gc_cycle_time_seconds"
        count = program.sum(metric + "_count", collector=alias, outcome="ok")
        seconds = program.sum(metric + "_sum", collector=alias, outcome="ok")
        least = ended[alias][0] - started[alias][0]
        most = last[alias][0] - begun[alias][0]
        holds(least <= count <= most, f"{alias}: {count} recorded, {least} to {most} by its bean")
        millis = last[alias][1] - begun[alias][1]
        coarse = 1 if alias.startswith("shenandoah") or alias not in pauses else 0
        slack = 2 + (coarse or 0.1) * count + millis * 0.05 + (last[alias][1] - ended[alias][1]) + \
            (started[alias][1] - begun[alias][1])
        holds(abs(seconds * 1e3 - millis) <= slack,
              f"{alias}: {seconds} s recorded, {millis} ms by its bean")
    stopped = program.sum("jvm_gc_seconds_sum")
    # Shenandoah's may all be shorter than the millisecond in which they are told
    holds(stopped <= wall_s and (stopped > 0 or name == "Shenandoah"),
          f"{stopped} s of pauses in {wall_s} s")
    holds(program.sum("jvm_gc_seconds_count", cause="system-gc", outcome="ok") >= 3,
          "fewer pauses than were asked for")
    # of all of the process; and two collections of Parallel may share one safepoint
    holds(program.sum("jvm_safepoints_total") >= 3, "fewer safepoints than collections asked for")
    stood = program.sum("jvm_safepoints_stopped_seconds_total")
    holds(stopped <= stood + 0.01, f"{stopped} s of pauses and {stood} s at safepoints")
    allocated = int(program.one("allocated")) / (1 << 20)
    holds(abs(allocated - CHURN_MIB) <= CHURN_MIB * 0.05, f"{allocated} MiB allocated")
    canonical.update(CANONICAL.findall(program.output))
    lint_is_content(program)


def lint_is_content(program):
    """The page has what the manifest promises, as it says, and nothing else below its prefix."""
    page = program.output[program.output.index("# HELP"):]
    with tempfile.TemporaryDirectory(prefix="crest-jvm-") as folder:
        path = pathlib.Path(folder) / "page"
        path.write_text(page, encoding="utf-8")
        done = subprocess.run([*LINT, "live", "--quiet", "-m", MANIFEST, path],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    holds(done.returncode == 0, done.stdout.decode())


# ---- the manifest ----


def every_metric_was_on_a_page(canonical, newest):
    """Of those that the newest JDK here can have."""
    from crest_catalogue import load
    manifests, problems = load([MANIFEST])
    holds(not problems, problems)
    promised = {metric.name for metric in manifests[0].metrics if metric.status == "active"}
    promised -= {name for name, since in SINCE.items() if newest.feature < since}
    holds(canonical == promised, f"on no page: {sorted(promised - canonical)}; "
          f"in no manifest: {sorted(canonical - promised)}")


# ---- what is missing ----


def a_small_runtime_has_what_it_can(jdk):
    program = Program(jdk, "small", options=["--limit-modules",
                                           "java.base,java.management,jdk.unsupported"])
    holds(program.one("failure") == "null", f"a failure: {program.one('failure')}")
    holds(program.sum("jvm_gc_seconds_count", cause="unknown", outcome="ok") >= 3,
          "no collections by the beans' counts")
    holds(program.sum("jvm_threads_total") > 0, "no threads")
    holds(not program.values("jvm_memory_allocation_bytes_total", "") and
          program.sum("jvm_cpu_seconds_total") == 0, "figures of a module that is not there")
    refused = Program(jdk, "small", options=["--limit-modules", "java.base,jdk.unsupported"])
    holds("no module java.management" in refused.one("refused"), refused.output)


def without_performance_counters_pauses_are_coarse(jdk):
    program = Program(jdk, "churn", "100", options=["-XX:-UsePerfData", "-XX:+UseSerialGC",
                                                    "-Xmx64m"])
    holds(program.one("failure") == "null", f"a failure: {program.one('failure')}")
    holds("jvm_safepoints" not in program.output, "safepoints from nowhere")
    seconds = program.sum("jvm_gc_seconds_sum", outcome="ok")
    holds(abs(seconds * 1e3 - round(seconds * 1e3)) < 1e-6, f"{seconds} s in milliseconds")


# ---- hiccups ----


def a_long_pause_is_a_hiccup(jdk):
    """And so are the looks that it swallowed: of a pause of p there are p / 10 ms."""
    program = Program(jdk, "stall", "6", options=["-XX:+UseSerialGC"])
    pauses = program.sum("jvm_gc_seconds_count", cause="system-gc", outcome="ok")
    seconds = program.sum("jvm_gc_seconds_sum", cause="system-gc", outcome="ok")
    holds(pauses == 3, f"{pauses} pauses")
    mean = seconds / pauses
    holds(mean > 0.02, f"pauses of {mean} s are too short to be told from others")
    filled = program.sum("jvm_hiccups_seconds_sum", outcome="ok")
    # each of three pauses p at a resolution r is p + (p - r) + (p - 2r) + …: about p² / 2r, and
    # begins anywhere in an interval
    wanted = 3 * mean * (mean - 0.02) / (2 * 0.01)
    holds(filled >= wanted, f"{filled} s of hiccups for {pauses} pauses of {mean} s")
    above = {le: value for sample, has, value in program.samples
             for le in [has.get("le")] if sample == "jvm_hiccups_seconds_bucket"
             and has["outcome"] == "ok"}
    longer = above["+Inf"] - above["0.01"]
    holds(longer >= 3 * (mean / 0.01 - 3), f"{longer} looks found 10 ms or more")


# ---- class loaders ----


def a_class_loader_can_go(jdk):
    program = Program(jdk, "loaders")
    holds(program.one("available") == "true", "the library was not loaded")
    holds(program.one("loader") == "null", f"it is still there: {program.one('loader')}")
    holds(program.one("running") == "null", "it says that it still collects")


# ---- running ----


def cases(jdk, canonical):
    for name in COLLECTORS:
        yield (f"collections with {name}", has_collector(jdk, name) or
               f"this JDK has no {name} collector",
               lambda name=name: collections_are_those_of_the_beans(jdk, name, canonical))
    for test in (a_small_runtime_has_what_it_can, without_performance_counters_pauses_are_coarse,
                 a_long_pause_is_a_hiccup, a_class_loader_can_go):
        yield test.__name__.replace("_", " "), True, lambda test=test: test(jdk)


def cost(jdk, threads):
    program = Program(jdk, "cost", str(threads), "600")
    rows = [tuple(map(int, line.split())) for line in program.said["cost"]][200:]
    cpu = sorted(row[0] / 1e3 for row in rows)
    allocated = statistics.median(row[1] for row in rows)
    print(f"{jdk}, {threads} threads: {statistics.median(cpu):.0f} µs of processor time, 5 % to "
          f"95 % {cpu[len(cpu) // 20]:.0f} to {cpu[-len(cpu) // 20]:.0f} µs; {allocated:.0f} bytes")


def main():
    here = jvmlib.needs("built")
    if len(sys.argv) > 1:
        for jdk in here:
            for threads in sys.argv[1:]:
                cost(jdk, int(threads))
        return
    passed = failed = skipped = 0
    canonical = set()
    for jdk in here:
        for what, possible, test in cases(jdk, canonical):
            if possible is not True:
                print(f"skipped on {jdk}: {what}: {possible}")
                skipped += 1
                continue
            try:
                test()
                passed += 1
            except Failed as failure:
                print(f"FAIL on {jdk}: {what}: {failure}")
                failed += 1
    try:
        every_metric_was_on_a_page(canonical, here[-1])
        passed += 1
    except Failed as failure:
        print(f"FAIL: every metric was on a page: {failure}")
        failed += 1
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
