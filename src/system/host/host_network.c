/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The collectors `network`, of /proc/net/dev, and `tcp`, of /proc/net/snmp, netstat and sockstat.
 * They see the network namespace of the process. Single connections are <crest/probe.h>'s.
 *
 * The loopback interface is included: what a node tells its own database is traffic too.
 */
#include "names/globs.h"
#include "system/collect_fault.h"
#include "system/parse/device_text.h"

#include <unistd.h>

/* ---- interfaces ---- */

#define NETWORK_FIGURE(canonical, text, unit_)                                                     \
    {                                                                                              \
        .kind = CREST_KIND_COUNTER,                                                                \
        .options = {.name = canonical, .description = text, .unit = unit_},                        \
    }

static const crest_figure network_figures[CREST_INTERFACE_FIELDS] = {
    [CREST_INTERFACE_READ_BYTES] =
        NETWORK_FIGURE("host.network.data.read", "Data received.", CREST_BYTES),
    [CREST_INTERFACE_READ_PACKETS] =
        NETWORK_FIGURE("host.network.packets.read.total", "Packets received.", CREST_NONE),
    [CREST_INTERFACE_READ_FAILED] = NETWORK_FIGURE("host.network.packets.read.failed",
                                                   "Packets received with an error.", CREST_NONE),
    [CREST_INTERFACE_READ_DROPPED] = NETWORK_FIGURE(
        "host.network.packets.read.dropped", "Packets received and thrown away.", CREST_NONE),
    [CREST_INTERFACE_WRITTEN_BYTES] =
        NETWORK_FIGURE("host.network.data.write", "Data sent.", CREST_BYTES),
    [CREST_INTERFACE_WRITTEN_PACKETS] =
        NETWORK_FIGURE("host.network.packets.write.total", "Packets sent.", CREST_NONE),
    [CREST_INTERFACE_WRITE_FAILED] = NETWORK_FIGURE("host.network.packets.write.failed",
                                                    "Packets not sent for an error.", CREST_NONE),
    [CREST_INTERFACE_WRITE_DROPPED] = NETWORK_FIGURE(
        "host.network.packets.write.dropped", "Packets thrown away instead of sent.", CREST_NONE),
};

static void network_collect(crest_collect *collect)
{
    crest_text text;
    crest_interface_row row;
    crest_fault fault = {0};
    if (!crest_collect_read(collect, CREST_ROOT_PROC, "net/dev", 0, &text))
        return;
    while (crest_net_dev_next(&text, &row, &fault)) {
        if (crest_globs_match(collect->settings->interfaces_exclude, row.name))
            continue;
        crest_place *place = crest_collect_device(collect, row.name);
        for (unsigned field = 0; field < CREST_INTERFACE_FIELDS && place != NULL; field++)
            crest_figure_total(place, field, row.values[field]);
    }
    crest_collect_blame(collect, "/proc/net/dev", &fault);
}

const crest_collector_kind crest_network_collector = {
    .name = "network",
    .group = "network",
    .collect = network_collect,
    .device_key = "interface",
    .device_figures = network_figures,
    .device_figure_count = CREST_FIGURES(network_figures),
};

/* ---- TCP ---- */

enum {
    NETWORK_TCP = 0,
    NETWORK_MORE = NETWORK_TCP + CREST_TCP_KEYS,
    NETWORK_SOCKETS = NETWORK_MORE + CREST_TCP_MORE_KEYS
};

#define NETWORK_TCP_FIGURE(which, canonical, text, ...)                                            \
    {                                                                                              \
        .kind = which, .options = {.name = canonical, .description = text, __VA_ARGS__},           \
        .width = CREST_WIDTH_WORD,                                                                 \
    }
#define NETWORK_TCP_COUNTER(canonical, text) NETWORK_TCP_FIGURE(CREST_KIND_COUNTER, canonical, text)

