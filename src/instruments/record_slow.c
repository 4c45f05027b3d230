/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cold paths of recording: the inline calls of <crest/counter.h>, gauge.h, histogram.h and
 * timer.h end here when one of their predictable branches goes the other way.
 *
 * Everything here may run in a signal handler: under the lock all signals are blocked, and misuse
 * is counted after it is dropped.
 *
 * A lane (<crest/lane.h>) replaces the thread's own cells, and is then added to atomically; NULL:
 * no lane.
 */
#include "instruments/record_slow.h"
#include "base/atomic.h"
#include "base/lock.h"
#include "base/misuse.h"
#include "cells/cells.h"
#include "cells/first_values.h"
#include "clock/clock_inside.h"
#include "instruments/resolve.h"
#include "metrics/child.h"
#include "metrics/handles.h"
#include "metrics/slowest_note.h"
#include "spans/traced_metrics.h"

/*
 * Takes the lock and returns 0. While a fork holds it and the series exists, takes nothing and
 * returns the series' slot: the record then goes to the shared cell or shard, which needs no lock.
 */
static uint32_t record_lock(const crest_handle *handle, crest_lock_saved *saved)
{
    /* acquire: partner of the release store in series.c; the series and its shared part are visible
     * then */
    uint32_t slot = crest_atomic_load32_acquire(&handle->slot);
    if (slot != 0)
        return crest_lock_take_unless_forking(saved) ? 0 : slot;
    crest_lock_take(saved);
    return 0;
}

static void record_full(const crest_counter *counter, int full)
{
    if (full)
        crest_misuse_count(CREST_MISUSE_FULL, crest_handle_name(&counter->handle));
}

/* Under the lock: the cell of the lane, or of this thread. */
static uint64_t *record_touch(const crest_thread_table *lane, uint32_t slot)
{
    return lane != NULL ? crest_cells_touch_lane(lane, slot) : crest_cells_touch(slot);
}

void crest_record_counter(const crest_thread_table *lane, crest_counter *counter, int64_t amount)
{
    crest_status why = amount < 0 ? CREST_NEGATIVE : crest_handle_dead(&counter->handle);
    if (why != CREST_OK) {
        crest_handle_refused(&counter->handle, why, 1);
        return;
    }
    crest_lock_saved saved;
    int full = 0;
    uint32_t shared = record_lock(&counter->handle, &saved);
    if (shared != 0) {
        record_full(counter, crest_cells_shared_add(shared, (uint64_t)amount));
        return;
    }
    uint32_t slot = crest_handle_resolve(&counter->handle, CREST_KIND_COUNTER, &why);
    uint64_t *cell = slot ? record_touch(lane, slot) : NULL;
    if (cell != NULL && (lane != NULL ? crest_atomic_add_carry(cell, (uint64_t)amount)
                                      : crest_word_add_carry(cell, (uint64_t)amount)))
        full = crest_cells_shared_add(slot, UINT64_MAX);
    else if (cell == NULL && slot != 0)
        full = crest_cells_shared_add(slot, (uint64_t)amount);
    crest_lock_drop(&saved);
    record_full(counter, full);
    if (slot == 0)
        crest_handle_refused(&counter->handle, why, 1);
}

void crest_counter_add_slow(crest_counter *counter, int64_t amount)
{
    crest_record_counter(NULL, counter, amount);
}

/* Until the shared cell says "full", a moment later, a reading finds the wrapped cell of the
 * thread. That is the price of an addition that checks nothing beforehand. */
void crest_counter_full_slow(crest_counter *counter)
{
    /* acquire: as in crest_counter_value */
    uint32_t slot = crest_atomic_load32_acquire(&counter->handle.slot);
    if (slot != 0)
        record_full(counter, crest_cells_shared_add(slot, UINT64_MAX));
}

uint64_t crest_counter_value(const crest_counter *counter)
{
    uint32_t slot = crest_handle_slot(&counter->handle);
    return slot ? crest_cells_sum(slot) : 0;
}

/* The gauge's cell, registering it if need be; NULL, counted, on failure. */
static uint64_t *record_gauge_cell(crest_gauge *gauge)
{
    crest_status why = crest_handle_dead(&gauge->handle);
    uint64_t *cell = NULL;
    if (why == CREST_OK) {
        crest_lock_saved saved;
        crest_lock_take(&saved);
        crest_handle_resolve(&gauge->handle, CREST_KIND_GAUGE, &why);
        cell = gauge->cell;
        crest_lock_drop(&saved);
    }
    if (cell != NULL)
        return cell;
    if (why == CREST_OK) /* a handle of another kind, without such a cell */
        why = CREST_INVALID_ARGUMENT;
    crest_handle_refused(&gauge->handle, why, 1);
    return NULL;
}

