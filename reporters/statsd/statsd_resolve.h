/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Host names to addresses, with a deadline. getaddrinfo has none, so it runs on a thread of its
 * own, which blocks all signals and ends with the answer. A look-up that is still under way at its
 * deadline is waited for by the next call, instead of another thread beside it.
 */
#ifndef CREST_REPORTERS_STATSD_RESOLVE_H
#define CREST_REPORTERS_STATSD_RESOLVE_H

#include <crest/status.h>
#include <sys/socket.h>

/* Of one name; further ones are left out. */
#define CREST_STATSD_ADDRESSES_MAX 8u

typedef struct crest_statsd_address {
    struct sockaddr_storage bytes;
    socklen_t length;
} crest_statsd_address;

typedef struct crest_statsd_addresses {
    unsigned count;
    crest_statsd_address list[CREST_STATSD_ADDRESSES_MAX];
} crest_statsd_addresses;

/* A look-up under way; see crest_statsd_resolve. */
typedef struct crest_statsd_lookup crest_statsd_lookup;

/* Drops the caller's reference: the thread ends when it has its answer. NULL does nothing. */
void crest_statsd_lookup_drop(crest_statsd_lookup *lookup);

/* Non-zero for a numeric address: resolving it does not block. */
int crest_statsd_is_address(const char *host);

/*
 * The addresses of a host and a numeric port for sockets of this type. Numeric hosts are answered
 * at once. CREST_UNREACHABLE with *error filled: there are none; CREST_TIMED_OUT: not before the
 * deadline (on crest_now's timeline) or before `cancel_fd` became readable; CREST_NO_MEMORY,
 * CREST_SYSTEM. `pending` is the caller's, NULL at first, of this host, port and type only: a
 * look-up that was not over stays in it, to be dropped together with its owner.
 */
crest_status crest_statsd_resolve(const char *host, const char *port, int socket_type,
                                  uint64_t deadline_ns, int cancel_fd,
                                  crest_statsd_lookup **pending, crest_statsd_addresses *addresses,
                                  crest_error *error);

/* Waits for events on fd (-1: for none) until the deadline, or until cancel_fd is readable. 1: they
 * came; 0: it is time; -1: cancelled. */
int crest_statsd_wait(int fd, short events, uint64_t deadline_ns, int cancel_fd);

#endif
