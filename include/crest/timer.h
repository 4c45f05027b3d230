/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Timers: how long operations take. The start returns a token that travels with the operation
 * through queues, threads and callbacks. The end names the operation again, so that a start is only
 * ever paired with the end of the same operation.
 *
 *     CREST_TIMER(connect_time, "comm.connect-time", "Dial to handshake.");
 *     crest_op op = crest_op_u64(connection_id);
 *     crest_timing timing = crest_timer_start(&connect_time, op);
 *     ...
 *     crest_timing_end(&timing, op, ok ? CREST_OUTCOME_OK : CREST_OUTCOME_ERROR);
 *
 * Each outcome is a series of its own (label `outcome`), so that failures are measured too.
 */
#ifndef CREST_TIMER_H
#define CREST_TIMER_H

#include <crest/clock.h>
#include <crest/histogram.h>
#include <crest/op.h>

typedef enum crest_outcome {
    CREST_OUTCOME_OK,
    CREST_OUTCOME_ERROR,
    CREST_OUTCOME_TIMEOUT,
    CREST_OUTCOME_CANCELLED,
    CREST_OUTCOME_COUNT
} crest_outcome;

/* ok and error exist as zero from the start; the others appear when first hit. */
typedef struct crest_timer {
    crest_handle handle;
    crest_histogram outcome[CREST_OUTCOME_COUNT];
    struct crest_keyed *keyed; /* the library's, of in_flight.h's calls */
} crest_timer;

/*
 * A running timing, by value. It holds no resource: a dropped timing is simply not recorded. A copy
 * is a second timing of the same operation and records again when ended; avoiding that is the
 * caller's business.
 */
typedef struct crest_timing {
    crest_timer *timer; /* NULL: not running */
    uint64_t start_ns;
    crest_op op;
} crest_timing;

/*
 * A timing of an operation whose identity is an integer, in 24 bytes instead of 56: for tokens that
 * lie in memory, in a connection or a request. Zeroed, it is not running.
 */
typedef struct crest_timing_u64 {
    crest_timer *timer; /* NULL: not running */
    uint64_t start_ns;
    uint64_t id;
} crest_timing_u64;

#define CREST_TIMER_INIT_(declaration)                                                             \
    {                                                                                              \
        CREST_HANDLE_INIT_(declaration),                                                           \
            {{CREST_HANDLE_INIT_(declaration)},                                                    \
             {CREST_HANDLE_INIT_(declaration)},                                                    \
             {CREST_HANDLE_INIT_(declaration)},                                                    \
             {CREST_HANDLE_INIT_(declaration)}},                                                   \
            NULL                                                                                   \
    }

/* CREST_TIMER(variable, name, description[, .buckets = CREST_BUCKETS_FAST]): as CREST_COUNTER. */
#define CREST_TIMER(variable, name, ...)                                                           \
    CREST_DECLARE_(static, crest_timer, CREST_KIND_TIMER, CREST_TIMER_INIT_, variable, name,       \
                   __VA_ARGS__, )
#define CREST_TIMER_DECLARE(variable) extern crest_timer variable
#define CREST_TIMER_DEFINE(variable, name, ...)                                                    \
    CREST_DECLARE_(, crest_timer, CREST_KIND_TIMER, CREST_TIMER_INIT_, variable, name,             \
                   __VA_ARGS__, )

CREST_BEGIN_C

/* The cold path of recording a duration: first touch of an outcome, out of range, bad outcome, or
 * the largest of this tick, which is noted with its operation (NULL: it has no id). */
CREST_API crest_status crest_timer_record_slow(crest_timer *timer, int64_t duration_ns,
                                               crest_outcome outcome, const crest_op *op)
    CREST_NOTHROW_;

/* Counts an end that records nothing, under the timer if it is known, and returns its status. */
CREST_API crest_status crest_timing_refuse(const crest_timer *timer, crest_status why)
    CREST_NOTHROW_;

#ifndef CREST_DISABLE
/*
 * Records a duration measured elsewhere. `op` names its operation, so that it can be found as the
 * slowest (NULL: it has no id). A negative duration counts as 0 and is counted as misuse. Returns
 * CREST_OK, or why the timer records nowhere, which is counted too. All timing records through
 * here. Any thread, any handler. Cost: that of crest_histogram_record; a duration that is the
 * longest of this thread since the last tick takes the cold path, about 60 ns.
 */
