#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Resident memory of a host at rest, by reporter: `make bench-resident`.

One program (resident.c) is compiled without the library, with it, and with each reporter, which is
linked from the static libraries, so that no row has another reporter's libraries. Each has recorded
and reported once; then its /proc/self/smaps_rollup is read. Prints the table of
docs/performance.md.
"""

import http.server
import os
import pathlib
import socket
import statistics
import subprocess
import threading
import time
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BUILD = ROOT / os.environ.get("CREST_BUILD", "build/release")
ROUNDS = 7
REST_S = 0.3
# name, meanings, what it is linked with beside the library
ROWS = [
    ("the program without the library", [], []),
    ("core: `crest_start` without a reporter", ["LIBRARY"], []),
    ("and StatsD", ["LIBRARY", "STATSD"], []),
    ("and the scrape endpoint (libmicrohttpd)", ["LIBRARY", "PROMETHEUS"], ["-lmicrohttpd", "-lz"]),
    ("and the Pushgateway (libcurl)", ["LIBRARY", "PUSHGATEWAY"], ["-lcurl", "-lz"]),
    ("shared libraries with all of these, no reporter started", ["LIBRARY"], None),
]


class Gateway(http.server.BaseHTTPRequestHandler):
    """Takes every push."""

    def do_PUT(self):  # noqa: N802
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_POST = do_PUT

    def log_message(self, *_):
        """Says nothing."""


def build(meanings, libraries, to):
    command = [os.environ.get("CC", "cc"), "-O2", "-g", "-I", str(ROOT / "include"), "-o", str(to),
               *(f"-DWITH_{meaning}" for meaning in meanings), str(HERE / "resident.c")]
    if libraries is None:
        command += ["-Wl,--no-as-needed", f"-L{BUILD / 'lib'}", f"-Wl,-rpath,{BUILD / 'lib'}",
                    "-lcrest-reporters", "-lcrest"]
    elif meanings:
        archives = [str(BUILD / f"lib/lib{name}.a") for name in ("crest-reporters", "crest")]
        command += [*archives, "-Wl,--as-needed", *libraries, "-lck"]
    subprocess.run([*command, "-lpthread", "-ldl", "-lm"], check=True)


def measured(process):
    """KiB by name, of the process as it is now."""
    lines = pathlib.Path(f"/proc/{process.pid}/smaps_rollup").read_text().splitlines()[1:]
    sizes = {line.split(":")[0]: int(line.split()[1]) for line in lines}
    threads = len(os.listdir(f"/proc/{process.pid}/task"))
    maps = pathlib.Path(f"/proc/{process.pid}/maps").read_text().splitlines()
    files = {line.split()[-1] for line in maps if ".so" in line.split()[-1]}
    private = sizes["Private_Clean"] + sizes["Private_Dirty"]
    return sizes["Rss"], private, sizes["Anonymous"], threads, len(files)


def once(program, to):
    process = subprocess.Popen([program] + ([to] if to else []), stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True)
    line = process.stdout.readline()
    if line.strip().isdigit():
        with urllib.request.urlopen(f"http://127.0.0.1:{line.strip()}/metrics", timeout=10) as page:
            if b"resident_messages_total" not in page.read():
                raise SystemExit("resident: the page lacks what was recorded")
        line = process.stdout.readline()
    if line != "rest\n":
        raise SystemExit(f"resident: {program} did not come to rest")
    time.sleep(REST_S)
    found = measured(process)
    process.communicate("\n", timeout=30)
    return found


def main():
    place = BUILD / "bench/resident"
    place.mkdir(parents=True, exist_ok=True)
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    udp.bind(("127.0.0.1", 0))
    gateway = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Gateway)
    threading.Thread(target=gateway.serve_forever, daemon=True).start()
    targets = {"STATSD": f"udp://127.0.0.1:{udp.getsockname()[1]}", "PROMETHEUS": "127.0.0.1:0",
               "PUSHGATEWAY": f"http://127.0.0.1:{gateway.server_address[1]}"}
    print("| a host with | RSS, KiB | of it private | of it anonymous | threads "
          "| shared libraries |")
    print("| --- | --- | --- | --- | --- | --- |")
    for number, (name, meanings, libraries) in enumerate(ROWS):
        program = place / f"resident-{number}"
        build(meanings, libraries, program)
        to = targets.get(meanings[-1]) if meanings else None
        found = list(zip(*(once(program, to) for _ in range(ROUNDS))))
        cells = [f"{statistics.median(column):,} ({min(column):,}-{max(column):,})"
                 for column in found[:3]]
        print(f"| {name} | {' | '.join(cells)} | {found[3][0]} | {found[4][0]} |")


if __name__ == "__main__":
    main()
