#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# crest-test: timeout=480
"""The collectors of `system=on` against a real node_exporter on the same machine, in the same
second: our page, its page, our page again. A counter of its has to lie between our two readings, a
gauge in the neighbourhood of them.

A machine that is busy may keep a collector from its processor just then; so a figure gets several
attempts, and is wrong when none of them fits. That a wrong unit or field would be found is tested
by comparing with figures made wrong on purpose.
"""

import os
import pathlib
import re
import socket
import time

import harness
from harness import Failure, NodeExporter, Program, Skip, equal, free_port, wait_for

ATTEMPTS = 12
TICK_S = 0.01
KIB, MIB, PAGE = 1024, 2 ** 20, os.sysconf("SC_PAGESIZE")
CPUS = os.cpu_count()
UNIFIED = [pathlib.Path("/sys/fs/cgroup"), pathlib.Path("/sys/fs/cgroup/unified")]

SAMPLE = re.compile(r'^(\w+)(?:\{(.*)\})? (\S+)$')
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')

# Ours, its, its labels and ours, factor from its to ours, how far off it may be.
# A pair whose key is a label is made for each value of that label that both have.
COUNTERS = [
    ("host_paging_data_bytes_total{direction=in}", "node_vmstat_pgpgin", KIB),
    ("host_paging_data_bytes_total{direction=out}", "node_vmstat_pgpgout", KIB),
    ("host_swapping_data_bytes_total{direction=in}", "node_vmstat_pswpin", PAGE),
    ("host_swapping_data_bytes_total{direction=out}", "node_vmstat_pswpout", PAGE),
    ("host_page_faults_total{kind=major}", "node_vmstat_pgmajfault", 1),
    ("host_oom_kills_total", "node_vmstat_oom_kill", 1),
    ("host_context_switches_total", "node_context_switches_total", 1),
    ("host_forks_total", "node_forks_total", 1),
    ("host_interrupts_total", "node_intr_total", 1),
    ("host_tcp_opens_active_total", "node_netstat_Tcp_ActiveOpens", 1),
    ("host_tcp_opens_passive_total", "node_netstat_Tcp_PassiveOpens", 1),
    ("host_tcp_opens_failed_total", "node_netstat_Tcp_AttemptFails", 1),
    ("host_tcp_connections_reset_total", "node_netstat_Tcp_EstabResets", 1),
    ("host_tcp_segments_read_total", "node_netstat_Tcp_InSegs", 1),
    ("host_tcp_segments_write_total", "node_netstat_Tcp_OutSegs", 1),
    ("host_tcp_segments_retransmitted_total", "node_netstat_Tcp_RetransSegs", 1),
    ("host_tcp_segments_read_failed_total", "node_netstat_Tcp_InErrs", 1),
    ("host_tcp_resets_sent_total", "node_netstat_Tcp_OutRsts", 1),
    ("host_tcp_listen_overflows_total", "node_netstat_TcpExt_ListenOverflows", 1),
    ("host_tcp_listen_drops_total", "node_netstat_TcpExt_ListenDrops", 1),
    ("host_tcp_timeouts_total", "node_netstat_TcpExt_TCPTimeouts", 1),
    ("host_tcp_opens_retransmitted_total", "node_netstat_TcpExt_TCPSynRetrans", 1),
    ("host_pressure_seconds_total{resource=cpu,kind=some}",
     "node_pressure_cpu_waiting_seconds_total", 1),
    ("host_pressure_seconds_total{resource=io,kind=some}",
     "node_pressure_io_waiting_seconds_total", 1),
    ("host_pressure_seconds_total{resource=io,kind=full}",
     "node_pressure_io_stalled_seconds_total", 1),
    ("host_pressure_seconds_total{resource=memory,kind=some}",
     "node_pressure_memory_waiting_seconds_total", 1),
    ("host_pressure_seconds_total{resource=memory,kind=full}",
     "node_pressure_memory_stalled_seconds_total", 1),
]
DISKS = [
    ("ops_read_total", "reads_completed_total"),
    ("ops_write_total", "writes_completed_total"),
    ("data_read_bytes_total", "read_bytes_total"),
    ("data_write_bytes_total", "written_bytes_total"),
    ("time_read_seconds_total", "read_time_seconds_total"),
    ("time_write_seconds_total", "write_time_seconds_total"),
    ("time_busy_seconds_total", "io_time_seconds_total"),
    ("time_waited_seconds_total", "io_time_weighted_seconds_total"),
]
INTERFACES = [
    ("data_read_bytes_total", "receive_bytes_total"),
    ("data_write_bytes_total", "transmit_bytes_total"),
    ("packets_read_total", "receive_packets_total"),
    ("packets_read_failed_total", "receive_errs_total"),
    ("packets_read_dropped_total", "receive_drop_total"),
    ("packets_write_total", "transmit_packets_total"),
    ("packets_write_failed_total", "transmit_errs_total"),
    ("packets_write_dropped_total", "transmit_drop_total"),
]
# the last: how far off, beside the difference of our two readings
GAUGES = [
    ("host_load_average{period=1m}", "node_load1", 0),
    ("host_load_average{period=5m}", "node_load5", 0),
    ("host_load_average{period=15m}", "node_load15", 0),
    ("host_memory_total_bytes", "node_memory_MemTotal_bytes", 0),
    ("host_memory_free_bytes", "node_memory_MemFree_bytes", 4 * MIB),
    ("host_memory_available_bytes", "node_memory_MemAvailable_bytes", 4 * MIB),
    ("host_memory_buffers_bytes", "node_memory_Buffers_bytes", 64 * KIB),
    ("host_memory_cached_bytes", "node_memory_Cached_bytes", 2 * MIB),
    ("host_memory_dirty_bytes", "node_memory_Dirty_bytes", 256 * KIB),
    ("host_memory_writeback_bytes", "node_memory_Writeback_bytes", 256 * KIB),
    ("host_memory_anonymous_bytes", "node_memory_AnonPages_bytes", 2 * MIB),
    ("host_memory_mapped_bytes", "node_memory_Mapped_bytes", MIB),
    ("host_memory_shared_bytes", "node_memory_Shmem_bytes", 64 * KIB),
    ("host_memory_slab_bytes", "node_memory_Slab_bytes", MIB),
    ("host_memory_slab_reclaimable_bytes", "node_memory_SReclaimable_bytes", MIB),
    ("host_memory_committed_bytes", "node_memory_Committed_AS_bytes", 8 * MIB),
    ("host_memory_commit_limit_bytes", "node_memory_CommitLimit_bytes", 0),
    ("host_swap_total_bytes", "node_memory_SwapTotal_bytes", 0),
    ("host_swap_free_bytes", "node_memory_SwapFree_bytes", MIB),
    ("host_tcp_connections_established", "node_netstat_Tcp_CurrEstab", 2),
    ("host_tcp_sockets_in_use", "node_sockstat_TCP_inuse", 2),
    ("host_tcp_sockets_orphaned", "node_sockstat_TCP_orphan", 1),
    ("host_tcp_sockets_time_wait", "node_sockstat_TCP_tw", 4),
    ("host_tcp_sockets_allocated", "node_sockstat_TCP_alloc", 4),
    ("host_tcp_sockets_memory_bytes", "node_sockstat_TCP_mem_bytes", 16 * PAGE),
]
MOUNTS = [
    ("space_total_bytes", "size_bytes", 0),
    ("space_free_bytes", "free_bytes", 2 * MIB),
    ("space_available_bytes", "avail_bytes", 2 * MIB),
    ("files_possible", "files", 0),
    ("files_free", "files_free", 50),
    ("read_only", "readonly", 0),
]


