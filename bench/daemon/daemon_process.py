# SPDX-License-Identifier: Apache-2.0
"""A daemon that runs: its start, its load, its workers' processor time or instructions, its totals.
"""

import collections
import getpass
import os
import re
import signal
import socket
import subprocess
import time
import urllib.request
from pathlib import Path

from daemon_build import CREST, PLACE

PATIENCE_S = 60
# valgrind keeps twelve for itself, and lets the limit be set to no other than what is left
DESCRIPTORS = 1024
VALUE_BYTES = 102  # with the line end that memcached counts in
# Options beside the page's. In one thread, ticks and collectors would be the daemon's own work, and
# under callgrind, where a request takes fifty times as long, fifty times as much of it a request.
OPTIONS = {"crest": "system=on", "crest-unlocked": "system=on",
           "crest-alone": "threads=off,windows=off",
           "crest-stamps": "threads=off,windows=off"}

# What one request of daemon_load makes each metric grow by.
GROWS = {
    "get": {"memcached.gets": 1, "memcached.hits": 1, "memcached.misses": 0,
            "memcached.value-bytes": VALUE_BYTES, "memcached.value-size": 1,
            "memcached.request": 1, "memcached.received": 14, "memcached.sent": 129},
    "set": {"memcached.sets": 1, "memcached.stored": 1, "memcached.value-bytes": VALUE_BYTES,
            "memcached.value-size": 1, "memcached.request": 1, "memcached.received": 124,
            "memcached.sent": 8},
    "0": {"mosquitto.received": 1, "mosquitto.received-bytes": 64, "mosquitto.sent": 1,
          "mosquitto.sent-bytes": 64, "mosquitto.payload-size": 1, "mosquitto.publish": 1},
}
GROWS["1"] = {**GROWS["0"], "mosquitto.accept": 1, "mosquitto.stored": 1, "mosquitto.delivery": 1}


class Wrong(Exception):
    """A daemon that did not do what it was to do."""


def free_port():
    with socket.socket() as asked:
        asked.bind(("127.0.0.1", 0))
        return asked.getsockname()[1]


def until(condition, what):
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        if time.monotonic() > deadline:
            raise Wrong(f"{what} did not come in {PATIENCE_S} s")
        time.sleep(0.02)