void crest_gauge_set_slow(crest_gauge *gauge, double value)
{
    if (value != value)
        crest_misuse_count(CREST_MISUSE_NOT_A_NUMBER, crest_handle_name(&gauge->handle));
    else if (record_gauge_cell(gauge) != NULL)
        crest_gauge_set(gauge, value);
}

void crest_gauge_add_slow(crest_gauge *gauge, double delta)
{
    if (delta != delta)
        crest_misuse_count(CREST_MISUSE_NOT_A_NUMBER, crest_handle_name(&gauge->handle));
    else if (record_gauge_cell(gauge) != NULL)
        crest_gauge_add(gauge, delta);
}

void crest_gauge_set_to_now(crest_gauge *gauge)
{
    uint64_t wall_ns = crest_clock_wall_ns();
    crest_gauge_set(gauge,
                    (double)(wall_ns / 1000000000u) + (double)(wall_ns % 1000000000u) * 1e-9);
}

double crest_gauge_value(const crest_gauge *gauge)
{
    const uint64_t *cell = crest_handle_shared(&gauge->handle);
    uint64_t bits = cell ? crest_atomic_load(cell) : 0;
    double value;
    __builtin_memcpy(&value, &bits, sizeof value);
    return value;
}

/* The lane's shard, or this thread's; NULL while it has none, or a beginning. No lock. */
static crest_shard *record_own_shard(const crest_thread_table *lane, const crest_handle *handle)
{
    const uint64_t *cell =
        lane ? crest_cells_of(lane, crest_atomic_load32(&handle->slot)) : crest_cell_of(handle);
    /* acquire: of a lane's, partner of the release in shards_replace */
    uint64_t there = cell != NULL ? crest_atomic_load_acquire(cell) : 0;
    return crest_shard_counted(there);
}

static int record_shard(const crest_thread_table *lane, crest_shard *shard, uint64_t value,
                        uint64_t times, int noting)
{
    return lane != NULL ? crest_shard_record_atomic(shard, value, times, noting)
                        : crest_shard_record_cold(shard, value, times, noting);
}

/* Under the lock, for a series with this slot: records into the lane's or the thread's shard, or
 * the shared one. 0 when so many do not fit. */
static int record_distribution(const crest_thread_table *lane, const crest_series *series,
                               uint32_t slot, uint64_t value, uint64_t times)
{
    const crest_layout *layout = series->metric->layout;
    uint64_t *cell = record_touch(lane, slot);
    crest_shard *shard = cell != NULL ? crest_shard_at(cell, layout, NULL) : NULL;
    if (shard == NULL || !crest_shard_touch(shard, layout, value, NULL))
        return crest_shared_shard_record(series->shared, value, times);
    /* few always fit; and reading a new page before writing it would cost one more page fault */
    return (times <= CREST_RECORD_TIMES_INLINE_MAX || crest_shard_has_room(shard, value, times)) &&
           record_shard(lane, shard, value, times, 1);
}

/* A value clamped to the layout's range. */
static uint64_t record_clamp(int64_t value, const crest_layout *layout, int *clamped)
{
    *clamped = (uint64_t)value > layout->highest;
    return *clamped ? layout->highest : (uint64_t)value;
}

/* Clamps and records, under the lock. CREST_LIMIT if sum or count would overflow, or if `times` can
 * only come from a negative number. Notes a timer's value if it is the slowest of this tick. */
static crest_status record_value(const crest_thread_table *lane, const crest_series *series,
                                 uint32_t slot, int64_t value, uint64_t times, const crest_op *op,
                                 int *clamped)
{
    uint64_t kept = record_clamp(value, series->metric->layout, clamped), product;
    if (times > INT64_MAX || __builtin_mul_overflow(kept, times, &product))
        return CREST_LIMIT;
    if (op != NULL)
        crest_slowest_note(series, kept, op);
    return record_distribution(lane, series, slot, kept, times) ? CREST_OK : CREST_LIMIT;
}

/* Without the lock, for a handle with a slot; the registry may be freed meanwhile. Notes the
 * slowest value, without its operation. */
