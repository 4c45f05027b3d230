/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of crest_remains in <crest/state.h>: the series of a state file, sorted as a page has
 * them, with their values.
 */
#ifndef CREST_REMAINS_H
#define CREST_REMAINS_H

#include "remains/dead_values.h"
#include "remains/finished_spans.h"
#include <crest/state.h>

typedef struct crest_remains_metric {
    const crest_state_metric *record;
    const char *texts[3]; /* name, exported, description */
    const char **keys;    /* constant ones, own ones, a timer's outcome */
    const char *const *constant_values;
    unsigned constants, labels; /* labels: all of them */
    crest_buckets buckets;
    crest_layout layout; /* blocks 0: none */
} crest_remains_metric;

typedef struct crest_remains_entry {
    const crest_remains_metric *metric;
    const char **values; /* as the metric's keys */
    union {
        uint64_t counter;
        double gauge;
        int64_t current;
    };
    crest_distribution *distribution;
    uint64_t birth;
    uint32_t made_s;
    uint16_t outcome;
} crest_remains_entry;

typedef struct crest_remains_keyed {
    uint64_t keyed; /* what entries in flight bear */
    const char *timer;
} crest_remains_keyed;

struct crest_remains {
    crest_state_view *view;
    crest_dead *dead;
    crest_remains_metric *metrics; /* by the file's number */
    uint32_t metric_count;
    crest_remains_entry *entries;
    size_t count, room;
    crest_remains_op *ops;
    size_t op_count;
    crest_remains_keyed *keyed; /* by address */
    size_t keyed_count;
    crest_finished_spans *spans;
    uint64_t damaged;
    int alive;
};

#endif
