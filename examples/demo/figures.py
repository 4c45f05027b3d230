# SPDX-License-Identifier: Apache-2.0
"""Operators' questions about a node, and the PromQL that answers them: the rows of the live table.

Two kinds of figures are in it: moving averages that the node computed from every event (X_rate1m,
X_avg1m, X_max1m) and what Prometheus computes from cumulative values (rate, histogram_quantile).
Each row has a query by instance and one for the whole network.
"""

JOB = 'job="rnode"'
COMM = "rchain_rspace_comm"
REPLAY = "rchain_rspace_replay_comm"
CONSENSUS = "rchain_casper_consensus_time"
PING = "rchain_comm_discovery_kademlia_grpc_ping_time"
SEND = "rchain_comm_rp_transport_send_time"
STORE = "rchain_block_storage_lmdb"
PROPAGATION = "rchain_casper_block_propagation_time"
COVERAGE = "rchain_casper_block_coverage_time"
HICCUPS = "process_hiccups"
AGE = f"time() - push_time_seconds{{{JOB}}}"
MEBI = 1048576
MILLI = 1000
MICRO = 1000000


class Row:
    """One line: its label, the queries by node, those for all, and how figures are written. `node`
    is the label that says which node a figure is about, `joint` what stands between two."""

    def __init__(self, label, each, total, write, own=None, node="instance", joint=" / "):
        self.label = label
        self.each = each
        self.total = total
        self.write = write
        self.own = own
        self.node = node
        self.joint = joint

    def read(self, prometheus, names):
        """The cells: one for each node, then one for all."""
        parts = [prometheus.by(self.node, query) for query in self.each]
        cells = ["·" if name == self.own else
                 cell([part.get(name) for part in parts], self.write, self.joint)
                 for name in names]
        sums = [prometheus.one(query) for query in self.total]
        return cells + [cell(sums, self.write) if self.total else ""]


def cell(figures, write, joint=" / "):
    """'1.4 / 2.9', or '–' for what is not known yet."""
    return joint.join("–" if figure is None else write(figure) for figure in figures)


def whole(figure):
    return f"{figure:,.0f}"


def short(figure):
    """Three digits, and no more than are needed."""
    if abs(figure) < 0.005:
        return "0"
    if abs(figure) < 9.995:
        return f"{figure:.2f}"
    return f"{figure:.1f}" if abs(figure) < 99.95 else f"{figure:,.0f}"


def summed(label, query, write=whole):
    """A quantity that adds up over the nodes."""
    return Row(label, [query], [f"sum({query})"], write)


def pair(label, first, second, write=whole):
    return Row(label, [first, second], [f"sum({first})", f"sum({second})"], write)


def of_machine(label, *queries, write=whole):
    """The same for all nodes, since they share a machine: only in the last column."""
    return Row(label, [], [f"max({query})" for query in queries], write)


def rate1m(name):
    return f"{name}_rate1m{{{JOB}}}"


def rate(name, labels=""):
    return f"sum by (instance) (rate({name}{{{JOB}{labels}}}[1m]))"


def last_minute(cumulative):
    """What was added in the last minute, and before the first minute is over, since the start: rate
    would not see what happened before the first scrape, and the nodes' own averages do."""
    return f"{cumulative} - {cumulative} offset 1m or {cumulative}"


def timer(label, name, labels="", own=None, per_second=1000):
    """Average and 99th percentile of the last minute, in milliseconds or another part of a second.

    Where the node has one series, the average is its own, from every event. The percentile is read
    from buckets; it is bounded by the exact maximum, which buckets alone do not know.
    """
    chosen = f'{{{JOB},outcome="ok"{labels}}}'

    def mean(by):
        return (f"{per_second} * sum by ({by}) ({last_minute(f'{name}_seconds_sum{chosen}')})"
                f" / sum by ({by}) ({last_minute(f'{name}_seconds_count{chosen}')})")

    def quantile(by):
        most = f"max by ({by}) ({name}_max1m_seconds{chosen})"
        buckets = (f"sum by ({by + ', ' if by else ''}le) "
                   f"({last_minute(f'{name}_seconds_bucket{chosen}')})")
        return f"{per_second} * ((histogram_quantile(0.99, {buckets}) < {most}) or {most})"

    # a node sends to each peer under its own series: those are averaged by Prometheus
    each = mean("instance") if name == SEND else f"{per_second} * {name}_avg1m_seconds{chosen}"
    return Row(label, [each, quantile("instance")], [mean(""), quantile("")], short, own)


def kernel_ping(label):
    """The kernel's own least round trip: of the nearest neighbour, of the farthest. Its mean would
    measure delayed acknowledgements (40 ms, by a receiver with nothing to send), not the
    network."""
    least = f"{MICRO} * {{}} by (instance) (probe_socket_rtt_least_seconds{{{{{JOB}}}}})"
    low, high = least.format("min"), least.format("max")
    return Row(label, [low, high], [f"min({low})", f"max({high})"], short)


