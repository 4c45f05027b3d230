# SPDX-License-Identifier: Apache-2.0
"""The machine of the figures, and how busy it was meanwhile. Read from /proc and /sys."""

import ctypes
import errno
import os
import platform
import re
import resource
import shutil
import statistics
import subprocess
import time
from pathlib import Path

import bench_sides
import bench_stats

UNKNOWN = "unknown"
OTHERS_MOST = 0.05  # of a processor, that other programs may take before it is told
STEAL_MOST = 1.0    # percent of the machine's time
VARIATION_MOST = 5.0  # percent, of limits from run to run: 2 at rest, 10 beside busy neighbours
RUNS_TO_VARY = 3
PERF_EVENT_OPEN = {"x86_64": 298, "aarch64": 241}


def text_of(path, otherwise=UNKNOWN):
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace").strip() or otherwise
    except OSError:
        return otherwise


def said_by(*command):
    """The first line that a program prints, or nothing."""
    if not shutil.which(command[0]):
        return ""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                          stdin=subprocess.DEVNULL, cwd=bench_sides.ROOT, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""


def word_of_processor(key):
    found = re.search(rf"^{key}\s*:\s*(.*)$", text_of("/proc/cpuinfo", ""), re.M)
    return found.group(1).strip() if found else UNKNOWN


def memory_mib():
    found = re.search(r"^MemTotal:\s+(\d+) kB", text_of("/proc/meminfo", ""), re.M)
    return str(int(found.group(1)) // 1024) if found else UNKNOWN


def virtual():
    """The hypervisor, as far as the kernel names it."""
    product = text_of("/sys/class/dmi/id/product_name", "")
    if "hypervisor" in word_of_processor("flags").split():
        return f"yes ({product or text_of('/sys/hypervisor/type', 'a hypervisor')})"
    return "no" if word_of_processor("flags") != UNKNOWN else UNKNOWN


def hardware_counters():
    """Why there are none, or an empty text. Asks for instructions, of this process."""
    number = PERF_EVENT_OPEN.get(platform.machine())
    if number is None:
        return f"no hardware counters: not looked for on {platform.machine()}"
    libc = ctypes.CDLL(None, use_errno=True)
    attributes = (ctypes.c_uint64 * 16)()
    attributes[0] = 128 << 32  # of type hardware, and its size
    attributes[1] = 1          # instructions
    attributes[5] = 1 << 5     # not the kernel's
    descriptor = libc.syscall(ctypes.c_long(number), ctypes.byref(attributes), 0, -1, -1,
                              ctypes.c_ulong(0))
    if descriptor >= 0:
        os.close(descriptor)
        return ""
    failed = ctypes.get_errno()
    why = {errno.ENOENT: "the processor shows none, as in most virtual machines",
           errno.EACCES: "not allowed (kernel.perf_event_paranoid)",
           errno.EPERM: "not allowed (kernel.perf_event_paranoid)",
           errno.ENOSYS: "not in this kernel"}.get(failed, os.strerror(failed))
    return f"no hardware counters: {why}"


def describe_machine():
    """Facts about machine and tools, all of them words."""
    compiler = os.environ.get("CC", "cc").split()
    tick = time.clock_getres(6)  # CLOCK_MONOTONIC_COARSE, which goes on with each tick
    clock = text_of("/sys/devices/system/clocksource/clocksource0/current_clocksource")
    try:
        libc = os.confstr("CS_GNU_LIBC_VERSION") or UNKNOWN
    except (OSError, ValueError):
        libc = UNKNOWN
    return {"processor": word_of_processor("model name"),
            "family": f"{word_of_processor('cpu family')}/{word_of_processor('model')}",
            "processors": str(len(os.sched_getaffinity(0))), "memory_mib": memory_mib(),
            "kernel": platform.release(), "architecture": platform.machine(),
            "compiler": said_by(*compiler, "--version").split("\n")[0] or UNKNOWN,
            "libc": libc, "clock": clock, "tick_hz": str(round(1 / tick)) if tick else UNKNOWN,
            "governor": text_of("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
                                "none to be seen"),
            "virtual": virtual(), "counters": hardware_counters() or "there are"}


def describe_source():
    """Of which source the figures are."""
    version = re.search(r"^VERSION\s*:=\s*(\S+)", text_of(bench_sides.ROOT / "Makefile", ""), re.M)
    # a copy inside another repository takes that repository's commit only where it is a part of it
    own = said_by("git", "ls-files", "--", "bench/runner/bench.py")
    return {"commit": own and said_by("git", "rev-parse", "HEAD") or UNKNOWN,
            "dirty": bool(own and said_by("git", "status", "--porcelain", "--", ".")),
            "version": version.group(1) if version else UNKNOWN}


def processor_seconds():
    """Of the machine since it started: busy, stolen, all."""
    words = text_of("/proc/stat", "cpu 0").split("\n")[0].split()[1:9]
    times = [int(word) for word in words] + [0] * (8 - len(words))
    user, nice, system, idle, waiting, irq, softirq, steal = times
    tick = os.sysconf("SC_CLK_TCK")
    busy = user + nice + system + irq + softirq
    return busy / tick, steal / tick, (busy + steal + idle + waiting) / tick


def own_seconds():
    """Of this program and of what it started and waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


class Watch:
    """From its making on: how busy the machine is, but for what this program starts."""

    def __init__(self):
        self.load = os.getloadavg()[0]
        self.started = (time.monotonic(), own_seconds(), *processor_seconds())

    def judge(self):
        now = (time.monotonic(), own_seconds(), *processor_seconds())
        seconds, own, busy, steal, whole = (b - a for a, b in zip(self.started, now))
        return judge_load(self.load, os.getloadavg()[0], len(os.sched_getaffinity(0)),
                          max(busy - own, 0) / max(seconds, 0.01),
                          100 * steal / whole if whole > 0 else 0.0)


def judge_load(before, after, processors, others, steal):
    """The `load` of a results file; `others` is how many processors other programs had."""
    busy = []
    if others > OTHERS_MOST:
        busy.append(f"other programs took {others:.2f} of {processors} processors")
    if steal > STEAL_MOST:
        busy.append(f"{steal:.1f} % of the time went to other virtual machines")
    text = f"The machine was busy: {', '.join(busy)}." if busy else ""
    return {"before": round(before, 2), "after": round(after, 2), "others": round(others, 3),
            "steal_percent": round(steal, 2), "busy": text}


def judge_limits(load, benchmarks):
    """The `load` with the variation of the limits: how much their medians differed from run to run,
    which is not the library's doing."""
    variations = []
    for name, entry in benchmarks.items():
        found = bench_stats.medians(entry["runs"])
        alone = name.startswith("limit/") and name.endswith("/1")
        if alone and len(found) >= RUNS_TO_VARY and min(found) > 0:
            variations.append(statistics.stdev(found) / statistics.fmean(found))
    if not variations:
        return load
    percent = 100 * statistics.median(variations)
    uneven = f"The machine's own limits differed by {percent:.1f} % from run to run, as on a " \
             "busy host." if percent > VARIATION_MOST else ""
    return {**load, "limits_variation_percent": round(percent, 2),
            "busy": " ".join(text for text in (load["busy"], uneven) if text)}