class Exporter(NodeExporter):
    """node_exporter with everything that we have too."""

    def command(self):
        collectors = ("cpu", "loadavg", "meminfo", "vmstat", "diskstats", "filesystem", "netdev",
                      "netstat", "pressure", "stat", "sockstat")
        return [harness.SERVERS / "prometheus-node-exporter", "--collector.disable-defaults",
                *[f"--collector.{name}" for name in collectors], "--collector.vmstat.fields=.*",
                "--collector.netstat.fields=.*", "--collector.netdev.device-exclude=^$",
                f"--web.listen-address=127.0.0.1:{self.port}"]


class Node(Program):
    """scrape_program with collectors; each page reads everything anew."""

    def __init__(self, place, groups="on"):
        self.port = free_port()
        super().__init__(place, "scrape_program",
                         f"prometheus=127.0.0.1:{self.port},system={groups},system.interval=10ms,"
                         "system.slow-interval=10ms,prometheus.windows=off")
        self.url = f"http://127.0.0.1:{self.port}"

    def page(self):
        with harness.OPENER.open(f"{self.url}/metrics", timeout=harness.ANSWER_S) as answer:
            return samples(answer.read().decode("utf-8"))


def samples(text):
    """{(name, label pairs): value} of a page, without buckets."""
    found = {}
    for line in text.splitlines():
        match = SAMPLE.match(line)
        if match and not match[1].endswith("_bucket"):
            found[match[1], frozenset(LABEL.findall(match[2] or ""))] = float(match[3])
    return found


def key(text):
    """name{label=value,…} as a key of samples()."""
    name, _, labels = text.partition("{")
    pairs = [pair.split("=", 1) for pair in labels.rstrip("}").split(",") if pair]
    return name, frozenset((label, value) for label, value in pairs)


