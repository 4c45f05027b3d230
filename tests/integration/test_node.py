#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# crest-test: timeout=120
"""Three real nodes for some seconds: what Crest exports is what the nodes counted themselves.

Counts agree exactly. Sums of durations come from two clocks read one after the other, so they get a
few microseconds an operation and a scheduler's slice.
"""

import pathlib
import re
import socket
import struct
import time

from nodelib import Checks, Network, ROOT, read_page

RUN_S = 7
BURST = 1500
CLOCKS_S_PER_OPERATION = 5e-6
CLOCKS_S = 0.05
SUPPORT = ("0", "1/3", "1")
CONSENSUS = "rchain_casper_consensus_time_seconds"
NAIVE = "rchain_casper_unbound_consensus_time_seconds"


def total(nodes, name, **labels):
    return sum(node.value(name, **labels) for node in nodes)


def check_page(checks, node):
    """Every series of the exit report is on the page, with the same value."""
    page, report = read_page(node.page), node.report()["series"]
    wrong = []
    for (name, labels), value in sorted(report.items(), key=str):
        exported = page.get((name, labels))
        allowed = 1e-9
        if name.endswith("_seconds_sum"):
            allowed = CLOCKS_S + CLOCKS_S_PER_OPERATION * report[(name[:-3] + "count", labels)]
        if exported is None or abs(exported - value) > allowed:
            wrong.append((name, dict(labels), "counted", value, "exported", exported))
    checks.that(len(report) > 90 and not wrong,
                f"{node.name}: {len(report)} series are exported as counted", *wrong)
    misuse = {labels: value for (name, labels), value in page.items()
              if name == "crest_misuse_total" and value != 0}
    checks.that(not misuse, f"{node.name}: nothing was counted as misuse", misuse)


def check_catalogue(checks, node):
    """METRICS.md lists exactly what the node exports, with its type and name. Names of timers and
    histograms stand there as `name_{bucket,sum,count}`; a range sampler's extremes are its own."""
    page = pathlib.Path(node.page).read_text(encoding="utf-8")
    types = dict(re.findall(r"^# TYPE (\w+) (\w+)$", page, re.M))
    exported = {canonical: (name, types[name])
                for name, canonical in re.findall(r"^# HELP (\w+) .*\[([^\]]+)\]$", page, re.M)
                if not canonical.startswith("crest") and not re.search(r"_[a-z]{3}1m", name)}
    text = (ROOT / "METRICS.md").read_text(encoding="utf-8")
    text = text[text.index("## Catalogue: the node"):text.index("## Catalogue: Crest itself")]
    listed = {}
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| `"):
            name = re.match(r"`(\w+?)(?:_\{bucket,sum,count\})?`", cells[5]).group(1)
            kind = {"timer": "histogram", "range sampler": "gauge"}.get(cells[1], cells[1])
            listed[cells[0].strip("`")] = (name, kind)
    checks.that(len(listed) > 50 and listed == exported, "METRICS.md lists what the node exports",
                *sorted(set(listed.items()) ^ set(exported.items())))


def check_load(checks, nodes, per_second, transfers):
    offered = total(nodes, "rchain_block_api_deploys_offered_total")
    expected = per_second * RUN_S * len(nodes)
    checks.that(0.9 * expected <= offered <= 1.4 * expected, "the load is offered on schedule",
                offered, expected)
    checks.that(total(nodes, "rchain_casper_transfers_offered_total") == offered * transfers,
                "every deploy carries its transfers")
    checks.that(total(nodes, "rchain_block_api_deploys_received_total") == offered,
                "every offered deploy was received")
    done = (total(nodes, "rchain_casper_transfers_applied_total")
            + total(nodes, "rchain_casper_transfers_rejected_total"))
    included = total(nodes, "rchain_casper_deploys_finalised_total")
    checks.that(done == included * transfers and 0.5 * offered < included <= offered,
                "finalised deploys are offered deploys, none twice", included, offered, done)


