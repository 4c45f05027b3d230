#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# crest-test: timeout=300
"""Three real nodes for some seconds: what Crest exports is what the nodes counted themselves.

Counts agree exactly. Sums of durations come from two clocks read one after the other, so they get a
few microseconds an operation and a scheduler's slice.
"""

import pathlib
import re
import socket
import struct
import sys
import time

from nodelib import Checks, Network, ROOT, WAIT_S, allowed, differences, read_page, wait_for

sys.path.insert(0, str(ROOT / "tools"))
import crest_catalogue  # noqa: E402

RUN_S = 7
BURST = 1500
SUPPORT = ("0", "1/3", "1")
MAGIC = 0x32485243
CONSENSUS = "rchain_casper_consensus_time_seconds"
NAIVE = "rchain_casper_unbound_consensus_time_seconds"
PROPAGATION = "rchain_casper_block_propagation_time_seconds"
COVERAGE = "rchain_casper_block_coverage_time_seconds"
# Node 2 is a machine whose clock is this much ahead: a time that was not corrected by it is off by
# that, and no busy machine makes a mean as long as half of it.
SKEW_S = 5
CLOCK_ERROR_MOST_S = 0.5
PROPAGATION_MOST_S = SKEW_S / 2


def total(nodes, name, **labels):
    return sum(node.value(name, **labels) for node in nodes)


def check_page(checks, node):
    """Every series of the exit report is on the page, with the same value."""
    page, report = read_page(node.page), node.report()
    wrong, count = differences(report, page), len(report["series"])
    checks.that(count > 90 and not wrong, f"{node.name}: {count} series are exported as counted",
                *wrong)
    misuse = {labels: value for (name, labels), value in page.items()
              if name == "crest_misuse_total" and value != 0}
    checks.that(not misuse, f"{node.name}: nothing was counted as misuse", misuse)


def check_catalogue(checks, node):
    """The manifests of the node's teams list exactly what it exports under their prefixes."""
    page = pathlib.Path(node.page).read_text(encoding="utf-8")
    types = dict(re.findall(r"^# TYPE (\w+) (\w+)$", page, re.M))
    manifests, problems = crest_catalogue.load(sorted(
        str(path) for path in (ROOT / "examples/node").glob("*.metrics.yaml")))
    prefixes = tuple(prefix + "." for manifest in manifests for prefix in manifest.prefixes)
    exported = {canonical: (name, types[name])
                for name, canonical in re.findall(r"^# HELP (\w+) .*\[([^\]]+)\]$", page, re.M)
                if canonical.startswith(prefixes) and not re.search(r"_[a-z]{3}1m", name)}
    listed, in_flight = {}, set()
    for metric in (metric for manifest in manifests for metric in manifest.metrics):
        first = crest_catalogue.exported_names(metric)[0]
        listed[metric.name] = (first.name.removesuffix("_bucket"), first.type)
        if metric.instrument == "keyed-timer":
            in_flight.update(f"{metric.name}.{part}" for part in ("in-flight", "oldest", "stuck"))
    exported = {name: what for name, what in exported.items() if name not in in_flight}
    checks.that(not problems and len(listed) > 45 and listed == exported,
                "the manifests list what the node exports", problems,
                *sorted(set(listed.items()) ^ set(exported.items())))


def check_load(checks, nodes, per_second, transfers, ready_s):
    """ready_s: from when all were ready until the first was told to stop."""
    offered = total(nodes, "rchain_block_api_deploys_offered_total")
    least = 0.9 * per_second * ready_s * len(nodes)
    most = per_second * sum(node.report()["ran_seconds"] for node in nodes)
    checks.that(least <= offered <= most, "the load is offered on schedule", least, offered, most)
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


def check_spread(checks, nodes):
    """Blocks on their way between machines: each arrives once at each other node, is covered when
    all have it, and takes as long as the one clock says that all nodes of this machine share."""
    proposed = total(nodes, "rchain_casper_blocks_proposed_total")
    arrived = total(nodes, PROPAGATION + "_count", outcome="ok")
    checks.that(arrived == proposed * (len(nodes) - 1), "every block arrives once at every other",
                arrived, proposed)
    checks.that(total(nodes, COVERAGE + "_count", outcome="ok") == proposed,
                "and all nodes have it in the end", proposed)
    checks.that(total(nodes, "rchain_casper_stamps_refused_total") == 0, "every stamp is of use")
    for node in nodes:
        page, report = read_page(node.page), node.report()
        for name in (PROPAGATION, COVERAGE):
            key = (name + "_sum", frozenset({("outcome", "ok")}))
            count = report["series"][(name + "_count", key[1])]
            mean, exported = report["series"][key] / count, page[key] / count
            checks.that(0 < exported < PROPAGATION_MOST_S and abs(exported - mean) * count
                        <= allowed(report, key),
                        f"{node.name}: {name} is {1e6 * exported:.0f} µs on average, by the clock "
                        f"that all share {1e6 * mean:.0f} µs", exported, mean)
            checks.that(0 < report["within"][key] / count < CLOCK_ERROR_MOST_S,
                        f"and it says that it may be {1e6 * report['within'][key] / count:.0f} µs "
                        "off")
    for name in ("rchain_comm_discovery_discovery_time", "rchain_casper_node_join_time"):
        found = [node.value(name + "_seconds_count", outcome="ok") for node in nodes]
        checks.that(found == [1] * len(nodes), f"{name} is recorded once a node", found)


