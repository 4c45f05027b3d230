# SPDX-License-Identifier: Apache-2.0
"""What the integration tests share: real servers on free loopback ports, and how a test is told.

    import harness

    def counters_arrive(place):
        gateway = harness.Pushgateway(place)
        gateway.start()
        harness.equal(gateway.get("/-/ready"), "OK")

    harness.main([counters_arrive])

Tests run several at a time. Each gets a `Place`: a folder of its own, and the list of what it
started, which is ended by process id when the test is over, however it ends. Servers come from
$CREST_SERVERS or build/servers/root/usr/bin (`make servers`); without them the program exits 77 and
says so. Those that are built from Go modules are in goservers.py.

It uses nothing but Python's standard library, and listens on the loopback interface only.
"""

import concurrent.futures
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import urllib.error
import urllib.parse
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "scripts"))
import free_ports  # noqa: E402  (needs the path above)

BUILD = pathlib.Path(os.environ.get("CREST_BUILD", ROOT / "build/release")).resolve()
SERVERS = pathlib.Path(os.environ.get("CREST_SERVERS", ROOT / "build/servers/root/usr/bin"))
GO_SERVERS = pathlib.Path(os.environ.get("CREST_GO_SERVERS", ROOT / "build/servers/go"))
EXIT_SKIPPED = 77
# Ceilings, not expectations: a machine that is busy with other things is slow, and not wrong.
READY_S = 120
ANSWER_S = 120
STOP_S = 120
LOG_SHOWN_BYTES = 3000
TEXT_SHOWN = 1000
# Tests mostly wait: a Prometheus looks at its targets only 5 s after its start.
PARALLEL = 4

# A proxy in the environment must not stand between a test and its servers.
OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class Failure(Exception):
    """A test's own finding; shown without a trace."""


class Skip(Exception):
    """The test cannot run here; says why."""


def equal(found, wanted, what=""):
    """Fails with both values."""
    if found != wanted:
        raise Failure(f"{what or 'value'}: found {found!r}, wanted {wanted!r}")


def shown(text, part):
    """A text for a message: of a long one, the lines that have the part's first word in them."""
    if len(text) > TEXT_SHOWN:
        word = re.search(r"\w+|$", part).group()
        lines = [line for line in text.splitlines() if word in line]
        text = "\n".join(lines)[:TEXT_SHOWN] + f" (and other lines without {word!r})"
    return repr(text)


def contains(text, part, what=""):
    """Fails with the text."""
    if part not in text:
        raise Failure(f"{what or 'text'}: {part!r} is not in {shown(text, part)}")


def lacks(text, part, what=""):
    """The opposite."""
    if part in text:
        raise Failure(f"{what or 'text'}: {part!r} is in {shown(text, part)}")


def wait_for(what, look, seconds=READY_S, pause_s=0.05):
    """Calls look() until it returns something true and returns that; fails after `seconds`."""
    until = time.monotonic() + seconds
    while True:
        found = look()
        if found:
            return found
        if time.monotonic() > until:
            raise Failure(f"waited {seconds} s in vain for {what}")
        time.sleep(pause_s)


def holds_at_last(check, seconds=READY_S, pause_s=0.05):
    """Calls check() until it does not fail any more; after `seconds` its failure stands. For what
    is read from a Prometheus whose next scrape may come late, or not at all."""
    until = time.monotonic() + seconds
    while True:
        try:
            return check()
        except Failure:
            if time.monotonic() > until:
                raise
        time.sleep(pause_s)


def go_server(name):
    """The path of a program that scripts/build-servers makes; the test is skipped without it."""
    path = GO_SERVERS / name
    if os.access(path, os.X_OK):
        return path
    why = GO_SERVERS / f"{name}.why"
    reason = why.read_text() if why.exists() else "'make servers' builds it"
    raise Skip(f"{path} is not there: {reason}")


def free_port():
    """A port that nobody listens on and that nobody else is given while this process runs, so that
    a server can also come back to it."""
    return free_ports.take(1)[0]


class Place:
    """A test's folder and what it has started."""

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="crest-test-"))
        self.started = []

    def close(self):
        for thing in reversed(self.started):
            thing.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def logs(self):
        """The end of every server's log."""
        text = ""
        for path in sorted(self.folder.glob("*.log")):
            text += f"--- {path.name}\n{path.read_text(errors='replace')[-LOG_SHOWN_BYTES:]}"
        return text


