/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The keyed calls of <crest/in_flight.h> and <crest/stages.h>: from a handle to its keyed series,
 * and counting misuse.
 */
#include "base/arena.h"
#include "base/atomic.h"
#include "base/lock.h"
#include "base/misuse.h"
#include "in_flight/in_flight_owners.h"
#include "in_flight/in_flight_table.h"
#include "in_flight/in_flight_walks.h"
#include "instruments/in_flight_gauges.h"
#include "instruments/resolve.h"
#include "metrics/child.h"
#include "metrics/handles.h"

#include <crest/stages.h>
#include <string.h>

CREST_COUNTER_FAMILY(
    keyed_refused, "crest.in-flight-refused",
    "Keyed operations that were not begun because too much was in flight, by metric.", timer);

/* Under the lock: the child's keyed series, which all handles of the child share. */
static crest_keyed *keyed_of_child(crest_child *child)
{
    crest_timer *timer = &child->own->timer;
    if (timer->keyed != NULL)
        return timer->keyed;
    crest_keyed *keyed = crest_in_flight_keyed_new(child);
    /* partner: the acquire load in keyed_known */
    crest_atomic_store_ptr_release(CREST_PTR(&timer->keyed), keyed);
    return keyed;
}

/* At a first use: registers the handle if need be, and makes the exported gauges. */
static crest_keyed *keyed_make(crest_timer *timer, crest_status *status)
{
    crest_status figures = CREST_OK;
    crest_keyed *keyed = NULL;
    crest_lock_saved saved;
    crest_lock_take(&saved);
    if (crest_handle_resolve(&timer->handle, CREST_KIND_TIMER, status) != 0) {
        crest_child *child = crest_series_child(timer->handle.series);
        /* first: a caller that finds the keyed series does not try to make the gauges */
        figures = crest_in_flight_figures_make(child->first.metric);
        keyed = figures != CREST_NO_MEMORY ? keyed_of_child(child) : NULL;
        *status = keyed ? CREST_OK : CREST_NO_MEMORY;
        crest_atomic_store_ptr_release(CREST_PTR(&timer->keyed), keyed);
    }
    crest_lock_drop(&saved);
    if (figures != CREST_OK && figures != CREST_NO_MEMORY)
        crest_misuse_count(crest_misuse_of(figures), crest_handle_name(&timer->handle));
    return keyed;
}

/* The handle's keyed series once a begin has made it. No need to ask whether the handle is dead: a
 * retired series, or a freed registry's, has nothing in the table and refuses begins. */
static inline crest_keyed *keyed_known(const crest_timer *timer)
{
    if (CREST_UNLIKELY(timer->handle.abi != CREST_ABI))
        return NULL;
    /* acquire: partner of the release stores in keyed_of_child and keyed_make */
    return crest_atomic_load_ptr_acquire(CREST_PTR(&timer->keyed));
}

/* Refuses a dead handle, and counts why; CREST_OK, and nothing done, otherwise. */
static crest_status keyed_refuse_dead(const crest_timer *timer)
{
    crest_status dead = crest_handle_dead(&timer->handle);
    if (dead != CREST_OK)
        crest_handle_refused(&timer->handle, dead, 1);
    return dead;
}

/* The keyed series of a handle at its first use. NULL and *status, counted, for a dead handle. */
static crest_keyed *keyed_first(crest_timer *timer, crest_status *status)
{
    *status = keyed_refuse_dead(timer);
    if (*status != CREST_OK)
        return NULL;
    crest_keyed *keyed = keyed_make(timer, status);
    if (keyed == NULL)
        crest_handle_refused(&timer->handle, *status, 1);
    return keyed;
}

/* The handle's keyed series if any operation was ever begun in it, be it by another handle of the
 * series; NULL otherwise. */
static crest_keyed *keyed_seen(const crest_timer *timer)
{
    crest_status dead;
    if (timer->handle.abi != CREST_ABI)
        return NULL;
    const crest_series *series = crest_handle_series(&timer->handle);
    if (series == NULL || crest_series_is_dead(series, &dead))
        return NULL;
    const crest_timer *kept = &crest_series_child(series)->own->timer;
    return crest_atomic_load_ptr_acquire(CREST_PTR(&kept->keyed));
}

