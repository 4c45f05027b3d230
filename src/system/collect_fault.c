/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Faults of parsers, and buckets in percent. See collect_fault.h.
 */
#include "collect_fault.h"

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
