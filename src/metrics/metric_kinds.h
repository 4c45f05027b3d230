/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the registry needs to know of each kind of metric: one row a kind. A new kind gets a row
 * here. Nothing else in the registry switches over kinds, except timers' outcomes (child.h) and the
 * names that a kind takes (name_claims.h).
 */
#ifndef CREST_METRIC_KINDS_H
#define CREST_METRIC_KINDS_H

#include "metrics/metric_inside.h"

typedef struct crest_kind_row {
    size_t handle_bytes; /* size of a handle; 0: the kind has none */
    size_t cell_at;      /* offset of the shared part's address in a handle; 0: none */
    int adds;            /* each thread adds to a cell; the sum becomes 0 before a next life */
    int grows;           /* the value is a count; a difference is the number of records */
    /* Under the lock: makes a series' shared part (NULL without memory); frees it, once no thread
     * records into it; acts when no handle leads to it any more. NULL: no such step. */
    void *(*shared_new)(void);
    void (*shared_give)(void *shared);
    void (*shared_cut)(void *shared);
    /* A value that changes with each record into the series; 0 without memory. Any thread, no lock.
     */
    int (*value)(const crest_series *series, uint64_t *value);
} crest_kind_row;

/* Any thread; the row never changes. */
const crest_kind_row *crest_kind_row_of(crest_kind kind);

/* Where a handle of this kind keeps the address of its series' shared part; NULL: nowhere. */
static inline void **crest_kind_cell(const crest_kind_row *row, crest_handle *handle)
{
    return row->cell_at != 0 ? (void **)((uintptr_t)handle + row->cell_at) : NULL;
}

#endif
