/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Range samplers: from a handle to its cell, on the cold path of updates. See
 * <crest/range_sampler.h>; the cell's own protocol is in range_cell.h. Updates may run in signal
 * handlers.
 */
#include "base/lock.h"
#include "base/misuse.h"
#include "cells/range_cell.h"
#include "instruments/permits.h"
#include "instruments/range_sampler_inside.h"
#include "instruments/resolve.h"
#include "metrics/handles.h"

int64_t crest_range_sampler_value(const crest_range_sampler *sampler)
{
    const crest_range_cell *cell = crest_handle_shared(&sampler->handle);
    return cell ? crest_range_cell_value(cell) : 0;
}

/* The sampler's cell, registering it if need be; NULL, counted, on failure. */
static crest_range_cell *range_cell_of(crest_range_sampler *sampler)
{
    crest_range_cell *cell = crest_atomic_load_ptr_acquire(CREST_PTR(&sampler->cell));
    if (cell != NULL)
        return cell;
    crest_status why = crest_handle_dead(&sampler->handle);
    if (why == CREST_OK) {
        crest_lock_saved saved;
        crest_lock_take(&saved);
        crest_handle_resolve(&sampler->handle, CREST_KIND_RANGE_SAMPLER, &why);
        cell = sampler->cell;
        crest_lock_drop(&saved);
    }
    if (cell != NULL)
        return cell;
    if (why == CREST_OK) /* a handle of another kind, without such a cell */
        why = CREST_INVALID_ARGUMENT;
    crest_handle_refused(&sampler->handle, why, 1);
    return NULL;
}

void crest_range_sampler_add_slow(crest_range_sampler *sampler, int64_t delta)
{
    crest_range_cell *cell = range_cell_of(sampler);
    if (cell != NULL && !crest_range_cell_add(cell, delta))
        crest_misuse_count(CREST_MISUSE_OVERFLOW, crest_handle_name(&sampler->handle));
}

void crest_range_sampler_set_slow(crest_range_sampler *sampler, int64_t value)
{
    crest_range_cell *cell = range_cell_of(sampler);
    if (cell != NULL)
        crest_range_cell_set(cell, value);
}

void crest_range_sampler_begin(crest_range_sampler *sampler, int64_t value)
{
    crest_range_cell *cell = range_cell_of(sampler);
    if (cell != NULL)
        crest_range_cell_begin(cell, value);
}