/* The same for a mark or an end, which register no handle. */
static inline crest_keyed *keyed_begun(crest_timer *timer)
{
    crest_keyed *keyed = keyed_known(timer);
    if (CREST_UNLIKELY(keyed == NULL) && (keyed = keyed_seen(timer)) != NULL)
        crest_atomic_store_ptr_release(CREST_PTR(&timer->keyed), keyed);
    return keyed;
}

/* The answer to a mark or an end whose operation is not in flight: CREST_NOT_FOUND, or a dead
 * handle's. */
static crest_status keyed_not_found(const crest_timer *timer)
{
    crest_status dead = keyed_refuse_dead(timer);
    return dead != CREST_OK ? dead : CREST_NOT_FOUND;
}

/* Refuses invalid arguments, whatever is in flight. */
static crest_status keyed_refuse(const crest_timer *timer, crest_misuse cause)
{
    crest_misuse_count(cause, crest_handle_name(&timer->handle));
    return CREST_INVALID_ARGUMENT;
}

/* Counts a refused begin, and returns its answer. */
static crest_status keyed_begin_refused(const crest_timer *timer, const crest_keyed *keyed,
                                        crest_status status)
{
    const char *name = keyed->metric->name;
    switch (status) {
    case CREST_LATE: /* the series is retired, or about to be */
        if ((status = keyed_refuse_dead(timer)) != CREST_OK)
            return status;
        crest_handle_refused(&timer->handle, CREST_LATE, 1);
        return CREST_LATE;
    case CREST_LIMIT:
        crest_counter_inc(keyed_refused_with(name));
        crest_misuse_count(CREST_MISUSE_LIMIT, name);
        return status;
    case CREST_NO_MEMORY: crest_misuse_count(CREST_MISUSE_NO_MEMORY, name); return status;
    default: return status;
    }
}

crest_status crest_timer_begin(crest_timer *timer, crest_op op)
{
    crest_status status;
    if (CREST_UNLIKELY(op.kind == CREST_OP_NONE))
        return keyed_refuse(timer, CREST_MISUSE_OPERATION);
    crest_keyed *keyed = keyed_known(timer);
    if (CREST_UNLIKELY(keyed == NULL) && (keyed = keyed_first(timer, &status)) == NULL)
        return status;
    status = crest_in_flight_begin(keyed, &op);
    return CREST_LIKELY(status == CREST_OK) ? CREST_OK : keyed_begin_refused(timer, keyed, status);
}

crest_status crest_timer_begin_owned(crest_timer *timer, crest_op op, crest_op owner)
{
    crest_status status;
    if (CREST_UNLIKELY(op.kind == CREST_OP_NONE || owner.kind == CREST_OP_NONE))
        return keyed_refuse(timer, CREST_MISUSE_OPERATION);
    crest_keyed *keyed = keyed_known(timer);
    if (CREST_UNLIKELY(keyed == NULL) && (keyed = keyed_first(timer, &status)) == NULL)
        return status;
    status = crest_in_flight_begin_owned(keyed, &op, &owner);
    return CREST_LIKELY(status == CREST_OK) ? CREST_OK : keyed_begin_refused(timer, keyed, status);
}

size_t crest_owner_end(crest_op owner, crest_outcome outcome)
{
    if (owner.kind != CREST_OP_NONE && (unsigned)outcome < CREST_OUTCOME_COUNT)
        return crest_in_flight_end_owned(&owner, outcome);
    crest_misuse_count(owner.kind == CREST_OP_NONE ? CREST_MISUSE_OPERATION : CREST_MISUSE_OUTCOME,
                       NULL);
    return 0;
}

