/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packets to a server. See packet_socket.h.
 */
#define _GNU_SOURCE
#include "common/packet_socket.h"
#include "common/host_lookup.h"

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

#define PACKET_SOCKET_NS_PER_MS UINT64_C(1000000)
#define PACKET_SOCKET_NS_PER_S UINT64_C(1000000000)
/* How often to poll a queue that does not report when it has emptied. */
#define PACKET_SOCKET_LOOK_NS (2 * PACKET_SOCKET_NS_PER_MS)
/* Input from a server, though none should send any: so much is discarded before each report. The
 * rest stays queued, which holds up the server only. */
#define PACKET_SOCKET_SAID_BYTES 65536u
#define PACKET_SOCKET_SAID_TURNS 16u
/* Unacknowledged bytes of a TCP connection, about: what a lost connection leaves in doubt. */
#define PACKET_SOCKET_SEND_BYTES 262144

const char *const crest_packet_cause_names[CREST_PACKET_CAUSES] = {"refused", "unreachable",
                                                                   "timed-out", "io"};

typedef struct packet_connection {
    crest_packet_url url;
    int fd; /* -1: none */
    int cancel_fd;
    int reconnected;   /* during this report already */
    uint64_t gap_ns;   /* between packets; 0: no pace */
    uint64_t ahead_ns; /* when the next packet would be due had there been no burst */
    uint64_t resolved_ns;
    crest_host_lookup *lookup; /* under way since an earlier report, or NULL */
    crest_host_addresses addresses;
    unsigned current; /* the address in use */
    const char *rest; /* of a packet that a TCP connection took a part of */
    size_t rest_length;
} packet_connection;