CREST_INLINE crest_status crest_timer_record_op(crest_timer *timer, int64_t duration_ns,
                                                crest_outcome outcome, const crest_op *op)
{
    if (CREST_LIKELY((unsigned)outcome < CREST_OUTCOME_COUNT)) {
        uint64_t *cell = crest_cell_of(&timer->outcome[outcome].handle);
        if (CREST_LIKELY(cell != NULL)) {
            uintptr_t word = __atomic_load_n(cell, __ATOMIC_RELAXED);
            crest_shard *shard = (crest_shard *)word;
            if (CREST_LIKELY(shard != NULL && crest_shard_record(shard, (uint64_t)duration_ns, 1)))
                return CREST_OK;
        }
    }
    if (op == NULL)
        return crest_timer_record_slow(timer, duration_ns, outcome, NULL);
    {
        crest_op copy = *op; /* so that the caller's may stay in registers */
        return crest_timer_record_slow(timer, duration_ns, outcome, &copy);
    }
}

/* The same of an operation without an id. */
CREST_INLINE void crest_timer_record(crest_timer *timer, int64_t duration_ns, crest_outcome outcome)
{
    crest_timer_record_op(timer, duration_ns, outcome, NULL);
}

/*
 * crest_timer_start at a time of crest_now() that the caller has read already: where one operation
 * begins as another ends, or several begin at once, the caller reads the clock once for all of
 * them.
 */
CREST_INLINE crest_timing crest_timer_start_at(crest_timer *timer, crest_op op, uint64_t now_ns)
{
    crest_timing timing = {timer, now_ns, op};
    return timing;
}

/*
 * Starts timing the operation; if its id is not known yet, `op` is crest_op_none() until
 * crest_timing_bind names it. Any thread, any handler. Cost: inline, one crest_now.
 */
CREST_INLINE crest_timing crest_timer_start(crest_timer *timer, crest_op op)
{
    return crest_timer_start_at(timer, op, crest_now());
}

/*
 * Names the operation of a timing that was started as crest_op_none(), once its id is decoded.
 * Returns CREST_OK, also when it is bound to this operation already; CREST_MISMATCH when it is
 * bound to another, or `op` is crest_op_none() (the timing stays as it was); CREST_NOT_RUNNING. The
 * refusals are counted in crest_misuse_total. Any thread, any handler, but one thread at a time for
 * one token. Cost: inline.
 */
CREST_INLINE crest_status crest_timing_bind(crest_timing *timing, crest_op op)
{
    if (CREST_UNLIKELY(timing->timer == NULL))
        return crest_timing_refuse(NULL, CREST_NOT_RUNNING);
    if (CREST_UNLIKELY(op.kind == CREST_OP_NONE ||
                       (timing->op.kind != CREST_OP_NONE && !crest_op_equal(&timing->op, &op))))
        return crest_timing_refuse(timing->timer, CREST_MISMATCH);
    timing->op = op;
    return CREST_OK;
}

/* crest_timing_end_in at a time of crest_now() that the caller has read already, not before the
 * start: the end of one operation that begins the next, or of several at once. */
CREST_INLINE crest_status crest_timing_end_at(crest_timing *timing, crest_op op,
                                              crest_outcome outcome, crest_timer *series,
                                              uint64_t now_ns)
{
    crest_timer *timer = timing->timer;
    if (CREST_UNLIKELY(timer == NULL))
        return crest_timing_refuse(NULL, CREST_NOT_RUNNING);
    if (CREST_UNLIKELY(!crest_op_equal(&timing->op, &op) || op.kind == CREST_OP_NONE))
        return crest_timing_refuse(timer, CREST_MISMATCH);
    if (CREST_UNLIKELY((unsigned)outcome >= CREST_OUTCOME_COUNT))
        return crest_timing_refuse(timer, CREST_INVALID_ARGUMENT);
    timing->timer = NULL;
    return crest_timer_record_op(series != NULL ? series : timer,
                                 (int64_t)(now_ns - timing->start_ns), outcome, &op);
}

