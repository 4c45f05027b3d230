# SPDX-License-Identifier: Apache-2.0
"""StatsD servers for test_statsd.py: npm's, collectd, and sockets of our own whose packets a strict
reader takes apart."""

import collections
import json
import os
import re
import socket
import threading
import time

import harness
from harness import Failure, Server, Skip, wait_for

BACKEND = """
const fs = require('fs');
exports.init = function (startup, config, events) {
  events.on('flush', function (time, metrics) {
    fs.appendFileSync(%s, JSON.stringify({counters: metrics.counters, gauges: metrics.gauges,
      timers: metrics.timers, timer_data: metrics.timer_data}) + '\\n');
  });
  return true;
};
"""


class Etsy(Server):
    """npm's statsd, over UDP and TCP. Flushes when it is stopped, to a file; is asked through its
    management port meanwhile."""

    def __init__(self, place):
        super().__init__(place, "statsd")
        if not os.access(harness.SERVERS / "statsd", os.X_OK):
            raise Skip("there is no statsd: SUITES=npm installs npm, which fetches it")
        self.management = harness.free_port()
        self.flushed = place.folder / f"statsd-{self.port}.flushed"

    def command(self):
        backend = self.place.folder / f"statsd-{self.port}-backend.js"
        backend.write_text(BACKEND % json.dumps(str(self.flushed)))
        config = self.place.folder / f"statsd-{self.port}.js"
        servers = [{"server": f"./servers/{kind}", "address": "127.0.0.1", "port": self.port}
                   for kind in ("udp", "tcp")]
        config.write_text("(" + json.dumps({
            "servers": servers, "mgmt_address": "127.0.0.1", "mgmt_port": self.management,
            "backends": [str(backend)], "flushInterval": 86400000, "percentThreshold": [50, 90, 99],
        }) + ")")
        return [harness.SERVERS / "statsd", config]

    def ask(self, what):
        """The server's own answer to counters, gauges or stats."""
        with socket.create_connection(("127.0.0.1", self.management), harness.ANSWER_S) as link:
            link.sendall(what.encode() + b"\n")
            text = b""
            while b"END" not in text:
                part = link.recv(65536)
                if not part:
                    break
                text += part
        pairs = re.findall(r"'?([\w.;=-]+)'?: (-?[\d.e+]+)", text.decode())
        return {name: float(value) for name, value in pairs}

    def is_ready(self):
        if self.process.poll() is not None:
            raise Failure("statsd ended\n" + self.place.logs())
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=1):
                return "statsd.bad_lines_seen" in self.ask("counters")
        except OSError:
            return False

    def settled(self):
        """Its counters, when nothing is on its way to it any more and they stand still."""
        return settled(lambda: (unread_bytes(self.port), self.ask("counters")),
                       lambda seen: seen[0] == 0)[1]

    def totals(self):
        """Sums over everything that this server, stopped, and those before it have flushed."""
        counters, counts, timers = collections.Counter(), collections.Counter(), {}
        for line in self.flushed.read_text().splitlines():
            flush = json.loads(line)
            counters.update(flush["counters"])
            for name, data in flush["timer_data"].items():
                counts[name] += data.get("count", 0)
                timers.setdefault(name, []).extend(flush["timers"].get(name, []))
        return counters, counts, timers, json.loads(line)


def unread_bytes(port):
    """What is in the queues of all sockets with this port at either end, as the kernel tells."""
    total = 0
    for table in ("udp", "udp6", "tcp", "tcp6"):
        with open(f"/proc/net/{table}", encoding="ascii") as file:
            rows = [line.split() for line in file][1:]
        for _, here, there, state, queues, *_ in rows:
            listens = table.startswith("tcp") and state == "0A"
            if not listens and f"{port:04X}" in (here[-4:], there[-4:]):
                total += sum(int(queue, 16) for queue in queues.split(":"))
    return total


CONFIG = """
Hostname "here"
FQDNLookup false
Interval 0.5
BaseDir "{folder}"
PIDFile "{folder}/collectd.pid"
PluginDir "{plugins}"
TypesDB "{types}"
LoadPlugin logfile
<Plugin logfile>
    LogLevel "info"
    File "{folder}/collectd-plugin.log"
</Plugin>
LoadPlugin csv
<Plugin csv>
    DataDir "{folder}/csv"
    StoreRates false
</Plugin>
LoadPlugin statsd
<Plugin statsd>
    Host "127.0.0.1"
    Port "{port}"
    TimerCount true
    TimerLower true
    TimerUpper true
    TimerPercentile 50
    TimerPercentile 90
</Plugin>
"""


