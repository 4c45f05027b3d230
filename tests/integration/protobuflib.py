# SPDX-License-Identifier: Apache-2.0
"""Protobuf pages for tests: read by protoc, which also has to make the same bytes of them again.

    families = protobuflib.families_of(page)
    families["push_work_time_seconds"]["metric"][0]["histogram"][0]["sample_count"]

A message is a dictionary of lists, one for each name of a field, as protoc's text has them.
"""

import re
import shutil
import subprocess

import harness
from harness import Failure, Skip, equal

PROTO = harness.ROOT / "tests/support/metric_family.proto"
MESSAGE = "io.prometheus.client.Page"
ACCEPT = ("application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;"
          "encoding=delimited")
CONTENT_TYPE = ACCEPT.replace(";", "; ")
TOKEN = re.compile(r'\s*(?:([A-Za-z_]\w*)\s*(\{|:)|(\})|("(?:[^"\\]|\\.)*"|[^\s"{}]+))')


def need_protoc():
    if shutil.which("protoc") is None:
        raise Skip("there is no protoc (Debian: protobuf-compiler)")


def protoc(how, body, proto=PROTO, message=MESSAGE):
    done = subprocess.run(["protoc", f"--proto_path={proto.parent}", f"--{how}={message}",
                           proto.name], input=body, capture_output=True, check=False)
    if done.returncode != 0:
        raise Failure(f"protoc --{how}: {done.stderr.decode()}")
    return done.stdout


def varint(body, at):
    value = shift = 0
    while True:
        byte = body[at]
        value |= (byte & 127) << shift
        shift += 7
        at += 1
        if byte < 128:
            return value, at


def messages_of(page):
    """The families' bytes; each length has to be there, and to fit."""
    found, at = [], 0
    while at < len(page):
        length, at = varint(page, at)
        if at + length > len(page):
            raise Failure(f"a family of {length} bytes at {at} of {len(page)}")
        found.append(page[at:at + length])
        at += length
    return found


def as_page_message(page):
    """The page with a tag in front of each length."""
    body, at = b"", 0
    while at < len(page):
        length, behind = varint(page, at)
        body += b"\x0a" + page[at:behind + length]
        at = behind + length
    return body


def unquoted(text):
    def meant(escape):
        shown = escape.group(1)
        if shown[:1] in b"01234567":
            return bytes([int(shown, 8)])
        return {b"n": b"\n", b"r": b"\r", b"t": b"\t"}.get(shown, shown)
    return re.sub(rb"\\([0-7]{1,3}|.)", meant, text[1:-1].encode()).decode(
        errors="surrogateescape")  # fields of bytes


def value_of(text):
    if text.startswith('"'):
        return unquoted(text)
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        return text


def parsed(text):
    """Protoc's text as nested dictionaries of lists."""
    stack, name = [{}], None
    for token in TOKEN.finditer(text):
        field, how, close, value = token.groups()
        if field and how == "{":
            inner = {}
            stack[-1].setdefault(field, []).append(inner)
            stack.append(inner)
        elif field:
            name = field
        elif close:
            stack.pop()
        else:
            stack[-1].setdefault(name, []).append(value_of(value))
    return stack[0]


def message_of(body, proto=PROTO, message=MESSAGE):
    """What protoc reads. Fails unless it knows all fields and makes the same bytes of them."""
    need_protoc()
    text = protoc("decode", body, proto, message)
    if protoc("encode", text, proto, message) != body:
        raise Failure("protoc makes other bytes of it")
    unknown = re.search(r"^ *\d+(:| \{).*", text.decode(), re.MULTILINE)
    if unknown:
        raise Failure(f"a field that is not known: {unknown.group()}")
    return parsed(text.decode())


def families_of(page):
    """By name. Fails unless protoc reads all and makes the same bytes of it, and no name is there
    twice."""
    families = message_of(as_page_message(page)).get("family", [])
    equal(len(families), len(messages_of(page)), "families")
    found = {family["name"][0]: family for family in families}
    equal(len(found), len(families), "names of families")
    return found


def labels_of(metric):
    return {pair["name"][0]: pair["value"][0] for pair in metric.get("label", [])}


def bound(index, schema):
    return 2.0 ** (index / 2 ** schema)


def native_buckets(histogram):
    """[(lower, upper, count)] of what is not empty."""
    schema, found = histogram["schema"][0], []
    deltas = iter(histogram.get("positive_delta", []))
    index = count = 0
    for span in histogram.get("positive_span", []):
        index += span["offset"][0]
        for _ in range(span["length"][0]):
            count += next(deltas)
            if count:
                found.append((bound(index - 1, schema), bound(index, schema), count))
            index += 1
    if next(deltas, None) is not None:
        raise Failure("more deltas than spans say")
    return found
