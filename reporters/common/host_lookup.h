/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Host names to addresses, with a deadline. getaddrinfo has none, so it runs on a thread of its
 * own, which blocks all signals and ends with the answer. A look-up that is still under way at its
 * deadline is waited for by the next call, instead of another thread beside it.
 */
#ifndef CREST_REPORTERS_HOST_LOOKUP_H
#define CREST_REPORTERS_HOST_LOOKUP_H

#include <crest/status.h>
#include <sys/socket.h>

/* Of one name; further ones are left out. */
#define CREST_HOST_ADDRESSES_MAX 8u

typedef struct crest_host_address {
    struct sockaddr_storage bytes;
    socklen_t length;
} crest_host_address;

typedef struct crest_host_addresses {
    unsigned count;
    crest_host_address list[CREST_HOST_ADDRESSES_MAX];
} crest_host_addresses;

/* A look-up under way; see crest_host_resolve. */
typedef struct crest_host_lookup crest_host_lookup;

/* Drops the caller's reference: the thread ends when it has its answer. NULL does nothing. */
void crest_host_lookup_drop(crest_host_lookup *lookup);

/* Non-zero for a numeric address: resolving it does not block. */
int crest_host_is_address(const char *host);

/*
 * The addresses of a host and a numeric port for sockets of this type; `server` names in messages
 * whose host it is. Numeric hosts are answered
 * at once. CREST_UNREACHABLE with *error filled: there are none; CREST_TIMED_OUT: not before the
 * deadline (on crest_now's timeline) or before `cancel_fd` became readable; CREST_NO_MEMORY,
 * CREST_SYSTEM. `pending` is the caller's, NULL at first, of this host, port and type only: a
 * look-up that was not over stays in it, to be dropped together with its owner.
 */
crest_status crest_host_resolve(const char *server, const char *host, const char *port,
                                int socket_type, uint64_t deadline_ns, int cancel_fd,
                                crest_host_lookup **pending, crest_host_addresses *addresses,
                                crest_error *error);

/* Waits for events on fd (-1: for none) until the deadline, or until cancel_fd is readable. 1: they
 * came; 0: it is time; -1: cancelled. */
int crest_host_wait(int fd, short events, uint64_t deadline_ns, int cancel_fd);

#endif
