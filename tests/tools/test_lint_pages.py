#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# crest-test: timeout=400
"""`crest lint live` over pages: each rule speaks on one page and keeps silent on its neighbour, and
whatever comes instead of a page is told. tests/integration/test_lint_live.py asks a real node."""

import http.server
import socket
import threading
import time

import toolslib
from lintlib import lint, manifest, place_files, rules, run_lint
from toolslib import contains, equal

COUNTER = "comm.sends, instrument: counter, meaning: Calls of send."
GAUGE = "comm.peers, instrument: gauge, meaning: Peers connected now."
TIMER = "comm.ping-time, instrument: timer, meaning: One round trip."
FAMILY = ("comm.kinds, instrument: counter, meaning: What is sent., "
          "labels: {kind: {values: [a, b]}}")
PEERS = "comm.kinds, instrument: counter, meaning: What is sent., labels: {peer: {bound: 2}}"
KEYED = "comm.fetch-time, instrument: keyed-timer, meaning: One fetch."
MUTEX = "comm.dag, instrument: mutex, meaning: The lock of the graph."
SAMPLER = "comm.waiting, instrument: range-sampler, meaning: Messages that wait."

SENDS = ("# HELP comm_sends_total Calls of send. [comm.sends]\n# TYPE comm_sends_total counter\n"
         "comm_sends_total 5\n")
PEERS_NOW = "# TYPE comm_peers gauge\ncomm_peers 0\n"


def distribution(name, count, labels='outcome="ok"'):
    lead = labels + "," if labels else ""
    return (f"# TYPE {name} histogram\n{name}_bucket{{{lead}le=\"+Inf\"}} {count}\n"
            f"{name}_sum{{{labels}}} 0.5\n{name}_count{{{labels}}} {count}\n")


PING = distribution("comm_ping_time_seconds", 3)
KIND = '# TYPE comm_kinds_total counter\ncomm_kinds_total{kind="a"} 1\n'
OPEN = ("# TYPE comm_sends counter\n# HELP comm_sends Calls of send. [comm.sends]\n"
        "comm_sends_total 5.0\ncomm_sends_created 1.0\n# EOF\n")

