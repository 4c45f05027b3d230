#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# crest-test: timeout=900 sanitizers=no waits slow
"""The profiler beside `perf record --call-graph dwarf` of the same seconds of the same process:
the shares of the ten hottest functions differ by five points at most."""

import collections
import concurrent.futures
import http.client
import re
import shutil
import subprocess

import harness
from harness import ANSWER_S, Failure, Program, Skip, equal

SECONDS = 8
PERF_S = 200
POINTS = 5.0
# Both begin and end at slightly different moments, which matters less the longer they look.
ROUNDS = 8
SAMPLES = 1000
TOP = 10
# Kernel addresses: what runs there is counted with the function that called.
KERNEL = 1 << 63


def base_name(name):
    """Aliases of one address differ in underscores and versions: clock_gettime@@GLIBC_2.17. The
    kernel's vDSO has no file to name its functions from."""
    return "vdso" if "vdso" in name else name.partition("@")[0].lstrip("_") or name


def shares(times):
    total = sum(times.values())
    return {name: 100 * value / total for name, value in times.items()}


def ours(port):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=ANSWER_S)
    connection.request("GET", f"/debug/pprof/profile?seconds={SECONDS}&folded=1")
    answer = connection.getresponse()
    equal(answer.status, 200, "status")
    times = collections.Counter()
    for line in answer.read().decode().splitlines():
        stack, _, value = line.rpartition(" ")
        times[base_name(stack.rpartition(";")[2])] += int(value)
    return times


def perf_records(pid, file):
    done = subprocess.run(["perf", "record", "-q", "-e", "cpu-clock", "-F", "499", "--call-graph",
                           "dwarf", "-p", str(pid), "-o", file, "--", "sleep", str(SECONDS)],
                          capture_output=True, text=True, timeout=PERF_S, check=False)
    if done.returncode != 0:
        why = (done.stderr.strip().splitlines() or ["it says nothing"])
        raise Skip(f"perf may not look at a process here: {why[0]}")


def of_perf(file):
    """Samples by the innermost function of the program or of its libraries."""
    done = subprocess.run(["perf", "script", "--no-inline", "-i", file, "-F", "ip,sym"],
                          capture_output=True, text=True, timeout=PERF_S, check=False)
    equal(done.returncode, 0, done.stderr[-500:])
    times, whole = collections.Counter(), 0
    for sample in done.stdout.split("\n\n"):
        frames = re.findall(r"^\s*([0-9a-f]+) (.*)$", sample, re.M)
        user = [name.strip() for address, name in frames if int(address, 16) < KERNEL]
        if user:
            times[base_name(user[0])] += 1
            whole += "validate_short_block" in user
    if whole * 2 < sum(times.values()):
        raise Failure(f"perf unwound {whole} of {sum(times.values())} samples to the program")
    return times


def the_shares_are_those_of_perf(place):
    if shutil.which("perf") is None:
        raise Skip("there is no perf (Debian: linux-perf)")
    node = Program(place, "profile_program", "profile=on,profile.listen=127.0.0.1:0,profile.hz=500")
    port = int(re.search(r":(\d+)/", node.begun).group(1))
    node.do("mix")
    file = place.folder / "perf.data"
    own, theirs = collections.Counter(), collections.Counter()
    for _ in range(ROUNDS):
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            answer = pool.submit(ours, port)
            perf_records(node.process.pid, file)
            own += answer.result()
        theirs += of_perf(file)
        most, table = compared(shares(own), shares(theirs))
        if most <= POINTS and sum(theirs.values()) > SAMPLES:
            break
    node.do("stop")
    print(f"at most {most:.1f} points apart:\n{table}")
    if most > POINTS:
        raise Failure(f"{most:.1f} points apart:\n{table}")


def compared(own, theirs):
    """How far apart the ten hottest functions of either are at most, and a table of them."""
    top = sorted(theirs, key=theirs.get, reverse=True)[:TOP]
    top += [name for name in sorted(own, key=own.get, reverse=True)[:TOP] if name not in top]
    table = "\n".join(f"{theirs.get(name, 0):5.1f} % of perf's, {own.get(name, 0):5.1f} % here: "
                      f"{name}" for name in top)
    return max(abs(theirs.get(name, 0) - own.get(name, 0)) for name in top), table


harness.main([the_shares_are_those_of_perf], servers=())
