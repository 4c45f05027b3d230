/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kernel knows of a TCP connection. See crest_tcp_info_read in <crest/probe.h>; watching
 * one is probe_socket.c.
 *
 * The kernel's structure has grown over the years, and the kernel copies as much as it has. So a
 * field is only read when the returned length covers it.
 */
#define _GNU_SOURCE
#include <crest/probe.h>

#include "base/error.h"
#include "base/sync.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>

/* The kernel's value for "not measured yet". */
#define TCP_INFO_NO_RTT UINT32_MAX

/* The kernel's structure, as far as it is read here. Its own header and the C library's cannot both
 * be included, and the library's ends at total_retrans. */
typedef struct tcp_info_kernel {
    uint8_t state, ca_state, retransmits_now, probes, backoff, options, scales, flags;
    uint32_t rto, ato, snd_mss, rcv_mss;
    uint32_t unacked, sacked, lost, retrans, fackets;
    uint32_t last_data_sent, last_ack_sent, last_data_recv, last_ack_recv;
    uint32_t pmtu, rcv_ssthresh, rtt, rttvar, snd_ssthresh, snd_cwnd, advmss, reordering;
    uint32_t rcv_rtt, rcv_space, total_retrans;
    uint64_t pacing_rate, max_pacing_rate, bytes_acked, bytes_received; /* 4.1 */
    uint32_t segs_out, segs_in;
    uint32_t notsent_bytes, min_rtt, data_segs_in, data_segs_out; /* 4.6 */
    uint64_t delivery_rate, busy_time, rwnd_limited, sndbuf_limited;
    uint32_t delivered, delivered_ce; /* 4.18 */
} tcp_info_kernel;

_Static_assert(offsetof(tcp_info_kernel, total_retrans) ==
                   offsetof(struct tcp_info, tcpi_total_retrans),
               "as the C library has it");
_Static_assert(offsetof(tcp_info_kernel, pacing_rate) == 104 &&
                   offsetof(tcp_info_kernel, min_rtt) == 148 &&
                   offsetof(tcp_info_kernel, delivered) == 192,
               "as the kernel has it");

/* Whether the kernel returned the field. */
#define TCP_INFO_HAS(length, field)                                                                \
    ((length) >= offsetof(tcp_info_kernel, field) + sizeof((tcp_info_kernel *)0)->field)

static crest_status tcp_info_refuse(int fd, int failure, crest_error *error)
{
    /* ENOTSOCK: a file; EOPNOTSUPP and ENOPROTOOPT: another kind of socket */
    crest_status status =
        failure == EBADF || failure == ENOTSOCK || failure == EOPNOTSUPP || failure == ENOPROTOOPT
            ? CREST_INVALID_ARGUMENT
            : CREST_SYSTEM;
    if (error == NULL)
        return status;
    return crest_error_set(error, status,
                           "asking the kernel about descriptor %d as a TCP socket: "
                           "%s",
                           fd, strerror(failure));
}

crest_status crest_tcp_info_read(int fd, crest_tcp_info *info, crest_error *error)
{
    tcp_info_kernel kernel;
    socklen_t length = sizeof kernel;
    int before = errno;
    memset(info, 0, sizeof *info);
    memset(&kernel, 0, sizeof kernel);
    if (error != NULL)
        crest_error_clear(error);
    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &kernel, &length) != 0) {
        int failure = errno;
        errno = before;
        return tcp_info_refuse(fd, failure, error);
    }
    info->state = kernel.state;
    info->rtt_ns = kernel.rtt * CREST_NS_PER_US;
    info->rtt_variation_ns = kernel.rttvar * CREST_NS_PER_US;
    info->last_ack_ns = kernel.last_ack_recv * CREST_NS_PER_MS;
    info->retransmits = kernel.total_retrans;
    info->unacknowledged = kernel.unacked;
    info->lost = kernel.lost;
    info->congestion_window = kernel.snd_cwnd;
    info->has_bytes = TCP_INFO_HAS(length, bytes_received);
    if (info->has_bytes) {
        info->bytes_acknowledged = kernel.bytes_acked;
        info->bytes_received = kernel.bytes_received;
    }
    info->has_rtt_least = TCP_INFO_HAS(length, min_rtt) && kernel.min_rtt != TCP_INFO_NO_RTT;
    if (info->has_rtt_least)
        info->rtt_least_ns = kernel.min_rtt * CREST_NS_PER_US;
    info->has_delivered = TCP_INFO_HAS(length, delivered);
    if (info->has_delivered)
        info->delivered = kernel.delivered;
    return CREST_OK;
}