# (what, metrics, page, arguments, findings as (rule, line, words))
CASES = [
    ("all there", [COUNTER, GAUGE, TIMER], SENDS + PEERS_NOW + PING, [], []),
    ("OpenMetrics", [COUNTER], OPEN, [], []),
    ("missing", [COUNTER, GAUGE], SENDS, [],
     [("live-missing", 0, "'comm.peers' (gauge, m.yaml:6)")]),
    ("missing and optional", [COUNTER, GAUGE + ", optional: no network"], SENDS, [], []),
    ("missing and planned", [COUNTER, GAUGE + ", status: planned"], SENDS, [], []),
    ("missing of the host", [COUNTER, GAUGE + ", recorded-by: host"], SENDS, [], []),
    ("missing, of a part", [COUNTER, GAUGE], SENDS, ["--partial"], []),
    ("missing and exempt", [COUNTER, GAUGE + ", exempt: {live-missing: told elsewhere}"], SENDS, [],
     []),
    ("planned and there", [GAUGE + ", status: planned"], PEERS_NOW, [],
     [("live-retired", 2, "make it active")]),
    ("lost and there", [GAUGE + ", status: lost"], PEERS_NOW, [], [("live-retired", 2, "stop")]),
    ("never moved", [COUNTER], SENDS.replace(" 5", " 0"), [], [("live-idle", 3, "never moved")]),
    ("never moved, and may", [COUNTER + ", idle-ok: rare"], SENDS.replace(" 5", " 0"), [], []),
    ("an empty timer", [TIMER], distribution("comm_ping_time_seconds", 0), [],
     [("live-idle", 2, "'comm.ping-time'")]),
    ("a gauge need not", [GAUGE], PEERS_NOW, [], []),
    ("another type", [COUNTER], SENDS.replace(" counter", " gauge"), [],
     [("live-type", 2, "exported as a counter")]),
    ("no type", [GAUGE], "comm_peers 1\n", [], [("live-type", 1, "has no TYPE")]),
    ("a summary", [TIMER], PING.replace("histogram", "summary"), [], [("live-type", 1, "summary")]),
    ("another help", [COUNTER], SENDS.replace("Calls", "Cries"), [],
     [("live-help", 1, "is described as 'Cries of send.'; declared is 'Calls of send.'")]),
    ("another help of OpenMetrics", [COUNTER], OPEN.replace("Calls", "Cries"), [],
     [("live-help", 2, "comm_sends is described as 'Cries")]),
    ("a help without its name", [COUNTER], SENDS.replace(" [comm.sends]", ""), [], []),
    ("a help with escapes", [COUNTER + ", help: 'A \\ of it.'"],
     SENDS.replace("Calls of send.", "A \\\\ of it."), [], []),
    ("help of a window", [COUNTER], SENDS + "# HELP comm_sends_rate1m x [comm.sends]\n"
     "# TYPE comm_sends_rate1m gauge\ncomm_sends_rate1m 0.1\n", [], []),
    ("labels", [FAMILY], KIND, [], []),
    ("labels that lack", [FAMILY], KIND.replace('{kind="a"}', ""), [],
     [("live-labels", 2, "lacks kind")]),
    ("labels that are more", [FAMILY], KIND.replace('"a"', '"a",peer="x"'), [],
     [("live-labels", 2, "has also peer")]),
    ("labels of the server", [FAMILY], KIND.replace('"a"', '"a",job="x",instance="y"'), [], []),
    ("labels that are ignored", [FAMILY], KIND.replace('"a"', '"a",net="x"'),
     ["--ignore-labels", "net"], []),
    ("a timer without outcome", [TIMER], distribution("comm_ping_time_seconds", 3, ""), [],
     [("live-labels", 2, "lacks outcome"), ("live-labels", 3, ""), ("live-labels", 4, "")]),
    ("a value that is none", [FAMILY], KIND + 'comm_kinds_total{kind="c"} 1\n', [],
     [("live-bound", 3, "value 'c' of 'kind'; declared are a, b")]),
    ("values within the bound", [PEERS], KIND.replace('kind="a"', 'peer="a"'), [], []),
    ("too many values", [PEERS], "# TYPE comm_kinds_total counter\n" + "".join(
        f'comm_kinds_total{{peer="{n}"}} 1\n' for n in range(3)), [],
     [("live-bound", 2, "3 values of 'peer'; 2 is its bound")]),
    ("overflow", [PEERS], '# TYPE comm_kinds_total counter\ncomm_kinds_total{peer="overflow"} 1\n',
     [], [("live-bound", 2, "overflow")]),
    ("undeclared", [COUNTER], SENDS + "# TYPE comm_x gauge\ncomm_x 1\n", [],
     [("live-undeclared", 5, "comm_x is in no manifest")]),
    ("undeclared, spelled otherwise", [GAUGE], PEERS_NOW
     + "# HELP comm_Peers Peers. [comm.Peers]\n# TYPE comm_Peers gauge\ncomm_Peers 1\n", [],
     [("live-undeclared", 5, "comm.Peers) is in no manifest given here; the nearest declared name "
       "is 'comm.peers'")]),
    ("another team's", [COUNTER], SENDS + "# TYPE community gauge\ncommunity 1\ngo_x 1\n", [], []),
    ("windows", [COUNTER], SENDS + "# TYPE comm_sends_rate1m gauge\ncomm_sends_rate1m 0.1\n"
     "# TYPE comm_sends_peak2m gauge\ncomm_sends_peak2m 0.1\n", [], []),
    ("a keyed timer", [KEYED], distribution("comm_fetch_time_seconds", 3), [], []),
    ("what is in flight", [KEYED], distribution("comm_fetch_time_seconds", 3)
     + "# TYPE comm_fetch_time_in_flight gauge\ncomm_fetch_time_in_flight 1\n"
     '# TYPE comm_fetch_time_stuck_seconds gauge\ncomm_fetch_time_stuck_seconds{op="7"} 1\n', [],
     []),
    ("a mutex", [MUTEX], "# TYPE comm_dag_lock_queue gauge\ncomm_dag_lock_queue 0\n"
     "# TYPE comm_dag_lock_permit gauge\ncomm_dag_lock_permit 0\n"
     + distribution("comm_dag_lock_acquire_seconds", 4), [], []),
    ("half a mutex", [MUTEX], distribution("comm_dag_lock_acquire_seconds", 4), [],
     [("live-missing", 0, "comm_dag_lock_queue")]),
    ("a range sampler", [SAMPLER], "# TYPE comm_waiting gauge\ncomm_waiting 0\n"
     "# TYPE comm_waiting_max1m gauge\ncomm_waiting_max1m 4\n", [], []),
    ("a group", [COUNTER], '# TYPE comm_sends_total counter\ncomm_sends_total{job="a"} 0\n'
     'comm_sends_total{job="b"} 2\n', ["--group", "job=b"], []),
    ("another group", [COUNTER], '# TYPE comm_sends_total counter\ncomm_sends_total{job="a"} 0\n'
     'comm_sends_total{job="b"} 2\n', ["--group", "job=a"], [("live-idle", 2, "")]),
    ("cut off", [COUNTER], SENDS + "comm_sends_tot", [],
     [("live-page", 4, "number as the value"), ("live-page", 4, "cut off")]),
    ("OpenMetrics, cut off", [COUNTER], OPEN.replace("# EOF\n", "# UNIT comm_sends x\n"), [],
     [("live-page", 6, "# EOF")]),
    ("lines that are none", [COUNTER], SENDS + "what {\ncomm_sends_total{a=b} 1\n} 3\n", [],
     [("live-page", 4, "labels do not end"), ("live-page", 5, 'key="value"'),
      ("live-page", 6, "name of a sample")]),
    ("escapes", [FAMILY.replace("[a, b]", "['x\"y']")], KIND.replace('"a"', r'"x\"y"'), [], []),
    ("old samples", [COUNTER], SENDS.replace(" 5", " 5 1000"), [], [("live-stale", 3, "s old")]),
]


