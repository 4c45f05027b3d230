# SPDX-License-Identifier: Apache-2.0
"""Pages of metrics: fetching one, and reading Prometheus' text 0.0.4 and OpenMetrics 1.0.

    page = read_page(fetch("http://127.0.0.1:27378/metrics", 10))
    for sample in page.samples:
        print(sample.name, sample.labels, sample.value)

It is not a validator: lines that it cannot parse are in page.faults, and it reads on. It knows no
manifest.
"""

import dataclasses
import http.client
import os
import re
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

PAGE_BYTES_MAX = 256 << 20
CHUNK_BYTES = 1 << 20
FAULTS_MAX = 10
SAMPLE = re.compile(r"([a-zA-Z_:][a-zA-Z0-9_:]*)\s*(\{)?")
LABEL = re.compile(r'\s*([a-zA-Z_][a-zA-Z0-9_]*)\s*=\s*"((?:\\.|[^"\\])*)"\s*,?\s*')
VALUE = re.compile(r"\s*([^\s#]+)(?:\s+(-?[0-9.eE+]+))?\s*(?:#\s.*)?$")
ADDRESS = re.compile(r"[A-Za-z0-9.-]+:[0-9]+(/|$)")
ESCAPED = re.compile(r"\\(.)")
ACCEPT = "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5,*/*;q=0.1"
SAMPLE_ENDS = ("_bucket", "_sum", "_count", "_total", "_created", "_info")


class Unreadable(Exception):
    """A page that could not be read; says why."""


@dataclasses.dataclass
class Sample:
    """One line."""

    name: str
    labels: dict
    value: float
    line: int
    time_s: float = 0.0     # 0: none


@dataclasses.dataclass
class Page:
    """The contents of a page."""

    samples: list
    types: dict             # family: type
    helps: dict             # family: (help, line)
    lines: dict             # family: line of its TYPE
    faults: list            # (line, message)
    open_metrics: bool = False

    def family_of(self, name):
        """The family that has a type and that a sample belongs to; the name itself if none has."""
        if name in self.types:
            return name
        for end in SAMPLE_ENDS:
            if name.endswith(end) and name[:-len(end)] in self.types:
                return name[:-len(end)]
        return name


def number(text):
    """A number as both formats write it; None for any other text."""
    try:
        return None if "_" in text else float(text)
    except ValueError:
        return None


def unescape_value(text):
    if "\\" not in text:
        return text
    return ESCAPED.sub(lambda match: "\n" if match.group(1) == "n" else match.group(1), text)


def read_sample(line, number_of_line):
    """A Sample, or the line's problem."""
    head = SAMPLE.match(line)
    if not head:
        return "expected the name of a sample"
    at, labels = head.end(), {}
    if head.group(2):
        while at < len(line) and line[at] != "}":
            label = LABEL.match(line, at)
            if not label:
                return f"expected key=\"value\" or }} in column {at + 1}"
            labels[label.group(1)] = unescape_value(label.group(2))
            at = label.end()
        if at >= len(line):
            return "the labels do not end"
        at += 1
    rest = VALUE.match(line, at)
    value = number(rest.group(1)) if rest else None
    if value is None:
        return "expected a number as the value"
    stamp = number(rest.group(2)) if rest.group(2) else None
    return Sample(head.group(1), labels, value, number_of_line, stamp or 0.0)


def read_page(data):
    """Reads the whole page."""
    text = data.decode("utf-8", "replace")
    page = Page([], {}, {}, {}, [])
    lines = text.split("\n")
    page.open_metrics = any(line.rstrip() == "# EOF" for line in lines[-3:])
    faults = 0
    for at, line in enumerate(lines, 1):
        line = line.rstrip("\r")
        if not line.strip():
            continue
        if line[0] == "#":
            read_comment(page, line, at)
            continue
        sample = read_sample(line, at)
        if isinstance(sample, Sample):
            page.samples.append(sample)
        else:
            faults += 1
            if faults <= FAULTS_MAX:
                page.faults.append((at, sample))
    if faults > FAULTS_MAX:
        page.faults.append((len(lines), f"and {faults - FAULTS_MAX} lines more are no samples"))
    if text and not text.endswith("\n") and not page.open_metrics:
        page.faults.append((len(lines), "the last line does not end: the page was cut off"))
    elif not page.open_metrics and any(line.startswith("# UNIT ") for line in lines):
        page.faults.append((len(lines), "an OpenMetrics page ends with # EOF: it was cut off"))
    return page


