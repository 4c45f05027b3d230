/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a snapshot carries of series that it does not have itself, for the report after it: see
 * delta_base.h.
 */
#ifndef CREST_CARRIED_H
#define CREST_CARRIED_H

#include "metrics/metric_inside.h"

/* A carried series, as it was last seen. */
typedef struct crest_carried {
    const crest_series *series;
    uint64_t value; /* as in a snapshot */
    uint64_t birth; /* which life (generation) of the series this is about */
} crest_carried;

/* Sorted by address. */
typedef struct crest_carried_list {
    int taken; /* this list owns the distributions; before, the list that they come from */
    size_t count;
    crest_carried all[];
} crest_carried_list;

/* Sorts the list, once it is filled. */
void crest_carried_sort(crest_carried_list *carried);

/* What is carried of a series; NULL: nothing. NULL is an empty list. */
crest_carried *crest_carried_find(crest_carried_list *carried, const crest_series *series);

/* Called by crest_snapshot_free. NULL does nothing. */
void crest_carried_free(crest_carried_list *carried);

#endif
