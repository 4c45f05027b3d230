/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pings over the node's own exchange. See crest_probe_ping in <crest/probe.h>; `send` is called by
 * prober.c.
 *
 * Each ping is an entry of a small ring:
 *
 *   any but SENT -> SENT   `send` is called; the oldest such entry is used
 *   SENT -> OVER           a pong came, `send` failed, or the probe was stopped
 *   SENT -> LATE           its deadline came; a pong is then told from an unknown one
 *
 * Invariant: an entry leaves SENT once, under the prober's lock, so each ping is recorded at most
 * once. Unlike a keyed timer's, the deadline is the probe's own, and stopping the probe ends the
 * pings under way.
 */
#include "base/error.h"
#include "base/misuse.h"
#include "base/uncancelled.h"
#include "latency/probes/prober.h"

/* ---- the ring, under the lock ---- */

static crest_probe_ping_entry *ping_find(crest_probe_ping_part *part, uint64_t id)
{
    for (unsigned i = 0; i < CREST_PROBE_PINGS_MAX; i++)
        if (part->pings[i].id == id && part->pings[i].phase != CREST_PING_NONE)
            return &part->pings[i];
    return NULL;
}

/* The oldest entry that is not under way; NULL if all are. */
static crest_probe_ping_entry *ping_room(crest_probe_ping_part *part)
{
    for (unsigned i = 0; i < CREST_PROBE_PINGS_MAX; i++) {
        crest_probe_ping_entry *entry = &part->pings[part->next];
        part->next = (part->next + 1) % CREST_PROBE_PINGS_MAX;
        if (entry->phase != CREST_PING_SENT)
            return entry;
    }
    return NULL;
}

static void ping_record(crest_probe_ping_part *part, crest_probe_ping_entry *entry,
                        uint64_t duration_ns, crest_outcome outcome, crest_probe_ping_phase phase)
{
    crest_op op = crest_op_u64(entry->id);
    crest_timer_record_op(part->time, (int64_t)duration_ns, outcome, &op);
    entry->phase = phase;
    part->under_way--;
}

/* Times out the pings whose deadline has come. Returns the time to the next deadline; -1: none. */
static int64_t ping_expire(crest_probe *probe, uint64_t now_ns)
{
    crest_probe_ping_part *part = &probe->part.ping;
    int64_t next_ns = -1;
    for (unsigned i = 0; part->under_way != 0 && i < CREST_PROBE_PINGS_MAX; i++) {
        crest_probe_ping_entry *entry = &part->pings[i];
        if (entry->phase != CREST_PING_SENT)
            continue;
        int64_t left_ns = (int64_t)(entry->start_ns + probe->timeout_ns - now_ns);
        if (left_ns <= 0) {
            ping_record(part, entry, probe->timeout_ns, CREST_OUTCOME_TIMEOUT, CREST_PING_LATE);
            crest_probe_failed(probe, CREST_TIMED_OUT, "%s has not answered a ping within %llu ms",
                               probe->peer,
                               (unsigned long long)(probe->timeout_ns / CREST_NS_PER_MS));
        } else if (next_ns < 0 || left_ns < next_ns) {
            next_ns = left_ns;
        }
    }
    return next_ns;
}

/* Sets when the prober steps next: the schedule's point, or a ping's deadline. */
static void ping_arm(crest_probe *probe, uint64_t now_ns, int64_t deadline_in_ns)
{
    probe->wake_ns = probe->due_ns;
    if (deadline_in_ns >= 0 && now_ns + (uint64_t)deadline_in_ns < probe->wake_ns)
        probe->wake_ns = now_ns + (uint64_t)deadline_in_ns;
}

/* ---- sending ---- */

static crest_status ping_sent(crest_probe *probe, uint64_t id, uint64_t start_ns, int failed)
{
    crest_probe_ping_part *part = &probe->part.ping;
    uint64_t took_ns = crest_now() - start_ns;
    crest_probe_ping_entry *entry = ping_find(part, id);
    if ((int64_t)took_ns > (int64_t)(CREST_PROBE_SEND_MS * CREST_NS_PER_MS))
        crest_counter_inc(part->overruns);
    if (!failed)
        return CREST_OK;
    if (entry != NULL && entry->phase == CREST_PING_SENT) {
        ping_record(part, entry, took_ns, CREST_OUTCOME_ERROR, CREST_PING_OVER);
        crest_probe_failed(probe, CREST_IO, "a ping to %s could not be sent: send returned %d",
                           probe->peer, failed);
    }
    return CREST_IO;
}

/* Under the lock, given up meanwhile: sends a ping; CREST_OK, CREST_IO, CREST_LIMIT. The probe may
 * be freed afterwards. */
static crest_status ping_send(crest_probe *probe)
{
    crest_probe_ping_part *part = &probe->part.ping;
    uint64_t id = crest_prober_random();
    ping_expire(probe, crest_now());
    crest_probe_ping_entry *entry = ping_room(part);
    if (entry == NULL) {
        probe->state.skipped++;
        return CREST_LIMIT;
    }
    uint64_t start_ns = crest_now();
    *entry = (crest_probe_ping_entry){id, start_ns, CREST_PING_SENT};
    part->under_way++;
    probe->state.tries++;
    /* its deadline may be the prober's next waking */
    uint64_t now_ns = crest_prober_now_ns();
    if (now_ns + probe->timeout_ns < probe->wake_ns) {
        probe->wake_ns = now_ns + probe->timeout_ns;
        crest_prober_wake();
    }
    int failed = crest_prober_send(probe, id);
    crest_status status = probe->stopped ? CREST_OK : ping_sent(probe, id, start_ns, failed);
    if (probe->own && probe->calls == 0)
        crest_probe_free(probe);
    return status;
}

