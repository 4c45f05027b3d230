/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a child to its series, and back. See child.h.
 */
#include "metrics/child.h"
#include "base/atomic.h"

/* One for each status that a dead handle can have. */
static crest_series child_dead[CREST_STATUS_COUNT];

crest_series *crest_series_dead_for(crest_status status)
{
    return &child_dead[status];
}

int crest_series_is_dead(const crest_series *series, crest_status *status)
{
    uintptr_t at = (uintptr_t)series, first = (uintptr_t)child_dead;
    if (at < first || at >= first + sizeof child_dead)
        return 0;
    *status = (crest_status)((at - first) / sizeof child_dead[0]);
    return 1;
}

crest_child *crest_series_child(const crest_series *series)
{
    if (series->outcome == 0)
        return (crest_child *)(uintptr_t)series; /* the child's first member */
    return ((const crest_series_other *)series)->child;
}

crest_series *crest_child_at(const crest_child *child, unsigned outcome)
{
    if (outcome == 0)
        return (crest_series *)(uintptr_t)&child->first;
    if (child->first.metric->kind != CREST_KIND_TIMER || outcome >= CREST_OUTCOME_COUNT)
        return NULL;
    /* acquire: partner of the release store in series_other_make */
    return crest_atomic_load_ptr_acquire(CREST_PTR(&child->others[outcome - 1]));
}

size_t crest_child_bytes(const crest_metric *metric)
{
    if (metric->kind != CREST_KIND_TIMER)
        return offsetof(crest_child, others);
    return metric->stage_count != 0 ? sizeof(crest_child) : offsetof(crest_child, parts);
}

const char **crest_child_values(const crest_child *child)
{
    return (const char **)((uintptr_t)child + crest_child_bytes(child->first.metric));
}

const char *const *crest_series_values(const crest_series *series)
{
    if (series->outcome == 0)
        return crest_child_values((const crest_child *)series);
    return ((const crest_series_other *)series)->values;
}

unsigned crest_child_parts(const crest_child *child, crest_child **parts)
{
    unsigned count = 0, all = 2 * child->first.metric->stage_count;
    for (unsigned i = 0; i < all && child->parts != NULL; i++) {
        /* acquire: partner of the release store in series.c */
        crest_series *series =
            crest_atomic_load_ptr_acquire(CREST_PTR(&child->parts[i]->handle.series));
        crest_status status;
        if (!crest_series_is_dead(series, &status))
            parts[count++] = crest_series_child(series);
    }
    return count;
}