def each_rule_speaks_and_keeps_silent(place):
    for what, metrics, page, arguments, wanted in CASES:
        place_files(place, {"m.yaml": manifest(*metrics), "page": page})
        found = lint(place, "live", "-m", "m.yaml", *arguments, "--", "page")
        equal([(rule, line) for rule, _, line, _, _ in found],
              [(rule, line) for rule, line, _ in wanted], f"{what}:\n{page}\n{found}")
        for (_, _, words), finding in zip(wanted, found):
            contains(finding[4], words, what)


def two_pages_show_what_moved(place):
    moved = SENDS.replace(" 5", " 6")
    place_files(place, {"m.yaml": manifest(COUNTER, TIMER), "a": SENDS + PING, "b": moved + PING,
                        "c": moved + distribution("comm_ping_time_seconds", 4)})
    lint(place, "live", "-m", "m.yaml", "--", "a", "c", status=0)
    found = lint(place, "live", "-m", "m.yaml", "--", "a", "b", status=1)
    equal([finding[0::4] for finding in found],
          [("live-idle", "'comm.ping-time' (timer) did not move between the two pages")])


def pushes_grow_old(place):
    now = time.time()
    page = SENDS + '# TYPE push_time_seconds gauge\npush_time_seconds{{job="x"}} {}\n'
    place_files(place, {"m.yaml": manifest(COUNTER), "new": page.format(now - 20),
                        "old": page.format(now - 400),
                        "failed": page.format(now - 20) + "# TYPE push_failure_time_seconds gauge\n"
                        f'push_failure_time_seconds{{job="x"}} {now - 10}\n'})
    lint(place, "live", "-m", "m.yaml", "--", "new", status=0)
    found = lint(place, "live", "-m", "m.yaml", "--", "old", status=1)
    equal(rules(found), ["live-stale"])
    contains(found[0][4], "job=x")
    lint(place, "live", "-m", "m.yaml", "--stale", "10m", "--", "old", status=0)
    equal(rules(lint(place, "live", "-m", "m.yaml", "--", "failed", status=1)), ["live-stale"])


def stdin_is_a_page(place):
    place_files(place, {"m.yaml": manifest(COUNTER)})
    lint(place, "live", "-m", "m.yaml", "--", "-", status=0, text=SENDS.encode())


def a_page_may_follow_the_manifests(place):
    """As people write it, without -- after a list that would swallow the page."""
    place_files(place, {"m.yaml": manifest(COUNTER), "page": SENDS, "d/n.metrics.yaml":
                        manifest("other.a, instrument: counter, meaning: Calls of a.",
                                 prefixes="other"), "later": SENDS.replace(" 5", " 6")})
    lint(place, "live", "-m", "m.yaml", "page", status=0)
    lint(place, "live", "-m", "m.yaml", "d", "page", status=1)
    lint(place, "live", "-m", "m.yaml", "page", "later", status=0)
    lint(place, "live", "-m", "m.yaml", "-", status=0, text=SENDS.encode())
    _, _, err = run_lint(place, "live", "-m", "m.yaml", "http://127.0.0.1:1/metrics", status=2)
    contains(err, "127.0.0.1:1/metrics: cannot be fetched")
    _, _, err = run_lint(place, "live", "-m", "m.yaml", "a", "b", "c", status=2)
    contains(err, "SECOND")
    _, _, err = run_lint(place, "live", "-m", "m.yaml", "d", status=2)
    contains(err, "URL|FILE|-")