static crest_status record_shared(const crest_thread_table *lane, const crest_handle *handle,
                                  int64_t value, uint64_t times, int *clamped)
{
    const crest_series *series = crest_handle_series(handle);
    crest_status why;
    if (crest_series_is_dead(series, &why))
        return why;
    uint64_t kept = record_clamp(value, series->metric->layout, clamped), product;
    if (times > INT64_MAX || __builtin_mul_overflow(kept, times, &product))
        return CREST_LIMIT;
    crest_shard *own = record_own_shard(lane, handle);
    if (own != NULL && crest_shard_has_room(own, kept, times) &&
        record_shard(lane, own, kept, times, 0)) {
        crest_slowest_note_unlocked(series, kept);
        return CREST_OK;
    }
    /* acquire: as in record_begin; NULL when the series left while this thread was stopped */
    crest_shared_shard *shared = crest_atomic_load_ptr_acquire(CREST_PTR(&series->shared));
    if (shared == NULL)
        return CREST_LATE;
    return crest_shared_shard_record(shared, kept, times) ? CREST_OK : CREST_LIMIT;
}

/* The cases left by the inlined part that need no lock: new extremes of a histogram, or a new least
 * of a timer. `times` at most as in the inlined part. */
static int record_unlocked(const crest_thread_table *lane, const crest_handle *handle,
                           int64_t value, uint64_t times, int noting)
{
    if (value < 0 || times - 1 >= CREST_RECORD_TIMES_INLINE_MAX ||
        (times != 1 && value >> CREST_RECORD_BITS_INLINE_MAX != 0))
        return 0;
    crest_shard *own = record_own_shard(lane, handle);
    /* acquire: of a lane's, partner of the release in crest_shard_record_atomic */
    if (own == NULL || (!noting && (uint64_t)value > crest_atomic_load_acquire(&own->noted)))
        return 0;
    return record_shard(lane, own, (uint64_t)value, times, noting);
}

/* Records among the first few values of a cell; `op` is a timer's, NULL a histogram's. 0 when they
 * are full. */
static int record_begin(const crest_series *series, uint64_t *cell, crest_reserve *reserve,
                        uint64_t value, const crest_op *op)
{
    if (!crest_beginning_has_room(cell))
        return 0;
    if (op != NULL)
        return crest_slowest_begin(series, cell, reserve, value, op);
    /* acquire: partner of the release store in series.c */
    if (crest_atomic_load_ptr_acquire(CREST_PTR(&series->shared)) == NULL)
        return 0;
    crest_slowest_note_unlocked(series, value);
    return crest_beginning_add(cell, series->metric->layout, reserve, value);
}

/*
 * This thread's first record into a series, without the lock: begins with the value, or makes a
 * shard with the value's block from the thread's reserve, and records. 0 when that takes the lock.
 * The slot's quarantine is long enough for this write into its cell, as for the inlined part's.
 */
static int record_first(const crest_handle *handle, int64_t value, uint64_t times,
                        const crest_op *op)
{
    const crest_shard *own = record_own_shard(NULL, handle);
    if (own != NULL && crest_shard_has_block(own, (uint64_t)value))
        return 0;
    /* acquire: as in record_lock */
    int registered = crest_atomic_load32_acquire(&handle->slot) != 0;
    const crest_series *series = crest_handle_series(handle);
    crest_status why;
    if (!registered || times == 0 || handle->abi != CREST_ABI || series == NULL ||
        crest_series_is_dead(series, &why))
        return 0;
    const crest_layout *layout = series->metric->layout;
    uint64_t *cell = crest_cell_of(handle);
    crest_reserve *reserve = crest_cells_reserve();
    /* a negative value is beyond any range here */
    if (layout == NULL || (uint64_t)value > layout->highest || cell == NULL || reserve == NULL)
        return 0;
    if (times == 1 && record_begin(series, cell, reserve, (uint64_t)value, op))
        return 1;
    crest_shard *shard = crest_shard_at(cell, layout, reserve);
    return shard != NULL && crest_shard_touch(shard, layout, (uint64_t)value, reserve) &&
           record_unlocked(NULL, handle, value, times, op == NULL);
}

