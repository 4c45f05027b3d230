/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading what series hold. See read_values.h.
 */
#include "snapshot/read_values.h"
#include "base/atomic.h"
#include "cells/cells.h"
#include "cells/range_cell.h"
#include "registry/series.h"

#include <string.h>

void crest_snapshot_read_values(const crest_directory *directory, crest_kind kind, size_t index,
                                size_t count, uint64_t *values)
{
    crest_series *const *series = directory->series + index;
    if (kind == CREST_KIND_COUNTER)
        crest_cells_sums(directory->slots + index, count, values);
    if (kind == CREST_KIND_GAUGE)
        for (size_t i = 0; i < count; i++)
            values[i] = crest_atomic_load(series[i]->shared);
    if (kind == CREST_KIND_RANGE_SAMPLER)
        for (size_t i = 0; i < count; i++)
            values[i] = (uint64_t)crest_range_cell_value(series[i]->shared);
}

void crest_view_set_value(crest_series_view *view, uint64_t value)
{
    if (view->kind == CREST_KIND_COUNTER)
        view->counter = value;
    if (view->kind == CREST_KIND_GAUGE)
        memcpy(&view->gauge, &value, sizeof view->gauge);
    if (view->kind == CREST_KIND_RANGE_SAMPLER)
        view->current = (int64_t)value;
}