class Server:
    """A server program: started, waited for, stopped; ended in any case by its place."""

    ready_s = READY_S

    def __init__(self, place, name, port=None):
        self.place = place
        self.name = name
        self.port = port or free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.log = place.folder / f"{name}-{self.port}.log"
        self.process = None

    def command(self):
        raise NotImplementedError

    def start(self):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(self.command(), stdin=subprocess.DEVNULL, stdout=log,
                                            stderr=subprocess.STDOUT, cwd=self.place.folder)
        if self not in self.place.started:
            self.place.started.append(self)
        wait_for(f"{self.name} on port {self.port}", self.is_ready, self.ready_s)
        return self

    def check_running(self):
        if self.process.poll() is not None:
            raise Failure(f"{self.name} ended with status {self.process.returncode}\n"
                          + self.place.logs())

    def is_ready(self):
        self.check_running()
        try:
            with OPENER.open(f"{self.url}/-/ready", timeout=2) as answer:
                return answer.status == 200
        except (OSError, http.client.HTTPException):
            return False

    def end(self, how):
        if self.process is None:
            return
        if self.process.poll() is None:
            self.process.send_signal(how)
        try:
            self.process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process = None

    def stop(self):
        """As its operator would: it may put its things in order."""
        self.end(signal.SIGTERM)

    def kill(self):
        """As a power cut would."""
        self.end(signal.SIGKILL)

    def hold(self):
        """Stops its threads. The signal alone does not: it says so to one of them, and under load
        the others answer requests until that one has run."""
        self.process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, self.process.pid, os.WSTOPPED)

    def go_on(self):
        """Lets them run again."""
        self.process.send_signal(signal.SIGCONT)

    def get(self, path, method="GET"):
        """The body of an answer; an HTTP error is a failure."""
        request = urllib.request.Request(self.url + path, method=method)
        try:
            with OPENER.open(request, timeout=ANSWER_S) as answer:
                return answer.read().decode("utf-8")
        except urllib.error.HTTPError as error:
            raise Failure(f"{method} {self.url}{path}: {error.code} {error.read()!r}") from error


class Pushgateway(Server):
    """Debian's, always with a store of its own. web_config: the text of its --web.config.file."""

    def __init__(self, place, port=None, web_config=None):
        super().__init__(place, "pushgateway", port)
        self.store = place.folder / f"pushgateway-{self.port}.store"
        self.web_config = web_config

    def command(self):
        options = []
        if self.web_config:
            path = self.place.folder / f"pushgateway-{self.port}.web.yml"
            path.write_text(self.web_config)
            options = [f"--web.config.file={path}"]
        return [SERVERS / "prometheus-pushgateway", f"--web.listen-address=127.0.0.1:{self.port}",
                f"--persistence.file={self.store}", "--persistence.interval=100ms", *options]

    def is_ready(self):
        if not self.web_config:
            return super().is_ready()
        self.check_running()
        # With a password and TLS it answers nobody but those who are let in.
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def groups(self):
        """Its groups, each the dictionary of its labels."""
        return [group["labels"] for group in json.loads(self.get("/api/v1/metrics"))["data"]]

    def page(self):
        return self.get("/metrics")


class NodeExporter(Server):
    """With its textfile collector only, over a folder of its place."""

    def __init__(self, place, port=None):
        super().__init__(place, "node_exporter", port)
        self.folder = place.folder / "textfiles"
        self.folder.mkdir(exist_ok=True)

    def command(self):
        return [SERVERS / "prometheus-node-exporter", "--collector.disable-defaults",
                "--collector.textfile", f"--collector.textfile.directory={self.folder}",
                f"--web.listen-address=127.0.0.1:{self.port}"]

    def is_ready(self):
        self.check_running()
        try:
            return "Node Exporter" in self.get("/")
        except (OSError, http.client.HTTPException):
            return False

    def page(self):
        return self.get("/metrics")

    def lines(self, start):
        """Lines of its page that begin so."""
        return [line for line in self.page().splitlines() if line.startswith(start)]


class Prometheus(Server):
    """Scrapes the targets every second, labels honoured as a Pushgateway needs. A scrape may take
    the whole second: one that does not arrive makes all series go until the next."""

    def __init__(self, place, targets, port=None):
        super().__init__(place, "prometheus", port)
        self.targets = targets

    def command(self):
        config = self.place.folder / f"prometheus-{self.port}.yml"
        targets = ", ".join(f"'127.0.0.1:{target.port}'" for target in self.targets)
        config.write_text("global: {scrape_interval: 1s, scrape_timeout: 1s}\n"
                          "scrape_configs:\n- job_name: gateway\n  honor_labels: true\n"
                          f"  static_configs: [{{targets: [{targets}]}}]\n")
        return [SERVERS / "prometheus", f"--config.file={config}",
                f"--storage.tsdb.path={self.place.folder}/prometheus-{self.port}",
                f"--web.listen-address=127.0.0.1:{self.port}", "--log.level=warn"]

    def ask(self, path, **parameters):
        return json.loads(self.get(f"/api/v1/{path}?{urllib.parse.urlencode(parameters)}"))["data"]

    def query(self, text):
        """[(labels, value)] of an instant query."""
        return [(series["metric"], float(series["value"][1]))
                for series in self.ask("query", query=text)["result"]]

    def value(self, text):
        """The value of the one series of a query; None when there is none."""
        found = self.query(text)
        if len(found) > 1:
            raise Failure(f"{text}: {len(found)} series, wanted one: {found}")
        return found[0][1] if found else None

    def check_value(self, text, wanted, seconds=READY_S):
        """Waits until a query has exactly this value."""
        holds_at_last(lambda: equal(self.value(text), wanted, text), seconds)

    def number(self, text):
        """The value of the one series of a query, which has to have one."""
        found = self.value(text)
        if found is None:
            raise Failure(f"{text}: there is nothing")
        return found

    def metadata(self, name):
        """{type, help, unit} of a metric, once it has been scraped."""
        return wait_for(f"what Prometheus knows about {name}",
                        lambda: self.ask("metadata", metric=name).get(name))[0]