class Daemon:
    """One variant, running. `workers` is the number of memcached's threads that serve."""

    def __init__(self, name, variant, program, workers, before=()):
        self.name, self.variant, self.workers = name, variant, workers
        self.port, self.page_port = free_port(), free_port()
        self.asked = collections.Counter()
        self.folder = PLACE / "run" / f"{name}-{variant}-{workers}"
        self.folder.mkdir(parents=True, exist_ok=True)
        self.totals_path = self.folder / "totals"
        self.totals_path.unlink(missing_ok=True)
        environment = {**os.environ, "DAEMON_TOTALS": str(self.totals_path),
                       "DAEMON_CREST": f"prometheus=127.0.0.1:{self.page_port},{OPTIONS[variant]}"
                       if variant in CREST else ""}
        with open(self.folder / "log", "w", encoding="utf-8") as log:
            # pylint: disable-next=consider-using-with
            self.process = subprocess.Popen(
                ["sh", "-c", f'ulimit -n {DESCRIPTORS}; exec "$@"', "sh", *before, str(program),
                 *self.arguments()], stdout=log, stderr=log, env=environment, cwd=self.folder)
        until(self.serves, f"{name}, {variant}, at its port")

    def serves(self):
        if self.process.poll() is not None:
            raise Wrong(f"{self.name}, {self.variant} ended: {self.folder}/log says why")
        try:
            socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
            return True
        except OSError:
            return False

    def arguments(self):
        if self.name == "memcached":
            return ["-l", "127.0.0.1", "-p", str(self.port), "-t", str(self.workers), "-m", "256",
                    "-c", str(DESCRIPTORS - 12), "-U", "0", "-u", getpass.getuser()]
        settings = self.folder / "mosquitto.conf"
        settings.write_text(f"listener {self.port} 127.0.0.1\nallow_anonymous true\n"
                            "max_inflight_messages 1000\nsys_interval 0\nlog_type error\n"
                            "set_tcp_nodelay true\n"
                            f"user {getpass.getuser()}\n",
                            encoding="utf-8")
        return ["-c", str(settings)]

    def load(self, what, pipeline, connections, requests):
        done = subprocess.run([str(PLACE / "daemon_load"), self.name, str(self.port), what,
                               str(pipeline), str(connections), str(requests // pipeline)],
                              stderr=subprocess.PIPE, check=False, timeout=600)
        if done.returncode != 0:
            raise Wrong(f"{self.name}, {self.variant}: {done.stderr.decode().strip()}")
        sets = {"mixed": requests // 10, "set": requests}.get(what, 0)
        if sets:
            self.grow("set", sets)
        if requests > sets:
            self.grow("get" if self.name == "memcached" else what, requests - sets)

    def grow(self, kind, requests):
        for metric, by in GROWS[kind].items():
            self.asked[metric] += by * requests

    def worker_ns(self):
        """The processor time that the threads that serve have had."""
        tasks = Path(f"/proc/{self.process.pid}/task")
        if self.name == "mosquitto":
            return self.task_ns(tasks / str(self.process.pid))
        workers = [task for task in tasks.iterdir() if self.task_name(task) == "mc-worker"]
        if len(workers) != self.workers:
            raise Wrong(f"{len(workers)} threads are called mc-worker, not {self.workers}")
        return sum(self.task_ns(task) for task in workers)

    @staticmethod
    def task_name(task):
        """Its name; "" of a thread that ended since the folder was read."""
        try:
            return (task / "comm").read_text(encoding="utf-8").strip()
        except FileNotFoundError:
            return ""

    @staticmethod
    def task_ns(task):
        """utime and stime together, as the scheduler knows them, in nanoseconds."""
        return int((task / "schedstat").read_text(encoding="utf-8").split()[0])

    def scrape(self):
        address = f"http://127.0.0.1:{self.page_port}/metrics"
        with urllib.request.urlopen(address, timeout=PATIENCE_S) as page:
            return page.read().decode()

    def totals(self):
        """What the daemon counted, by canonical name; of timers and histograms how many."""
        if self.variant in CREST:
            return self.totals_of_page()
        self.stop()
        if self.variant != "atomics":
            return None
        lines = self.totals_path.read_text(encoding="utf-8").splitlines()
        return {name: int(value) for name, value in map(str.split, lines)}

    def totals_of_page(self):
        totals, canonical = collections.Counter(), {}
        for line in self.scrape().splitlines():
            helped = re.match(r"# HELP (\w+) .*\[([^\]]+)\]$", line)
            if helped:
                canonical[helped.group(1)] = helped.group(2)
            sample = re.match(r"(\w+?)(?:_count)?(?:\{[^}]*\})? (\d+)$", line)
            if sample and "_bucket{" not in line and sample.group(1) in canonical:
                totals[canonical[sample.group(1)]] += int(sample.group(2))
        return totals

    def compare(self):
        """Raises Wrong unless all was counted that was asked for, exactly."""
        totals = self.totals()
        if totals is None:
            return 0
        for metric, asked in sorted(self.asked.items()):
            found = totals.get(metric)
            if found != asked:
                raise Wrong(f"{self.name}, {self.variant}: {metric} is {found}, not {asked}")
        return len(self.asked)

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(PATIENCE_S)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()


# ---- instructions ----

class Counted:
    """What callgrind wrote of one thread: instructions, those of the C library's clock among them,
    and how often that was read; and those of the function that reads requests."""

    SERVES = "try_read_command_ascii"  # in memcached, whose other threads may be as busy

    def __init__(self, text):
        self.thread = int(re.search(r"^thread: (\d+)$", text, re.M).group(1))
        self.total = self.clock = self.reads = self.serves = 0
        names, here, callee, skip = {}, "", "", False
        for line in text.split("\n"):
            found = re.match(r"(c?)fn=\((\d+)\)(?: (.*))?$", line)
            if found:
                number = found.group(2)
                names[number] = found.group(3) or names[number]
                if found.group(1):
                    callee = names[number]
                else:
                    here = names[number]
            elif line.startswith("calls="):
                skip = True  # the next line is the callee's
                if callee.startswith("clock_gettime"):
                    self.reads += int(line[6:].split()[0])
            elif re.match(r"[-+*\d]\S* \d+$", line):
                cost = int(line.split()[1])
                if not skip:
                    self.total += cost
                    self.clock += cost if here.startswith("clock_gettime") else 0
                    self.serves += cost if here == self.SERVES else 0
                skip = False


def callgrind(folder):
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("out.*"):
        old.unlink()
    return ["valgrind", "-q", "--tool=callgrind", "--separate-threads=yes", "--skip-plt=no",
            f"--callgrind-out-file={folder}/out.%p"]


def dump(daemon, folder):
    """Makes callgrind write what it counted, and begin at 0 again: those that serve first, then
    the busiest."""
    for old in folder.glob("out.*"):
        old.unlink()
    asked = subprocess.run(["vgdb", f"--pid={daemon.process.pid}", "--wait=20", "dump"],
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
                           timeout=PATIENCE_S)
    if asked.returncode != 0:
        raise Wrong(f"vgdb: {asked.stdout.decode().strip()}")
    threads = [Counted(path.read_text(encoding="utf-8", errors="replace"))
               for path in folder.glob("out.*") if re.search(r"-\d+$", path.name)]
    return sorted(threads, key=lambda thread: (-thread.serves, -thread.total))