def wrong_calls_are_told_how(place):
    place_files(place, {"m.yaml": manifest(COUNTER), "src/a.c": "int a;\n"})
    _, _, err = run_lint(place, "source", "-m", "m.yaml", "src", status=2)
    contains(err, "write -- between")
    contains(err, "usage: crest lint source [-h]")
    _, out, err = run_lint(place, "live", "-m", "m.yaml", "--", "127.0.0.1:9/metrics", status=2)
    contains(err, "http://127.0.0.1:9/metrics")
    equal("nothing found" in out, False, "nothing was looked at")


class Server(http.server.BaseHTTPRequestHandler):
    """Answers by the path; some only when all is over, which nobody waits for."""

    sends = 5
    over = threading.Event()

    def do_GET(self):
        try:
            self.answer()
        except BrokenPipeError:
            pass        # who asked has given up, as it should

    def answer(self):
        body = SENDS.replace(" 5", f" {Server.sends}").encode()
        if self.path == "/slow":
            Server.over.wait()
        if self.path == "/drip":
            self.send_response(200)
            self.end_headers()
            while not Server.over.wait(0.1):
                self.wfile.write(b"# x\n")
                self.wfile.flush()
            return
        self.send_response(503 if self.path == "/503" else 200)
        self.send_header("Content-Length", str(len(body) + 100 * (self.path == "/short")))
        self.end_headers()
        self.wfile.write(b"<html>\n" if self.path == "/html" else body)
        Server.sends += self.path == "/moves"

    def log_message(self, *_):
        pass


def urls_are_asked_and_their_errors_told(place):
    place_files(place, {"m.yaml": manifest(COUNTER)})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    base = f"http://u:secret@127.0.0.1:{server.server_port}"
    try:
        plain = base.replace("u:secret@", "")
        lint(place, "live", "-m", "m.yaml", "--", plain + "/metrics", status=0)
        lint(place, "live", "-m", "m.yaml", "--watch", "100ms", "--", plain + "/moves", status=0)
        found = lint(place, "live", "-m", "m.yaml", "--watch", "10ms", "--", plain + "/still")
        equal(rules(found), ["live-idle"])
        # what drips has to begin in time, also on a busy machine
        for path, timeout, words in (("/503", "60s", "answered 503"), ("/short", "60s", "bytes"),
                                     ("/slow", "500ms", "no answer within 0.5 s"),
                                     ("/drip", "5s", "still coming after 5 s")):
            _, out, err = run_lint(place, "live", "-m", "m.yaml", "--timeout", timeout, "--",
                                   plain + path, status=2)
            contains(out + err, words, path)
        _, out, err = run_lint(place, "live", "-m", "m.yaml", "--", base + "/503", status=2)
        equal("secret" in out + err, False, "the password is in the message")
    finally:
        Server.over.set()
        server.shutdown()
        server.server_close()
    with socket.create_server(("127.0.0.1", 0)) as gone:
        port = gone.getsockname()[1]
    for url in (f"http://127.0.0.1:{port}/metrics", "http://[::1", "http://no.such.host.invalid/",
                "http://127.0.0.1:99999/"):
        _, _, err = run_lint(place, "live", "-m", "m.yaml", "--timeout", "5s", "--", url, status=2)
        contains(err, "cannot be fetched", url)


def what_is_no_page_is_told(place):
    place_files(place, {"m.yaml": manifest(COUNTER), "empty": "", "binary": bytes(range(256)) * 50,
                        "html": "<html><body>\n" * 50, "long": "comm_x" * 300000,
                        "braces": "a{" * 100000, "bad.yaml": "x"})
    for name in ("empty", "binary", "html", "long", "braces", "missing", "."):
        status, _, err = run_lint(place, "live", "-m", "m.yaml", "--", name)
        equal(status, 2, name)
        contains(err, name)
    for arguments in (["--group", "x"], ["--stale", "soon"], ["--watch", "1s", "-"]):
        run_lint(place, "live", "-m", "m.yaml", *arguments,
                 *([] if "-" in arguments else ["empty"]), status=2)
    _, _, err = run_lint(place, "live", "-m", "bad.yaml", "--", "empty", status=2)
    contains(err, "bad.yaml:1:1")


toolslib.main([each_rule_speaks_and_keeps_silent, two_pages_show_what_moved, pushes_grow_old,
               stdin_is_a_page, a_page_may_follow_the_manifests, wrong_calls_are_told_how,
               urls_are_asked_and_their_errors_told, what_is_no_page_is_told])
