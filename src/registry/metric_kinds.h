/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the registry needs to know of each kind of metric: one row a kind. A new kind gets a row
 * here, and nothing else of the registry asks which kind it is, but for the outcomes of timers
 * (child.h) and the names that a kind takes (name_claims.h).
 */
#ifndef CREST_METRIC_KINDS_H
#define CREST_METRIC_KINDS_H

#include "registry/metric_inside.h"

typedef struct crest_kind_row {
    size_t handle_bytes; /* of a handle of its own; 0: there is none */
    size_t cell_at;      /* where such a handle has the address of the shared part; 0: nowhere */
    int adds;            /* threads add to a cell each, whose sum is made 0 before another life */
    int grows; /* its value is a count, and a difference of two is how many were recorded */
    /* Under the lock: the shared part of a series, or NULL; its end, when no thread records into it
     * any more; and what is to be done when no handle leads to it any more. NULL: there is none, or
     * nothing is. */
    void *(*shared_new)(void);
    void (*shared_give)(void *shared);
    void (*shared_cut)(void *shared);
    /* What changes with each record into the series; 0 without memory. Any thread, no lock. */
    int (*value)(const crest_series *series, uint64_t *value);
} crest_kind_row;

/* Any thread; the row never changes. */
const crest_kind_row *crest_kind_row_of(crest_kind kind);

/* Where a handle of this kind has the address of its series' shared part; NULL: nowhere. */
static inline void **crest_kind_cell(const crest_kind_row *row, crest_handle *handle)
{
    return row->cell_at != 0 ? (void **)((uintptr_t)handle + row->cell_at) : NULL;
}

#endif
