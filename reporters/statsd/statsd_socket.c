/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packets to a StatsD server. See statsd_socket.h.
 */
#define _GNU_SOURCE
#include "statsd/statsd_socket.h"
#include "statsd/statsd_resolve.h"

#include <crest/clock.h>
#include <crest/reporter.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/un.h>
#include <unistd.h>

#define STATSD_SOCKET_NS_PER_MS UINT64_C(1000000)
#define STATSD_SOCKET_NS_PER_S UINT64_C(1000000000)
/* How often to poll a queue that does not report when it has emptied. */
#define STATSD_SOCKET_LOOK_NS (2 * STATSD_SOCKET_NS_PER_MS)
/* Input from a server, though none should send any: so much is discarded before each report. The
 * rest stays queued, which holds up the server only. */
#define STATSD_SOCKET_SAID_BYTES 65536u
#define STATSD_SOCKET_SAID_TURNS 16u
/* Unacknowledged bytes of a TCP connection, about: what a lost connection leaves in doubt. */
#define STATSD_SOCKET_SEND_BYTES 262144

const char *const crest_statsd_cause_names[CREST_STATSD_CAUSES] = {"refused", "unreachable",
                                                                   "timed-out", "io"};

typedef struct statsd_connection {
    crest_statsd_url url;
    int fd; /* -1: none */
    int cancel_fd;
    int reconnected;   /* during this report already */
    uint64_t gap_ns;   /* between packets; 0: no pace */
    uint64_t ahead_ns; /* when the next packet would be due had there been no burst */
    uint64_t resolved_ns;
    crest_statsd_lookup *lookup; /* under way since an earlier report, or NULL */
    crest_statsd_addresses addresses;
    unsigned current; /* the address in use */
    const char *rest; /* of a packet that a TCP connection took a part of */
    size_t rest_length;
} statsd_connection;