/* Records a timer's slowest value of this tick. */
static int record_slowest(const crest_thread_table *lane, const crest_handle *handle,
                          int64_t duration_ns, const crest_op *op)
{
    crest_shard *own = record_own_shard(lane, handle);
    const crest_series *series = own != NULL ? crest_handle_series(handle) : NULL;
    return series != NULL &&
           crest_slowest_record(series, own, (uint64_t)duration_ns, op, lane != NULL);
}

void crest_record_histogram(const crest_thread_table *lane, crest_histogram *histogram,
                            int64_t value, uint64_t times)
{
    if (record_unlocked(lane, &histogram->handle, value, times, 1) ||
        (lane == NULL && record_first(&histogram->handle, value, times, NULL)))
        return;
    crest_status why = crest_handle_dead(&histogram->handle);
    if (times == 0)
        return;
    if (why == CREST_OK && value < 0)
        why = CREST_NEGATIVE;
    if (why != CREST_OK) {
        crest_handle_refused(&histogram->handle, why, times);
        return;
    }
    int clamped = 0;
    crest_lock_saved saved;
    if (record_lock(&histogram->handle, &saved) != 0) {
        why = record_shared(lane, &histogram->handle, value, times, &clamped);
    } else {
        uint32_t slot = crest_handle_resolve(&histogram->handle, CREST_KIND_HISTOGRAM, &why);
        if (slot != 0)
            why = record_value(lane, histogram->handle.series, slot, value, times, NULL, &clamped);
        crest_lock_drop(&saved);
    }
    if (why != CREST_OK)
        crest_handle_refused(&histogram->handle, why, times);
    if (clamped)
        crest_misuse_count(CREST_MISUSE_CLAMPED, crest_handle_name(&histogram->handle));
}

void crest_histogram_record_slow(crest_histogram *histogram, int64_t value, uint64_t times)
{
    crest_record_histogram(NULL, histogram, value, times);
}

/*
 * Records into a traced timer's shard, whose `noted` stays 0, so that each record comes here: a
 * duration that is not the slowest of this tick needs no more than its count. The board then tells
 * what `noted` cannot. 0 when another path must record it.
 */
static int record_traced(const crest_thread_table *lane, const crest_handle *handle,
                         const crest_series *series, int64_t duration_ns, const crest_op *op)
{
    crest_shard *own = record_own_shard(lane, handle);
    if (own == NULL || duration_ns < 0)
        return 0;
    if (crest_slowest_is(series, (uint64_t)duration_ns))
        return record_shard(lane, own, (uint64_t)duration_ns, 1, 0);
    int done = crest_slowest_record(series, own, (uint64_t)duration_ns, op, lane != NULL);
    crest_atomic_store(&own->noted, 0);
    return done;
}

/* After a traced timer's record on another path, which may have noted it in the shard: the next one
 * is to come here too. */
static void record_offer(const crest_thread_table *lane, const crest_handle *handle,
                         const crest_series *series, uint64_t duration_ns, crest_outcome outcome,
                         const crest_op *op, const crest_span_more *more)
{
    crest_shard *own = record_own_shard(lane, handle);
    if (own != NULL)
        crest_atomic_store(&own->noted, 0);
    crest_span_offer(series, duration_ns, outcome, op, more);
}

/* Whether a handle's records are spans: its series, or NULL; a placeholder, of a child that was
 * retired a moment ago, has no metric. */
static inline const crest_series *record_traced_series(const crest_handle *handle)
{
    const crest_series *series = crest_traced_any() ? crest_handle_series(handle) : NULL;
    return series != NULL && series->metric != NULL && crest_traced(series->metric) ? series : NULL;
}

