# SPDX-License-Identifier: Apache-2.0
"""What ids of benchmarks and their targets are called on a page, and the colours of peers."""

import re

from read_results import number, spread

# What each peer is called, and its colour: one family of hues for each language, Crest in blue.
PEERS = {
    "crest": ("Crest", "#1f5fbf"),
    "crest-cc": ("Crest, as C++", "#5b8fdb"),
    "crest-exported": ("Crest, exported symbol", "#9dbdec"),
    "crest-java": ("Crest from Java", "#17a2b8"),
    "limit": ("limit", "#8a8a8a"),
    "prometheus-cpp": ("prometheus-cpp", "#e07b1a"),
    "rust-prometheus": ("Rust prometheus", "#8c2d19"),
    "rust-metrics": ("Rust metrics", "#c2593f"),
    "rust-hdrhistogram": ("Rust hdrhistogram", "#e39a86"),
    "go-client": ("Go client_golang", "#1e7d4f"),
    "go-victoria": ("Go VictoriaMetrics", "#63b889"),
    "java-hdrhistogram": ("Java HdrHistogram", "#5b3a9e"),
    "java-kamon": ("Java Kamon", "#8d6bcb"),
    "java-micrometer": ("Java Micrometer", "#bda6e6"),
}
OTHER = "#b5a642"
ORDER = list(PEERS)

LIMITS = {
    "thread-local-add": "thread-local add", "lock-xadd": "lock xadd",
    "thread-local-add-so": "thread-local add in a library",
    "thread-local-add-8-lines": "thread-local adds, 8 lines",
    "lock-xadd-8-lines": "lock xadd, 8 lines", "empty-call-so": "empty call into a library",
    "store-double": "atomic store of a double", "clock": "a read of the clock",
    "clock-twice": "two reads of the clock", "plain-hdr": "plain HDR loop",
    "plain-hdr-folded": "plain HDR loop, folded", "plain-mutex": "plain mutex",
    "hash-and-probe": "hash and probe of a name",
}

OPERATIONS = {
    "counter": "counter increment", "gauge": "gauge set", "histogram": "histogram record",
    "timer": "timer start + end", "keyed-timer": "keyed timer begin + end",
    "range-sampler": "range sampler add", "page-counters": "page of counters, a series",
    "page-histograms": "page of histograms, a series",
    "counter-labelled": "counter by label values",
}
WHOSE = {"crest": "", "crest-cc": ", as C++", "crest-exported": ", exported symbol",
         "crest-java": ", from Java"}


def peer_text(peer):
    return PEERS.get(peer, (peer, OTHER))[0]


def peer_colour(peer):
    return PEERS.get(peer, (peer, OTHER))[1]


def peer_rank(peer):
    return ORDER.index(peer) if peer in ORDER else len(ORDER)


def operation_text(operation):
    """As a title."""
    words = operation.replace("-", " ")
    return words[:1].upper() + words[1:]


def parts_of(name):
    return (name.split("/", 3) + [""] * 3)[:4]


def threads_text(threads):
    several = re.fullmatch(r"(\d+)-(same|separate)", threads)
    if not several:
        return ""
    return f", {several[1]} threads " + ("on one" if several[2] == "same" else "on their own")


def id_text(name, metrics=1000):
    """An id in words."""
    peer, operation, where, threads = parts_of(name)
    if peer == "limit":
        return LIMITS.get(operation, operation.replace("-", " ")) + threads_text(threads)
    text = OPERATIONS.get(operation, operation.replace("-", " "))
    text += WHOSE.get(peer, f", {peer_text(peer)}")
    if where.isdigit():
        text += f", {int(where):,}"
    elif where == "random":
        text += f", {metrics:,} at random"
    return text + threads_text(threads)


def against_text(row, metrics=1000):
    """What a row is compared with."""
    against = row.get("against")
    if not against:
        return ""
    own, other = parts_of(row["id"]), parts_of(against)
    if other[0] not in WHOSE and own[1:] == other[1:]:
        return peer_text(other[0])
    if own[:3] == other[:3]:
        return threads_text(other[3]).removeprefix(", ") or "one thread"
    if own[0] == other[0] and own[2:] == other[2:]:
        return OPERATIONS.get(other[1], other[1].replace("-", " "))
    return id_text(against, metrics)


def wanted_text(row):
    """The target of a row."""
    target = row.get("target")
    if not isinstance(target, dict):
        return ""
    value, unit = target.get("value"), (row.get("cost") or {}).get("unit", "ns")
    words = {"ratio": f"at most {value} ×", "over": f"at most {value} {unit} more",
             "value": f"at most {value} {unit}", "faster": f"at least {value} × faster"}
    return words.get(target.get("kind"), str(target.get("text", "")))


def found_text(row):
    """The finding, in the words of the target, with its range where there is one."""
    target, ratio, found = row.get("target") or {}, spread(row.get("ratio")), spread(
        row.get("found"))
    kind = target.get("kind") or ("ratio" if ratio else "")
    if kind == "ratio" and ratio:
        return range_text(ratio, " ×")
    if kind == "faster" and ratio and ratio[1] > 0:
        return range_text((1 / ratio[0], 1 / ratio[2], 1 / ratio[1]), " × faster")
    if kind == "over" and found:
        return f"{number(found[0])} {(row.get('cost') or {}).get('unit', 'ns')} more"
    if kind == "value" and found:
        return f"{number(found[0])} {(row.get('cost') or {}).get('unit', 'ns')}"
    return ""


def range_text(found, words):
    """`0.29 × (0.28–0.31)`."""
    texts = [number(each) for each in found]
    return texts[0] + words + (f" ({texts[1]}–{texts[2]})" if len(set(texts)) > 1 else "")


def verdict_text(row):
    if not isinstance(row.get("target"), dict):
        return ""
    if spread(row.get("part")) is None or row.get("met") is None:
        return f"not measured: {row.get('why', 'no reason is given')}"
    return "met" if row["met"] else "MISSED"
