# SPDX-License-Identifier: Apache-2.0
"""Where crest op has its spans from: lines of JSON, in files or from a node's port, and the
operations in flight of state files.

    spans, problems = read(["spans.jsonl", "http://127.0.0.1:9400", "/run/node/node.crest"])

What a source says is believed, and nothing in it is trusted to be there or to be of its kind.
"""

import dataclasses
import http.client
import json
import os
import stat
import time
import urllib.error
import urllib.request

from cat_program import Unprinted, cat

TIMEOUT_S = 10
BYTES_MAX = 1 << 30
NUMBER_MAX = (1 << 64) - 1


@dataclasses.dataclass
class Span:
    """A finished span, or an operation that was still open when its process was last seen."""

    trace: str
    id: str
    parent: str
    name: str
    operation: str
    node: str
    start_ns: int
    end_ns: int
    outcome: str = "ok"
    kept: str = ""
    kind: str = ""
    message: str = ""
    attributes: dict = dataclasses.field(default_factory=dict)
    dropped_attributes: int = 0
    events: list = dataclasses.field(default_factory=list)  # (ns, name)
    folded: dict = dataclasses.field(default_factory=dict)
    open: bool = False
    children: list = dataclasses.field(default_factory=list)
    lost_parent: bool = False
    from_state: bool = False  # a finished one of a state file, which another source may have too

    @property
    def duration_ns(self):
        return max(0, self.end_ns - self.start_ns)


class Unusable(Exception):
    """A source that cannot be read, and why."""


def text_of(found, key):
    value = found.get(key)
    return value if isinstance(value, str) else "" if value is None else json.dumps(value)


def number_of(found, key):
    """An integer of 64 bits, also one that is written as a text, as OTLP's JSON does; else 0."""
    value = found.get(key, 0)
    try:
        number = int(value) if not isinstance(value, bool) else 0
    except (TypeError, ValueError, OverflowError):
        return 0
    return number if 0 <= number <= NUMBER_MAX else 0


def dict_of(found, key):
    value = found.get(key)
    return value if isinstance(value, dict) else {}


def folded_of(found):
    """What the span stands for; empty: for itself."""
    return {key: number_of(found, key) for key in ("count", "sum_ns", "max_ns")} if found else {}


def span_of(found):
    """The span of a line; None if it has no ids and names no operation."""
    if not isinstance(found, dict) or not text_of(found, "traceId") + text_of(found, "operation"):
        return None
    node = text_of(found, "instance") or text_of(found, "service")
    events = found.get("events")
    return Span(text_of(found, "traceId").lower(), text_of(found, "spanId").lower(),
                text_of(found, "parentSpanId").lower(), text_of(found, "name"),
                text_of(found, "operation"), node, number_of(found, "startTimeUnixNano"),
                number_of(found, "endTimeUnixNano"), text_of(found, "outcome") or "ok",
                text_of(found, "kept"), text_of(found, "kind"), text_of(found, "message"),
                dict_of(found, "attributes"), number_of(found, "droppedAttributesCount"),
                [(number_of(event, "timeUnixNano"), text_of(event, "name"))
                 for event in (events if isinstance(events, list) else ())
                 if isinstance(event, dict)],
                folded_of(dict_of(found, "folded")))


def lines_of(source, lines):
    """(spans, lines that are none) of lines of JSON."""
    spans, bad = [], 0
    for line in lines:
        if not line.strip():
            continue
        try:
            span = span_of(json.loads(line))
        except (ValueError, RecursionError):
            span = None
        if span is None:
            bad += 1
        else:
            spans.append(span)
    if bad and not spans:
        raise Unusable(f"{source}: none of its {bad} lines is a span; a file of spans-json= is "
                       "wanted, a state file, or the address of a node's scrape port")
    return spans, bad


def from_port(source):
    url = source if "/" in source.split("://", 1)[1] else source + "/spans"
    if url.endswith("/"):
        url += "spans"
    try:
        with urllib.request.urlopen(url, timeout=TIMEOUT_S) as answer:
            text = answer.read(BYTES_MAX)
    except urllib.error.HTTPError as error:
        said = error.read(500).decode("utf-8", "replace").strip()
        raise Unusable(f"{url}: {error.code} {said}") from error
    except http.client.HTTPException as error:
        raise Unusable(f"{url}: what answers there does not speak HTTP ({error}); a node's scrape "
                       "port is wanted") from error
    except (OSError, ValueError) as error:
        raise Unusable(f"{url}: {error}") from error
    return lines_of(url, text.decode("utf-8", "replace").splitlines())


def from_state(source):
    """Operations in flight and finished spans, by crest cat, which knows state files."""
    try:
        found = json.loads(cat("--json", source)[0])
    except (Unprinted, ValueError) as error:
        raise Unusable(str(error)) from error
    process = dict_of(found, "process")
    node = (text_of(process, "instance") or text_of(process, "service")
            or text_of(process, "program")) or "process"
    alive = process.get("alive") is True
    node += f" (pid {number_of(process, 'pid')}, {'running' if alive else 'dead'})"
    spans = []
    for entry in found.get("in_flight", []):
        begun = number_of(entry, "begun_ns")
        end = time.time_ns() if alive else begun + number_of(entry, "age_ns")
        spans.append(Span("", "", "", text_of(entry, "timer") or "?", text_of(entry, "op"), node,
                          begun, end, outcome="", open=True))
    finished = [span for span in map(span_of, found.get("spans", [])) if span is not None]
    for span in finished:
        span.node, span.from_state = node, True
    return spans + finished, 0


def is_state(source):
    """A state file, a folder of one, or the number of a process."""
    if source.isdigit() and not os.path.exists(source):
        return True
    if os.path.isdir(source) or source.endswith((".crest", ".previous")):
        return True
    try:
        # what is read of a pipe is not there for the next reader
        if not stat.S_ISREG(os.stat(source).st_mode):
            return False
        with open(source, "rb") as file:
            return file.read(5).lower() == b"crest"
    except OSError:
        return False


def read_one(source):
    if source.startswith(("http://", "https://")):
        return from_port(source)
    if source != "-" and is_state(source):
        return from_state(source)
    try:
        with open(0 if source == "-" else source, encoding="utf-8", errors="replace",
                  closefd=source != "-") as file:
            return lines_of(source, file)
    except OSError as error:
        raise Unusable(f"{source}: {error.strerror}") from error


def once(spans):
    """Without those of state files that another source has too."""
    there = {(span.trace, span.id) for span in spans if not span.from_state}
    return [span for span in spans if not span.from_state or (span.trace, span.id) not in there]


def read(sources):
    """(spans, sentences about sources that could not be read or lines that are none)."""
    spans, problems = [], []
    for source in sources:
        try:
            found, bad = read_one(source)
        except Unusable as problem:
            problems.append(str(problem))
            continue
        spans += found
        if bad:
            problems.append(f"{source}: left out {bad} line{'s' if bad > 1 else ''} without a span")
    return once(spans), problems
