/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A child and its series: how one leads to the other, to its label values and to its parts. It
 * changes nothing and knows no lock; see metric_inside.h for what a child is made of.
 */
#ifndef CREST_CHILD_H
#define CREST_CHILD_H

#include "registry/metric_inside.h"

/* Of a timer, an outcome's series that the child does not carry itself. */
typedef struct crest_series_other {
    crest_series series;
    crest_child *child;
    const char *values[]; /* the child's, the outcome after them */
} crest_series_other;

/* The child that a series belongs to. Any thread. */
crest_child *crest_series_child(const crest_series *series);

/* A child's series for an outcome, 0 but for timers; NULL if there is none. Any thread. */
crest_series *crest_child_at(const crest_child *child, unsigned outcome);

/* Where the label values begin of a child of this metric. */
size_t crest_child_bytes(const crest_metric *metric);

/* The same as an address: to be filled in a new child, and only read afterwards. */
const char **crest_child_values(const crest_child *child);

/* The series' label values in the order of the metric's keys, a timer's outcome last. */
const char *const *crest_series_values(const crest_series *series);

/* Label values as they are exported: a timer's outcome is one. */
static inline unsigned crest_metric_values(const crest_metric *metric)
{
    return metric->label_count + (metric->kind == CREST_KIND_TIMER);
}

/* Under the lock: the parts of a child of stages, which leave and come back with it, into `parts`,
 * but for those that were retired by themselves; returns how many, 0 for a child of anything else.
 */
#define CREST_CHILD_PARTS_MAX (2 * CREST_STAGES_MAX)
unsigned crest_child_parts(const crest_child *child, crest_child **parts);

/* The series that stands for "records nowhere, because of this status". */
crest_series *crest_series_dead_for(crest_status status);
/* Whether it is one of those, and which status it stands for. Any thread. */
int crest_series_is_dead(const crest_series *series, crest_status *status);

#endif