/*
 * Ends the timing and records its duration under the outcome, into `series` instead of the timer
 * that the start named: for labels that are known only at the end. `series` is a handle of the same
 * family, or any other; NULL is the timer that the start named. Otherwise as crest_timing_end.
 *
 *     crest_timing timing = crest_timer_start(answers_with("?"), op);
 *     ...
 *     crest_timing_end_in(&timing, op, CREST_OUTCOME_OK, answers_with(answer.kind));
 */
CREST_INLINE crest_status crest_timing_end_in(crest_timing *timing, crest_op op,
                                              crest_outcome outcome, crest_timer *series)
{
    return crest_timing_end_at(timing, op, outcome, series, crest_now());
}

/*
 * Ends the timing and records its duration under the outcome. Any thread, any handler, but one
 * thread at a time for one token. Cost: inline, one crest_now and one record. Returns
 *
 *   CREST_OK
 *   CREST_MISMATCH          the timing is of another operation, or `op` is crest_op_none(), which
 *                           ends no operation. Nothing is recorded; the timing goes on running
 *   CREST_NOT_RUNNING       this token has ended before or never started
 *   CREST_INVALID_ARGUMENT  an invalid outcome; the timing goes on running
 *   another status          why the timer records nowhere, such as CREST_TYPE_CLASH for a name of
 *                           another kind of metric, or CREST_NOT_FOUND after its registry was freed
 *
 * What is not recorded is counted: in crest_misuse_total, or as a late record of a series that was
 * retired.
 */
CREST_INLINE crest_status crest_timing_end(crest_timing *timing, crest_op op, crest_outcome outcome)
{
    return crest_timing_end_in(timing, op, outcome, NULL);
}

/* crest_timing_end with CREST_OUTCOME_OK. */
CREST_INLINE crest_status crest_timing_stop(crest_timing *timing, crest_op op)
{
    return crest_timing_end(timing, op, CREST_OUTCOME_OK);
}

/*
 * The calls above for an operation named by an integer, as crest_op_u64(id) names it. With a token
 * in memory this costs a third less: the start writes three words and the end compares one.
 *
 *     connection->timing = crest_timer_start_u64(&request_time, connection->id);
 *     ...
 *     crest_timing_u64_end(&connection->timing, connection->id, CREST_OUTCOME_OK);
 */
CREST_INLINE crest_timing_u64 crest_timer_start_u64_at(crest_timer *timer, uint64_t id,
                                                       uint64_t now_ns)
{
    crest_timing_u64 timing = {timer, now_ns, id};
    return timing;
}

CREST_INLINE crest_timing_u64 crest_timer_start_u64(crest_timer *timer, uint64_t id)
{
    return crest_timer_start_u64_at(timer, id, crest_now());
}

CREST_INLINE crest_status crest_timing_u64_end_at(crest_timing_u64 *timing, uint64_t id,
                                                  crest_outcome outcome, crest_timer *series,
                                                  uint64_t now_ns)
{
    crest_timer *timer = timing->timer;
    crest_op op = crest_op_u64(id);
    if (CREST_UNLIKELY(timer == NULL))
        return crest_timing_refuse(NULL, CREST_NOT_RUNNING);
    if (CREST_UNLIKELY(timing->id != id))
        return crest_timing_refuse(timer, CREST_MISMATCH);
    if (CREST_UNLIKELY((unsigned)outcome >= CREST_OUTCOME_COUNT))
        return crest_timing_refuse(timer, CREST_INVALID_ARGUMENT);
    timing->timer = NULL;
    return crest_timer_record_op(series != NULL ? series : timer,
                                 (int64_t)(now_ns - timing->start_ns), outcome, &op);
}

CREST_INLINE crest_status crest_timing_u64_end_in(crest_timing_u64 *timing, uint64_t id,
                                                  crest_outcome outcome, crest_timer *series)
{
    return crest_timing_u64_end_at(timing, id, outcome, series, crest_now());
}

CREST_INLINE crest_status crest_timing_u64_end(crest_timing_u64 *timing, uint64_t id,
                                               crest_outcome outcome)
{
    return crest_timing_u64_end_in(timing, id, outcome, NULL);
}
#endif

/* The label value of an outcome: "ok", "error", "timeout", "cancelled"; NULL for none. */
CREST_API const char *crest_outcome_text(crest_outcome outcome);

CREST_END_C

#ifdef CREST_DISABLE
#include <crest/off/timer_off.h>
#endif

#endif
