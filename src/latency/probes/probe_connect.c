/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connecting to a port at intervals. See crest_probe_connect in <crest/probe.h>; looking up a name
 * is probe_resolve.c.
 *
 * A probe is idle, looks up its name, or connects. The prober steps it when its time has come, when
 * the connect is decided, and when a look-up is answered.
 */
#define _GNU_SOURCE
#include "base/atomic.h"
#include "base/descriptor.h"
#include "base/error.h"
#include "latency/probes/probe_resolve.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Pause when no look-up could be had. */
#define CONNECT_AGAIN_NS (100 * CREST_NS_PER_MS)

/* ---- the descriptor ---- */

static void connect_close(crest_probe *probe)
{
    /* taken from the probe before it is closed: a fork handler must not close another owner's by
     * then */
    uint32_t fd = crest_atomic_exchange32(&probe->fd, 0);
    if (fd != 0)
        close((int)fd - 1);
}

/* ---- ends of a try ---- */

/* Waits for the next point of the schedule. */
static void connect_rest(crest_probe *probe, uint64_t now_ns)
{
    if (probe->due_ns <= now_ns)
        crest_prober_next_point(probe, now_ns);
    probe->wake_ns = probe->due_ns;
}

static void connect_failed(crest_probe *probe, uint64_t now_ns, uint64_t duration_ns, int failure)
{
    crest_probe_connect_part *part = &probe->part.connect;
    int late = failure == ETIMEDOUT;
    connect_close(probe);
    crest_timer_record(part->connect, (int64_t)duration_ns,
                       late ? CREST_OUTCOME_TIMEOUT : CREST_OUTCOME_ERROR);
    if (late)
        crest_probe_failed(probe, CREST_TIMED_OUT,
                           "connecting to %s at %s: not done within %llu ms", probe->peer,
                           part->text, (unsigned long long)(duration_ns / CREST_NS_PER_MS));
    else
        crest_probe_failed(probe, CREST_UNREACHABLE, "connecting to %s at %s: %s", probe->peer,
                           part->text, strerror(failure));
    part->at = (part->at + 1) % part->count;
    part->resolved_ns = 0;
    connect_rest(probe, now_ns);
}

static void connect_done(crest_probe *probe, uint64_t now_ns, uint64_t duration_ns)
{
    crest_probe_connect_part *part = &probe->part.connect;
    connect_close(probe);
    crest_timer_record(part->connect, (int64_t)duration_ns, CREST_OUTCOME_OK);
    crest_probe_answered(probe, duration_ns);
    connect_rest(probe, now_ns);
}

/* ---- connecting ---- */

/*
 * Whether the socket is connected to itself (TCP simultaneous open, RFC 9293, 3.5). It can happen
 * when the port is one that programs dial from (Linux: 32768 to 60999) and nothing listens there:
 * the kernel may choose the same port to dial from.
 */
static int connect_is_itself(int fd)
{
    struct sockaddr_storage own = {.ss_family = 0}, other = {.ss_family = 0};
    socklen_t own_length = sizeof own, other_length = sizeof other;
    return getsockname(fd, (struct sockaddr *)&own, &own_length) == 0 &&
           getpeername(fd, (struct sockaddr *)&other, &other_length) == 0 &&
           own_length == other_length && memcmp(&own, &other, own_length) == 0;
}

static void connect_connected(crest_probe *probe, uint64_t now_ns, uint64_t duration_ns)
{
    if (connect_is_itself((int)probe->fd - 1))
        connect_failed(probe, now_ns, duration_ns, ECONNREFUSED);
    else
        connect_done(probe, now_ns, duration_ns);
}

