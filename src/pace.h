/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When the next report is due: a grid of intervals, each report moved by its own random part, and a
 * backoff while reports fail. Pure arithmetic on the caller's clock; a seed in place of chance.
 *
 *     crest_pace pace;
 *     crest_pace_init(&pace, schedule, now_ns, seed);
 *     due_ns = crest_pace_first(&pace);
 *     ... report at due_ns ...
 *     due_ns = failures ? crest_pace_retry(&pace, now_ns, failures)
 *                       : crest_pace_next(&pace, now_ns);
 */
#ifndef CREST_PACE_H
#define CREST_PACE_H

#include <crest/reporter.h>

/* The first retry of a failed report comes after at most this; each later one after at most twice
 * the one before, up to the interval. */
#define CREST_RETRY_MS_FIRST 1000u

typedef struct crest_pace {
    uint64_t interval_ns;
    uint64_t slot_ns; /* the grid's point that the last report belonged to */
    double jitter;    /* 0: none */
    uint64_t random;  /* state of the generator */
} crest_pace;

/* `schedule` must be valid (see crest_pace_check); NULL for defaults. */
void crest_pace_init(crest_pace *pace, const crest_schedule *schedule, uint64_t now_ns,
                     uint64_t seed);

/* CREST_INVALID_ARGUMENT with a message when a schedule (NULL is fine) cannot be followed. */
crest_status crest_pace_check(const crest_schedule *schedule, crest_error *error);

/* When the first report is due. */
uint64_t crest_pace_first(const crest_pace *pace);

/* When the next one is, after a report that ended well at now_ns: a later point of the grid, those
 * that have passed meanwhile left out, moved later by up to jitter times the interval. */
uint64_t crest_pace_next(crest_pace *pace, uint64_t now_ns);

/* When to try again after `failures` (1 or more) in a row: between half of the backoff and all of
 * it from now on. Without jitter: all of it. */
uint64_t crest_pace_retry(crest_pace *pace, uint64_t now_ns, uint64_t failures);

#endif
