# SPDX-License-Identifier: Apache-2.0
"""Finds the sides, builds them, and talks with them. bench/README.md has the protocol.

A side is a process group of its own. It is stopped while it has no request, killed in the end with
all that it started, and dies with this program too.
"""

import ctypes
import json
import math
import os
import re
import selectors
import shlex
import shutil
import signal
import subprocess
import time
from pathlib import Path

BENCH = Path(__file__).resolve().parents[1]
ROOT = BENCH.parent

ID = re.compile(r"[a-z0-9-]+/[a-z0-9-]+/[a-z0-9-]+/[1-9][0-9]*(-same|-separate)?")
BUILD_LIMIT_S = 1800
HELLO_LIMIT_S = 600
ROUND_LIMIT_S = 120
EXIT_LIMIT_S = 20
LINE_BYTES_MAX = 1 << 20
PR_SET_PDEATHSIG = 1


class Skipped(Exception):
    """A side that cannot be built or run here, and why."""


class Failed(Exception):
    """A side that broke the protocol, died, hung, or whose totals are wrong."""


def describe_sides(folder=BENCH):
    """Every side.json below the folder, by its name."""
    found = {}
    for path in sorted(folder.rglob("side.json")):
        described = json.loads(path.read_text(encoding="utf-8"))
        described["folder"] = path.parent
        found[described["name"]] = described
    return found


def filled(words, build):
    """The words of a command, with the places of this build put in."""
    places = {"build": str((ROOT / build).resolve()), "bench": str(ROOT / "build" / "bench"),
              "root": str(ROOT)}
    return [re.sub(r"\{(build|bench|root)\}", lambda found: places[found.group(1)], word)
            for word in words]


