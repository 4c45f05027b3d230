#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# crest-test: timeout=900
"""Three nodes push to a real Pushgateway that a real Prometheus reads, with the configuration and
the alerts of examples/node: what the nodes counted themselves is what Prometheus answers, also
after the gateway was killed and came back.
"""

import shutil
import time

import harness
from nodelib import Network, ROOT, differences

NODES = 3
JOB = "node-push-test"
STALE_S = 4
PATIENCE_S = 150


class NodePrometheus(harness.Prometheus):
    """Prometheus with the node's own configuration: another target, and alerts that need not wait a
    minute."""

    def command(self):
        command = super().command()
        source = ROOT / "examples/node"
        config = (source / "prometheus.yml").read_text()
        harness.equal(config.count("127.0.0.1:9091"), 1, "targets in prometheus.yml")
        rules = (source / "alerts.yml").read_text()
        harness.equal(rules.count("> 3 * 60 and"), 1, "thresholds in alerts.yml")
        (self.place.folder / "alerts.yml").write_text(
            rules.replace("> 3 * 60 and", f"> {STALE_S} and"))
        shutil.copy(source / "generated_rules.yml", self.place.folder)
        path = self.place.folder / f"prometheus-{self.port}.yml"
        path.write_text(config.replace("127.0.0.1:9091", f"127.0.0.1:{self.targets[0].port}")
                        .replace("../../share/", f"{ROOT}/share/"))
        return command


def start_all(place, network, gateway):
    """The nodes, pushing four times a second."""
    nodes = []
    for index in range(NODES):
        options = (f"service={JOB},pushgateway={gateway.url},pushgateway.job={JOB},"
                   "pushgateway.timeout=10s,interval=250ms,windows=1m,system=process,"
                   f"instance=node-{index}")
        nodes.append(network.start(
            index, "--deploys-per-second", "40", "--block-interval-ms", "250",
            "--slowest-validator-ms", "300", "--fork-every", "4", crest_opts=options))
    return nodes


def group_of(node):
    return f'job="{JOB}",instance="{node.name}"'


def compare(prometheus, node):
    """Every series of the exit report, asked for in one query, and nothing more: once Prometheus
    has read the last push. A scrape that the machine was too busy for has nothing at all."""
    until = time.monotonic() + PATIENCE_S
    while True:
        try:
            return compare_now(prometheus, node)
        except harness.Failure:
            if time.monotonic() > until:
                raise
        time.sleep(0.1)


def compare_now(prometheus, node):
    answered = {}
    for labels, value in prometheus.query("{" + group_of(node) + "}"):
        name = labels.pop("__name__")
        labels.pop("job")
        labels.pop("instance")
        answered[(name, frozenset(labels.items()))] = value
    report = node.report()
    harness.equal(differences(report, answered), [], node.name)
    harness.equal(len(report["series"]) > 90, True, "number of series")
    windows = sorted({name for name, _ in answered if "rate1m" in name or "peak1m" in name})
    harness.equal(windows, [], "window results after a clean stop")


def totals_survive_a_restarted_gateway(place):
    gateway = harness.Pushgateway(place).start()
    prometheus = NodePrometheus(place, [gateway]).start()
    with Network(NODES) as network:
        nodes = start_all(place, network, gateway)
        time.sleep(3)
        gateway.kill()
        time.sleep(2)
        gateway.start()
        harness.wait_for("pushes after the restart", lambda: len(gateway.groups()) == NODES,
                         PATIENCE_S)
        group = group_of(nodes[0])
        average = "rchain_casper_consensus_time_avg1m_seconds"
        harness.wait_for("a moving average", lambda: prometheus.value(
            average + "{outcome=\"ok\",support=\"1\"," + group + "}"), PATIENCE_S)
        nodes[0].tell("burst 1500")
        harness.wait_for("the burst in the window", lambda: prometheus.value(
            "rchain_comm_rp_transport_inbound_queue_max1m{" + group + "} > 100"), PATIENCE_S)
        harness.equal(network.stop_all(), [0] * NODES, "exit statuses")
        last = nodes[0].value("rchain_block_api_deploys_offered_total")
        prometheus.check_value("rchain_block_api_deploys_offered_total{" + group + "}", last,
                               PATIENCE_S)
        for node in nodes:
            compare(prometheus, node)


def a_dead_node_is_told_from_a_stopped_one(place):
    gateway = harness.Pushgateway(place).start()
    prometheus = NodePrometheus(place, [gateway]).start()
    with Network(NODES) as network:
        nodes = start_all(place, network, gateway)
        for node in nodes:
            harness.wait_for("a rate of " + node.name, lambda: prometheus.value(
                "rchain_casper_blocks_proposed_rate1m{" + group_of(node) + "}"), PATIENCE_S)
        nodes[2].process.kill()
        nodes[2].wait()
        nodes[0].tell("stop")
        nodes[1].tell("stop")
        harness.equal([nodes[0].wait(), nodes[1].wait()], [0, 0], "exit statuses")
        firing = "ALERTS{alertname=\"NodePushStale\",alertstate=\"firing\"}"
        harness.wait_for("the alert", lambda: prometheus.query(firing), PATIENCE_S)
        time.sleep(STALE_S + 2)  # in which those that stopped would become stale
        stale = harness.wait_for("the alert again", lambda: prometheus.query(firing), PATIENCE_S)
        harness.equal([labels["instance"] for labels, _ in stale], ["node-2"], "stale groups")


def main():
    harness.main([totals_survive_a_restarted_gateway, a_dead_node_is_told_from_a_stopped_one])


main()
