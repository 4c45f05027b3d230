#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# crest-test: timeout=300
"""How blocks get around, measured by a real node whose two peers are played here: they speak its
protocol, have clocks of their own, say when they had a block in any order they like, and send
blocks with stamps that are none.
"""

import hashlib
import socket
import struct
import threading
import time

from nodelib import Checks, Network, allowed, read_page, wait_for

MAGIC = 0x32485243
HELLO, PING, PONG, BLOCK, HAVE, ANSWER = 1, 2, 3, 6, 8, 10
STAMP_BYTES = 32
COVERAGE = "rchain_casper_block_coverage_time_seconds"
PROPAGATION = "rchain_casper_block_propagation_time_seconds"
ADDED = "rchain_casper_casper_add_block_time_seconds_count"
REFUSED = "rchain_casper_stamps_refused_total"
MISUSE = "crest_misuse_total"
SKEWS_S = {1: -7200, 2: 3600}
# How far off an estimate of a clock may be that is made from answers to pings, the quickest of
# which took twice as long; a clock that is not corrected is off by more.
ERROR_MOST_S = 2
WAIT_S = 120


def frame(kind, payload):
    return struct.pack("<IB", len(payload) + 1, kind) + payload


def hash_of(block):
    return hashlib.sha256(block).digest()


def child_of(block, proposer, later=1):
    """A block without deploys on top of another: valid, for it leaves all balances as they are."""
    slot, height = struct.unpack_from("<QI", block)
    return (struct.pack("<QIH", slot + later, height + 1, proposer) + hash_of(block)
            + block[46:78] + struct.pack("<I", 0))


class Peer:
    """A node as another one sees it: accepts its connection and answers there, and dials it."""

    def __init__(self, index, ports):
        self.index, self.ports = index, ports
        self.blocks = []            # (stamp, truth_ns, block), as they came
        self.haves = []             # hashes that the node says it has
        self.listener = socket.create_server(("127.0.0.1", ports[index]))
        self.link = None
        threading.Thread(target=self.listen, daemon=True).start()

    def wall_ns(self):
        return time.time_ns() + 10**9 * SKEWS_S[self.index]

    def hello(self):
        return frame(HELLO, struct.pack("<IHH", MAGIC, self.index, len(self.ports)))

    def listen(self):
        line, _ = self.listener.accept()
        with line, line.makefile("rb") as stream:
            while len(head := stream.read(5)) == 5:
                length, kind = struct.unpack("<IB", head)
                self.handle(line, kind, stream.read(length - 1))

    def handle(self, line, kind, payload):
        if kind == HELLO:
            line.sendall(self.hello())
        elif kind == PING:
            come = self.wall_ns()
            line.sendall(frame(PONG, payload + struct.pack("<QQ", come, self.wall_ns())))
        elif kind == HAVE:
            self.haves.append(payload[:32])
        elif kind == BLOCK:
            truth_ns, _ = struct.unpack_from("<QQ", payload, STAMP_BYTES)
            self.blocks.append((payload[:STAMP_BYTES], truth_ns, payload[STAMP_BYTES + 16:]))

    def dial(self):
        """What this peer says, it says on a connection of its own."""
        until = time.monotonic() + WAIT_S
        while self.link is None:
            try:
                self.link = socket.create_connection(("127.0.0.1", self.ports[0]), timeout=WAIT_S)
            except OSError:
                if time.monotonic() > until:
                    raise
                time.sleep(0.05)
        self.link.sendall(self.hello())
        self.link.recv(len(self.hello()), socket.MSG_WAITALL)

    def say(self, kind, payload):
        self.link.sendall(frame(kind, payload))

    def have(self, index, after_s):
        """Says that it had the node's block so long after it was sent."""
        _, sent_ns, block = self.blocks[index]
        then_ns = sent_ns + int(after_s * 1e9)
        now_ns, wall_ns, later_ns = time.monotonic_ns(), self.wall_ns(), time.monotonic_ns()
        wall_ns += then_ns - now_ns
        self.say(HAVE, hash_of(block) + struct.pack("<QQQ", wall_ns, then_ns, later_ns - now_ns))

    def send(self, stamp, block):
        self.say(BLOCK, stamp + struct.pack("<QQ", time.monotonic_ns(), 0) + block)