def values_of(page, name, label):
    return {dict(labels)[label] for found, labels in page if found == name}


class Comparison:
    """Pairs of figures, and which of them have fitted so far."""

    def __init__(self):
        self.open = {}
        self.fitted = {}
        self.absent = set()

    def look(self, ours, its, again):
        for what, low, value, high in self.pairs(ours, its, again):
            if low <= value <= high:
                self.fitted[what] = value
                self.open.pop(what, None)
            elif what not in self.fitted:
                self.open[what] = (low, value, high)

    def pairs(self, ours, its, again):
        """(what, lowest, its value in our unit, highest)"""
        self.absent = set()
        found = [*self.totals(ours, its, again), *self.processors(ours, its, again),
                 *self.devices(ours, its, again), *self.levels(ours, its, again)]
        return found

    def bracket(self, name, ours, again, value, off=0.0, width=False):
        key_ = key(name) if isinstance(name, str) else name
        if value is None or key_ not in ours or key_ not in again:
            self.absent.add(str(name))
            return []
        one, two = ours[key_], again[key_]
        off += abs(two - one) if width else 0
        # our page has the shortest number that is the same double, so has its
        off += 1e-9 * max(abs(one), abs(two))
        return [(str(name), min(one, two) - off, value, max(one, two) + off)]

    def totals(self, ours, its, again):
        found = []
        for name, other, factor in COUNTERS:
            value = its.get(key(other))
            found += self.bracket(name, ours, again, None if value is None else value * factor)
        faults = its.get(key("node_vmstat_pgfault")), its.get(key("node_vmstat_pgmajfault"))
        return found + self.bracket("host_page_faults_total{kind=minor}", ours, again,
                                    None if None in faults else faults[0] - faults[1])

    def processors(self, ours, its, again):
        found = []
        for mode in ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal"):
            # each processor's time is rounded down by itself
            value = sum(value for (name, labels), value in its.items()
                        if name == "node_cpu_seconds_total" and ("mode", mode) in labels)
            found += self.bracket(f"host_cpu_seconds_total{{mode={mode}}}", ours, again, value,
                                  TICK_S * (CPUS + 1))
        return found

    def devices(self, ours, its, again):
        found = []
        for pairs, prefix, other, label in (
                (DISKS, "host_storage_device_", "node_disk_", "device"),
                (INTERFACES, "host_network_", "node_network_", "interface")):
            first = prefix + pairs[0][0]
            for device in values_of(ours, first, label):
                for mine, theirs in pairs:
                    value = its.get((other + theirs, frozenset([("device", device)])))
                    found += self.bracket((prefix + mine, frozenset([(label, device)])), ours,
                                          again, value)
        return found

    def levels(self, ours, its, again):
        found = []
        for name, other, off in GAUGES:
            found += self.bracket(name, ours, again, its.get(key(other)), off, True)
        for mount in values_of(ours, "host_storage_mount_space_total_bytes", "mount"):
            for mine, theirs, off in MOUNTS:
                value = [value for (name, labels), value in its.items()
                         if name == f"node_filesystem_{theirs}" and ("mountpoint", mount) in labels]
                found += self.bracket((f"host_storage_mount_{mine}", frozenset([("mount", mount)])),
                                      ours, again, value[-1] if value else None, off, True)
        return found


def stir(place):
    """Some of what is counted: files written to the disk, and connections, also refused ones."""
    path = place.folder / "stirred"
    with open(path, "wb") as file:
        file.write(os.urandom(MIB))
        file.flush()
        os.fsync(file.fileno())
    with socket.socket() as refused:
        refused.connect_ex(("127.0.0.1", free_port()))
    path.unlink()


def compared(place, comparison, attempts=ATTEMPTS):
    """Compares until everything has fitted; our pages and its of the last attempt."""
    exporter = Exporter(place).start()
    node = Node(place)
    node.page()
    for _ in range(attempts):
        stir(place)
        ours, its, again = node.page(), samples(exporter.page()), node.page()
        comparison.look(ours, its, again)
        if not comparison.open:
            break
        time.sleep(0.3)
    return ours, its, again


def both_say_the_same(place):
    comparison = Comparison()
    compared(place, comparison)
    if comparison.open:
        raise Failure("\n     ".join(
            [f"{len(comparison.fitted)} figures fit, these do not:"]
            + [f"{what}: ours {low} to {high}, its {value}"
               for what, (low, value, high) in sorted(comparison.open.items())]))
    # what this machine's kernel does not have is absent in both; a typing error here would be too
    missing = {name for name in comparison.absent if "pressure" not in name and "oom" not in name}
    if missing:
        raise Failure(f"not in both: {sorted(missing)}")
    if len(comparison.fitted) < 70:
        raise Failure(f"only {len(comparison.fitted)} figures were compared")