def environment():
    """Without what the caller's make or shell would change: jobs, options of the library."""
    env = {key: value for key, value in os.environ.items() if not key.startswith("CREST_")
           and key not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES")}
    return {**env, "LC_ALL": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1"}


def look_for(need):
    """Says in a Skipped what is missing of one entry of `needs`."""
    if "command" in need and not shutil.which(need["command"]):
        raise Skipped(f"{need['command']} is not installed ({need['install']})")
    if "header" in need:
        compiler = shlex.split(os.environ.get("CXX", "c++"))
        if not shutil.which(compiler[0]):
            raise Skipped(f"{compiler[0]} is not installed, to look for <{need['header']}> with")
        asked = subprocess.run([*compiler, "-x", "c++", "-E", "-"], text=True,
                               capture_output=True, input=f"#include <{need['header']}>\n",
                               check=False)
        if asked.returncode != 0:
            raise Skipped(f"<{need['header']}> is not installed ({need['install']})")


def build_side(described, build, log):
    """Builds it; Skipped when its toolchain is missing or fails."""
    for need in described.get("needs", []):
        look_for(need)
    if not described.get("build"):
        return
    log.write(f"== building {described['name']}\n".encode())
    log.flush()
    begins = log.tell()
    try:
        status = run_whole(filled(described["build"], build), BUILD_LIMIT_S, log,
                           described["folder"])
    except OSError as error:
        raise Skipped(f"it cannot be built: {error}") from error
    except subprocess.TimeoutExpired as error:
        raise Skipped(f"building it took more than {BUILD_LIMIT_S} s") from error
    if status != 0:
        raise Skipped(f"it does not build: {last_line(log, begins)} (more in {log.name})")


def last_line(log, begins):
    """What was last said into the log, from a place on."""
    said = Path(log.name).read_bytes()[begins:].decode("utf-8", "replace").split("\n")
    last = [line.strip() for line in said if line.strip()][-1:] or ["it said nothing"]
    return last[0][:200]


def dies_with_its_parent():
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def run_whole(command, limit_s, log, folder):
    """A command's exit status. On its timeout, or when this program is interrupted, all that it
    started is killed with it, so that no compiler runs beside the next measurement."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT, signal.SIGTERM,
                                                       signal.SIGHUP])

    def begin():
        dies_with_its_parent()
        signal.pthread_sigmask(signal.SIG_SETMASK, before)

    try:
        process = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=log,
                                   stderr=log, env=environment(), start_new_session=True,
                                   preexec_fn=begin)
    except OSError:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        raise
    with process:
        try:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)  # an interrupt until now comes here
            return process.wait(limit_s)
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise


class Side:
    """A running side: start, rounds, finish; in between it is stopped."""

    def __init__(self, described, build, log):
        self.name = described["name"]
        self.described = described
        self.log = log
        self.build = build
        self.process = None
        self.buffer = b""
        self.hello = {}
        self.units = {}
        self.every = {}
        self.log_begins = 0

    def start(self, inputs, only):
        command = filled(self.described["run"], self.build)
        self.log_begins = self.log.tell()
        try:
            self.process = subprocess.Popen(
                [*command, f"--inputs={inputs}", f"--only={only}"], cwd=self.described["folder"],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log, bufsize=0,
                env=environment(), start_new_session=True, preexec_fn=dies_with_its_parent)
        except OSError as error:
            raise Failed(f"it cannot be started: {error}") from error
        self.hello = self.read(self.limit(HELLO_LIMIT_S))
        self.check_hello()
        self.signal(signal.SIGSTOP)

    def limit(self, otherwise):
        return self.described.get("limit_s", otherwise)

    def check_hello(self):
        listed = self.hello.get("benchmarks")
        if not isinstance(listed, list) or not isinstance(self.hello.get("versions", {}), dict):
            raise Failed(f"its first line has no benchmarks: {json.dumps(self.hello)[:200]}")
        for each in [*listed, *self.hello.get("missing", [])]:
            name = each.get("id") if isinstance(each, dict) else None
            if not isinstance(name, str) or not ID.fullmatch(name):
                raise Failed(f"{json.dumps(each)[:200]} has no id PEER/OPERATION/SPREAD/THREADS")
        for each in listed:
            if each["id"] in self.units:
                raise Failed(f"{each['id']} is in its list twice")
            self.units[each["id"]] = each.get("unit", "ns")
            self.every[each["id"]] = max(int(each.get("every", 1)), 1)

    def takes_part(self, run, number):
        """In round `number` (0 warms up) of run `run`, both as they are counted."""
        return run < self.hello.get("runs", run + 1) and number <= self.hello.get("rounds", number)

    def signal(self, which):
        try:
            os.killpg(self.process.pid, which)
        except ProcessLookupError:
            pass

    def read(self, limit_s):
        """A line of JSON; Failed when it is invalid, late, or the side has ended."""
        line = self.read_line(time.monotonic() + limit_s, limit_s)
        try:
            answer = json.loads(line)
        except ValueError as error:
            raise Failed(f"it said {line[:200].decode('utf-8', 'replace')!r}, which is no JSON"
                         ) from error
        if not isinstance(answer, dict):
            raise Failed(f"it said {line[:200].decode('utf-8', 'replace')!r}, which is no object")
        return answer

    def read_line(self, until, limit_s):
        with selectors.DefaultSelector() as ready:
            ready.register(self.process.stdout, selectors.EVENT_READ)
            while b"\n" not in self.buffer:
                left = until - time.monotonic()
                if left <= 0:
                    raise Failed(f"it said nothing for {limit_s} s")
                if not ready.select(left):
                    continue
                read = os.read(self.process.stdout.fileno(), 65536)
                if not read:
                    raise Failed(self.how_it_ended())
                self.buffer += read
                if len(self.buffer) > LINE_BYTES_MAX and b"\n" not in self.buffer:
                    raise Failed(f"it said a line of more than {LINE_BYTES_MAX} bytes")
        line, _, self.buffer = self.buffer.partition(b"\n")
        return line

    def how_it_ended(self):
        try:
            status = self.process.wait(EXIT_LIMIT_S)
        except subprocess.TimeoutExpired:
            return "it closed its output and went on"
        how = f"by signal {signal.Signals(-status).name}" if status < 0 else f"with status {status}"
        return f"it ended {how}: {last_line(self.log, self.log_begins)} (more in {self.log.name})"

    def ask(self, text):
        """Sends a line; the answers up to the `done` line."""
        answers = []
        self.signal(signal.SIGCONT)
        try:
            self.process.stdin.write((text + "\n").encode())
        except BrokenPipeError:
            pass  # the reading says how it ended
        while True:
            answer = self.read(self.limit(ROUND_LIMIT_S))
            if "done" in answer:
                return answers
            answers.append(answer)

    def round(self, number):
        """The samples of a round, by id."""
        samples = {}
        answers = self.ask(f"round {number}")
        self.signal(signal.SIGSTOP)
        for sample in answers:
            name, value = sample.get("id"), sample.get("value")
            if name not in self.units:
                raise Failed(f"it sampled {name!r}, which it had not said it has")
            if isinstance(value, bool) or not isinstance(value, (int, float)) or \
                    not math.isfinite(value):
                raise Failed(f"its sample of {name} is {value!r}")
            if name in samples:
                raise Failed(f"it sampled {name} twice in round {number}")
            samples[name] = sample
        due = [name for name, every in self.every.items()
               if number > 0 and (number - 1) % every == 0 and name not in samples]
        if due:
            raise Failed(f"it did not sample {', '.join(due[:3])} in round {number}")
        return samples

    def finish(self):
        """Its comparisons; Failed when its exit status disagrees with them."""
        checks = self.ask("finish")
        for check in checks:
            if not {"check", "found", "asked"} <= set(check):
                raise Failed(f"{json.dumps(check)[:200]} is no check")
        try:
            status = self.process.wait(EXIT_LIMIT_S)
        except subprocess.TimeoutExpired as error:
            raise Failed(f"it did not end within {EXIT_LIMIT_S} s of its last line") from error
        wrong = any(check["found"] != check["asked"] for check in checks)
        if status != wrong:
            raise Failed(f"it ended with status {status}, although "
                         f"{'a total was wrong' if wrong else 'all totals were right'}")
        return checks

    def end(self):
        """Kills the rest of its group; also after a regular end, because it may have started
        others."""
        if self.process is None:
            return
        self.signal(signal.SIGKILL)
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            stream.close()
