/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arithmetic of schedules. See report_schedule.h.
 */
#include "reporting/report_schedule.h"
#include "base/sync.h"

#define PACE_JITTER_DEFAULT 0.1

/* splitmix64: any seed is good, and two neighbours' sequences differ. Source: Steele, Lea, Flood,
 * "Fast splittable pseudorandom number generators" (OOPSLA 2014). */
static uint64_t pace_draw(crest_pace *pace)
{
    uint64_t z = pace->random += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* A random part of `span_ns`, below it. */
static uint64_t pace_part(crest_pace *pace, uint64_t span_ns)
{
    double fraction = (double)(pace_draw(pace) >> 11) * 0x1p-53;
    return (uint64_t)(fraction * (double)span_ns);
}

/* How much later than its point of the grid a report is due. */
static uint64_t pace_jitter(crest_pace *pace)
{
    return pace_part(pace, (uint64_t)(pace->jitter * (double)pace->interval_ns));
}

crest_status crest_pace_check(const crest_schedule *schedule, crest_error *error)
{
    if (schedule == NULL)
        return CREST_OK;
    if (schedule->interval_ms != 0 && (schedule->interval_ms < CREST_INTERVAL_MS_MIN ||
                                       schedule->interval_ms > CREST_INTERVAL_MS_MAX))
        return crest_error_set(error, CREST_INVALID_ARGUMENT,
                               "an interval of %llu ms is not possible: it is %u to %u ms",
                               (unsigned long long)schedule->interval_ms, CREST_INTERVAL_MS_MIN,
                               CREST_INTERVAL_MS_MAX);
    if (schedule->timeout_ms > CREST_INTERVAL_MS_MAX)
        return crest_error_set(error, CREST_INVALID_ARGUMENT,
                               "a timeout of %llu ms is not possible: it is at most %u ms",
                               (unsigned long long)schedule->timeout_ms, CREST_INTERVAL_MS_MAX);
    if (!(schedule->jitter <= 1))
        return crest_error_set(error, CREST_INVALID_ARGUMENT,
                               "a jitter is a fraction of the interval, at most 1");
    return CREST_OK;
}

/* The first multiple of the interval after a moment of the wall clock, on the steady clock. */
static uint64_t pace_multiple_after(const crest_pace *pace, crest_pace_time now)
{
    return now.now_ns + pace->interval_ns - now.wall_ns % pace->interval_ns;
}

void crest_pace_init(crest_pace *pace, const crest_schedule *schedule, crest_pace_time now,
                     uint64_t seed)
{
    uint64_t interval_ms = schedule != NULL && schedule->interval_ms != 0
                               ? schedule->interval_ms
                               : CREST_INTERVAL_MS_DEFAULT;
    double jitter = schedule != NULL ? schedule->jitter : 0;
    *pace = (crest_pace){
        .interval_ns = interval_ms * CREST_NS_PER_MS,
        .jitter = jitter < 0   ? 0
                  : jitter > 0 ? jitter
                               : PACE_JITTER_DEFAULT,
        .random = seed,
        .align = schedule != NULL && schedule->align,
        .ahead_ns = (int64_t)(now.wall_ns - now.now_ns),
    };
    if (pace->align) {
        pace->slot_ns = pace_multiple_after(pace, now);
        pace->moved_ns = pace_jitter(pace);
    } else {
        pace->slot_ns = now.now_ns +
                        (pace->jitter > 0 ? pace_part(pace, pace->interval_ns) : pace->interval_ns);
    }
    pace->due_ns = pace->slot_ns + pace->moved_ns;
}

void crest_pace_next(crest_pace *pace, crest_pace_time now)
{
    pace->retrying = 1; /* if the wall clock was set meanwhile: this report's point has passed */
    crest_pace_realign(pace, now);
    pace->retrying = 0;
    pace->moved_ns = pace_jitter(pace);
    pace->slot_ns += pace->interval_ns;
    if (pace->slot_ns + pace->moved_ns <= now.now_ns)
        pace->slot_ns += ((now.now_ns - pace->slot_ns) / pace->interval_ns + 1) * pace->interval_ns;
    pace->due_ns = pace->slot_ns + pace->moved_ns;
}

void crest_pace_retry(crest_pace *pace, crest_pace_time now, uint64_t failures)
{
    uint64_t backoff_ns = CREST_RETRY_MS_FIRST * CREST_NS_PER_MS;
    for (uint64_t i = 1; i < failures && backoff_ns < pace->interval_ns; i++)
        backoff_ns *= 2;
    if (backoff_ns > pace->interval_ns)
        backoff_ns = pace->interval_ns;
    /* the report was asked for before its point, which is still to come */
    if (!pace->retrying && pace->due_ns > now.now_ns)
        pace->slot_ns -= pace->interval_ns;
    pace->retrying = 1;
    pace->due_ns =
        now.now_ns + backoff_ns - (pace->jitter > 0 ? pace_part(pace, backoff_ns / 2) : 0);
}

void crest_pace_not_before(crest_pace *pace, uint64_t due_ns)
{
    if (pace->due_ns < due_ns)
        pace->due_ns = due_ns;
}

void crest_pace_realign(crest_pace *pace, crest_pace_time now)
{
    int64_t ahead_ns = (int64_t)(now.wall_ns - now.now_ns);
    int64_t moved_ns = ahead_ns - pace->ahead_ns;
    if (!pace->align || moved_ns == 0)
        return;
    pace->ahead_ns = ahead_ns;
    uint64_t far_ns = moved_ns < 0 ? -(uint64_t)moved_ns : (uint64_t)moved_ns;
    if (far_ns < CREST_PACE_STEP_NS)
        pace->slot_ns -= (uint64_t)moved_ns;
    else /* the report that failed belonged to a point that has passed */
        pace->slot_ns = pace_multiple_after(pace, now) - (pace->retrying ? pace->interval_ns : 0);
    if (!pace->retrying)
        pace->due_ns = pace->slot_ns + pace->moved_ns;
}
