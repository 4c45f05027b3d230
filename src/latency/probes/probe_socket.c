/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Watching a TCP socket that belongs to the node: what the kernel knows of it, at intervals. See
 * crest_probe_socket in <crest/probe.h>; one reading is tcp_info.c's.
 *
 * A descriptor may be another connection's by now. So the probe asks for the socket's identity
 * before and after it reads the figures. If it is the registered one both times, the figures are
 * the socket's.
 */
#define _GNU_SOURCE
#include "base/error.h"
#include "latency/probes/prober.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

/* The kernel's numbers of states, as in <netinet/tcp.h>, which <linux/tcp.h> does not go with. */
#define SOCKET_TCP_CLOSE 7u
#define SOCKET_TCP_LISTEN 10u

/* Readings are at multiples of this part of the interval. */
#define SOCKET_GRID 20u

#ifndef SO_COOKIE
#define SO_COOKIE 57
#endif

/* ---- which socket it is ---- */

/* 0, or an error number. */
static int socket_identity(int fd, int by_inode, uint64_t *identity)
{
    struct stat status;
    socklen_t length = sizeof *identity;
    if (!by_inode)
        return getsockopt(fd, SOL_SOCKET, SO_COOKIE, identity, &length) != 0 ? errno : 0;
    if (fstat(fd, &status) != 0)
        return errno;
    *identity = S_ISSOCK(status.st_mode) ? status.st_ino : 0;
    return 0;
}

/* Reads the figures, if the socket is still the registered one; otherwise why not, as the label
 * says it. */
static const char *socket_read(const crest_probe_socket_part *part, crest_tcp_info *info)
{
    uint64_t identity;
    crest_status status = CREST_OK;
    for (int look = 0; look < 2; look++) {
        int failed = socket_identity(part->fd, part->by_inode, &identity);
        if (failed)
            return failed == EBADF ? "closed" : "replaced";
        if (identity != part->identity)
            return "replaced";
        if (look == 0)
            status = crest_tcp_info_read(part->fd, info, NULL);
    }
    return status == CREST_OK ? NULL : "closed";
}

/* ---- recording ---- */

/* Whether the kernel measured since the last reading. It measures when segments are acknowledged;
 * where it does not count those, any acknowledgement may have been a measurement. */
static int socket_has_news(const crest_probe *probe, const crest_tcp_info *info)
{
    const crest_tcp_info *last = &probe->part.socket.last;
    if (info->rtt_ns == 0)
        return 0;
    if (info->has_delivered)
        return info->delivered != last->delivered;
    if (info->has_bytes)
        return info->bytes_acknowledged != last->bytes_acknowledged;
    return info->last_ack_ns < probe->interval_ns;
}

static void socket_add(crest_counter *counter, uint64_t now, uint64_t before)
{
    if (now > before)
        crest_counter_add(counter, (int64_t)(now - before));
}

static void socket_record(crest_probe *probe, const crest_tcp_info *info, int news)
{
    crest_probe_socket_part *part = &probe->part.socket;
    if (news) {
        crest_histogram_record(part->rtt, (int64_t)info->rtt_ns);
        crest_gauge_set(part->variation, (double)info->rtt_variation_ns);
        if (info->has_rtt_least)
            crest_gauge_set(part->least, (double)info->rtt_least_ns);
        crest_probe_answered(probe, info->rtt_ns);
    }
    crest_gauge_set(part->unacknowledged, info->unacknowledged);
    crest_gauge_set(part->lost, info->lost);
    crest_gauge_set(part->window, info->congestion_window);
    /* the count begins again at 2^32 */
    socket_add(part->retransmits, (uint32_t)(info->retransmits - part->last.retransmits), 0);
    if (info->has_bytes) {
        socket_add(part->acknowledged, info->bytes_acknowledged, part->last.bytes_acknowledged);
        socket_add(part->received, info->bytes_received, part->last.bytes_received);
    }
    part->last = *info;
}

static void socket_release(crest_probe *probe)
{
    crest_probe_socket_part *part = &probe->part.socket;
    crest_histogram_release(part->rtt);
    crest_gauge_release(part->least);
    crest_gauge_release(part->variation);
    crest_gauge_release(part->unacknowledged);
    crest_gauge_release(part->lost);
    crest_gauge_release(part->window);
    crest_counter_release(part->retransmits);
    crest_counter_release(part->acknowledged);
    crest_counter_release(part->received);
}

static void socket_end(crest_probe *probe, const char *cause)
{
    crest_probe_socket_part *part = &probe->part.socket;
    probe->state.ended = 1;
    probe->wake_ns = CREST_PROBE_NEVER;
    crest_error_set(&probe->state.last_error, CREST_NOT_FOUND,
                    "the socket of %s, descriptor %d, is %s; the probe has ended", probe->peer,
                    part->fd,
                    strcmp(cause, "replaced") == 0 ? "no longer this one: it was closed, and the "
                                                     "number is another's now"
                                                   : cause);
    crest_counter_inc(crest_counter_family_get(&part->ended, &cause, 1));
    if (!crest_probe_shares(probe))
        socket_release(probe);
}

static void socket_look(crest_probe *probe)
{
    crest_tcp_info info;
    const char *cause = socket_read(&probe->part.socket, &info);
    probe->state.tries++;
    if (cause == NULL) {
        probe->state.socket_state = info.state;
        socket_record(probe, &info, socket_has_news(probe, &info));
        if (info.state == SOCKET_TCP_CLOSE)
            cause = "disconnected";
    }
    if (cause != NULL)
        socket_end(probe, cause);
}

