/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looking up host names. See statsd_resolve.h.
 */
#define _GNU_SOURCE
#include "statsd_resolve.h"

#include <crest/clock.h>
#include <errno.h>
#include <limits.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define STATSD_NS_PER_MS UINT64_C(1000000)

/* One question; two hold it, who asks and the thread, and the last one frees it. */
typedef struct statsd_question {
    int done_fd;
    int socket_type;
    pthread_mutex_t lock; /* guards what follows, but not port and host */
    unsigned holders;
    int answer; /* getaddrinfo's */
    crest_statsd_addresses addresses;
    char port[8];
    char host[];
} statsd_question;

int crest_statsd_wait(int fd, short events, uint64_t deadline_ns, int cancel_fd)
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

static int statsd_ask(const char *host, const char *port, int socket_type, int flags,
                      crest_statsd_addresses *addresses)
{
    struct addrinfo hints = {
        .ai_family = AF_UNSPEC, .ai_socktype = socket_type, .ai_flags = flags | AI_NUMERICSERV};
    struct addrinfo *all = NULL;
    int answer = getaddrinfo(host, port, &hints, &all);
    addresses->count = 0;
    for (const struct addrinfo *one = all; answer == 0 && one != NULL; one = one->ai_next) {
        if (addresses->count == CREST_STATSD_ADDRESSES_MAX ||
            one->ai_addrlen > sizeof addresses->list[0].bytes)
            break;
        crest_statsd_address *to = &addresses->list[addresses->count++];
        memcpy(&to->bytes, one->ai_addr, one->ai_addrlen);
        to->length = one->ai_addrlen;
    }
    if (all != NULL)
        freeaddrinfo(all);
    return answer;
}

static void statsd_question_drop(statsd_question *question)
{
    pthread_mutex_lock(&question->lock);
    unsigned holders = --question->holders;
    pthread_mutex_unlock(&question->lock);
    if (holders > 0)
        return;
    pthread_mutex_destroy(&question->lock);
    close(question->done_fd);
    free(question);
}

static void *statsd_resolver(void *context)
{
    statsd_question *question = context;
    crest_statsd_addresses addresses;
    int answer = statsd_ask(question->host, question->port, question->socket_type, AI_ADDRCONFIG,
                            &addresses);
    pthread_mutex_lock(&question->lock);
    question->answer = answer;
    question->addresses = addresses;
    pthread_mutex_unlock(&question->lock);
    eventfd_write(question->done_fd, 1);
    statsd_question_drop(question);
    return NULL;
}

static statsd_question *statsd_question_new(const char *host, const char *port, int socket_type)
{
    size_t length = strlen(host) + 1;
    statsd_question *question = calloc(1, sizeof *question + length);
    if (question == NULL)
        return NULL;
    question->done_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (question->done_fd < 0) {
        free(question);
        return NULL;
    }
    pthread_mutex_init(&question->lock, NULL);
    question->holders = 2;
    question->socket_type = socket_type;
    strncpy(question->port, port, sizeof question->port - 1);
    memcpy(question->host, host, length);
    return question;
}

/* Detached, with all signals blocked, as they are the host's. 0 or an error number. */
static int statsd_question_start(statsd_question *question)
{
    pthread_t thread;
    pthread_attr_t attributes;
    sigset_t all, before;
    int failed = pthread_attr_init(&attributes);
    if (failed)
        return failed;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    failed = pthread_create(&thread, &attributes, statsd_resolver, question);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return failed;
}

static crest_status statsd_unresolved(const char *host, int answer, crest_error *error)
{
    return crest_error_set(error, CREST_UNREACHABLE,
                           "Looking up the StatsD server's host %s: %s; is the name right?", host,
                           gai_strerror(answer));
}

crest_status crest_statsd_resolve(const char *host, const char *port, int socket_type,
                                  uint64_t deadline_ns, int cancel_fd,
                                  crest_statsd_addresses *addresses, crest_error *error)
{
    int answer = statsd_ask(host, port, socket_type, AI_NUMERICHOST, addresses);
    if (answer == 0)
        return CREST_OK;
    if (answer != EAI_NONAME)
        return statsd_unresolved(host, answer, error);
    statsd_question *question = statsd_question_new(host, port, socket_type);
    if (question == NULL)
        return crest_error_set(error, CREST_NO_MEMORY, "No memory to look up the host %s", host);
    int failed = statsd_question_start(question);
    if (failed) {
        question->holders = 1;
        statsd_question_drop(question);
        return crest_error_set(error, CREST_SYSTEM, "No thread to look up the host %s: %s", host,
                               strerrordesc_np(failed));
    }
    crest_status status = CREST_OK;
    if (crest_statsd_wait(question->done_fd, POLLIN, deadline_ns, cancel_fd) != 1) {
        status = crest_error_set(error, CREST_TIMED_OUT,
                                 "Looking up the StatsD server's host %s took too long; do the "
                                 "name servers answer?",
                                 host);
    } else {
        pthread_mutex_lock(&question->lock);
        answer = question->answer;
        *addresses = question->addresses;
        pthread_mutex_unlock(&question->lock);
        if (answer != 0)
            status = statsd_unresolved(host, answer, error);
    }
    statsd_question_drop(question);
    return status;
}