def read_comment(page, line, at):
    parts = line.split(None, 3)
    if len(parts) >= 3 and parts[0] == "#" and parts[1] == "TYPE":
        page.types.setdefault(parts[2], parts[3].strip() if len(parts) > 3 else "untyped")
        page.lines.setdefault(parts[2], at)
    elif len(parts) == 4 and parts[0] == "#" and parts[1] == "HELP":
        page.helps.setdefault(parts[2], (unescape_value(parts[3].strip()), at))


# ---- fetching -----------------------------------------------------------------------------------


def is_url(where):
    return where.startswith(("http://", "https://"))


def fetch(where, timeout_s):
    """The bytes of a page: of a URL, a file, or stdin for -."""
    if where == "-":
        return limited(sys.stdin.buffer.read(PAGE_BYTES_MAX + 1))
    if is_url(where):
        return fetch_url(where, timeout_s)
    try:
        with open(where, "rb") as file:
            return limited(file.read(PAGE_BYTES_MAX + 1))
    except (OSError, ValueError) as error:
        said = getattr(error, "strerror", None) or str(error)
        if ADDRESS.match(where) and not os.path.exists(where):
            said += f"; if that is an address, write http://{where}"
        raise Unreadable(said) from None


def limited(data):
    if len(data) > PAGE_BYTES_MAX:
        raise Unreadable(f"it is longer than {PAGE_BYTES_MAX >> 20} MiB")
    return data


def fetch_url(url, timeout_s):
    """GET, within one deadline for all of it."""
    deadline = time.monotonic() + timeout_s
    try:
        host = urllib.parse.urlsplit(url).hostname or ""
        near = host == "localhost" or host.startswith("127.") or host == "::1"
        opener = urllib.request.build_opener(
            *([urllib.request.ProxyHandler({})] if near else []))
        request = urllib.request.Request(url, headers={"Accept": ACCEPT})
        with opener.open(request, timeout=timeout_s) as answer:
            parts, length = [], 0
            while length <= PAGE_BYTES_MAX:
                part = answer.read1(CHUNK_BYTES)
                if not part:
                    break
                parts.append(part)
                length += len(part)
                if time.monotonic() > deadline:
                    raise Unreadable(f"it was still coming after {timeout_s:g} s")
            wanted = answer.headers.get("Content-Length", "")
            if wanted.isdigit() and int(wanted) > length and length <= PAGE_BYTES_MAX:
                raise Unreadable(f"only {length} of {wanted} bytes came")
            return limited(b"".join(parts))
    except urllib.error.HTTPError as error:
        raise Unreadable(f"the server answered {error.code} {error.reason}") from None
    except urllib.error.URLError as error:
        raise Unreadable(f"cannot be fetched: {error.reason}") from None
    except TimeoutError:
        raise Unreadable(f"no answer within {timeout_s:g} s") from None
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise Unreadable(f"cannot be fetched: {str(error) or type(error).__name__}") from None


def shown_url(where):
    """The URL without a password, for messages."""
    if not is_url(where):
        return "<stdin>" if where == "-" else where
    try:
        parts = urllib.parse.urlsplit(where)
        host = parts.netloc.rpartition("@")[2]
        return urllib.parse.urlunsplit((parts.scheme, host, parts.path, parts.query, ""))
    except ValueError:
        return "the URL"


def page_time(where):
    """When a page was made, as far as known: for a dump, the time it was written."""
    if where != "-" and not is_url(where):
        try:
            return os.stat(where).st_mtime
        except OSError:
            pass
    return time.time()