crest_packet_socket *crest_packet_socket_new(const crest_packet_url *url, unsigned rate,
                                             crest_error *error)
{
    crest_packet_socket *to = calloc(1, sizeof *to);
    packet_connection *inside = calloc(1, sizeof *inside);
    if (to == NULL || inside == NULL) {
        free(to);
        free(inside);
        crest_error_set(error, CREST_NO_MEMORY, "No memory for the packets to a %s",
                        url->server->name);
        return NULL;
    }
    to->inside = inside;
    inside->url = *url;
    inside->fd = -1;
    inside->gap_ns = rate != 0 ? PACKET_SOCKET_NS_PER_S / rate : 0;
    inside->cancel_fd = crest_reporter_descriptor(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (inside->cancel_fd >= 0)
        return to;
    crest_error_set(error, CREST_SYSTEM, "No file descriptor for the packets to a %s: %s",
                    url->server->name, strerror(errno));
    crest_packet_socket_free(to);
    return NULL;
}

/*
 * In order: npm's statsd ends with an unhandled error when a connection is reset. What the kernel
 * has taken is delivered even so, as long as the server lives.
 */
static void packet_socket_close(packet_connection *inside)
{
    if (inside->fd >= 0)
        close(inside->fd);
    inside->fd = -1;
    inside->rest_length = 0;
}

void crest_packet_socket_free(crest_packet_socket *to)
{
    if (to == NULL)
        return;
    packet_socket_close(to->inside);
    crest_host_lookup_drop(to->inside->lookup);
    if (to->inside->cancel_fd >= 0)
        close(to->inside->cancel_fd);
    free(to->inside);
    free(to);
}

/* ---- failures ---- */

static crest_status packet_socket_late(crest_packet_socket *to, const char *doing,
                                       crest_error *error)
{
    to->cause = CREST_PACKET_TIMED_OUT;
    /* what a connection has taken may still arrive */
    if (!crest_packet_socket_unsettled(to)) {
        to->offered = to->confirmed;
        packet_socket_close(to->inside);
    }
    return crest_error_set(error, CREST_TIMED_OUT,
                           "%s %s was not done in time; the rest follows with the next report. Is "
                           "the server slow, %s",
                           doing, to->inside->url.shown, to->inside->url.server->slower);
}

/* The cause of an errno. The next report looks the host up again and tries the next address. */
static crest_status packet_socket_failed(crest_packet_socket *to, const char *doing, int failed,
                                         crest_error *error)
{
    packet_connection *inside = to->inside;
    crest_status status = CREST_UNREACHABLE;
    const char *advice = "is it running?";
    switch (failed) {
    case ECONNREFUSED:
    case ENOTCONN: to->cause = CREST_PACKET_REFUSED; break;
    case ENOENT:
    case EACCES:
    case EPERM:
    case EHOSTUNREACH:
    case ENETUNREACH:
    case ENETDOWN:
    case EADDRNOTAVAIL:
    case EPROTOTYPE:
        to->cause = CREST_PACKET_UNREACHABLE;
        advice = "is the address right, and may this program use it?";
        break;
    case EMSGSIZE:
        to->cause = CREST_PACKET_BROKEN;
        status = CREST_IO;
        advice = inside->url.server->smaller;
        break;
    default:
        to->cause = CREST_PACKET_BROKEN;
        status = CREST_IO;
        advice = "the rest follows with the next report";
    }
    to->offered = to->confirmed;
    packet_socket_close(inside);
    inside->resolved_ns = 0;
    inside->current++;
    return crest_error_set(error, status, "%s %s: %s; %s", doing, inside->url.shown,
                           strerror(failed), advice);
}

/* ---- connecting ---- */

static int packet_socket_pending(int fd)
{
    int failed = 0;
    socklen_t size = sizeof failed;
    return getsockopt(fd, SOL_SOCKET, SO_ERROR, &failed, &size) == 0 ? failed : errno;
}

/* A new socket, connected; -1 and errno. */
static int packet_socket_connect(packet_connection *inside, const struct sockaddr *address,
                                 socklen_t length, uint64_t deadline_ns)
{
    int type = inside->url.transport == CREST_PACKET_TCP ? SOCK_STREAM : SOCK_DGRAM;
    int fd = crest_reporter_descriptor(
        socket(address->sa_family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (fd < 0)
        return -1;
    int failed = connect(fd, address, length) == 0 ? 0 : errno;
    if (failed == EINPROGRESS || failed == EINTR) {
        int ready = crest_host_wait(fd, POLLOUT, deadline_ns, inside->cancel_fd);
        failed = ready == 1 ? packet_socket_pending(fd) : ETIMEDOUT;
    }
    int size = PACKET_SOCKET_SEND_BYTES, yes = 1;
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

static crest_status packet_socket_open_unix(crest_packet_socket *to, uint64_t deadline_ns,
                                            crest_error *error)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    memcpy(address.sun_path, to->inside->url.path, sizeof to->inside->url.path);
    to->inside->fd = packet_socket_connect(to->inside, (const struct sockaddr *)&address,
                                           sizeof address, deadline_ns);
    if (to->inside->fd >= 0)
        return CREST_OK;
    return packet_socket_failed(to, "Connecting to", errno, error);
}

/* With more than one address: an empty line, which servers pass over, shows a port that is closed
 * before a packet is lost to it. */
static int packet_socket_probe(packet_connection *inside, int fd)
{
    if (inside->url.transport != CREST_PACKET_UDP || inside->addresses.count < 2)
        return 0;
    if (send(fd, "\n", 1, MSG_NOSIGNAL) < 0)
        return errno;
    crest_host_wait(fd, 0, crest_now() + CREST_PACKET_DOUBT_MS * PACKET_SOCKET_NS_PER_MS,
                    inside->cancel_fd);
    return packet_socket_pending(fd);
}

/* One of the addresses, beginning with the address that served last. */
static crest_status packet_socket_open_any(crest_packet_socket *to, uint64_t deadline_ns,
                                           crest_error *error)
{
    packet_connection *inside = to->inside;
    int failed = EADDRNOTAVAIL;
    for (unsigned i = 0; i < inside->addresses.count; i++) {
        inside->current %= inside->addresses.count;
        const crest_host_address *address = &inside->addresses.list[inside->current];
        int fd = packet_socket_connect(inside, (const struct sockaddr *)&address->bytes,
                                       address->length, deadline_ns);
        failed = fd >= 0 ? packet_socket_probe(inside, fd) : errno;
        if (failed == 0) {
            inside->fd = fd;
            return CREST_OK;
        }
        if (fd >= 0)
            close(fd);
        inside->current++;
    }
    if (failed == ETIMEDOUT)
        return packet_socket_late(to, "Connecting to", error);
    return packet_socket_failed(to, "Connecting to", failed, error);
}

/* Looks the host up again; a connection to an address that is no longer its own is closed. */
static crest_status packet_socket_resolve(crest_packet_socket *to, uint64_t deadline_ns,
                                          crest_error *error)
{
    packet_connection *inside = to->inside;
    crest_host_addresses found;
    crest_host_address before = {.length = 0};
    if (inside->addresses.count != 0)
        before = inside->addresses.list[inside->current % inside->addresses.count];
    int type = inside->url.transport == CREST_PACKET_TCP ? SOCK_STREAM : SOCK_DGRAM;
    crest_status status =
        crest_host_resolve(inside->url.server->name, inside->url.host, inside->url.port, type,
                           deadline_ns, inside->cancel_fd, &inside->lookup, &found, error);
    if (status != CREST_OK) {
        to->cause = status == CREST_TIMED_OUT ? CREST_PACKET_TIMED_OUT : CREST_PACKET_UNREACHABLE;
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
    packet_socket_close(inside);
    return CREST_OK;
}

/* A TCP connection that the server has closed takes one more packet before it says so. */
static void packet_socket_check(packet_connection *inside)
{
    if (inside->fd < 0 || inside->url.transport != CREST_PACKET_TCP)
        return;
    ssize_t got = 1;
    /* of a TCP connection MSG_TRUNC copies nothing */
    for (unsigned i = 0; i < PACKET_SOCKET_SAID_TURNS && got > 0; i++)
        got = recv(inside->fd, NULL, PACKET_SOCKET_SAID_BYTES, MSG_DONTWAIT | MSG_TRUNC);
    if (got > 0)
        return;
    if (got == 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR))
        packet_socket_close(inside);
}

crest_status crest_packet_socket_open(crest_packet_socket *to, uint64_t deadline_ns,
                                      crest_error *error)
{
    packet_connection *inside = to->inside;
    inside->reconnected = 0;
    packet_socket_check(inside);
    if (inside->url.transport == CREST_PACKET_UNIX)
        return inside->fd >= 0 ? CREST_OK : packet_socket_open_unix(to, deadline_ns, error);
    uint64_t now_ns = crest_now();
    /* a late error of an earlier report's packets says nothing of this one's */
    if (inside->fd >= 0 && packet_socket_pending(inside->fd) != 0) {
        packet_socket_close(inside);
        inside->resolved_ns = 0;
    }
    int old = inside->resolved_ns == 0 ||
              now_ns - inside->resolved_ns > CREST_PACKET_RESOLVE_S * PACKET_SOCKET_NS_PER_S;
    /* a TCP connection stays with its address */
    if (old && (inside->fd < 0 || inside->url.transport == CREST_PACKET_UDP)) {
        unsigned next = inside->current;
        int failed_before = inside->resolved_ns == 0;
        crest_status status = packet_socket_resolve(to, deadline_ns, error);
        if (status != CREST_OK && (inside->fd < 0 || status == CREST_NO_MEMORY))
            return status;
        if (failed_before)
            inside->current = next;
    }
    return inside->fd >= 0 ? CREST_OK : packet_socket_open_any(to, deadline_ns, error);
}

/* ---- sending ---- */

/* Waits for this packet's turn: 1, or 0 when the deadline is before it. */
static int packet_socket_pace(packet_connection *inside, uint64_t deadline_ns)
{
    if (inside->gap_ns == 0 || inside->url.transport != CREST_PACKET_UDP)
        return 1;
    uint64_t now_ns = crest_now(), burst_ns = CREST_PACKET_BURST * inside->gap_ns;
    if (inside->ahead_ns < now_ns)
        inside->ahead_ns = now_ns;
    uint64_t due_ns = inside->ahead_ns > burst_ns ? inside->ahead_ns - burst_ns : 0;
    if (due_ns > now_ns) {
        if (due_ns > deadline_ns)
            return 0;
        if (crest_host_wait(-1, 0, due_ns, inside->cancel_fd) != 0)
            return 0;
    }
    inside->ahead_ns += inside->gap_ns;
    return 1;
}

static void packet_socket_confirm_acked(crest_packet_socket *to)
{
    int queued = 0;
    if (ioctl(to->inside->fd, TIOCOUTQ, &queued) != 0 || queued < 0)
        queued = 0;
    if (to->offered - to->confirmed > (uint64_t)queued)
        to->confirmed = to->offered - (uint64_t)queued;
}

static crest_status packet_socket_send_stream(crest_packet_socket *to, const char *bytes,
                                              size_t length, uint64_t deadline_ns,
                                              crest_error *error)
{
    packet_connection *inside = to->inside;
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
        packet_socket_confirm_acked(to);
        if (failed == 0 || failed == EINTR)
            continue;
        if (failed != EAGAIN && failed != EWOULDBLOCK)
            return packet_socket_failed(to, "Sending to", failed, error);
        if (crest_host_wait(inside->fd, POLLOUT, deadline_ns, inside->cancel_fd) != 1) {
            packet_socket_confirm_acked(to);
            /* no byte of the packet was taken: it is not under way */
            inside->rest = bytes;
            inside->rest_length = begun || length < whole ? length : 0;
            return packet_socket_late(to, "Sending to", error);
        }
    }
    inside->rest_length = 0;
    return CREST_OK;
}

/* Sends one datagram; 0, or what failed. */
static int packet_socket_send_datagram(packet_connection *inside, const void *bytes, size_t length,
                                       uint64_t deadline_ns)
{
    for (;;) {
        ssize_t sent = send(inside->fd, bytes, length, MSG_NOSIGNAL);
        if (sent >= 0)
            return 0;
        int failed = errno, ready = 1;
        if (failed == EAGAIN || failed == EWOULDBLOCK) {
            ready = crest_host_wait(inside->fd, POLLOUT, deadline_ns, inside->cancel_fd);
        } else if (failed == ENOBUFS) {
            /* the device's queue: no event reports room */
            uint64_t look_ns = crest_now() + PACKET_SOCKET_LOOK_NS;
            ready =
                look_ns < deadline_ns && crest_host_wait(-1, 0, look_ns, inside->cancel_fd) == 0;
        } else if (failed != EINTR) {
            return failed;
        }
        if (ready != 1)
            return ETIMEDOUT;
    }
}

/* The receiver has gone and may be back under the same path: retried once a report. */
static int packet_socket_again(crest_packet_socket *to, int failed, uint64_t deadline_ns)
{
    crest_error ignored;
    if (to->inside->url.transport != CREST_PACKET_UNIX || to->inside->reconnected ||
        (failed != ECONNREFUSED && failed != ENOTCONN && failed != ECONNRESET && failed != EPIPE))
        return 0;
    to->inside->reconnected = 1;
    packet_socket_close(to->inside);
    return packet_socket_open_unix(to, deadline_ns, &ignored) == CREST_OK;
}

crest_status crest_packet_socket_send(crest_packet_socket *to, const void *bytes, size_t length,
                                      uint64_t deadline_ns, crest_error *error)
{
    packet_connection *inside = to->inside;
    int failed = 0;
    int in_time = packet_socket_pace(inside, deadline_ns) && crest_now() < deadline_ns;
    if (inside->url.transport == CREST_PACKET_UDP) {
        if ((failed = packet_socket_pending(inside->fd)))
            return packet_socket_failed(to, "Sending to", failed, error);
        /* the previous packet has arrived, whether or not this one is due */
        if (!in_time)
            to->confirmed = to->offered;
    }
    if (!in_time)
        return packet_socket_late(to, "Sending to", error);
    if (inside->url.transport == CREST_PACKET_TCP)
        return packet_socket_send_stream(to, bytes, length, deadline_ns, error);
    failed = packet_socket_send_datagram(inside, bytes, length, deadline_ns);
    if (failed != 0 && packet_socket_again(to, failed, deadline_ns))
        failed = packet_socket_send_datagram(inside, bytes, length, deadline_ns);
    /* this packet failed, unless the error answers an earlier one */
    if (failed != ECONNREFUSED || inside->url.transport == CREST_PACKET_UNIX)
        to->confirmed = to->offered;
    if (failed == ETIMEDOUT)
        return packet_socket_late(to, "Sending to", error);
    if (failed != 0)
        return packet_socket_failed(to, "Sending to", failed, error);
    to->offered += length;
    if (inside->url.transport == CREST_PACKET_UNIX)
        to->confirmed = to->offered;
    return CREST_OK;
}

static crest_status packet_socket_settle_stream(crest_packet_socket *to, uint64_t deadline_ns,
                                                crest_error *error)
{
    packet_connection *inside = to->inside;
    for (;;) {
        int failed = packet_socket_pending(inside->fd);
        packet_socket_confirm_acked(to);
        if (to->confirmed == to->offered)
            return CREST_OK;
        if (failed != 0)
            return packet_socket_failed(to, "Sending to", failed, error);
        uint64_t now_ns = crest_now(), look_ns = now_ns + PACKET_SOCKET_LOOK_NS;
        /* POLLHUP and POLLERR come unasked */
        int ready =
            now_ns < deadline_ns ? crest_host_wait(inside->fd, 0, look_ns, inside->cancel_fd) : -1;
        if (ready == -1)
            return packet_socket_late(to, "Sending to", error);
    }
}

crest_status crest_packet_socket_settle(crest_packet_socket *to, uint64_t deadline_ns,
                                        crest_error *error)
{
    packet_connection *inside = to->inside;
    if (to->confirmed == to->offered)
        return CREST_OK;
    if (inside->url.transport == CREST_PACKET_TCP)
        return packet_socket_settle_stream(to, deadline_ns, error);
    uint64_t doubt_ns = crest_now() + CREST_PACKET_DOUBT_MS * PACKET_SOCKET_NS_PER_MS;
    crest_host_wait(inside->fd, 0, doubt_ns < deadline_ns ? doubt_ns : deadline_ns,
                    inside->cancel_fd);
    int failed = packet_socket_pending(inside->fd);
    if (failed != 0)
        return packet_socket_failed(to, "Sending to", failed, error);
    to->confirmed = to->offered;
    return CREST_OK;
}

int crest_packet_socket_unsettled(const crest_packet_socket *to)
{
    return to->inside->url.transport == CREST_PACKET_TCP && to->inside->fd >= 0 &&
           (to->offered != to->confirmed || to->inside->rest_length != 0);
}

crest_status crest_packet_socket_resume(crest_packet_socket *to, uint64_t deadline_ns,
                                        crest_error *error)
{
    crest_status status = CREST_OK;
    if (to->inside->rest_length != 0)
        status = packet_socket_send_stream(to, to->inside->rest, to->inside->rest_length,
                                           deadline_ns, error);
    return status == CREST_OK ? crest_packet_socket_settle(to, deadline_ns, error) : status;
}

/* ---- cancelling ---- */

void crest_packet_socket_cancel(crest_packet_socket *to)
{
    eventfd_write(to->inside->cancel_fd, 1);
}

void crest_packet_socket_rearm(crest_packet_socket *to)
{
    eventfd_t ignored;
    (void)eventfd_read(to->inside->cancel_fd, &ignored);
}
