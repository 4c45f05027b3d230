/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The list of what is carried. See carried.h.
 */
#include "snapshot/carried.h"
#include "base/alloc.h"
#include "distributions/distribution_inside.h"

#include <stdlib.h>

static int carried_order(const void *a, const void *b)
{
    uintptr_t x = (uintptr_t)((const crest_carried *)a)->series;
    uintptr_t y = (uintptr_t)((const crest_carried *)b)->series;
    return (x > y) - (x < y);
}

void crest_carried_sort(crest_carried_list *carried)
{
    qsort(carried->all, carried->count, sizeof carried->all[0], carried_order);
}

crest_carried *crest_carried_find(crest_carried_list *carried, const crest_series *series)
{
    crest_carried key = {series, 0, 0};
    if (carried == NULL)
        return NULL;
    return bsearch(&key, carried->all, carried->count, sizeof key, carried_order);
}

void crest_carried_free(crest_carried_list *carried)
{
    for (size_t i = 0; carried != NULL && carried->taken && i < carried->count; i++)
        if (carried->all[i].series->metric->layout != NULL)
            crest_distribution_free((crest_distribution *)(uintptr_t)carried->all[i].value);
    crest_alloc_free(carried);
}
