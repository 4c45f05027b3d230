#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# crest-test: timeout=60 sanitizers=none
"""The demo's trace of one slow block: spans are paired with what nodes said, and whatever differs
is found; the picture has each span where it belongs.
"""

import copy
import json
import pathlib
import sys
import xml.etree.ElementTree

from harness import ROOT, contains, equal, lacks, main

sys.path.insert(0, str(ROOT / "examples/demo"))
import block_trace  # noqa: E402
import screen  # noqa: E402
import span_lines  # noqa: E402
import svg_canvas  # noqa: E402
import svg_trace  # noqa: E402

MS = 1_000_000
WALL_NS = 1_795_000_000 * 1_000_000_000
AHEAD = {"node-0": 0, "node-1": 0, "node-2": 2000 * MS, "node-3": 0}
CASPER, LMDB = "rchain.casper.", "rchain.block-storage.lmdb."
WHOLE = CASPER + "consensus-time"


class Node:
    def __init__(self, name):
        self.name = name
        self.events = []



class Screen(screen.Screen):
    """Keeps what it is told."""

    def __init__(self):
        super().__init__()
        self.lines = []

    def say(self, text=""):
        self.lines += text.split("\n")


class Network:
    """Two blocks of node-1 on four nodes, as events and as files of spans."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.nodes = [Node(name) for name in AHEAD]
        self.files = {name: [] for name in AHEAD}
        for number, took in ((1, 400), (2, 650)):
            self.block(f"{number:02x}" * 32, number * 1000, took)
        self.write()

    def __iter__(self):
        return iter(self.nodes)

    def write(self):
        for name, lines in self.files.items():
            block_trace.path_of(self.folder, name).write_text(
                "".join(json.dumps(line) + "\n" for line in lines))

    def block(self, block, at, took):
        self.span(1, CASPER + "casper.create-block-time", block, at, at + 8, f"{block[:14]}c0")
        root = f"{block[:14]}f0"
        for support, end in (("0", 30), ("1/3", took / 2), ("1", took)):
            own = root if support == "1" else f"{block[:12]}e{len(support)}{support[0]}0"[:16]
            self.span(1, WHOLE, block, at + 9, at + 9 + end, own, "" if own == root else root,
                      support)
        self.span(1, LMDB + "sync-time", block, at + 12, at + 25, f"{block[:14]}a1", root)
        for index in (0, 2, 3):
            self.span(index, CASPER + "block-propagation-time", block, at + 20, at + 21 + index,
                      f"{block[:14]}b{index}", root, within=300_000)
            self.span(index, CASPER + "casper.add-block-time", block, at + 24 + index,
                      at + 50 + index, f"{block[:14]}d{index}", root)

    def span(self, index, timer, block, from_ms, to_ms, own, parent="", support=None, within=0):
        node = self.nodes[index]
        start, end = round(from_ms * MS), round(to_ms * MS)
        key = timer if support is None else f"{timer} support={support}"
        node.events.append((WALL_NS / 1e9 + to_ms / 1000, {
            "event": "timed", "timer": key, "block": block, "from_ns": start, "to_ns": end,
            "outcome": "ok", "within_ns": within}))
        wall = WALL_NS + AHEAD[node.name]
        attributes = {"support": support} if support and block.startswith("01") else {}
        self.files[node.name].append({
            "traceId": block[:32], "spanId": own, "parentSpanId": parent, "name": timer,
            "startTimeUnixNano": wall + start, "endTimeUnixNano": wall + end + 200_000,
            "attributes": attributes, "outcome": "ok"})

    def follow(self, killed=None):
        return block_trace.follow(self, self.folder, AHEAD, killed)


def all_agree(place):
    found = Network(place.folder).follow()
    verdict = found["verdict"]
    equal((verdict.good, len(verdict.pairs), verdict.equal, verdict.problems()),
          (True, 22, 22, []))
    equal((found["block"], found["proposer"], found["blocks"]), ("02" * 32, "node-1", 2))
    equal(round(found["took_ms"]), 650)
    rows = found["rows"]
    equal([row.node for row in rows], ["node-1"] * 5 + ["node-0"] * 2 + ["node-2"] * 2
          + ["node-3"] * 2, "the proposer first, the others as the block came to them")
    equal([round(row.start_ms) for row in rows if row.node == "node-2"], [20, 26],
          "a clock that is ahead is set right")
    equal({row.label: row.depth for row in rows if row.node == "node-1"},
          {"create-block": 0, "consensus support=1": 0, "consensus support=0": 1,
           "consensus support=1/3": 1, "lmdb.sync": 1})


def what_differs_is_found(place):
    def changed(change):
        network = Network(place.folder)
        change(network)
        network.write()
        return span_lines.Verdict(
            [span for name in AHEAD for span in
             span_lines.read(block_trace.path_of(place.folder, name), name)],
            [one for node in network for one in span_lines.told(node)])

    def later(line, ns):
        line["endTimeUnixNano"] += ns

    def lost(network):
        del network.files["node-0"][0]

    def twice(network):
        network.files["node-3"].append(copy.deepcopy(network.files["node-3"][0]))

    def longer(network):
        later(network.files["node-2"][1], 150 * MS)

    def failed(network):
        network.files["node-1"][0]["outcome"] = "error"

    def other_level(network):
        network.files["node-1"][1]["attributes"]["support"] = "1"

    def other_block(network):
        network.files["node-1"][2]["traceId"] = "77" * 16

    def often_interrupted(network):
        for line in network.files["node-1"][:3]:
            later(line, 5 * MS)

    for change, words in ((lost, "1 said by a node have no span: node-0 "),
                          (twice, "1 spans were said by no node: node-3 "),
                          (longer, "1 spans differ from what their node said: node-2 "),
                          (failed, "1 spans differ from what their node said: node-1 "),
                          (other_level, "1 spans differ from what their node said: node-1 "),
                          (other_block, "said by a node have no span"),
                          (often_interrupted, "3 of 22 spans are more than 1000 µs off")):
        verdict = changed(change)
        equal(verdict.good, False, change.__name__)
        contains(" | ".join(verdict.problems()), words, change.__name__)
    network = Network(place.folder)
    lost(network)
    network.write()
    for node, after_s, good in (("node-0", 1.03, True), ("node-0", 40, False),
                                ("node-1", 0.5, False)):
        verdict = network.follow({node: WALL_NS / 1e9 + after_s})["verdict"]
        equal((verdict.good, len(verdict.lost)), (good, int(good)), f"killed {node} {after_s}")
    # its last span is lost, and the same operation comes again in its second life
    network.span(0, CASPER + "block-propagation-time", "01" * 32, 1900, 1955, "77" * 8)
    network.write()
    equal(network.follow({"node-0": WALL_NS / 1e9 + 1.03})["verdict"].good, True, "two lives")
    equal(network.follow()["verdict"].good, False, "two lives taken for one")
    verdict = changed(lambda network: later(network.files["node-1"][0], 5 * MS))
    equal((verdict.good, verdict.slices), (True, 1), "one that was interrupted")
    equal(span_lines.Verdict([], []).problems(), ["no span was compared with what a node said"])


def nothing_to_follow_is_said(place):
    network = Network(place.folder)
    for name in AHEAD:
        block_trace.path_of(place.folder, name).unlink()
    try:
        network.follow()
    except block_trace.Failure as failure:
        contains(str(failure), "0 spans of 0 traces")
    else:
        equal("followed", "refused")


def a_circle_of_parents_ends(place):
    network = Network(place.folder)
    first, second = network.files["node-1"][-2:]
    first["parentSpanId"], second["parentSpanId"] = second["spanId"], first["spanId"]
    network.write()
    equal(network.follow()["verdict"].good, True)


def the_pictures_have_each_span(place):
    found = Network(place.folder).follow()
    problems, shown = [], Screen()
    block_trace.show(shown, found, problems)
    text = "\n".join(shown.lines)
    equal(problems, [])
    bars = [line for line in shown.lines if any(part in line for part in block_trace.EIGHTHS[1:])]
    equal(len(bars), len(found["rows"]))
    equal(max(map(len, shown.lines)) <= 100, True, "columns of the waterfall")
    contains(text, "650.2 ms")
    contains(text, "22 spans compared, 22 equal")
    contains(text, "node-2 is 2,000 ms ahead")
    canvas = svg_canvas.Canvas(1280, svg_trace.height(found) + 40)
    svg_trace.draw(canvas, found, 44, 30, 1192)
    drawing = canvas.finish("trace")
    root = xml.etree.ElementTree.fromstring(drawing)
    bars = [part for part in root.iter() if part.get("fill") in (svg_trace.BLUE, svg_trace.TEAL)
            and part.tag.endswith("rect")]
    equal(len(bars), len(found["rows"]), "bars")
    for part in bars:
        equal(44 <= float(part.get("x")) <= 44 + 1192 - 70, True, "a bar within the picture")
    lacks(drawing, "nan")


main([all_agree, what_differs_is_found, nothing_to_follow_is_said, a_circle_of_parents_ends,
      the_pictures_have_each_span])