crest_status crest_timer_end(crest_timer *timer, crest_op op, crest_outcome outcome)
{
    if (CREST_UNLIKELY(op.kind == CREST_OP_NONE))
        return keyed_refuse(timer, CREST_MISUSE_OPERATION);
    if (CREST_UNLIKELY((unsigned)outcome >= CREST_OUTCOME_COUNT))
        return keyed_refuse(timer, CREST_MISUSE_OUTCOME);
    crest_keyed *keyed = keyed_begun(timer);
    crest_status status =
        CREST_LIKELY(keyed != NULL) ? crest_in_flight_end(keyed, &op, outcome) : CREST_NOT_FOUND;
    return CREST_LIKELY(status != CREST_NOT_FOUND) ? status : keyed_not_found(timer);
}

crest_status crest_stages_begin(crest_stages *stages, crest_op op)
{
    return crest_timer_begin(&stages->timer, op);
}

crest_status crest_stages_begin_owned(crest_stages *stages, crest_op op, crest_op owner)
{
    return crest_timer_begin_owned(&stages->timer, op, owner);
}

crest_status crest_stages_mark(crest_stages *stages, crest_op op, unsigned index)
{
    if (op.kind == CREST_OP_NONE)
        return keyed_refuse(&stages->timer, CREST_MISUSE_OPERATION);
    crest_keyed *keyed = keyed_begun(&stages->timer);
    if (keyed == NULL)
        return keyed_not_found(&stages->timer);
    if (index >= keyed->stage_count)
        return keyed_refuse(&stages->timer, CREST_MISUSE_STAGE);
    crest_status status = crest_in_flight_mark(keyed, &op, index);
    if (status == CREST_ALREADY)
        crest_misuse_count(CREST_MISUSE_STAGE_AGAIN, keyed->metric->name);
    return status != CREST_NOT_FOUND ? status : keyed_not_found(&stages->timer);
}

crest_status crest_stages_end(crest_stages *stages, crest_op op, crest_outcome outcome)
{
    return crest_timer_end(&stages->timer, op, outcome);
}

/* ---- reading ---- */

typedef struct keyed_search {
    const crest_keyed *keyed;
    crest_in_flight figures;
    crest_in_flight_op *ops;
    size_t max;
    size_t count;
} keyed_search;

static void keyed_count(const crest_in_flight_seen *seen, void *context)
{
    keyed_search *search = context;
    if (seen->keyed != search->keyed)
        return;
    search->figures.count++;
    if (seen->age_ns > search->figures.oldest_ns)
        search->figures.oldest_ns = seen->age_ns;
}

crest_in_flight crest_timer_in_flight(const crest_timer *timer)
{
    keyed_search search = {.keyed = keyed_seen(timer)};
    if (search.keyed != NULL)
        crest_in_flight_each(keyed_count, &search);
    return search.figures;
}

/* Inserts an operation among the oldest so far, in order. */
static void keyed_keep_oldest(const crest_in_flight_seen *seen, void *context)
{
    keyed_search *search = context;
    if (seen->keyed != search->keyed)
        return;
    size_t at = search->count;
    while (at != 0 && search->ops[at - 1].age_ns < seen->age_ns)
        at--;
    if (at == search->max)
        return;
    if (search->count < search->max)
        search->count++;
    memmove(&search->ops[at + 1], &search->ops[at],
            (search->count - 1 - at) * sizeof search->ops[0]);
    search->ops[at] = (crest_in_flight_op){seen->op, seen->age_ns, (int)seen->stages - 1};
}

size_t crest_timer_oldest(const crest_timer *timer, crest_in_flight_op *ops, size_t max)
{
    keyed_search search = {.keyed = keyed_seen(timer), .ops = ops, .max = max};
    if (search.keyed != NULL && max != 0)
        crest_in_flight_each(keyed_keep_oldest, &search);
    return search.count;
}

crest_in_flight crest_stages_in_flight(const crest_stages *stages)
{
    return crest_timer_in_flight(&stages->timer);
}

size_t crest_stages_oldest(const crest_stages *stages, crest_in_flight_op *ops, size_t max)
{
    return crest_timer_oldest(&stages->timer, ops, max);
}