crest_statsd_socket *crest_statsd_socket_new(const crest_statsd_url *url, unsigned rate,
                                             crest_error *error)
{
    crest_statsd_socket *to = calloc(1, sizeof *to);
    statsd_connection *inside = calloc(1, sizeof *inside);
    if (to == NULL || inside == NULL) {
        free(to);
        free(inside);
        crest_error_set(error, CREST_NO_MEMORY, "No memory for a StatsD reporter");
        return NULL;
    }
    to->inside = inside;
    inside->url = *url;
    inside->fd = -1;
    inside->gap_ns = rate != 0 ? STATSD_SOCKET_NS_PER_S / rate : 0;
    inside->cancel_fd = crest_reporter_descriptor(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (inside->cancel_fd >= 0)
        return to;
    crest_error_set(error, CREST_SYSTEM, "No file descriptor for a StatsD reporter: %s",
                    strerror(errno));
    crest_statsd_socket_free(to);
    return NULL;
}

/*
 * In order: npm's statsd ends with an unhandled error when a connection is reset. What the kernel
 * has taken is delivered even so, as long as the server lives.
 */
static void statsd_socket_close(statsd_connection *inside)
{
    if (inside->fd >= 0)
        close(inside->fd);
    inside->fd = -1;
    inside->rest_length = 0;
}

void crest_statsd_socket_free(crest_statsd_socket *to)
{
    if (to == NULL)
        return;
    statsd_socket_close(to->inside);
    crest_statsd_lookup_drop(to->inside->lookup);
    if (to->inside->cancel_fd >= 0)
        close(to->inside->cancel_fd);
    free(to->inside);
    free(to);
}

/* ---- failures ---- */

static crest_status statsd_socket_late(crest_statsd_socket *to, const char *doing,
                                       crest_error *error)
{
    to->cause = CREST_STATSD_TIMED_OUT;
    /* what a connection has taken may still arrive */
    if (!crest_statsd_socket_unsettled(to)) {
        to->offered = to->confirmed;
        statsd_socket_close(to->inside);
    }
    return crest_error_set(error, CREST_TIMED_OUT,
                           "%s %s was not done in time; the rest follows with the next report. Is "
                           "the server slow, or are there more series than statsd.rate allows?",
                           doing, to->inside->url.shown);
}

/* The cause of an errno. The next report looks the host up again and tries the next address. */
static crest_status statsd_socket_failed(crest_statsd_socket *to, const char *doing, int failed,
                                         crest_error *error)
{
    statsd_connection *inside = to->inside;
    crest_status status = CREST_UNREACHABLE;
    const char *advice = "is it running?";
    switch (failed) {
    case ECONNREFUSED:
    case ENOTCONN: to->cause = CREST_STATSD_REFUSED; break;
    case ENOENT:
    case EACCES:
    case EPERM:
    case EHOSTUNREACH:
    case ENETUNREACH:
    case ENETDOWN:
    case EADDRNOTAVAIL:
    case EPROTOTYPE:
        to->cause = CREST_STATSD_UNREACHABLE;
        advice = "is the address right, and may this program use it?";
        break;
    case EMSGSIZE:
        to->cause = CREST_STATSD_BROKEN;
        status = CREST_IO;
        advice = "choose smaller packets with statsd.packet";
        break;
    default:
        to->cause = CREST_STATSD_BROKEN;
        status = CREST_IO;
        advice = "the rest follows with the next report";
    }
    to->offered = to->confirmed;
    statsd_socket_close(inside);
    inside->resolved_ns = 0;
    inside->current++;
    return crest_error_set(error, status, "%s %s: %s; %s", doing, inside->url.shown,
                           strerror(failed), advice);
}

/* ---- connecting ---- */

static int statsd_socket_pending(int fd)
{
    int failed = 0;
    socklen_t size = sizeof failed;
    return getsockopt(fd, SOL_SOCKET, SO_ERROR, &failed, &size) == 0 ? failed : errno;
}

/* A new socket, connected; -1 and errno. */
static int statsd_socket_connect(statsd_connection *inside, const struct sockaddr *address,
                                 socklen_t length, uint64_t deadline_ns)
{
    int type = inside->url.transport == CREST_STATSD_TCP ? SOCK_STREAM : SOCK_DGRAM;
    int fd = crest_reporter_descriptor(
        socket(address->sa_family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (fd < 0)
        return -1;
    int failed = connect(fd, address, length) == 0 ? 0 : errno;
    if (failed == EINPROGRESS || failed == EINTR) {
        int ready = crest_statsd_wait(fd, POLLOUT, deadline_ns, inside->cancel_fd);
        failed = ready == 1 ? statsd_socket_pending(fd) : ETIMEDOUT;
    }
    int size = STATSD_SOCKET_SEND_BYTES, yes = 1;
    if (failed == 0 && type == SOCK_STREAM) {
        setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    }
    if (failed == 0)
        return fd;
    close(fd);
    errno = failed;
    return -1;
}

static crest_status statsd_socket_open_unix(crest_statsd_socket *to, uint64_t deadline_ns,
                                            crest_error *error)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    memcpy(address.sun_path, to->inside->url.path, sizeof to->inside->url.path);
    to->inside->fd = statsd_socket_connect(to->inside, (const struct sockaddr *)&address,
                                           sizeof address, deadline_ns);
    if (to->inside->fd >= 0)
        return CREST_OK;
    return statsd_socket_failed(to, "Connecting to", errno, error);
}

/* With more than one address: an empty line, which servers pass over, shows a port that is closed
 * before a packet is lost to it. */
static int statsd_socket_probe(statsd_connection *inside, int fd)
{
    if (inside->url.transport != CREST_STATSD_UDP || inside->addresses.count < 2)
        return 0;
    if (send(fd, "\n", 1, MSG_NOSIGNAL) < 0)
        return errno;
    crest_statsd_wait(fd, 0, crest_now() + CREST_STATSD_DOUBT_MS * STATSD_SOCKET_NS_PER_MS,
                      inside->cancel_fd);
    return statsd_socket_pending(fd);
}

/* One of the addresses, beginning with the address that served last. */
static crest_status statsd_socket_open_any(crest_statsd_socket *to, uint64_t deadline_ns,
                                           crest_error *error)
{
    statsd_connection *inside = to->inside;
    int failed = EADDRNOTAVAIL;
    for (unsigned i = 0; i < inside->addresses.count; i++) {
        inside->current %= inside->addresses.count;
        const crest_statsd_address *address = &inside->addresses.list[inside->current];
        int fd = statsd_socket_connect(inside, (const struct sockaddr *)&address->bytes,
                                       address->length, deadline_ns);
        failed = fd >= 0 ? statsd_socket_probe(inside, fd) : errno;
        if (failed == 0) {
            inside->fd = fd;
            return CREST_OK;
        }
        if (fd >= 0)
            close(fd);
        inside->current++;
    }
    if (failed == ETIMEDOUT)
        return statsd_socket_late(to, "Connecting to", error);
    return statsd_socket_failed(to, "Connecting to", failed, error);
}

/* Looks the host up again; a connection to an address that is no longer its own is closed. */
static crest_status statsd_socket_resolve(crest_statsd_socket *to, uint64_t deadline_ns,
                                          crest_error *error)
{
    statsd_connection *inside = to->inside;
    crest_statsd_addresses found;
    crest_statsd_address before = {.length = 0};
    if (inside->addresses.count != 0)
        before = inside->addresses.list[inside->current % inside->addresses.count];
    int type = inside->url.transport == CREST_STATSD_TCP ? SOCK_STREAM : SOCK_DGRAM;
    crest_status status =
        crest_statsd_resolve(inside->url.host, inside->url.port, type, deadline_ns,
                             inside->cancel_fd, &inside->lookup, &found, error);
    if (status != CREST_OK) {
        to->cause = status == CREST_TIMED_OUT ? CREST_STATSD_TIMED_OUT : CREST_STATSD_UNREACHABLE;
        return status;
    }
    inside->addresses = found;
    inside->resolved_ns = crest_now();
    for (unsigned i = 0; i < found.count; i++)
        if (found.list[i].length == before.length &&
            memcmp(&found.list[i].bytes, &before.bytes, before.length) == 0) {
            inside->current = i;
            return CREST_OK;
        }
    inside->current = 0;
    statsd_socket_close(inside);
    return CREST_OK;
}

/* A TCP connection that the server has closed takes one more packet before it says so. */
static void statsd_socket_check(statsd_connection *inside)
{
    if (inside->fd < 0 || inside->url.transport != CREST_STATSD_TCP)
        return;
    ssize_t got = 1;
    /* of a TCP connection MSG_TRUNC copies nothing */
    for (unsigned i = 0; i < STATSD_SOCKET_SAID_TURNS && got > 0; i++)
        got = recv(inside->fd, NULL, STATSD_SOCKET_SAID_BYTES, MSG_DONTWAIT | MSG_TRUNC);
    if (got > 0)
        return;
    if (got == 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR))
        statsd_socket_close(inside);
}

crest_status crest_statsd_socket_open(crest_statsd_socket *to, uint64_t deadline_ns,
                                      crest_error *error)
{
    statsd_connection *inside = to->inside;
    inside->reconnected = 0;
    statsd_socket_check(inside);
    if (inside->url.transport == CREST_STATSD_UNIX)
        return inside->fd >= 0 ? CREST_OK : statsd_socket_open_unix(to, deadline_ns, error);
    uint64_t now_ns = crest_now();
    /* a late error of an earlier report's packets says nothing of this one's */
    if (inside->fd >= 0 && statsd_socket_pending(inside->fd) != 0) {
        statsd_socket_close(inside);
        inside->resolved_ns = 0;
    }
    int old = inside->resolved_ns == 0 ||
              now_ns - inside->resolved_ns > CREST_STATSD_RESOLVE_S * STATSD_SOCKET_NS_PER_S;
    /* a TCP connection stays with its address */
    if (old && (inside->fd < 0 || inside->url.transport == CREST_STATSD_UDP)) {
        unsigned next = inside->current;
        int failed_before = inside->resolved_ns == 0;
        crest_status status = statsd_socket_resolve(to, deadline_ns, error);
        if (status != CREST_OK && (inside->fd < 0 || status == CREST_NO_MEMORY))
            return status;
        if (failed_before)
            inside->current = next;
    }
    return inside->fd >= 0 ? CREST_OK : statsd_socket_open_any(to, deadline_ns, error);
}

/* ---- sending ---- */

/* Waits for this packet's turn: 1, or 0 when the deadline is before it. */
static int statsd_socket_pace(statsd_connection *inside, uint64_t deadline_ns)
{
    if (inside->gap_ns == 0 || inside->url.transport != CREST_STATSD_UDP)
        return 1;
    uint64_t now_ns = crest_now(), burst_ns = CREST_STATSD_BURST * inside->gap_ns;
    if (inside->ahead_ns < now_ns)
        inside->ahead_ns = now_ns;
    uint64_t due_ns = inside->ahead_ns > burst_ns ? inside->ahead_ns - burst_ns : 0;
    if (due_ns > now_ns) {
        if (due_ns > deadline_ns)
            return 0;
        if (crest_statsd_wait(-1, 0, due_ns, inside->cancel_fd) != 0)
            return 0;
    }
    inside->ahead_ns += inside->gap_ns;
    return 1;
}

static void statsd_socket_confirm_acked(crest_statsd_socket *to)
{
    int queued = 0;
    if (ioctl(to->inside->fd, TIOCOUTQ, &queued) != 0 || queued < 0)
        queued = 0;
    if (to->offered - to->confirmed > (uint64_t)queued)
        to->confirmed = to->offered - (uint64_t)queued;
}

static crest_status statsd_socket_send_stream(crest_statsd_socket *to, const char *bytes,
                                              size_t length, uint64_t deadline_ns,
                                              crest_error *error)
{
    statsd_connection *inside = to->inside;
    size_t whole = length;
    int begun = inside->rest_length != 0;
    while (length > 0) {
        ssize_t sent = send(inside->fd, bytes, length, MSG_NOSIGNAL);
        int failed = sent < 0 ? errno : 0;
        if (sent > 0) {
            to->offered += (size_t)sent;
            bytes += sent;
            length -= (size_t)sent;
        }
        statsd_socket_confirm_acked(to);
        if (failed == 0 || failed == EINTR)
            continue;
        if (failed != EAGAIN && failed != EWOULDBLOCK)
            return statsd_socket_failed(to, "Sending to", failed, error);
        if (crest_statsd_wait(inside->fd, POLLOUT, deadline_ns, inside->cancel_fd) != 1) {
            statsd_socket_confirm_acked(to);
            /* no byte of the packet was taken: it is not under way */
            inside->rest = bytes;
            inside->rest_length = begun || length < whole ? length : 0;
            return statsd_socket_late(to, "Sending to", error);
        }
    }
    inside->rest_length = 0;
    return CREST_OK;
}

/* Sends one datagram; 0, or what failed. */
static int statsd_socket_send_datagram(statsd_connection *inside, const void *bytes, size_t length,
                                       uint64_t deadline_ns)
{
    for (;;) {
        ssize_t sent = send(inside->fd, bytes, length, MSG_NOSIGNAL);
        if (sent >= 0)
            return 0;
        int failed = errno, ready = 1;
        if (failed == EAGAIN || failed == EWOULDBLOCK) {
            ready = crest_statsd_wait(inside->fd, POLLOUT, deadline_ns, inside->cancel_fd);
        } else if (failed == ENOBUFS) {
            /* the device's queue: no event reports room */
            uint64_t look_ns = crest_now() + STATSD_SOCKET_LOOK_NS;
            ready =
                look_ns < deadline_ns && crest_statsd_wait(-1, 0, look_ns, inside->cancel_fd) == 0;
        } else if (failed != EINTR) {
            return failed;
        }
        if (ready != 1)
            return ETIMEDOUT;
    }
}

/* The receiver has gone and may be back under the same path: retried once a report. */
static int statsd_socket_again(crest_statsd_socket *to, int failed, uint64_t deadline_ns)
{
    crest_error ignored;
    if (to->inside->url.transport != CREST_STATSD_UNIX || to->inside->reconnected ||
        (failed != ECONNREFUSED && failed != ENOTCONN && failed != ECONNRESET && failed != EPIPE))
        return 0;
    to->inside->reconnected = 1;
    statsd_socket_close(to->inside);
    return statsd_socket_open_unix(to, deadline_ns, &ignored) == CREST_OK;
}

crest_status crest_statsd_socket_send(crest_statsd_socket *to, const void *bytes, size_t length,
                                      uint64_t deadline_ns, crest_error *error)
{
    statsd_connection *inside = to->inside;
    int failed = 0;
    int in_time = statsd_socket_pace(inside, deadline_ns) && crest_now() < deadline_ns;
    if (inside->url.transport == CREST_STATSD_UDP) {
        if ((failed = statsd_socket_pending(inside->fd)))
            return statsd_socket_failed(to, "Sending to", failed, error);
        /* the previous packet has arrived, whether or not this one is due */
        if (!in_time)
            to->confirmed = to->offered;
    }
    if (!in_time)
        return statsd_socket_late(to, "Sending to", error);
    if (inside->url.transport == CREST_STATSD_TCP)
        return statsd_socket_send_stream(to, bytes, length, deadline_ns, error);
    failed = statsd_socket_send_datagram(inside, bytes, length, deadline_ns);
    if (failed != 0 && statsd_socket_again(to, failed, deadline_ns))
        failed = statsd_socket_send_datagram(inside, bytes, length, deadline_ns);
    /* this packet failed, unless the error answers an earlier one */
    if (failed != ECONNREFUSED || inside->url.transport == CREST_STATSD_UNIX)
        to->confirmed = to->offered;
    if (failed == ETIMEDOUT)
        return statsd_socket_late(to, "Sending to", error);
    if (failed != 0)
        return statsd_socket_failed(to, "Sending to", failed, error);
    to->offered += length;
    if (inside->url.transport == CREST_STATSD_UNIX)
        to->confirmed = to->offered;
    return CREST_OK;
}

static crest_status statsd_socket_settle_stream(crest_statsd_socket *to, uint64_t deadline_ns,
                                                crest_error *error)
{
    statsd_connection *inside = to->inside;
    for (;;) {
        int failed = statsd_socket_pending(inside->fd);
        statsd_socket_confirm_acked(to);
        if (to->confirmed == to->offered)
            return CREST_OK;
        if (failed != 0)
            return statsd_socket_failed(to, "Sending to", failed, error);
        uint64_t now_ns = crest_now(), look_ns = now_ns + STATSD_SOCKET_LOOK_NS;
        /* POLLHUP and POLLERR come unasked */
        int ready = now_ns < deadline_ns
                        ? crest_statsd_wait(inside->fd, 0, look_ns, inside->cancel_fd)
                        : -1;
        if (ready == -1)
            return statsd_socket_late(to, "Sending to", error);
    }
}

crest_status crest_statsd_socket_settle(crest_statsd_socket *to, uint64_t deadline_ns,
                                        crest_error *error)
{
    statsd_connection *inside = to->inside;
    if (to->confirmed == to->offered)
        return CREST_OK;
    if (inside->url.transport == CREST_STATSD_TCP)
        return statsd_socket_settle_stream(to, deadline_ns, error);
    uint64_t doubt_ns = crest_now() + CREST_STATSD_DOUBT_MS * STATSD_SOCKET_NS_PER_MS;
    crest_statsd_wait(inside->fd, 0, doubt_ns < deadline_ns ? doubt_ns : deadline_ns,
                      inside->cancel_fd);
    int failed = statsd_socket_pending(inside->fd);
    if (failed != 0)
        return statsd_socket_failed(to, "Sending to", failed, error);
    to->confirmed = to->offered;
    return CREST_OK;
}

int crest_statsd_socket_unsettled(const crest_statsd_socket *to)
{
    return to->inside->url.transport == CREST_STATSD_TCP && to->inside->fd >= 0 &&
           (to->offered != to->confirmed || to->inside->rest_length != 0);
}

crest_status crest_statsd_socket_resume(crest_statsd_socket *to, uint64_t deadline_ns,
                                        crest_error *error)
{
    crest_status status = CREST_OK;
    if (to->inside->rest_length != 0)
        status = statsd_socket_send_stream(to, to->inside->rest, to->inside->rest_length,
                                           deadline_ns, error);
    return status == CREST_OK ? crest_statsd_socket_settle(to, deadline_ns, error) : status;
}

/* ---- cancelling ---- */

void crest_statsd_socket_cancel(crest_statsd_socket *to)
{
    eventfd_write(to->inside->cancel_fd, 1);
}

void crest_statsd_socket_rearm(crest_statsd_socket *to)
{
    eventfd_t ignored;
    (void)eventfd_read(to->inside->cancel_fd, &ignored);
}