crest_status crest_probe_ping_now(crest_probe *probe)
{
    CREST_UNCANCELLED;
    crest_status status = CREST_NOT_FOUND;
    crest_prober_lock();
    if (probe != NULL && crest_prober_has(probe))
        status = probe->state.kind == CREST_PROBE_PING ? ping_send(probe) : CREST_INVALID_ARGUMENT;
    crest_prober_unlock();
    if (status == CREST_NOT_FOUND || status == CREST_INVALID_ARGUMENT)
        crest_misuse_count(CREST_MISUSE_PROBE, "crest_probe_ping_now");
    return status;
}

/* ---- answers ---- */

/* Under the lock. */
static crest_status ping_answer(crest_probe *probe, uint64_t id, uint64_t now_ns)
{
    crest_probe_ping_part *part = &probe->part.ping;
    ping_expire(probe, now_ns);
    crest_probe_ping_entry *entry = ping_find(part, id);
    if (entry != NULL && entry->phase == CREST_PING_SENT) {
        /* the clock may have been set back by a test meanwhile */
        uint64_t rtt_ns = now_ns > entry->start_ns ? now_ns - entry->start_ns : 0;
        ping_record(part, entry, rtt_ns, CREST_OUTCOME_OK, CREST_PING_OVER);
        crest_probe_answered(probe, rtt_ns);
        return CREST_OK;
    }
    probe->state.unexpected++;
    crest_counter_inc(part->unexpected);
    return entry != NULL && entry->phase == CREST_PING_LATE ? CREST_TIMED_OUT : CREST_NOT_FOUND;
}

crest_status crest_probe_pong(crest_probe *probe, uint64_t id)
{
    uint64_t now_ns = crest_now(); /* before this thread waits for a lock of ours */
    crest_prober_lock();
    int found = probe != NULL && crest_prober_has(probe);
    int fits = found && probe->state.kind == CREST_PROBE_PING;
    crest_status status = fits    ? ping_answer(probe, id, now_ns)
                          : found ? CREST_INVALID_ARGUMENT
                                  : CREST_NOT_FOUND;
    crest_prober_unlock();
    if (!fits)
        crest_misuse_count(CREST_MISUSE_PROBE, "crest_probe_pong");
    return status;
}

/* ---- the probe ---- */

static void ping_step(crest_probe *probe, uint64_t now_ns, uint64_t ready_ns, int ready)
{
    (void)ready;
    if (probe->due_ns <= now_ns) {
        probe->wanted = 1;
        crest_prober_next_point(probe, now_ns);
    }
    ping_arm(probe, now_ns, ping_expire(probe, ready_ns));
}

/* Pings under way are recorded as cancelled: no caller asks any more. */
static void ping_stop(crest_probe *probe)
{
    crest_probe_ping_part *part = &probe->part.ping;
    uint64_t now_ns = crest_now();
    ping_expire(probe, now_ns);
    for (unsigned i = 0; i < CREST_PROBE_PINGS_MAX; i++)
        if (part->pings[i].phase == CREST_PING_SENT)
            ping_record(part, &part->pings[i], now_ns - part->pings[i].start_ns,
                        CREST_OUTCOME_CANCELLED, CREST_PING_OVER);
}

static void ping_release(crest_probe *probe)
{
    crest_timer_release(probe->part.ping.time);
    crest_counter_release(probe->part.ping.unexpected);
    crest_counter_release(probe->part.ping.overruns);
}

static void ping_send_wanted(crest_probe *probe)
{
    (void)ping_send(probe);
}

static const crest_probe_work ping_work = {
    .step = ping_step, .stop = ping_stop, .release = ping_release, .send = ping_send_wanted};

crest_probe *crest_probe_ping(const char *peer, crest_probe_send_fn *send, void *context,
                              const crest_probe_options *options, crest_error *error)
{
    crest_error unwanted;
    if (error == NULL)
        error = &unwanted;
    crest_error_clear(error);
    crest_probe *probe = crest_probe_new(CREST_PROBE_PING, &ping_work, peer, options, error);
    if (probe == NULL)
        return NULL;
    crest_probe_ping_part *part = &probe->part.ping;
    part->send = send;
    part->context = context;
    if (send == NULL) {
        crest_error_set(error, CREST_INVALID_ARGUMENT,
                        "a ping to %s needs a function that sends it", probe->peer);
        return crest_probe_refuse(probe, error);
    }
    crest_status status = CREST_OK;
    part->time =
        crest_probe_timer(probe, "ping-time", "From sending a ping to its answer.", &status);
    part->unexpected = crest_probe_counter(
        probe, "pongs-unexpected", "Answers that were late, came twice, or answered no ping.",
        CREST_NONE, &status);
    part->overruns = crest_probe_counter(
        probe, "send-overruns", "Pings whose sending held up the prober.", CREST_NONE, &status);
    if (status != CREST_OK)
        crest_error_set(error, status, "a probe of %s cannot have its metrics %s.ping…: %s",
                        probe->peer, probe->prefix, crest_status_text(status));
    crest_prober_first_point(probe);
    if (error->status != CREST_OK || crest_prober_add(probe, error) != CREST_OK)
        return crest_probe_refuse(probe, error);
    return probe;
}
