/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Faults of parsers, and buckets in percent. See collect_fault.h.
 */
#include "system/collect_fault.h"

#include <stdio.h>

#define COLLECT_FAULT_BYTES 160u

static const double collect_fault_percents[] = {1, 2, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95};

const crest_buckets crest_percent_buckets = {collect_fault_percents,
                                             CREST_FIGURES(collect_fault_percents)};

void crest_collect_blame(crest_collect *collect, const char *file, const crest_fault *fault)
{
    char what[COLLECT_FAULT_BYTES];
    if (fault->why == NULL)
        return;
    snprintf(what, sizeof what, "%s: %s", file, fault->why);
    crest_collect_garbage(collect, what, fault->shown);
}

static void collect_fault_too_large(crest_collect *collect, const char *what)
{
    crest_collect_fail(collect, CREST_CAUSE_GARBAGE, what,
                       "a number there is larger than it can be");
}

void crest_collect_level(crest_collect *collect, crest_place *place, unsigned figure,
                         const char *what, uint64_t value)
{
    if (value > (uint64_t)INT64_MAX)
        collect_fault_too_large(collect, what);
    else
        crest_figure_sample(place, figure, (int64_t)value);
}

void crest_collect_total(crest_collect *collect, crest_place *place, unsigned figure,
                         const char *what, uint64_t count, uint64_t unit)
{
    uint64_t total;
    if (__builtin_mul_overflow(count, unit, &total) || total > (uint64_t)INT64_MAX)
        collect_fault_too_large(collect, what);
    else
        crest_figure_total(place, figure, total);
}