def a_wrong_unit_or_field_would_be_noticed(place):
    good = Comparison()
    ours, its, again = compared(place, good)
    for factor in (1000, 1024, 8, 0.001, 1.05):
        bad = Comparison()
        bad.look(*[{name: value * (factor if name[0].startswith("host_") else 1)
                    for name, value in page.items()} if page is not its else page
                   for page in (ours, its, again)])
        # nothing times nothing is nothing; and memory that hardly anything is in may be off by more
        unseen = [what for what, value in bad.fitted.items()
                  if value > 1 and not any(word in what for word in
                                           ("memory", "sockets", "established", "swap", "files"))]
        if factor == 1.05:
            # what has grown by as much between our two pages cannot tell
            wide = {what for what, low, value, high in bad.pairs(ours, its, again)
                    if high - low > 0.04 * value}
            unseen = [what for what in unseen if bad.fitted[what] > 100 and what not in wide]
        if unseen:
            raise Failure(f"times {factor} still fits: {unseen}")


def the_process_itself_is_as_proc_has_it(place):
    node = Node(place, "process")
    node.page()
    pid = node.process.pid

    def proc():
        stat = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
        boot = re.search(r"btime (\d+)", pathlib.Path("/proc/stat").read_text())[1]
        hertz = os.sysconf("SC_CLK_TCK")
        return {"process_threads": int(stat[17]), "process_virtual_memory_bytes": int(stat[20]),
                "process_start_time_seconds": int(boot) + int(stat[19]) / hertz,
                "process_cpu_seconds_total": (int(stat[11]) + int(stat[12])) / hertz,
                "process_open_fds": len(os.listdir(f"/proc/{pid}/fd"))}

    off = {"process_start_time_seconds": 1.5, "process_cpu_seconds_total": 3 * TICK_S,
           "process_open_fds": 3, "process_threads": 3, "process_virtual_memory_bytes": 80 * MIB}
    before, page, after = proc(), node.page(), proc()
    for name, allowed in off.items():
        found = page[name, frozenset()]
        low, high = sorted((before[name], after[name]))
        if not low - allowed <= found <= high + allowed:
            raise Failure(f"{name}: {found}, and in /proc {low} to {high}")


def used_in(group):
    """Seconds of processor time that a group says it has used."""
    stat = dict(line.split() for line in (group / "cpu.stat").read_text().splitlines())
    return int(stat["usage_usec"]) / 1e6


def bracketed(node, series, group):
    """The value of a series, and what the group had used before and after that was asked for."""
    low = used_in(group)
    value = node.page()[series]
    return value, low, used_in(group)


def a_group_of_its_own(place):
    """A real control group, where this may be made; its processor time is that of its process."""
    roots = [root for root in UNIFIED if (root / "cgroup.controllers").exists()]
    if not roots:
        raise Skip("no control groups of version 2 are mounted where they usually are")
    group = roots[0] / f"crest-test-{os.getpid()}"
    try:
        group.mkdir()
    except OSError as error:
        raise Skip(f"{group} cannot be made: {error.strerror}") from error
    try:
        node = Node(place, "cgroup:process")
        total = ("cgroup_cpu_seconds_total", frozenset())
        before = wait_for("the group's first collection", lambda: node.page().get(total))
        (group / "cgroup.procs").write_text(str(node.process.pid))
        node.page()     # counters go on from where the group stands when the move is noticed
        moved, low, high = bracketed(node, total, group)
        if moved < before:
            raise Failure(f"{before} before the move, {moved} after it")
        node.do("spin")
        wait_for("processor time to tell something by", lambda: used_in(group) > high + 0.2)
        node.do("still")
        for _ in range(ATTEMPTS):   # a busy machine may delay a collection
            now, now_low, now_high = bracketed(node, total, group)
            if now_low - high <= now - moved <= now_high - low:
                break
        else:
            raise Failure(f"grown by {now - moved}, and the group used from {now_low - high} to "
                          f"{now_high - low}")
        if now_low - high < 0.1:
            raise Failure(f"only {now_low - high} s were spun, which tells nothing")
        page = node.page()
        waited = ("cgroup_pressure_seconds_total",
                  frozenset([("resource", "cpu"), ("kind", "some")]))
        if (group / "cpu.pressure").exists() and waited not in page:
            raise Failure("no pressure of the group")
        node.leave()
    finally:
        for _ in range(50):
            try:
                group.rmdir()
                break
            except OSError:
                time.sleep(0.1)


if __name__ == "__main__":
    harness.main([both_say_the_same, a_wrong_unit_or_field_would_be_noticed,
                  the_process_itself_is_as_proc_has_it, a_group_of_its_own],
                 servers=("prometheus-node-exporter",))