def check_consensus(checks, nodes):
    proposed = total(nodes, "rchain_casper_blocks_proposed_total")
    orphaned = total(nodes, "rchain_casper_blocks_orphaned_total")
    finalised = total(nodes, "rchain_casper_blocks_finalised_total")
    checks.that(orphaned >= 1, "some block was orphaned", orphaned)
    checks.that(finalised > orphaned and proposed >= finalised + orphaned,
                "blocks were finalised", proposed, finalised, orphaned)
    mean = {}
    for level in SUPPORT:
        count = total(nodes, CONSENSUS + "_count", outcome="ok", support=level)
        mean[level] = total(nodes, CONSENSUS + "_sum", outcome="ok", support=level) / max(count, 1)
    checks.that(mean["0"] + 0.02 < mean["1/3"] and mean["1/3"] + 0.02 < mean["1"],
                "the levels are reached tens of milliseconds apart", mean)
    checks.that(total(nodes, CONSENSUS + "_count", outcome="error", support="1") == orphaned,
                "an orphan ends as an error")
    checks.that(total(nodes, CONSENSUS + "_count", outcome="ok", support="1") == finalised,
                "and never as ok")
    naive = (total(nodes, NAIVE + "_sum", outcome="ok")
             / total(nodes, NAIVE + "_count", outcome="ok"))
    checks.that(abs(naive / mean["1"] - 1) > 0.2,
                "one start time for all blocks gives another mean", naive, mean["1"])
    exported = sum(read_page(node.page)[(CONSENSUS + "_sum", frozenset(
        {("outcome", "ok"), ("support", "1")}))] for node in nodes) / finalised
    checks.that(abs(exported / mean["1"] - 1) < 0.01, "Crest's mean is the true one", exported,
                mean["1"])


def frame(kind, payload):
    return struct.pack("<IB", len(payload) + 1, kind) + payload


def talk_nonsense(port, data):
    """Sends bytes and waits until the node hangs up; False when it does not within 3 s."""
    with socket.create_connection(("127.0.0.1", port), timeout=3) as line:
        try:
            line.sendall(data)
            while line.recv(4096):
                pass
        except TimeoutError:
            return False
        except OSError:
            pass
    return True


def check_nonsense(checks, port):
    """Returns how many connections the node must have counted as malformed."""
    hello = frame(1, struct.pack("<IHH", 0x31485243, 1, 3))
    cases = {
        "a frame of 4 GiB": b"\xff\xff\xff\xff" + bytes(100),
        "an empty frame": bytes(5),
        "an unknown type": frame(200, b"x"),
        "a deploy from a stranger": frame(5, bytes(50)),
        "a greeting cut short": frame(1, b"CRH1"),
        "a greeting of another network": frame(1, struct.pack("<IHH", 0x31485243, 1, 99)),
        "a ping that is too long, after a good greeting": hello + frame(2, bytes(9)),
        "a vote that is cut short, after a good greeting": hello + frame(7, bytes(10)),
    }
    for what, data in cases.items():
        checks.that(talk_nonsense(port, data), f"{what} closes the connection")
    return len(cases)


def main():
    checks = Checks()
    with Network(3) as network:
        nodes = network.start_all("--deploys-per-second", "30", "--transfers-per-deploy", "4",
                                  "--block-interval-ms", "250", "--slowest-validator-ms", "300",
                                  "--fork-every", "4")
        started = time.monotonic()
        time.sleep(3)
        nodes[0].tell(f"burst {BURST}")
        nodes[0].tell("nonsense")
        nodes[0].tell("status")
        time.sleep(max(0, RUN_S - (time.monotonic() - started)))
        checks.that(network.stop_all() == [0, 0, 0], "three nodes run and stop",
                    *[node.said() for node in nodes])
        checks.that("'nonsense' is not a command" in nodes[0].said(),
                    "a wrong command is explained")
        checks.that(len(nodes[0].events("status")) == 1, "status is answered")
        burst = nodes[0].events("burst")
        checks.that(len(burst) == 1 and burst[0]["notes"] == BURST and burst[0]["deepest"] > 100,
                    "a burst arrives and queues", burst)
        checks.that(nodes[0].value("rchain_comm_rp_transport_dispatched_packets_total",
                                   kind="note") == BURST, "no note is lost")
        for node in nodes:
            check_page(checks, node)
        check_catalogue(checks, nodes[0])
        check_load(checks, nodes, 30, 4)
        check_consensus(checks, nodes)
        heights = {node.report()["height"] for node in nodes}
        checks.that(len(heights) == 1, "all nodes end at the same height", heights)
        checks.that(total(nodes, "rchain_casper_blocks_invalid_total") == 0, "no block was invalid")

    with Network(3) as network:
        victim = network.start(0, "--deploys-per-second", "0")
        time.sleep(1)
        malformed = check_nonsense(checks, network.ports[0])
        checks.that(network.stop_all() == [0], "nonsense does not stop the node", victim.said())
        counted = victim.value("rchain_comm_rp_transport_packets_malformed_total")
        checks.that(counted == malformed, "nonsense is counted", counted, malformed)
        check_page(checks, victim)
    checks.finish()


main()
