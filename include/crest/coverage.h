/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Coverage: how long it takes until a message has reached a given fraction of the nodes, such as
 * "99 % of them have the block". The origin begins an operation, and each node acknowledges with
 * the time at which it received. A timer records when enough nodes had it.
 *
 *     CREST_TIMER(coverage_time, "casper.block-coverage-time", "Until 99 % have the block.");
 *     crest_coverage_options options = {.nodes = 50};
 *     crest_coverage *coverage = crest_coverage_new(&coverage_time, &options, &error);
 *
 *     crest_coverage_begin(coverage, op, crest_wall_now());       with the block
 *     crest_coverage_add_after(coverage, &op, node, duration_ns); what the node's own
 *                                                                 crest_stamp_record measured
 *
 * What counts is when a node received, not when its acknowledgement arrives. So acknowledgements
 * may come in any order, and the result is the k-th smallest of their times, k being the fraction
 * of the nodes, rounded up. It is recorded when all nodes have acknowledged, or .settle_ms after k
 * of them have: until then an acknowledgement on its way may still be of a node that received
 * before the k-th. If such an acknowledgement comes later, it is counted as decisive, because the
 * recorded time was too long.
 *
 * Operations that do not get that far end as `timeout`, with the deadline as their duration. Each
 * call checks these times, and a poll once a second.
 *
 * Counted in peer_acks_ignored_total: acknowledgements of an operation that is over (late, or
 * decisive), of a node that has acknowledged before (repeated), and of an unknown operation
 * (unknown).
 */
#ifndef CREST_COVERAGE_H
#define CREST_COVERAGE_H

#include <crest/timer.h>

/* Nodes that may be counted, and operations under way at once. */
#define CREST_COVERAGE_NODES_MAX 1000u
#define CREST_COVERAGE_IN_FLIGHT_DEFAULT 64u
#define CREST_COVERAGE_IN_FLIGHT_MAX 1000u
#define CREST_COVERAGE_FRACTION_DEFAULT 0.99
#define CREST_COVERAGE_DEADLINE_MS_DEFAULT 60000u
#define CREST_COVERAGE_SETTLE_MS_DEFAULT 2000u
/* The most that deadline_ms and settle_ms may be. */
#define CREST_COVERAGE_MS_MAX 3600000u

typedef struct crest_coverage crest_coverage;

typedef struct crest_coverage_options {
    /* nodes that may acknowledge, 1 to CREST_COVERAGE_NODES_MAX; required */
    unsigned nodes CREST_DEFAULT_(0);
    /* the fraction of the nodes that is enough, above 0, up to 1; 0: _FRACTION_DEFAULT */
    double fraction CREST_DEFAULT_(0);
    /* 0: CREST_COVERAGE_DEADLINE_MS_DEFAULT; up to CREST_COVERAGE_MS_MAX */
    uint32_t deadline_ms CREST_DEFAULT_(0);
    /* 0: CREST_COVERAGE_SETTLE_MS_DEFAULT; up to CREST_COVERAGE_MS_MAX */
    uint32_t settle_ms CREST_DEFAULT_(0);
    /* operations under way at once; 0: CREST_COVERAGE_IN_FLIGHT_DEFAULT, up to _MAX */
    unsigned in_flight CREST_DEFAULT_(0);
} crest_coverage_options;

/* Counts of operations and of acknowledgements. */
typedef struct crest_coverage_state {
    unsigned needed;    /* how many nodes are enough: k */
    unsigned in_flight; /* operations under way */
    uint64_t covered, timed_out, cancelled;
    uint64_t late, decisive, repeated, unknown; /* acknowledgements that were ignored */
} crest_coverage_state;

CREST_BEGIN_C

/*
 * Operations whose coverage goes into this timer, which must outlive the result. Owned by the
 * caller, freed with crest_coverage_free. NULL on failure, with the reason in *error (NULL: not
 * wanted): CREST_INVALID_ARGUMENT for options out of range, CREST_NO_MEMORY, CREST_LIMIT (polls).
 * Memory: some 120 bytes, and 9 a node, for each operation that may be under way. Thread-safe; not
 * for signal handlers. Cost: locks, allocates; registers a poll (poll.h); the first poll starts a
 * thread. It belongs to the process that made it, not to a fork's child.
 */
CREST_API crest_coverage *
crest_coverage_new(crest_timer *timer, const crest_coverage_options *options, crest_error *error);

/* Ends what is under way, as crest_coverage_cancel does, and frees it; no other thread may be using
 * it. NULL does nothing. Not for signal handlers. Cost: locks, blocks for the poll. */
CREST_API void crest_coverage_free(crest_coverage *coverage);

/* The operation was sent at wall_ns (crest_wall_now() then). CREST_OK; CREST_ALREADY when it is
 * under way; CREST_INVALID_ARGUMENT for crest_op_none(); CREST_LIMIT when as many as may be are
 * under way, the latter two counted as misuse. Thread-safe; not for signal handlers. Cost: locks.
 */
CREST_API crest_status crest_coverage_begin(crest_coverage *coverage, crest_op op,
                                            uint64_t wall_ns);

/*
 * Node `node` (0 to .nodes - 1) received the operation at wall_ns by the origin's own clock: by the
 * node's clock less its offset (crest_peer_clock_read). A time before it was sent counts as 0.
 * CREST_OK;
 * ignored and counted: CREST_ALREADY when the node has acknowledged before; CREST_TIMED_OUT when
 * the operation is over; CREST_NOT_FOUND when it is unknown, or was forgotten after its end;
 * CREST_INVALID_ARGUMENT for a node out of range. Thread-safe; not for signal handlers. Cost:
 * locks; as many comparisons as operations are under way.
 */
CREST_API crest_status crest_coverage_add(crest_coverage *coverage, const crest_op *op,
                                          unsigned node, uint64_t wall_ns);

/* crest_coverage_add for a node that says how long after the origin it received: after_ns is the
 * duration_ns of its own crest_stamp_record. */
CREST_API crest_status crest_coverage_add_after(crest_coverage *coverage, const crest_op *op,
                                                unsigned node, int64_t after_ns);

/* Stops waiting for the operation: it is recorded if enough nodes have it, else it ends as
 * `cancelled`, with the time since its begin. CREST_OK; CREST_NOT_FOUND when it is not under way.
 * Thread-safe; not for signal handlers. Cost: locks. */
CREST_API crest_status crest_coverage_cancel(crest_coverage *coverage, const crest_op *op);

/* Fills *state. Thread-safe; not for signal handlers. Cost: locks. */
CREST_API void crest_coverage_read(crest_coverage *coverage, crest_coverage_state *state);

CREST_END_C

#ifdef CREST_DISABLE
#include <crest/off/coverage_off.h>
#endif

#endif
