# SPDX-License-Identifier: Apache-2.0
"""Runs the example node once, in one of its variants, and reads its report.

The variants form a row in which each differs from the previous by one switch, so that a switch's
cost is a difference of neighbours:

    compiled-out   the same sources with -DCREST_DISABLE
    recording      compiled in; the ticker runs, without a reader
    scraped        and a client fetches the page over HTTP, as Prometheus does
    collecting     and the library's own collectors run, of system figures and hiccups
"""

import contextlib
import http.client
import json
import os
import re
import shutil
import socket
import subprocess
import tempfile
import threading
import time
from pathlib import Path

VARIANTS = ["compiled-out", "recording", "scraped", "collecting"]
COLLECTORS = {"recording": "system=off,hiccups=off", "scraped": "system=off,hiccups=off",
              "collecting": "system=on,hiccups=on"}
LIMIT_S = 300
# As Prometheus asks.
HEADERS = {"Accept": "application/openmetrics-text;version=1.0.0,application/openmetrics-text;"
                     "version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
           "Accept-Encoding": "gzip", "X-Prometheus-Scrape-Timeout-Seconds": "1"}

# Counters that are added to more than once at a time, and the series that counts how often.
LUMPS = {
    "rchain_casper_transfers_offered_total": "rchain_block_api_deploys_offered_total",
    "rchain_casper_deploys_finalised_total": "rchain_casper_blocks_finalised_total",
    "rchain_casper_transfers_applied_total": "rchain_casper_blocks_finalised_total",
    "rchain_casper_transfers_rejected_total": "rchain_casper_blocks_finalised_total",
}
# What the node does with its load, by its own count: the same in every variant.
WORK = ["rchain_casper_blocks_finalised_total", "rchain_casper_deploys_finalised_total",
        "rchain_casper_transfers_applied_total", "rchain_comm_rp_transport_packets_enqueued_total"]
QUEUE = "rchain_comm_rp_transport_packets_enqueued_total"
BLOCKS = "rchain_casper_blocks_finalised_total"


class Broken(Exception):
    """The node failed; the text has its output."""


def node_of(build, variant):
    return Path(build) / ("disabled" if variant == "compiled-out" else "") / "examples/node/node"


def free_port():
    with contextlib.closing(socket.socket()) as asked:
        asked.bind(("127.0.0.1", 0))
        return asked.getsockname()[1]


def data_folder():
    """In memory where there is a tmpfs, so that the disk's variation is not measured."""
    memory = Path("/dev/shm")
    place = memory if memory.is_dir() and os.access(memory, os.W_OK) else None
    return tempfile.mkdtemp(prefix="crest-bench-node-", dir=place)


class Scraper(threading.Thread):
    """Fetches the page every so many seconds over one connection, as Prometheus keeps it."""

    def __init__(self, port, every_s):
        super().__init__(daemon=True)
        self.port, self.every_s = port, every_s
        self.over = threading.Event()
        # failures before a page that came; those after the last one are the node's end
        self.pages, self.failures, self.lately = 0, 0, 0

    def run(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=2)
        due = time.monotonic()
        while not self.over.is_set():
            try:
                connection.request("GET", "/metrics", headers=HEADERS)
                answer = connection.getresponse()
                good = len(answer.read()) > 0 and answer.status == 200
                self.pages += good
                self.failures += self.lately + (not good)
                self.lately = 0
            except (OSError, http.client.HTTPException):
                connection.close()
                if self.pages == 0:  # it does not listen yet
                    self.over.wait(0.01)
                    continue
                self.lately += 1
            due += self.every_s
            self.over.wait(max(0.0, due - time.monotonic()))


def series_of(page):
    """The values of a page in text 0.0.4, by series."""
    found = {}
    for line in page.splitlines():
        if line and not line.startswith("#"):
            series, _, value = line.rpartition(" ")
            found[series] = float(value)
    return found


def same_work(own, page):
    """The node's own counts that differ on the page: none, unless the library lost records."""
    return [f"{name}: {page.get(name)} on the page, {own[name]} by the node" for name in WORK
            if page.get(name) != own[name]]


def events_of(page):
    """How often each kind of instrument was recorded to, by the page of a run."""
    kinds = dict(re.findall(r"^# TYPE (\S+) (\S+)$", page, re.M))
    values = series_of(page)
    events = dict.fromkeys(["counter", "gauge", "histogram", "timer", "range-sampler"], 0.0)
    for series, value in values.items():
        name = series.partition("{")[0]
        if name.startswith("crest_") or not name.startswith("rchain_"):
            continue
        if kinds.get(name) == "counter":
            events["counter"] += values[LUMPS[name]] if name in LUMPS else value
        elif name.endswith("_count") and kinds.get(name[:-len("_count")]) == "histogram":
            events["timer" if name.endswith("_seconds_count") else "histogram"] += value
    events["gauge"] = values[BLOCKS]  # the chain's height; others once a second
    events["range-sampler"] = 2 * values[QUEUE]  # in and out
    return events


def command_of(build, variant, folder, blocks, deploys):
    words = [node_of(build, variant), "--nodes", "1", "--ports", free_port(), "--data",
             Path(folder) / "blocks", "--map-size", "16G", "--blocks", blocks,
             "--deploys-per-block", deploys]
    if variant != "compiled-out":
        words += ["--page", Path(folder) / "page"]
    return [str(word) for word in words]


def run_node(build, variant, blocks, deploys, scrape_s):
    """Runs it to the end: what it says of itself, its page ('' of compiled-out), and a Scraper
    (None of those that are not scraped)."""
    folder = data_folder()
    port = free_port()
    options = COLLECTORS.get(variant, "")
    scraper = None
    if variant in ("scraped", "collecting"):
        options += f",prometheus=127.0.0.1:{port}"
        scraper = Scraper(port, scrape_s)
    try:
        process = subprocess.Popen(command_of(build, variant, folder, blocks, deploys),
                                   env={**os.environ, "CREST_OPTS": options},
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        if scraper:
            scraper.start()
        try:
            said, told = process.communicate(timeout=LIMIT_S)
        except subprocess.TimeoutExpired as error:
            process.kill()
            process.communicate()
            raise Broken(f"{variant}: not done after {LIMIT_S} s") from error
        finally:
            if scraper:
                scraper.over.set()
                scraper.join(5)
        if process.returncode != 0 or not said.strip():
            raise Broken(f"{variant}: exit status {process.returncode}: {told.strip()[-300:]}")
        page = Path(folder) / "page"
        return json.loads(said.strip().splitlines()[-1]), \
            page.read_text(encoding="utf-8") if page.exists() else "", scraper
    finally:
        shutil.rmtree(folder, ignore_errors=True)