static void connect_begin(crest_probe *probe, uint64_t now_ns)
{
    crest_probe_connect_part *part = &probe->part.connect;
    const crest_probe_address *address = &part->addresses[part->at];
    part->start_ns = crest_now();
    part->deadline_ns = now_ns + probe->timeout_ns;
    probe->state.tries++;
    int fd = crest_descriptor_high(socket(((const struct sockaddr *)&address->bytes)->sa_family,
                                          SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (fd < 0) {
        connect_failed(probe, now_ns, 0, errno);
        return;
    }
    crest_atomic_store32_release(&probe->fd, (uint32_t)fd + 1);
    probe->polled_in = 0; /* forget the finished wait's descriptor */
    part->start_ns = crest_now();
    if (connect(fd, (const struct sockaddr *)&address->bytes, address->length) == 0)
        connect_connected(probe, now_ns, crest_now() - part->start_ns);
    else if (errno != EINPROGRESS && errno != EINTR)
        connect_failed(probe, now_ns, crest_now() - part->start_ns, errno);
    else
        probe->wake_ns = part->deadline_ns;
}

static void connect_decided(crest_probe *probe, uint64_t now_ns, uint64_t ready_ns)
{
    int failure = 0;
    socklen_t length = sizeof failure;
    uint64_t start_ns = probe->part.connect.start_ns;
    uint64_t duration_ns = ready_ns > start_ns ? ready_ns - start_ns : 0;
    if (getsockopt((int)probe->fd - 1, SOL_SOCKET, SO_ERROR, &failure, &length) != 0)
        failure = errno;
    if (failure != 0)
        connect_failed(probe, now_ns, duration_ns, failure);
    else
        connect_connected(probe, now_ns, duration_ns);
}

/* ---- looking up ---- */

static void connect_unresolved(crest_probe *probe, uint64_t now_ns, uint64_t duration_ns,
                               const char *reason)
{
    crest_probe_connect_part *part = &probe->part.connect;
    crest_timer_record(part->resolve, (int64_t)duration_ns,
                       reason != NULL ? CREST_OUTCOME_ERROR : CREST_OUTCOME_TIMEOUT);
    if (reason != NULL)
        crest_probe_failed(probe, CREST_UNREACHABLE, "looking up %s for %s: %s", part->host,
                           probe->peer, reason);
    else
        crest_probe_failed(probe, CREST_TIMED_OUT, "looking up %s for %s: no answer within %llu ms",
                           part->host, probe->peer,
                           (unsigned long long)(duration_ns / CREST_NS_PER_MS));
    connect_rest(probe, now_ns);
}

static void connect_resolve(crest_probe *probe, uint64_t now_ns)
{
    crest_probe_connect_part *part = &probe->part.connect;
    int failure;
    probe->question = crest_probe_resolve_begin(part->host, part->port, &failure);
    part->deadline_ns = now_ns + probe->timeout_ns;
    probe->wake_ns = probe->question != NULL ? part->deadline_ns : now_ns + CONNECT_AGAIN_NS;
    if (failure != 0)
        connect_unresolved(probe, now_ns, 0, strerror(failure));
}

static void connect_resolved(crest_probe *probe, uint64_t now_ns)
{
    crest_probe_connect_part *part = &probe->part.connect;
    crest_probe_question *question = probe->question;
    probe->question = NULL;
    if (question->answer != 0 || question->count == 0) {
        connect_unresolved(probe, now_ns, question->took_ns,
                           question->answer != 0 ? gai_strerror(question->answer)
                                                 : "it has no address");
    } else {
        crest_timer_record(part->resolve, (int64_t)question->took_ns, CREST_OUTCOME_OK);
        memcpy(part->addresses, question->addresses, sizeof part->addresses);
        part->count = question->count;
        if (part->at >= part->count)
            part->at = 0;
        part->resolved_ns = now_ns;
        connect_begin(probe, now_ns);
    }
    crest_probe_resolve_end(question);
}

/* ---- the probe ---- */

static void connect_step(crest_probe *probe, uint64_t now_ns, uint64_t ready_ns, int ready)
{
    crest_probe_connect_part *part = &probe->part.connect;
    if (ready)
        connect_decided(probe, now_ns, ready_ns);
    else if (probe->fd != 0 && part->deadline_ns <= now_ns)
        connect_failed(probe, now_ns, probe->timeout_ns, ETIMEDOUT);
    else if (probe->question != NULL && probe->question->done)
        connect_resolved(probe, now_ns);
    else if (probe->question != NULL && part->deadline_ns <= now_ns) {
        crest_probe_resolve_end(probe->question);
        probe->question = NULL;
        connect_unresolved(probe, now_ns, probe->timeout_ns, NULL);
    } else if (probe->fd != 0 || probe->question != NULL)
        probe->wake_ns = part->deadline_ns;
    else if (probe->due_ns > now_ns)
        probe->wake_ns = probe->due_ns;
    else if (!part->numeric &&
             (part->resolved_ns == 0 ||
              now_ns - part->resolved_ns > CREST_PROBE_RESOLVE_MS * CREST_NS_PER_MS))
        connect_resolve(probe, now_ns);
    else
        connect_begin(probe, now_ns);
}

static void connect_stop(crest_probe *probe)
{
    connect_close(probe);
    crest_probe_resolve_end(probe->question);
    probe->question = NULL;
}

static void connect_release(crest_probe *probe)
{
    crest_timer_release(probe->part.connect.connect);
    if (!probe->part.connect.numeric)
        crest_timer_release(probe->part.connect.resolve);
}

static const crest_probe_work connect_work = {
    .step = connect_step, .stop = connect_stop, .release = connect_release};

static crest_status connect_set_up(crest_probe *probe, const char *address, crest_error *error)
{
    crest_probe_connect_part *part = &probe->part.connect;
    crest_status status = CREST_OK;
    if (address == NULL || strlen(address) > CREST_PROBE_ADDRESS_BYTES_MAX)
        return crest_error_set(error, CREST_INVALID_ARGUMENT,
                               "a connect probe of %s needs an address, HOST:PORT, of at most %u "
                               "bytes",
                               probe->peer, CREST_PROBE_ADDRESS_BYTES_MAX);
    if (probe->interval_ns == 0)
        return crest_error_set(error, CREST_INVALID_ARGUMENT,
                               "connects to %s cannot be probed by hand: they need an interval",
                               probe->peer);
    snprintf(part->text, sizeof part->text, "%s", address);
    if (crest_probe_split(address, part->host, part->port, error) != CREST_OK)
        return error->status;
    part->count = crest_probe_resolve_numeric(part->host, part->port, part->addresses);
    part->numeric = part->count > 0;
    part->connect =
        crest_probe_timer(probe, "connect-time", "From connect() to connected.", &status);
    if (!part->numeric)
        part->resolve =
            crest_probe_timer(probe, "resolve-time", "Looking up the name to connect to.", &status);
    if (status != CREST_OK)
        crest_error_set(error, status,
                        "a probe of %s cannot have its metrics %s.connect-time and "
                        "%s.resolve-time: %s",
                        probe->peer, probe->prefix, probe->prefix, crest_status_text(status));
    return status;
}

crest_probe *crest_probe_connect(const char *peer, const char *address,
                                 const crest_probe_options *options, crest_error *error)
{
    crest_error unwanted;
    if (error == NULL)
        error = &unwanted;
    crest_error_clear(error);
    crest_probe *probe = crest_probe_new(CREST_PROBE_CONNECT, &connect_work, peer, options, error);
    if (probe == NULL)
        return NULL;
    if (connect_set_up(probe, address, error) == CREST_OK) {
        crest_prober_first_point(probe);
        if (crest_prober_add(probe, error) == CREST_OK)
            return probe;
    }
    return crest_probe_refuse(probe, error);
}
