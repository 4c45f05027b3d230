/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When the next report is due: a grid of intervals, each report moved by its own random part
 * (jitter), and a backoff while reports fail. Pure arithmetic on the caller's clocks, with a seed
 * for chance.
 *
 *     crest_pace pace;
 *     crest_pace_init(&pace, schedule, now, seed);
 *     ... report at pace.due_ns ...
 *     failures ? crest_pace_retry(&pace, now, failures) : crest_pace_next(&pace, now);
 *
 * An aligned grid lies on the multiples of the interval on the wall clock. Threads wait by the
 * steady clock, so the waiting thread calls crest_pace_realign now and then.
 */
#ifndef CREST_REPORT_SCHEDULE_H
#define CREST_REPORT_SCHEDULE_H

#include <crest/reporter.h>

/* The first retry of a failed report comes after at most this. The reporter's thread waits for each
 * later retry at most twice as long as for the previous retry, up to the interval. */
#define CREST_RETRY_MS_FIRST 1000u
/* A wall clock that moves by less than this against the steady clock is being slewed: the points of
 * the grid follow it. If it moves by more, it was set: the next point is the next multiple. */
#define CREST_PACE_STEP_NS UINT64_C(1000000000)

/* One moment on both clocks. */
typedef struct crest_pace_time {
    uint64_t now_ns;  /* on the steady clock; all due times are on it */
    uint64_t wall_ns; /* since 1970 */
} crest_pace_time;

typedef struct crest_pace {
    uint64_t due_ns; /* when the next report is */
    uint64_t interval_ns;
    uint64_t slot_ns;  /* the grid's point of this report, or of the failed report */
    uint64_t moved_ns; /* the report's own random part */
    double jitter;     /* 0: none */
    uint64_t random;   /* state of the generator */
    int align;
    int retrying;     /* due_ns is a retry's */
    int64_t ahead_ns; /* wall clock minus steady clock, when the grid was last aligned */
} crest_pace;

/* CREST_INVALID_ARGUMENT with a message when a schedule (NULL is fine) cannot be followed. */
crest_status crest_pace_check(const crest_schedule *schedule, crest_error *error);

/* `schedule` must be valid; NULL for defaults. Sets when the first report is due. */
void crest_pace_init(crest_pace *pace, const crest_schedule *schedule, crest_pace_time now,
                     uint64_t seed);

/* A report ended well, or is not to be tried again. The next report is due at the next point of the
 * grid that has not passed. It is moved later by up to jitter times the interval. */
void crest_pace_next(crest_pace *pace, crest_pace_time now);

/* After `failures` (1 or more) in a row: the next report is due between half of the backoff and all
 * of it from now on. Without jitter: all of it. A point that is still to come is not used up. */
void crest_pace_retry(crest_pace *pace, crest_pace_time now, uint64_t failures);

/* After crest_pace_retry: moves a retry that is due before `due_ns` to then. */
void crest_pace_not_before(crest_pace *pace, uint64_t due_ns);

/* Moves an aligned grid, and the due time with it, to where the wall clock has it now. */
void crest_pace_realign(crest_pace *pace, crest_pace_time now);

#endif
