/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keyed timers: begun here and ended elsewhere, where the two sides share nothing but the
 * operation's id: a request and its answer, a block announced and a block stored. What has begun
 * and not ended is in flight. Its count, the age of the oldest and the stuck operations can be
 * read, and are exported.
 *
 *     CREST_TIMER(fetch_time, "comm.fetch-time", "Asked for until stored.", .deadline_ms = 30000);
 *     crest_timer_begin(&fetch_time, crest_op_bytes(hash, 32));
 *     ...                                        (another thread, another file)
 *     crest_timer_end(&fetch_time, crest_op_bytes(hash, 32), CREST_OUTCOME_OK);
 *
 * One table holds the operations of all metrics. A metric may have half of it alone, less when
 * other metrics have many (CREST_IN_FLIGHT_MAX of limits.md). So a metric whose operations never
 * end, and have no deadline, is refused further ones, and no other metric is.
 * crest_in_flight_refused_total counts refusals by metric. When a series is retired (lifetime.h),
 * its operations in flight end as `cancelled`.
 *
 * Where one side can hand a value to the other, a crest_timing (timer.h) costs less and has no
 * bounds. Operations of two metrics, or of two series of a family, are never the same.
 *
 * An operation may have an owner, such as a connection. When the owner ends first, it ends all its
 * operations at once:
 *
 *     crest_timer_begin_owned(&request_time, crest_op_u64(request), crest_op_u64(connection->id));
 *     ...
 *     crest_owner_end(crest_op_u64(connection->id), CREST_OUTCOME_CANCELLED);
 *
 * A metric with a deadline_ms exports `X.in-flight` (how many, all series together) and `X.oldest`
 * (the age of the oldest, in seconds) from the start; one without a deadline, from its first begin.
 * `X.stuck`, labelled `op`, is the age of the three oldest operations among those older than half
 * the deadline, or than a minute without a deadline. An operation that is no longer among them is
 * not on the next page. No other metric can have these names then.
 */
#ifndef CREST_IN_FLIGHT_H
#define CREST_IN_FLIGHT_H

#include <crest/timer.h>

/* An operation in flight. */
typedef struct crest_in_flight_op {
    crest_op op;
    uint64_t age_ns;
    int stage; /* of stages: the index of the last stage marked; -1: none yet, or a timer */
} crest_in_flight_op;

/* What is in flight of one timer, or of one stages. */
typedef struct crest_in_flight {
    uint64_t count;
    uint64_t oldest_ns; /* the age of the oldest; 0: there is none */
} crest_in_flight;

CREST_BEGIN_C

/*
 * Begins the operation. Any thread; not for signal handlers. Returns
 *
 *   CREST_OK
 *   CREST_ALREADY                it is in flight and the first begin stays; a normal answer
 *                                (several peers announce one block)
 *   CREST_INVALID_ARGUMENT       the op is crest_op_none
 *   CREST_LIMIT                  too much is in flight of this metric, see above
 *   CREST_NO_MEMORY
 *   CREST_NOT_FOUND, _ABI_MISMATCH  the handle records nowhere
 *   CREST_LATE                   the series was retired; counted in crest_late_records_total
 *
 * All others but the first two are counted in crest_misuse_total. An operation that ended, or timed
 * out, may begin anew. In the child of a fork nothing is in flight. Cost: one crest_now and a
 * look-up in a striped table, under a lock for some ten nanoseconds; the first begin of a series
 * registers.
 */
CREST_API crest_status crest_timer_begin(crest_timer *timer, crest_op op);

/*
 * Begins an operation that belongs to `owner`; crest_owner_end ends all operations of an owner. An
 * owner is identified by an op of any kind, such as crest_op_u64 of a connection's number or
 * address. That op is the same owner in all metrics of the process. So two kinds of owners that
 * count alike need two words (crest_op_u64x2). Nothing is kept of an owner that has nothing in
 * flight. An operation that is already in flight keeps its owner, or none. CREST_INVALID_ARGUMENT
 * also for an owner that is crest_op_none. Otherwise as crest_timer_begin; crest_timer_end ends it
 * too. Cost: that of crest_timer_begin and some ten nanoseconds, and 56 bytes; the first in each 64
 * operations allocates.
 */
CREST_API crest_status crest_timer_begin_owned(crest_timer *timer, crest_op op, crest_op owner);

/*
 * Ends all operations in flight of this owner, of timers and of stages, and records the duration of
 * each under the outcome. Returns how many; overdue ones are recorded as `timeout` and not counted
 * here. An operation that another thread begins or ends meanwhile may be ended here or not; it is
 * recorded once. 0, counted in crest_misuse_total, for an owner that is crest_op_none or an invalid
 * outcome. Any thread; not for signal handlers. Cost: a read of 8 bytes times the most operations
 * with an owner that were ever in flight at once (some microseconds for ten thousand); and one end
 * for each operation ended.
 */
CREST_API size_t crest_owner_end(crest_op owner, crest_outcome outcome);

/*
 * Ends the operation and records its duration under the outcome. Returns
 *
 *   CREST_OK
 *   CREST_NOT_FOUND         it is not in flight: it never began, has ended, or began before a
 *                           restart; a normal answer
 *   CREST_TIMED_OUT         it was in flight for the metric's deadline_ms or longer; this call or
 *                           an earlier check records it as `timeout`, with the deadline as its
 *                           duration. Remembered for CREST_TOMBSTONE_S of limits.md, then
 *                           not found
 *   CREST_INVALID_ARGUMENT  no op, or an invalid outcome; counted
 *
 * However many ends race with each other and with the deadline, each begin is recorded once.
 * Otherwise as crest_timer_begin.
 */
CREST_API crest_status crest_timer_end(crest_timer *timer, crest_op op, crest_outcome outcome);

/* How much is in flight of this series. Any thread; not for signal handlers. Takes no lock. Cost:
 * reads all that is in flight. */
CREST_API crest_in_flight crest_timer_in_flight(const crest_timer *timer);

/* The oldest operations in flight of this series, at most `max`, the oldest first; returns how
 * many. Otherwise as crest_timer_in_flight. */
CREST_API size_t crest_timer_oldest(const crest_timer *timer, crest_in_flight_op *ops, size_t max);

CREST_END_C

#ifdef CREST_DISABLE
#include <crest/off/in_flight_off.h>
#endif

#endif