def average_and_most(label, name, per_second=MILLI):
    """Average of the last minute and its exact maximum."""
    chosen = f'{{{JOB},outcome="ok"}}'
    sums, counts = (last_minute(f"{name}_seconds_{part}{chosen}") for part in ("sum", "count"))
    most = f"{name}_max1m_seconds{chosen}"
    return Row(label, [f"{per_second} * sum by (instance) ({sums}) / sum by (instance) ({counts})",
                       f"{per_second} * max by (instance) ({most})"],
               [f"{per_second} * sum({sums}) / sum({counts})", f"{per_second} * max({most})"],
               short)


def clocks(label):
    """How far each node's clock is ahead, as most of the others see it, and how sure they are."""
    return Row(label, [f"1000 * quantile by (peer) (0.5, peer_clock_offset_seconds{{{JOB}}})",
                       f"1000 * max by (peer) (peer_clock_error_seconds{{{JOB}}})"], [], short,
               node="peer", joint=" ± ")


def stalled(kind):
    """Percent of the last minute in which some task waited for a processor, storage or memory
    (PSI)."""
    return ("100 * max by (instance) (rate(host_pressure_seconds_total"
            f'{{{JOB},kind="{kind}"}}[1m]))')


def sections(names):
    """[(title, [rows])]: the requirements, in the order operators gave them."""
    return [
        ("Throughput, per second", [
            summed("comm events    offered", f"2 * {rate1m('rchain_casper_transfers_offered')}"),
            summed("               proposing",
                   f"{rate1m(COMM + '_produce')} + {rate1m(COMM + '_consume')}"),
            summed("               validating",
                   f"{rate1m(REPLAY + '_produce')} + {rate1m(REPLAY + '_consume')}"),
            pair("deploys   offered / accepted", rate1m("rchain_block_api_deploys_offered"),
                 rate1m("rchain_block_api_deploys_received"), short),
            pair("transfers offered / finalised", rate1m("rchain_casper_transfers_offered"),
                 f"{rate1m('rchain_casper_transfers_applied')} + "
                 f"{rate1m('rchain_casper_transfers_rejected')}"),
        ]),
        ("Blocks on their way, ms: average / maximum", [
            average_and_most("from a peer to this node", PROPAGATION),
            average_and_most("until 99 % of nodes had it", COVERAGE),
        ]),
        ("Latency to consensus, ms: average / 99th percentile", [
            timer("support 0      stored, sent", CONSENSUS, ',support="0"'),
            timer("support 1/3    one peer voted", CONSENSUS, ',support="1/3"'),
            timer("support 1      all peers voted", CONSENSUS, ',support="1"'),
        ]),
        ("Ping, ms: average / 99th percentile", [
            timer(f"to {name}", PING, f',peer="{name}"', own=name) for name in names
        ] + [clocks("its clock, as others see it")]),
        ("Disk and network: average / 99th percentile", [
            timer("disk           put, µs", STORE + "_put_time", per_second=MICRO),
            timer("               commit, ms", STORE + "_sync_time"),
            timer("               get, µs", STORE + "_get_time", per_second=MICRO),
            timer("network        send, µs", SEND, per_second=MICRO),
            kernel_ping("TCP's least, µs near / far"),
        ]),
        ("The process", [
            summed("CPU, %", f"100 * process_cpu_rate1m_seconds{{{JOB}}}", short),
            average_and_most("hiccups, ms    average / max", HICCUPS),
            summed("resident, MiB", f"process_resident_memory_bytes{{{JOB}}} / {MEBI}", short),
            pair("page faults/s  minor / major", rate("process_page_faults_total", ',kind="minor"'),
                 rate("process_page_faults_total", ',kind="major"'), short),
            pair("threads / open files", f"process_threads{{{JOB}}}", f"process_open_fds{{{JOB}}}"),
            summed("context switches/s", rate("process_context_switches_total")),
            summed("disk writes, KiB/s",
                   rate("process_disk_data_bytes_total", ',direction="write"') + " / 1024"),
        ]),
        ("The machine that all share", [
            of_machine("CPU busy, %", f'host_cpu_usage_avg1m{{{JOB},mode="combined"}}',
                       write=short),
            of_machine("stalled, %     some / all work", stalled("some"), stalled("full"),
                       write=short),
            of_machine("memory free, MiB", f"host_memory_available_bytes{{{JOB}}} / {MEBI}"),
            of_machine("swap, KiB/s    in / out",
                       rate("host_swapping_data_bytes_total", ',direction="in"') + " / 1024",
                       rate("host_swapping_data_bytes_total", ',direction="out"') + " / 1024",
                       write=short),
        ]),
        ("", [Row("age of these figures, s", [AGE], [f"max({AGE})"], short)]),
    ]