static const crest_figure network_tcp_figures[] = {
    [CREST_TCP_ACTIVE_OPENS] = NETWORK_TCP_COUNTER("host.tcp.opens.active", "Connections dialled."),
    [CREST_TCP_PASSIVE_OPENS] =
        NETWORK_TCP_COUNTER("host.tcp.opens.passive", "Connections that others dialled."),
    [CREST_TCP_ATTEMPTS_FAILED] =
        NETWORK_TCP_COUNTER("host.tcp.opens.failed", "Connections that did not come about."),
    [CREST_TCP_RESETS_SEEN] =
        NETWORK_TCP_COUNTER("host.tcp.connections.reset", "Connections that ended in a reset."),
    [CREST_TCP_ESTABLISHED] = NETWORK_TCP_FIGURE(
        CREST_KIND_RANGE_SAMPLER, "host.tcp.connections.established", "Connections that stand."),
    [CREST_TCP_SEGMENTS_READ] =
        NETWORK_TCP_COUNTER("host.tcp.segments.read", "Segments received, bad ones too."),
    [CREST_TCP_SEGMENTS_WRITTEN] = NETWORK_TCP_COUNTER(
        "host.tcp.segments.write", "Segments sent, retransmitted ones not included."),
    [CREST_TCP_RETRANSMITTED] =
        NETWORK_TCP_COUNTER("host.tcp.segments.retransmitted", "Segments sent again."),
    [CREST_TCP_READ_FAILED] =
        NETWORK_TCP_COUNTER("host.tcp.segments.read.failed", "Segments received with an error."),
    [CREST_TCP_RESETS_SENT] =
        NETWORK_TCP_COUNTER("host.tcp.resets.sent", "Resets sent, to end or refuse connections."),
    [NETWORK_MORE + CREST_TCP_LISTEN_OVERFLOWS] =
        NETWORK_TCP_COUNTER("host.tcp.listen.overflows",
                            "Connections dropped because the program did not accept them in time."),
    [NETWORK_MORE + CREST_TCP_LISTEN_DROPS] = NETWORK_TCP_COUNTER(
        "host.tcp.listen.drops", "Connections dropped before they were accepted, overflows too."),
    [NETWORK_MORE + CREST_TCP_TIMEOUTS] =
        NETWORK_TCP_COUNTER("host.tcp.timeouts", "Retransmissions because nothing came back."),
    [NETWORK_MORE + CREST_TCP_SYN_RETRANSMITTED] = NETWORK_TCP_COUNTER(
        "host.tcp.opens.retransmitted", "Dials repeated because nothing came back."),
    [NETWORK_SOCKETS + CREST_SOCKETS_IN_USE] =
        NETWORK_TCP_FIGURE(CREST_KIND_RANGE_SAMPLER, "host.tcp.sockets.in-use",
                           "TCP sockets that are open, listening ones too."),
    [NETWORK_SOCKETS + CREST_SOCKETS_ORPHANED] = NETWORK_TCP_FIGURE(
        CREST_KIND_GAUGE, "host.tcp.sockets.orphaned", "TCP sockets that no process has any more."),
    [NETWORK_SOCKETS + CREST_SOCKETS_TIME_WAIT] =
        NETWORK_TCP_FIGURE(CREST_KIND_GAUGE, "host.tcp.sockets.time-wait",
                           "Connections that are over but remembered."),
    [NETWORK_SOCKETS + CREST_SOCKETS_ALLOCATED] = NETWORK_TCP_FIGURE(
        CREST_KIND_GAUGE, "host.tcp.sockets.allocated", "TCP sockets that take memory."),
    [NETWORK_SOCKETS + CREST_SOCKETS_PAGES] =
        NETWORK_TCP_FIGURE(CREST_KIND_GAUGE, "host.tcp.sockets.memory",
                           "Memory of TCP's buffers, of all namespaces.", .unit = CREST_BYTES),
};

/* Gives the found values, each by the kind of its figure. */
static void network_tcp_give(crest_collect *collect, unsigned first, unsigned count,
                             const uint64_t *values, uint64_t found)
{
    for (unsigned key = 0; key < count; key++) {
        unsigned figure = first + key;
        if (!crest_table_has(found, key))
            continue;
        switch (network_tcp_figures[figure].kind) {
        case CREST_KIND_COUNTER: crest_figure_total(collect->own, figure, values[key]); break;
        case CREST_KIND_GAUGE: crest_figure_gauge(collect->own, figure, (double)values[key]); break;
        default:
            crest_collect_level(collect, collect->own, figure, "/proc/net", values[key]);
            break;
        }
    }
}

static void network_sockets(crest_collect *collect)
{
    crest_text text;
    crest_fault fault = {0};
    uint64_t values[CREST_SOCKETS_KEYS];
    if (!crest_collect_read(collect, CREST_ROOT_PROC, "net/sockstat", CREST_READ_OPTIONAL, &text))
        return;
    uint64_t found = crest_sockstat_parse(text, values, &fault);
    crest_collect_blame(collect, "/proc/net/sockstat", &fault);
    long page = sysconf(_SC_PAGESIZE);
    uint64_t pages = crest_table_has(found, CREST_SOCKETS_PAGES) ? values[CREST_SOCKETS_PAGES] : 0;
    if (page <= 0 || __builtin_mul_overflow(pages, (uint64_t)page, &values[CREST_SOCKETS_PAGES]))
        found &= ~(UINT64_C(1) << CREST_SOCKETS_PAGES);
    network_tcp_give(collect, NETWORK_SOCKETS, CREST_SOCKETS_KEYS, values, found);
}

static void network_tcp_collect(crest_collect *collect)
{
    crest_text text;
    crest_fault fault = {0}, more_fault = {0};
    uint64_t values[CREST_TCP_KEYS], more[CREST_TCP_MORE_KEYS];
    if (crest_collect_read(collect, CREST_ROOT_PROC, "net/snmp", 0, &text)) {
        uint64_t found = crest_snmp_parse(text, values, &fault);
        network_tcp_give(collect, NETWORK_TCP, CREST_TCP_KEYS, values, found);
        crest_collect_blame(collect, "/proc/net/snmp", &fault);
    }
    if (crest_collect_read(collect, CREST_ROOT_PROC, "net/netstat", CREST_READ_OPTIONAL, &text)) {
        uint64_t found = crest_netstat_parse(text, more, &more_fault);
        network_tcp_give(collect, NETWORK_MORE, CREST_TCP_MORE_KEYS, more, found);
        crest_collect_blame(collect, "/proc/net/netstat", &more_fault);
    }
    network_sockets(collect);
}

const crest_collector_kind crest_tcp_collector = {
    .name = "tcp",
    .group = "tcp",
    .collect = network_tcp_collect,
    .figures = network_tcp_figures,
    .figure_count = CREST_FIGURES(network_tcp_figures),
};
