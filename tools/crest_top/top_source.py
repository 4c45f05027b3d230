# SPDX-License-Identifier: Apache-2.0
"""Where crest top has its pages from: a node's scrape port, or a state file, of a process that runs
or of one that is dead.

    source = source_of("http://127.0.0.1:27378")
    look = source.look()
    print(look.title, len(look.page.samples), look.in_flight)

What a source says is shown, and nothing in it is trusted to be there or to be of its kind.
"""

import dataclasses
import re
import time

from cat_program import Unprinted, cat
from crest_lint.lint_pages import Page, Unreadable, fetch, read_page, shown_url

TIMEOUT_S = 10


class Unusable(Exception):
    """Nothing can be shown, and why."""


@dataclasses.dataclass
class Look:
    """What a source had at one time."""

    title: str
    page: Page
    time_s: float               # on the monotonic clock
    alive: bool = True
    in_flight: list = dataclasses.field(default_factory=list)   # lines, the oldest first
    in_flight_known: bool = False


class Port:
    """A scrape port. Crest's own answer names the service in target_info."""

    def __init__(self, where):
        if "://" not in where:
            where = "http://" + where
        rest = where.split("://", 1)[1]
        self.url = where if "/" in rest.rstrip("/") else where.rstrip("/") + "/metrics"

    def look(self):
        try:
            page = read_page(fetch(self.url, TIMEOUT_S))
        except Unreadable as problem:
            raise Unusable(f"{shown_url(self.url)}: {problem}") from problem
        if page.faults and not page.samples:
            raise Unusable(f"{shown_url(self.url)}: this is no page of metrics: line "
                           f"{page.faults[0][0]}: {page.faults[0][1]}")
        return Look(self.named(page), page, time.monotonic())

    def named(self, page):
        for sample in page.samples:
            if sample.name.endswith("target_info"):
                names = [sample.labels.get(key, "") for key in
                         ("service_name", "service", "service_instance_id", "instance")]
                return " ".join([name for name in names if name] + [shown_url(self.url)])
        return shown_url(self.url)


class StateFile:
    """A state file, its folder, or the number of a process, by crest cat."""

    def __init__(self, where):
        self.where = where

    def look(self):
        try:
            page, said = cat(self.where)
            flight, _ = cat("--in-flight", self.where)
        except Unprinted as problem:
            raise Unusable(str(problem)) from problem
        said = said.splitlines()[0].lstrip("# ").split(";")[0] if said else self.where
        said = re.sub(r"^[^,]*/", "", said)     # of a program without a service, its name alone
        said = re.sub(r"(heartbeat )\d+-\d\d-\d\dT", r"\1", said).removesuffix("Z")
        lines = flight.decode("utf-8", "replace").splitlines()
        return Look(said, read_page(page), time.monotonic(), ": runs" in said,
                    [line for line in lines if line and not line.startswith("#")], True)


def source_of(where):
    """By its form: a URL, HOST:PORT and a port are scrape ports, the others state files."""
    if where.startswith(("http://", "https://")) or re.fullmatch(r"[\w.-]+:\d+|\[[^]]+\]:\d+",
                                                                 where):
        return Port(where)
    if re.fullmatch(r":\d+", where):
        return Port("127.0.0.1" + where)
    return StateFile(where)
