/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A child and its series: from one to the other, to its label values and to its parts. Read-only,
 * without locks. metric_inside.h says what a child is made of.
 */
#ifndef CREST_CHILD_H
#define CREST_CHILD_H

#include "metrics/metric_inside.h"

/* Timers: the series of an outcome, other than the series within the child. */
typedef struct crest_series_other {
    crest_series series;
    crest_child *child;
    const char *values[]; /* the child's values, then the outcome */
} crest_series_other;

/* The child that a series belongs to. Any thread. */
crest_child *crest_series_child(const crest_series *series);

/* A child's series of an outcome (0 but for timers); NULL if there is none. Any thread. */
crest_series *crest_child_at(const crest_child *child, unsigned outcome);

/* The offset of the label values within a child of this metric. */
size_t crest_child_bytes(const crest_metric *metric);

/* Their address: filled in a new child, only read afterwards. */
const char **crest_child_values(const crest_child *child);

/* The series' label values in the order of the metric's keys, a timer's outcome last. */
const char *const *crest_series_values(const crest_series *series);

/* The number of exported label values, a timer's outcome included. */
static inline unsigned crest_metric_values(const crest_metric *metric)
{
    return metric->label_count + (metric->kind == CREST_KIND_TIMER);
}

/* Under the lock: writes into `parts` the parts of a child of stages, which leave and come back
 * with it, except parts that were retired by themselves. Returns how many; 0 for other children. */
#define CREST_CHILD_PARTS_MAX (2 * CREST_STAGES_MAX)
unsigned crest_child_parts(const crest_child *child, crest_child **parts);

/* The placeholder series of handles that record nowhere because of this status. */
crest_series *crest_series_dead_for(crest_status status);
/* Whether it is such a placeholder, and for which status. Any thread. */
int crest_series_is_dead(const crest_series *series, crest_status *status);

#endif
