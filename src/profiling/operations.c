/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operations that threads are in. See operations.h.
 */
#define _GNU_SOURCE
#include "profiling/operations.h"
#include "base/atomic.h"
#include "base/lock.h"
#include "cells/cells.h"
#include "instruments/resolve.h"
#include "metrics/handles.h"

#include <sys/uio.h>
#include <unistd.h>

static void *operations_ended; /* a crest_operations_ended_fn */

/* By which a scope is known: another one, or what was written over it, has another mark. */
static uint32_t operations_mark(const crest_profile_scope *scope)
{
    return (uint32_t)((uintptr_t)scope >> 3) ^ 0xc2e57001u;
}

/* The metric of a timer that records; NULL: it does not, or is not registered yet. */
static const crest_metric *operations_metric(const crest_timer *timer)
{
    const crest_handle *handle = &timer->outcome[CREST_OUTCOME_OK].handle;
    const crest_series *series = crest_handle_series(handle);
    return series != NULL && crest_handle_dead(handle) == CREST_OK ? series->metric : NULL;
}

/* A thread's or a timer's first: gives the one a table, and registers the other. */
static void operations_enter_slow(crest_timer *timer)
{
    crest_lock_saved saved;
    crest_status status;
    if (!crest_lock_take_unless_forking(&saved))
        return;
    uint32_t slot = crest_timer_resolve(timer, CREST_OUTCOME_OK, &status);
    if (slot != 0)
        (void)crest_cells_touch(slot);
    crest_lock_drop(&saved);
}

static void operations_enter(crest_profile_scope *scope, crest_timer *timer, crest_op op)
{
    const crest_metric *metric = operations_metric(timer);
    void **place = crest_cells_operation();
    if (CREST_UNLIKELY(metric == NULL || place == NULL)) {
        operations_enter_slow(timer);
        metric = operations_metric(timer);
        place = crest_cells_operation();
    }
    scope->metric = metric;
    scope->start_ns = crest_now();
    scope->sampled = 0;
    scope->op = op;
    crest_atomic_store32(&scope->entered, place != NULL ? operations_mark(scope) : 0);
    if (place == NULL)
        return;
    scope->outer = *place;
    /* release: the scope is filled; its reader is this thread's signal handler */
    crest_atomic_store_ptr_release(place, scope);
}

void crest_profile_enter(crest_profile_scope *scope, crest_timer *timer, crest_op op)
{
    scope->stage = scope->shared = 0;
    operations_enter(scope, timer, op);
}

void crest_profile_work(crest_profile_scope *scope, crest_timer *timer, crest_op op, int stage)
{
    scope->stage = stage >= 0 && stage < (int)CREST_STAGES_MAX ? 1 + (uint32_t)stage : 0;
    scope->shared = 1;
    operations_enter(scope, timer, op);
}

void crest_profile_leave(crest_profile_scope *scope)
{
    if (crest_atomic_load32(&scope->entered) == 0)
        return;
    crest_atomic_store32(&scope->entered, 0);
    void **place = crest_cells_operation();
    if (place == NULL)
        return;
    /* release: after what was done in the scope, for the handler */
    crest_atomic_store_ptr_release(place, scope->outer);
    if (CREST_LIKELY(crest_atomic_load32(&scope->sampled) == 0))
        return;
    /* acquire: partner of the release store in crest_operations_on_end */
    crest_operations_ended_fn *ended =
        (crest_operations_ended_fn *)(uintptr_t)crest_atomic_load_ptr_acquire(&operations_ended);
    if (ended != NULL)
        ended(scope, crest_now());
}

void crest_operations_on_end(crest_operations_ended_fn *ended)
{
    /* partner: the acquire load in crest_profile_leave */
    crest_atomic_store_ptr_release(&operations_ended, (void *)(uintptr_t)ended);
}

unsigned crest_operations_here(uint64_t rsp, crest_checked_memory *stack,
                               crest_profile_scope **scopes, unsigned room)
{
    void **place = crest_cells_operation();
    unsigned count = 0;
    /* acquire: partner of the release store in crest_profile_enter */
    crest_profile_scope *scope = place != NULL ? crest_atomic_load_ptr_acquire(place) : NULL;
    uint64_t below = rsp;
    while (scope != NULL && count < room && (uint64_t)(uintptr_t)scope >= below &&
           crest_checked_has(stack, (uint64_t)(uintptr_t)scope, sizeof *scope) &&
           crest_atomic_load32(&scope->entered) == operations_mark(scope)) {
        scopes[count++] = scope;
        below = (uint64_t)(uintptr_t)scope;
        scope = scope->outer;
    }
    return count;
}

/* A scope that is farther up the stack is not looked at: it may be another stack's, and gone. */
#define OPERATIONS_NEAR (UINT64_C(1) << 20)

const crest_profile_scope *crest_operations_innermost(void *const *place)
{
    /* acquire: partner of the release store in crest_profile_enter */
    const crest_profile_scope *scope = crest_atomic_load_ptr_acquire(place);
    uint64_t here = (uint64_t)(uintptr_t)__builtin_frame_address(0);
    return CREST_UNLIKELY(scope != NULL) && (uint64_t)(uintptr_t)scope - here < OPERATIONS_NEAR &&
                   crest_atomic_load32(&scope->entered) == operations_mark(scope)
               ? scope
               : NULL;
}

int crest_operations_of(int thread, crest_profile_scope *copy)
{
    crest_lock_saved saved;
    crest_lock_take(&saved);
    void *const *place = crest_cells_operation_of(thread);
    void *scope = place != NULL ? crest_atomic_load_ptr_acquire(place) : NULL;
    crest_lock_drop(&saved);
    if (scope == NULL)
        return 0;
    /* through the kernel: the thread may leave its function, and end, at any moment */
    struct iovec to = {copy, sizeof *copy}, from = {scope, sizeof *copy};
    return process_vm_readv(gettid(), &to, 1, &from, 1, 0) == (ssize_t)sizeof *copy;
}

uint64_t crest_operations_number(const crest_profile_scope *scope)
{
    uint64_t hash = (uint64_t)(uintptr_t)scope->metric ^ scope->op.kind;
    for (unsigned i = 0; i < 4; i++) {
        hash = (hash ^ scope->op.word[i]) * UINT64_C(0xff51afd7ed558ccd);
        hash ^= hash >> 32;
    }
    if (!scope->shared)
        hash ^= scope->start_ns * UINT64_C(0x9e3779b97f4a7c15);
    return hash != 0 ? hash : 1;
}