def tell_of_four_blocks(checks, first, second):
    """The first in order, the second against it and twice, the third by one of two, the fourth with
    a time before it was sent."""
    checks.that(wait_for(lambda: min(len(first.blocks), len(second.blocks)) > 4),
                "the node sends its blocks to both", len(first.blocks), len(second.blocks))
    checks.that([block for _, _, block in first.blocks[:4]]
                == [block for _, _, block in second.blocks[:4]], "the same blocks to both")
    stamp = first.blocks[0][0]
    checks.that(len(stamp) == STAMP_BYTES and stamp[0] == 1 and any(stamp[16:]),
                "each behind a stamp", stamp)
    first.have(0, 0.050)
    second.have(0, 0.150)
    second.have(1, 0.300)
    second.have(1, 0.900)
    time.sleep(0.3)
    first.have(1, 0.020)
    first.have(2, 0.010)
    first.have(3, -1.0)
    first.say(HAVE, bytes(32) + struct.pack("<QQQ", first.wall_ns(), 0, 0))


def send_bad_stamps(checks, first, second):
    """Three valid blocks in envelopes that nothing can be told from, and one that was asked for."""
    stamp, _, parent = first.blocks[0]
    foreign = child_of(parent, 1)
    empty = child_of(parent, 2)
    early = child_of(parent, 1, later=2)
    asked = child_of(parent, 2, later=2)
    first.send(stamp, foreign)
    second.send(bytes(STAMP_BYTES), empty)
    second.send(b"\x02" + stamp[1:], early)
    second.say(ANSWER, asked)
    first.send(stamp, parent)       # the node's own: it knows that one
    for peer, blocks in ((first, [foreign, early]), (second, [empty, asked])):
        wanted = [hash_of(block) for block in blocks]
        checks.that(wait_for(lambda: sorted(peer.haves) == sorted(wanted)),
                    f"the node tells node-{peer.index} that it has both of its blocks", peer.haves,
                    wanted)


def check_figures(checks, node):
    page = read_page(node.page)

    def exported(name, **labels):
        return page.get((name, frozenset(labels.items())))

    counted = {outcome: node.value(COVERAGE + "_count", outcome=outcome)
               for outcome in ("ok", "error", "cancelled")}
    proposed = node.value("rchain_casper_blocks_proposed_total")
    checks.that(counted == {"ok": 2, "error": 0, "cancelled": proposed - 2} and proposed > 4,
                "two blocks were covered, the others were open at exit",
                counted, proposed)
    checks.that(all(exported(COVERAGE + "_count", outcome=key) == value
                    for key, value in counted.items()), "as exported", counted)
    errors = {f"node-{index}": exported("peer_clock_error_seconds", peer=f"node-{index}")
              for index in SKEWS_S}
    slack_s = allowed(node.report(), (COVERAGE + "_sum", frozenset({("outcome", "ok")})))
    for name, value in (("exported", exported(COVERAGE + "_sum", outcome="ok")),
                        ("counted", node.value(COVERAGE + "_sum", outcome="ok"))):
        checks.that(abs(value - 0.450) < slack_s,
                    f"0.15 s and 0.3 s until the later one had it, {name}", value)
    checks.that(exported(PROPAGATION + "_count", outcome="ok") == 0,
                "no way was measured by a bad stamp, nor of an answer")
    checks.that((node.value(REFUSED), exported(REFUSED)) == (4, 4),
                "three bad stamps and one bad time are counted", node.value(REFUSED))
    misuse = {key[1]: value for key, value in page.items() if key[0] == MISUSE and value}
    checks.that(misuse == {frozenset({("cause", "invalid-stamp")}): 3},
                "the stamps by Crest too, and nothing else as misuse", misuse)
    checks.that(node.value(ADDED, outcome="ok") == 4
                and node.value("rchain_casper_blocks_invalid_total") == 0,
                "the blocks behind bad stamps are handled as any other",
                node.value(ADDED, outcome="ok"))
    for index, skew_s in SKEWS_S.items():
        offset = exported("peer_clock_offset_seconds", peer=f"node-{index}")
        error = errors[f"node-{index}"]
        checks.that(abs(offset - skew_s) <= error < ERROR_MOST_S,
                    f"the clock of node-{index} is {skew_s} s ahead: {offset} ± {error}")


def main():
    checks = Checks()
    with Network(3) as network:
        first, second = (Peer(index, network.ports) for index in (1, 2))
        node = network.start(0, "--deploys-per-second", "0", "--block-interval-ms", "150",
                             "--fork-every", "0", "--settle-ms", "100")
        first.dial()
        second.dial()
        tell_of_four_blocks(checks, first, second)
        send_bad_stamps(checks, first, second)
        time.sleep(0.2)
        checks.that(network.stop_all() == [0], "the node goes on and stops as ever", node.said())
        check_figures(checks, node)
    checks.finish()


main()