static crest_status record_timer(const crest_thread_table *lane, crest_timer *timer,
                                 int64_t duration_ns, crest_outcome outcome, const crest_op *op)
{
    static const crest_op no_op = {{0, 0, 0, 0}, 0, CREST_OP_NONE};
    crest_status why = crest_handle_dead(&timer->handle);
    if (why != CREST_OK || (unsigned)outcome >= CREST_OUTCOME_COUNT) {
        if (why != CREST_OK)
            crest_handle_refused(&timer->handle, why, 1);
        else
            crest_misuse_count(CREST_MISUSE_OUTCOME, crest_handle_name(&timer->handle));
        return why != CREST_OK ? why : CREST_INVALID_ARGUMENT;
    }
    int backwards = duration_ns < 0, clamped = 0;
    const crest_handle *handle = &timer->outcome[outcome].handle;
    crest_lock_saved saved;
    if (backwards)
        duration_ns = 0;
    if (op == NULL)
        op = &no_op;
    if (record_unlocked(lane, handle, duration_ns, 1, 0) ||
        (lane == NULL && record_first(handle, duration_ns, 1, op)) ||
        record_slowest(lane, handle, duration_ns, op)) {
        why = CREST_OK;
    } else if (record_lock(handle, &saved) != 0) {
        why = record_shared(lane, handle, duration_ns, 1, &clamped);
    } else {
        uint32_t slot = crest_timer_resolve(timer, outcome, &why);
        if (slot != 0)
            why = record_value(lane, handle->series, slot, duration_ns, 1, op, &clamped);
        crest_lock_drop(&saved);
    }
    if (why != CREST_OK)
        crest_handle_refused(&timer->handle, why, 1);
    if (backwards)
        crest_misuse_count(CREST_MISUSE_BACKWARDS, crest_handle_name(&timer->handle));
    if (clamped)
        crest_misuse_count(CREST_MISUSE_CLAMPED, crest_handle_name(&timer->handle));
    return why;
}

/* The same while something is traced, where the quick path below does not do. */
__attribute__((noinline)) static crest_status
record_timer_offered(const crest_thread_table *lane, crest_timer *timer, int64_t duration_ns,
                     crest_outcome outcome, const crest_op *op, const crest_span_more *more)
{
    crest_status why = record_timer(lane, timer, duration_ns, outcome, op);
    const crest_handle *handle = &timer->outcome[outcome].handle;
    const crest_series *series = why == CREST_OK ? record_traced_series(handle) : NULL;
    if (series != NULL)
        record_offer(lane, handle, series, duration_ns < 0 ? 0 : (uint64_t)duration_ns, outcome, op,
                     more);
    return why;
}

/* The same: offers the span if the timer is traced. Apart, so that it costs the cold path of others
 * one comparison. */
__attribute__((noinline)) static crest_status
record_timer_traced(const crest_thread_table *lane, crest_timer *timer, int64_t duration_ns,
                    crest_outcome outcome, const crest_op *op, const crest_span_more *more)
{
    static const crest_op no_op = {{0, 0, 0, 0}, 0, CREST_OP_NONE};
    if ((unsigned)outcome >= CREST_OUTCOME_COUNT || crest_handle_dead(&timer->handle) != CREST_OK)
        return record_timer(lane, timer, duration_ns, outcome, op);
    const crest_handle *handle = &timer->outcome[outcome].handle;
    const crest_series *series = record_traced_series(handle);
    if (CREST_UNLIKELY(series == NULL ||
                       !record_traced(lane, handle, series, duration_ns, op ? op : &no_op)))
        return record_timer_offered(lane, timer, duration_ns, outcome, op, more);
    crest_span_offer(series, (uint64_t)duration_ns, outcome, op, more);
    return CREST_OK;
}

crest_status crest_record_timer(const crest_thread_table *lane, crest_timer *timer,
                                int64_t duration_ns, crest_outcome outcome, const crest_op *op)
{
    if (crest_traced_any())
        return record_timer_traced(lane, timer, duration_ns, outcome, op, NULL);
    return record_timer(lane, timer, duration_ns, outcome, op);
}

crest_status crest_record_span(crest_timer *timer, int64_t duration_ns, crest_outcome outcome,
                               const crest_op *op, const crest_span_more *more)
{
    return record_timer_traced(NULL, timer, duration_ns, outcome, op, more);
}

crest_status crest_record_ended(crest_timer *timer, int64_t duration_ns, crest_outcome outcome,
                                const crest_op *op, uint64_t end_ns)
{
    crest_span_more more = {.end_ns = end_ns};
    return crest_traced_any() ? record_timer_traced(NULL, timer, duration_ns, outcome, op, &more)
                              : crest_timer_record_op(timer, duration_ns, outcome, op);
}

crest_status crest_timer_record_slow(crest_timer *timer, int64_t duration_ns, crest_outcome outcome,
                                     const crest_op *op)
{
    return crest_record_timer(NULL, timer, duration_ns, outcome, op);
}

crest_status crest_timing_refuse(const crest_timer *timer, crest_status why)
{
    crest_misuse_count(why == CREST_INVALID_ARGUMENT ? CREST_MISUSE_OUTCOME : crest_misuse_of(why),
                       timer ? crest_handle_name(&timer->handle) : NULL);
    return why;
}