class Collectd(Server):
    """Debian's collectd with its statsd plugin; what it stores is read from its csv files."""

    def __init__(self, place):
        super().__init__(place, "collectd")
        if not os.access(harness.SERVERS / "collectd", os.X_OK):
            raise Skip("there is no collectd; 'make servers' fetches it")

    def command(self):
        usr = harness.SERVERS.parent
        config = self.place.folder / "collectd.conf"
        config.write_text(CONFIG.format(folder=self.place.folder, plugins=usr / "lib/collectd",
                                        types=usr / "share/collectd/types.db", port=self.port))
        return [harness.SERVERS / "collectd", "-f", "-C", config]

    def is_ready(self):
        if self.process.poll() is not None:
            raise Failure("collectd ended\n" + self.place.logs())
        inodes = "".join(open(f"/proc/net/{table}").read() for table in ("udp", "udp6"))
        return f":{self.port:04X} " in inodes

    def values(self, kind, name):
        """All values of one name, oldest first."""
        found = []
        for path in sorted(self.place.folder.glob(f"csv/here/statsd/{kind}-{name}-20*")):
            rows = path.read_text().split("\n")[1:-1]
            found += [float(row.split(",")[1]) for row in rows if "," in row]
        return found


LINE = re.compile(r"^(?P<name>[A-Za-z_][\w.-]*):(?P<values>[^|\n]+)\|(?P<type>c|g|ms|d|h)"
                  r"(\|@(?P<rate>0?\.\d+|1|0))?(\|#(?P<tags>[^|\n]+))?$")
NUMBER = re.compile(r"^-?\d+(\.\d+)?(e-?\d+)?$")


class Reader:
    """Takes packets apart as their grammar has it, and fails for anything else."""

    def __init__(self, dialect="etsy", size=None):
        self.dialect = dialect
        self.size = size
        self.counters = collections.Counter()
        self.counts = collections.Counter()
        self.values = {}
        self.gauges = {}
        self.tags = {}
        self.packets = 0

    def packet(self, data):
        if self.size is not None and len(data) > self.size:
            raise Failure(f"a packet of {len(data)} bytes, wanted {self.size} at most")
        self.packets += 1
        zeroed = None
        for line in data.decode("utf-8").rstrip("\n").split("\n"):
            zeroed = self.line(line, zeroed)

    def line(self, text, zeroed):
        """Adds a line; returns what names it if it set a gauge to 0."""
        match = LINE.match(text)
        if not match:
            raise Failure(f"not a line: {text!r}")
        name, kind, rate = match["name"], match["type"], match["rate"]
        values = match["values"].split(":")
        allowed = ("c", "g", "ms") if self.dialect == "etsy" else ("c", "g", "d", "h")
        if kind not in allowed or not all(NUMBER.match(value) for value in values):
            raise Failure(f"type or value: {text!r}")
        if (match["tags"] and self.dialect == "etsy") or (len(values) > 1 and kind not in "dh"):
            raise Failure(f"tags or packed values: {text!r}")
        key = name if not match["tags"] else f"{name}|{match['tags']}"
        weight = 1.0 / float(rate) if rate else 1.0
        if weight != int(weight) or (rate and kind in "cg"):
            raise Failure(f"rate: {text!r}")
        if kind == "c":
            self.counters[key] += float(values[0])
        elif kind == "g":
            if values[0].startswith("-") and zeroed != key:
                raise Failure(f"a change of a gauge: {text!r}")
            self.gauges[key] = float(values[0])
            return key if values[0] == "0" else None
        else:
            self.counts[key] += int(weight) * len(values)
            self.values.setdefault(key, []).extend((float(value), int(weight))
                                                   for value in values)
        return None


class Datagrams:
    """A Unix datagram socket that is read when the test wants it."""

    def __init__(self, place, name="statsd.socket"):
        self.path = place.folder / name
        self.url = f"unix://{self.path}"
        self.socket = None
        self.open()

    def open(self):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(str(self.path))
        self.socket.settimeout(0.2)

    def close(self):
        self.socket.close()
        self.path.unlink()

    def read(self, reader, most=None):
        """Reads what is there, or so many packets; returns how many."""
        got = 0
        while most is None or got < most:
            try:
                data = self.socket.recv(65536)
            except (TimeoutError, socket.timeout):
                break
            reader.packet(data)
            got += 1
        return got

    def read_during(self, reader, work, most=None):
        """Reads in a thread while work() runs; returns (its result, packets read)."""
        got, done = [0], threading.Event()

        def loop():
            while most is None or got[0] < most:
                read = self.read(reader, None if most is None else most - got[0])
                got[0] += read
                if read == 0 and done.is_set():
                    return

        thread = threading.Thread(target=loop)
        thread.start()
        try:
            result = work()
        finally:
            done.set()
            thread.join()
        return result, got[0]


def settled(look, good):
    """Waits until look() is good and stays the same for half a second, and returns it."""
    before, since = look(), time.monotonic()

    def same():
        nonlocal before, since
        now = look()
        if now != before or not good(now):
            before, since = now, time.monotonic()
        return time.monotonic() - since > 0.5

    wait_for("figures that stand still", same)
    return before