class Program:
    """A program under test that is told what to do a line at a time; see push_program.c."""

    def __init__(self, place, name, *arguments, **environment):
        self.name = name
        self.errors = place.folder / f"{name}-{len(place.started)}.log"
        with open(self.errors, "wb") as errors:
            self.process = subprocess.Popen(
                [*self.command(), *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=errors, text=True, encoding="utf-8", env={**os.environ, **environment})
        place.started.append(self)
        self.begun = self.answer("(its start)")

    def command(self):
        return [BUILD / "tests/programs" / self.name]

    def answer(self, line):
        """One line, with a watch on it: a program that hangs must not hang the tests."""
        watch = threading.Timer(ANSWER_S, self.process.kill)
        watch.start()
        text = self.process.stdout.readline()
        watch.cancel()
        if not text:
            raise Failure(f"{self.name}: no answer to {line!r}; status {self.process.wait()}: "
                          + self.errors.read_text(errors="replace"))
        return text.rstrip("\n")

    def tell(self, line):
        """Sends a command and returns (status, the rest of the answer)."""
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        status, _, rest = self.answer(line).partition(" ")
        return status, rest

    def do(self, line):
        """A command that has to succeed."""
        status, rest = self.tell(line)
        if status != "OK":
            raise Failure(f"{self.name}: {line}: {status} {rest}")
        return rest

    def leave(self, line="exit 0", seconds=ANSWER_S):
        """Ends it; (exit status, what it wrote to standard error)."""
        self.process.stdin.write(line + "\n")
        self.process.stdin.close()
        try:
            status = self.process.wait(seconds)
        except subprocess.TimeoutExpired as error:
            raise Failure(f"{self.name}: still running {seconds} s after {line!r}") from error
        return status, self.errors.read_text(errors="replace")

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            try:
                stream.close()
            except OSError:
                pass


def run_one(test):
    """Runs a test and says how it went: passed, failed or skipped."""
    place = Place()
    started = time.monotonic()
    try:
        test(place)
        word, reason = "ok", ""
    except Skip as skip:
        word, reason = "skip", str(skip)
    except Failure as failure:
        word, reason = "FAIL", str(failure)
    except Exception:  # what a test did not foresee is a failure too
        word, reason = "FAIL", traceback.format_exc()
    logs = "\n" + place.logs() if word == "FAIL" else ""
    place.close()
    name = test.__name__.replace("_", " ")
    if word == "skip":
        name, reason = f"{name}: {reason}", ""
    sys.stdout.write(f"{word:<4} {name}  ({time.monotonic() - started:.2f} s)"
                     + (f"\n     {reason}" if reason else "") + logs + "\n")
    sys.stdout.flush()
    return word


def main(tests, servers=("prometheus-pushgateway", "prometheus", "promtool"), go_servers=()):
    """Runs the tests, or those with a word of the command line in their names, and exits. Without
    one of the servers, or of those that are built from Go modules, none is run."""
    missing = [name for name in servers if not os.access(SERVERS / name, os.X_OK)]
    if missing:
        print(f"skipped: {', '.join(missing)} not found in {SERVERS}; 'make servers' fetches them")
        sys.exit(EXIT_SKIPPED)
    try:
        for name in go_servers:
            go_server(name)
    except Skip as skip:
        print(f"skipped: {skip}")
        sys.exit(EXIT_SKIPPED)
    words = sys.argv[1:]
    wanted = [test for test in tests if not words or any(word in test.__name__ for word in words)]
    with concurrent.futures.ThreadPoolExecutor(PARALLEL) as pool:
        results = list(pool.map(run_one, wanted))
    print(f"{results.count('ok')} passed, {results.count('FAIL')} failed, "
          f"{results.count('skip')} skipped")
    sys.exit(1 if "FAIL" in results or "ok" not in results else 0)
