/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looking up host names. See host_lookup.h.
 */
#define _GNU_SOURCE
#include "common/host_lookup.h"

#include <crest/clock.h>
#include <crest/reporter.h>
#include <errno.h>
#include <limits.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define HOST_NS_PER_MS UINT64_C(1000000)

/* Two references: the caller's and the thread's; the last to drop its own frees it. */
struct crest_host_lookup {
    pid_t process;
    int done_fd;
    int socket_type;
    pthread_mutex_t lock; /* guards the fields below, but port and host */
    unsigned holders;
    int answer; /* getaddrinfo's */
    crest_host_addresses addresses;
    char port[8];
    char host[];
};

int crest_host_wait(int fd, short events, uint64_t deadline_ns, int cancel_fd)
{
    for (;;) {
        struct pollfd files[2] = {{cancel_fd, POLLIN, 0}, {fd, events, 0}};
        uint64_t now_ns = crest_now();
        uint64_t left_ns = deadline_ns > now_ns ? deadline_ns - now_ns : 0;
        struct timespec left = {(time_t)(left_ns / 1000000000u), (long)(left_ns % 1000000000u)};
        int ready = ppoll(files, 2, &left, NULL);
        if (ready < 0 && errno != EINTR)
            return 0;
        if (files[0].revents != 0 && ready > 0)
            return -1;
        if (ready > 0)
            return 1;
        if (left_ns == 0)
            return 0;
    }
}

static int host_ask(const char *host, const char *port, int socket_type, int flags,
                    crest_host_addresses *addresses)
{
    struct addrinfo hints = {
        .ai_family = AF_UNSPEC, .ai_socktype = socket_type, .ai_flags = flags | AI_NUMERICSERV};
    struct addrinfo *all = NULL;
    int answer = getaddrinfo(host, port, &hints, &all);
    addresses->count = 0;
    for (const struct addrinfo *one = all; answer == 0 && one != NULL; one = one->ai_next) {
        if (addresses->count == CREST_HOST_ADDRESSES_MAX ||
            one->ai_addrlen > sizeof addresses->list[0].bytes)
            break;
        crest_host_address *to = &addresses->list[addresses->count++];
        memcpy(&to->bytes, one->ai_addr, one->ai_addrlen);
        to->length = one->ai_addrlen;
    }
    if (all != NULL)
        freeaddrinfo(all);
    return answer;
}

/* In the child of a fork: its thread is not there, and may have held its lock. */
static int host_lookup_of_parent(const crest_host_lookup *lookup)
{
    return lookup->process != getpid();
}

void crest_host_lookup_drop(crest_host_lookup *lookup)
{
    if (lookup == NULL || host_lookup_of_parent(lookup))
        return;
    pthread_mutex_lock(&lookup->lock);
    unsigned holders = --lookup->holders;
    pthread_mutex_unlock(&lookup->lock);
    if (holders > 0)
        return;
    pthread_mutex_destroy(&lookup->lock);
    close(lookup->done_fd);
    free(lookup);
}

static void *host_resolver(void *context)
{
    crest_host_lookup *lookup = context;
    crest_host_addresses addresses;
    int answer =
        host_ask(lookup->host, lookup->port, lookup->socket_type, AI_ADDRCONFIG, &addresses);
    pthread_mutex_lock(&lookup->lock);
    lookup->answer = answer;
    lookup->addresses = addresses;
    pthread_mutex_unlock(&lookup->lock);
    eventfd_write(lookup->done_fd, 1);
    crest_host_lookup_drop(lookup);
    return NULL;
}

static crest_host_lookup *host_lookup_new(const char *host, const char *port, int socket_type)
{
    size_t length = strlen(host) + 1;
    crest_host_lookup *lookup = calloc(1, sizeof *lookup + length);
    if (lookup == NULL)
        return NULL;
    lookup->done_fd = crest_reporter_descriptor(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (lookup->done_fd < 0) {
        free(lookup);
        return NULL;
    }
    pthread_mutex_init(&lookup->lock, NULL);
    lookup->process = getpid();
    lookup->holders = 2;
    lookup->socket_type = socket_type;
    strncpy(lookup->port, port, sizeof lookup->port - 1);
    memcpy(lookup->host, host, length);
    return lookup;
}

static crest_status host_unresolved(const char *server, const char *host, int answer,
                                    crest_error *error)
{
    return crest_error_set(error, CREST_UNREACHABLE,
                           "Looking up the %s's host %s: %s; is the name right?", server, host,
                           gai_strerror(answer));
}

static crest_status host_lookup_begin(const char *host, const char *port, int socket_type,
                                      crest_host_lookup **begun, crest_error *error)
{
    crest_host_lookup *lookup = host_lookup_new(host, port, socket_type);
    if (lookup == NULL)
        return crest_error_set(error, CREST_NO_MEMORY, "No memory to look up the host %s", host);
    int failed = crest_reporter_thread(NULL, host_resolver, lookup);
    if (failed == 0) {
        *begun = lookup;
        return CREST_OK;
    }
    lookup->holders = 1;
    crest_host_lookup_drop(lookup);
    return crest_error_set(error, CREST_SYSTEM, "No thread to look up the host %s: %s", host,
                           strerror(failed));
}

int crest_host_is_address(const char *host)
{
    crest_host_addresses addresses;
    return host_ask(host, "1", SOCK_DGRAM, AI_NUMERICHOST, &addresses) == 0;
}

crest_status crest_host_resolve(const char *server, const char *host, const char *port,
                                int socket_type, uint64_t deadline_ns, int cancel_fd,
                                crest_host_lookup **pending, crest_host_addresses *addresses,
                                crest_error *error)
{
    int answer = host_ask(host, port, socket_type, AI_NUMERICHOST, addresses);
    if (answer == 0)
        return CREST_OK;
    if (answer != EAI_NONAME)
        return host_unresolved(server, host, answer, error);
    crest_status status = CREST_OK;
    if (*pending == NULL || host_lookup_of_parent(*pending))
        status = host_lookup_begin(host, port, socket_type, pending, error);
    if (status != CREST_OK)
        return status;
    crest_host_lookup *lookup = *pending;
    if (crest_host_wait(lookup->done_fd, POLLIN, deadline_ns, cancel_fd) != 1)
        return crest_error_set(error, CREST_TIMED_OUT,
                               "Looking up the %s's host %s took too long; do the "
                               "name servers answer?",
                               server, host);
    pthread_mutex_lock(&lookup->lock);
    answer = lookup->answer;
    *addresses = lookup->addresses;
    pthread_mutex_unlock(&lookup->lock);
    crest_host_lookup_drop(lookup);
    *pending = NULL;
    return answer == 0 ? CREST_OK : host_unresolved(server, host, answer, error);
}
