/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Back-filling of hiccups, a correction for coordinated omission. A hiccup is recorded with what
 * the looks that it swallowed would have found. A pure function of its length and the resolution;
 * hiccups.c records.
 *
 *     crest_hiccup_fill fill = crest_hiccup_fill_begin(excess_ns, resolution_ns);
 *     while (crest_hiccup_fill_next(&fill, &value_ns, &times))
 *         ...
 */
#ifndef CREST_LATENCY_HICCUP_FILL_H
#define CREST_LATENCY_HICCUP_FILL_H

#include <stdint.h>

/* Private to hiccup_fill.c. */
typedef struct crest_hiccup_fill {
    uint64_t next_ns;
    uint64_t left;
    uint64_t group;
    uint64_t step_ns;
    int first;
} crest_hiccup_fill;

/* The values of a hiccup of `excess_ns`, cut to CREST_HICCUPS_LONGEST_NS. The first is the hiccup.
 * Each later one is less by the resolution (at least 1), down to the resolution. */
crest_hiccup_fill crest_hiccup_fill_begin(uint64_t excess_ns, uint64_t resolution_ns);

/* The next value, and how often to record it; 0 when there is none. The first is the hiccup itself,
 * once; at most CREST_HICCUPS_STEPS_MAX follow. */
int crest_hiccup_fill_next(crest_hiccup_fill *fill, uint64_t *value_ns, uint64_t *times);

#endif
