# SPDX-License-Identifier: Apache-2.0
"""Starts the demo's Pushgateway and Prometheus on free loopback ports, and ends by their process
ids whatever was started here.

    with servers.Started() as started:
        gateway = servers.Pushgateway(started, folder).start()

Everything started is a session of its own, so that Ctrl-C reaches the demo alone, which then ends
the others in order; and the kernel ends them should the demo itself be killed.
"""

import contextlib
import ctypes
import http.client
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from promql import OPENER

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import free_ports as ports  # noqa: E402  (needs the path above)

PROGRAMS = pathlib.Path(os.environ.get("CREST_SERVERS", ROOT / "build/servers/root/usr/bin"))
# Ceilings, for machines that are slow or busy.
READY_S = 60
STOP_S = 10
LOG_LINES_SHOWN = 8
PR_SET_PDEATHSIG = 1
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
LIBC = ctypes.CDLL(None)


class Failure(Exception):
    """The demo cannot go on; the text is for the person who started it."""


def free_ports(count):
    """Free ports of the loopback interface, which no other demo or test is given meanwhile: a
    gateway that was killed finds its port free when it comes back."""
    try:
        return ports.take(count)
    except OSError as error:
        raise Failure(str(error)) from error


def die_with_parent():
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def ignore_signals():
    """From here on the demo cleans up, and signals are ignored."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)


def last_lines(path):
    try:
        lines = path.read_text(errors="replace").splitlines()[-LOG_LINES_SHOWN:]
    except OSError as error:
        return f"(no log: {error})"
    return "\n".join("    " + line[:160] for line in lines) or "    (it said nothing)"


@contextlib.contextmanager
def state_folder():
    """A folder for state files on tmpfs, or on the disk where there is none; and what demos that
    were killed have left of theirs is removed. Yields it and the options that nodes need for it."""
    shm = pathlib.Path("/dev/shm")
    if not os.access(shm, os.W_OK):
        with tempfile.TemporaryDirectory() as folder:
            yield pathlib.Path(folder), f"state={folder},state.disk=on,events=on,events.disk=on"
        return
    for old in shm.glob("crest-demo-[0-9]*"):
        if not pathlib.Path("/proc", old.name.removeprefix("crest-demo-")).exists():
            shutil.rmtree(old, ignore_errors=True)
    folder = shm / f"crest-demo-{os.getpid()}"
    folder.mkdir(mode=0o700)
    try:
        yield folder, f"state={folder},events=on"
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def end_process(process, how=signal.SIGTERM):
    """Ends one process and waits until it is gone; by force if it takes too long."""
    if process.poll() is None:
        process.send_signal(how)
    try:
        process.wait(STOP_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


class Started:
    """The processes to end."""

    def __init__(self):
        self.running = []
        self.kept = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        ignore_signals()
        ending = [process for process in self.running if process not in self.kept]
        for process in ending:
            if process.poll() is None:
                process.terminate()
        for process in ending:
            end_process(process)

    def launch(self, command, survives=False, **settings):
        """Popen, remembered. One that `survives` may be kept when the demo ends."""
        try:
            process = subprocess.Popen(command, start_new_session=True,
                                       preexec_fn=None if survives else die_with_parent, **settings)
        except OSError as error:
            raise Failure(f"{command[0]} could not be started: {error.strerror}. 'make examples' "
                          "builds the node, 'make servers' fetches the servers.") from error
        self.running.append(process)
        return process


class Server:
    """A server program, its port, folder and log."""

    name = ""

    def __init__(self, started, folder, survives=False):
        self.started = started
        self.folder = folder
        self.survives = survives
        self.port = free_ports(1)[0]
        self.url = f"http://127.0.0.1:{self.port}"
        self.log = folder / f"{self.name}.log"
        self.process = None

    def command(self):
        raise NotImplementedError

    def launch(self):
        with open(self.log, "ab") as log:
            self.process = self.started.launch(
                self.command(), survives=self.survives, stdin=subprocess.DEVNULL, stdout=log,
                stderr=subprocess.STDOUT, cwd=self.folder)
        return self

    def wait_ready(self):
        until = time.monotonic() + READY_S
        said = "nothing yet"
        while time.monotonic() < until:
            if self.process.poll() is not None:
                said = f"it ended with status {self.process.returncode}"
                break
            try:
                with OPENER.open(f"{self.url}/-/ready", timeout=1) as answer:
                    if answer.status == 200:
                        return self
            except (OSError, http.client.HTTPException) as error:
                said = str(error)
            time.sleep(0.05)
        raise Failure(f"{self.name} was started on 127.0.0.1:{self.port} and did not become ready "
                      f"within {READY_S} s: {said}. The end of its log, {self.log}:\n"
                      + last_lines(self.log))

    def start(self):
        return self.launch().wait_ready()

    def kill(self):
        """As a power cut would end it."""
        end_process(self.process, signal.SIGKILL)


class Pushgateway(Server):
    """Always with a file of its own: without, two gateways on a machine would share Debian's."""

    name = "pushgateway"

    def command(self):
        return [PROGRAMS / "prometheus-pushgateway", f"--web.listen-address=127.0.0.1:{self.port}",
                f"--persistence.file={self.file}", "--persistence.interval=1s"]

    @property
    def file(self):
        return self.folder / "pushgateway.data"


class Prometheus(Server):
    """With the node's own prometheus.yml and its rules; only the gateway's address is another."""

    name = "prometheus"

    def configure(self, gateway):
        source = ROOT / "examples/node"
        text = (source / "prometheus.yml").read_text()
        if text.count("127.0.0.1:9091") < 1:
            raise Failure(f"{source}/prometheus.yml has no target 127.0.0.1:9091 to replace.")
        library = "../../share/crest_rules.yml"
        (self.folder / "prometheus.yml").write_text(
            text.replace("127.0.0.1:9091", f"127.0.0.1:{gateway.port}")
            .replace(library, str((source / library).resolve())))
        for rules in ("alerts.yml", "generated_rules.yml"):
            (self.folder / rules).write_text((source / rules).read_text())
        return self

    def command(self):
        return [PROGRAMS / "prometheus", f"--config.file={self.folder}/prometheus.yml",
                f"--storage.tsdb.path={self.folder}/prometheus.data",
                f"--web.listen-address=127.0.0.1:{self.port}", "--log.level=warn"] + self.pages()

    @staticmethod
    def pages():
        """Where the parts of its web page are, when it is not installed but only unpacked."""
        folder = PROGRAMS.parents[0] / "share/prometheus/web"
        return [f"--web.local-assets={folder}/"] if folder.is_dir() else []