def check_clocks(checks, nodes):
    """The estimates of the neighbours' clocks, one of which is far ahead."""
    for node in nodes:
        page = read_page(node.page)
        for other in nodes:
            if other is node:
                continue
            label = frozenset({("peer", other.name)})
            offset = page.get(("peer_clock_offset_seconds", label))
            error = page.get(("peer_clock_error_seconds", label))
            true = SKEW_S * ((other is nodes[2]) - (node is nodes[2]))
            checks.that(offset is not None and error is not None and 0 < error < CLOCK_ERROR_MOST_S
                        and abs(offset - true) <= error,
                        f"{node.name}: the clock of {other.name} is {true} s ahead, found "
                        f"{offset} ± {error}", offset, error)


def frame(kind, payload):
    return struct.pack("<IB", len(payload) + 1, kind) + payload


def talk_nonsense(port, data):
    """Sends bytes and waits until the node hangs up; False when it does not."""
    with socket.create_connection(("127.0.0.1", port), timeout=WAIT_S) as line:
        try:
            line.sendall(data)
            while line.recv(4096):
                pass
        except TimeoutError:
            return False
        except OSError:
            pass
    return True


def listens(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def check_nonsense(checks, port):
    """Returns how many connections the node must have counted as malformed."""
    hello = frame(1, struct.pack("<IHH", MAGIC, 1, 3))
    cases = {
        "a frame of 4 GiB": b"\xff\xff\xff\xff" + bytes(100),
        "an empty frame": bytes(5),
        "an unknown type": frame(200, b"x"),
        "a deploy from a stranger": frame(5, bytes(50)),
        "a greeting cut short": frame(1, b"CRH2"),
        "a greeting of another network": frame(1, struct.pack("<IHH", MAGIC, 1, 99)),
        "a ping that is too long, after a good greeting": hello + frame(2, bytes(17)),
        "a block without an envelope, after a good greeting": hello + frame(6, bytes(39)),
        "a vote that is cut short, after a good greeting": hello + frame(7, bytes(10)),
        "an arrival that is cut short, after a good greeting": hello + frame(8, bytes(47)),
    }
    for what, data in cases.items():
        checks.that(talk_nonsense(port, data), f"{what} closes the connection")
    return len(cases)


def main():
    checks = Checks()
    with Network(3) as network:
        nodes = network.start_all("--deploys-per-second", "30", "--transfers-per-deploy", "4",
                                  "--block-interval-ms", "250", "--slowest-validator-ms", "300",
                                  "--fork-every", "4", skews_ms={2: 1000 * SKEW_S})
        wait_for(lambda: all(node.events("ready") for node in nodes))
        started = time.monotonic()
        time.sleep(3)
        nodes[0].tell(f"burst {BURST}")
        nodes[0].tell("nonsense")
        nodes[0].tell("status")
        wait_for(lambda: nodes[0].events("burst") and nodes[0].events("status"))
        time.sleep(max(0, RUN_S - (time.monotonic() - started)))
        ready_s = time.monotonic() - started
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
        check_load(checks, nodes, 30, 4, ready_s)
        check_consensus(checks, nodes)
        check_spread(checks, nodes)
        check_clocks(checks, nodes)
        heights = {node.report()["height"] for node in nodes}
        checks.that(len(heights) == 1, "all nodes end at the same height", heights)
        checks.that(total(nodes, "rchain_casper_blocks_invalid_total") == 0, "no block was invalid")

    with Network(3) as network:
        victim = network.start(0, "--deploys-per-second", "0")
        wait_for(lambda: listens(network.ports[0]))
        malformed = check_nonsense(checks, network.ports[0])
        checks.that(network.stop_all() == [0], "nonsense does not stop the node", victim.said())
        counted = victim.value("rchain_comm_rp_transport_packets_malformed_total")
        checks.that(counted == malformed, "nonsense is counted", counted, malformed)
        check_page(checks, victim)
    checks.finish()


main()