/* ---- the probe ---- */

static void socket_step(crest_probe *probe, uint64_t now_ns, uint64_t ready_ns, int ready)
{
    (void)ready_ns;
    (void)ready;
    crest_prober_next_point(probe, now_ns);
    probe->wake_ns = probe->due_ns;
    socket_look(probe);
}

static void socket_stop(crest_probe *probe)
{
    if (!probe->state.ended)
        socket_look(probe);
}

static const crest_probe_work socket_work = {
    .step = socket_step, .stop = socket_stop, .release = socket_release};

static crest_status socket_series(crest_probe *probe)
{
    static const char *const keys[] = {"cause"};
    crest_probe_socket_part *part = &probe->part.socket;
    crest_status status = CREST_OK, found;
    part->rtt = crest_probe_histogram(
        probe, "socket.rtt", "The kernel's smoothed round-trip time of a connection.", &status);
    part->least = crest_probe_gauge(probe, "socket.rtt-least", "The kernel's least of them.",
                                    CREST_NANOSECONDS, &status);
    part->variation = crest_probe_gauge(probe, "socket.rtt-variation", "Their mean deviation.",
                                        CREST_NANOSECONDS, &status);
    part->unacknowledged = crest_probe_gauge(probe, "socket.segments-unacknowledged",
                                             "Segments under way.", CREST_NONE, &status);
    part->lost =
        crest_probe_gauge(probe, "socket.segments-lost",
                          "Of these, held for lost and not sent again yet.", CREST_NONE, &status);
    part->window = crest_probe_gauge(probe, "socket.congestion-window",
                                     "Segments that may be under way.", CREST_NONE, &status);
    part->retransmits = crest_probe_counter(probe, "socket.retransmits", "Segments sent again.",
                                            CREST_NONE, &status);
    part->acknowledged = crest_probe_counter(probe, "socket.data-acknowledged",
                                             "Sent, and acknowledged.", CREST_BYTES, &status);
    part->received = crest_probe_counter(probe, "socket.data-received",
                                         "Received by the kernel, in order.", CREST_BYTES, &status);
    char text[CREST_PROBE_NAME_BYTES];
    crest_metric_options options = crest_probe_metric(
        probe, "sockets-ended", "Probes of sockets that ended by themselves.", CREST_NONE, text);
    part->ended = crest_counter_family_new(probe->registry, &options, keys, 1, &found);
    return status != CREST_OK ? status : found;
}

/* Checks that it is a socket to watch, and notes its identity and its counts. */
static crest_status socket_identify(crest_probe *probe, crest_error *error)
{
    crest_probe_socket_part *part = &probe->part.socket;
    crest_status status = crest_tcp_info_read(part->fd, &part->last, error);
    if (status != CREST_OK)
        return status;
    int failed = socket_identity(part->fd, 0, &part->identity);
    if (failed == ENOPROTOOPT) {
        part->by_inode = 1;
        failed = socket_identity(part->fd, 1, &part->identity);
    }
    if (failed)
        return crest_error_set(error, CREST_SYSTEM,
                               "asking the kernel which socket descriptor %d is: %s", part->fd,
                               strerror(failed));
    if (part->last.state == SOCKET_TCP_LISTEN || part->last.state == SOCKET_TCP_CLOSE)
        return crest_error_set(
            error, CREST_INVALID_ARGUMENT,
            "the socket of %s, descriptor %d, %s: a probe is for a connection", probe->peer,
            part->fd, part->last.state == SOCKET_TCP_LISTEN ? "listens" : "is not connected");
    return CREST_OK;
}

crest_probe *crest_probe_socket(const char *peer, int fd, const crest_probe_options *options,
                                crest_error *error)
{
    crest_error unwanted;
    if (error == NULL)
        error = &unwanted;
    crest_error_clear(error);
    crest_probe *probe = crest_probe_new(CREST_PROBE_SOCKET, &socket_work, peer, options, error);
    if (probe == NULL)
        return NULL;
    probe->part.socket.fd = fd;
    probe->jitter = 0;
    if (probe->interval_ns == 0)
        crest_error_set(error, CREST_INVALID_ARGUMENT,
                        "a socket of %s cannot be probed by hand: it needs an interval",
                        probe->peer);
    if (error->status == CREST_OK)
        socket_identify(probe, error);
    if (error->status != CREST_OK)
        return crest_probe_refuse(probe, error);
    crest_status status = socket_series(probe);
    if (status != CREST_OK)
        crest_error_set(error, status, "a probe of %s cannot have its metrics %s.socket…: %s", peer,
                        probe->prefix, crest_status_text(status));
    probe->point_ns = probe->wake_ns = crest_prober_now_ns();
    /* aligned, so that many sockets are read at few wakings */
    probe->point_ns -= probe->point_ns % (probe->interval_ns / SOCKET_GRID);
    crest_tcp_info *last = &probe->part.socket.last;
    if (last->last_ack_ns < probe->interval_ns)
        last->delivered--; /* measured a moment ago: the first reading, at once, has news */
    if (error->status != CREST_OK || crest_prober_add(probe, error) != CREST_OK)
        return crest_probe_refuse(probe, error);
    return probe;
}
