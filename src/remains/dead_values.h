/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the series of a state file hold: sums of counters, numbers of gauges, merged distributions.
 * The shards of the file are read by the code that reads those of a living process; their addresses
 * are checked and translated first.
 *
 *     crest_dead *dead = crest_dead_new(view);
 *     for (crest_state_cursor cursor = {0}; (series = crest_dead_next(dead, &cursor)) != NULL;)
 *         ... crest_dead_metric(dead, series->metric), crest_dead_counter(dead, series) ...
 *     crest_dead_free(dead);
 */
#ifndef CREST_DEAD_VALUES_H
#define CREST_DEAD_VALUES_H

#include "distributions/distribution_inside.h"
#include "state/state_view.h"

typedef struct crest_dead crest_dead;

/* Indexes a view, which stays the caller's and lives longer; NULL without memory. */
crest_dead *crest_dead_new(crest_state_view *view);
void crest_dead_free(crest_dead *dead);

/* The next series, of a metric that the file describes; NULL at the end. Of two records with one
 * slot, as a kill may leave them, the one with the higher birth. */
const crest_state_series *crest_dead_next(crest_dead *dead, crest_state_cursor *cursor);

/* A metric by number; NULL if there is none whose texts are all there. */
const crest_state_metric *crest_dead_metric(const crest_dead *dead, uint32_t id);
/* Numbers of metrics are below this. */
uint32_t crest_dead_metric_count(const crest_dead *dead);
/* Its texts: name, exported, description, then as state_format.h tells; so many at most. */
#define CREST_DEAD_TEXTS_MAX 512u
int crest_dead_texts(const crest_state_metric *metric, const char *texts[CREST_DEAD_TEXTS_MAX]);

/* The layout of its distributions; 0 if the library makes no such layout. */
int crest_dead_layout(const crest_state_metric *metric, crest_layout *layout);

uint64_t crest_dead_counter(crest_dead *dead, const crest_state_series *series);
/* How much of that receivers of differences have. All of it where the file had no room to say. */
uint64_t crest_dead_delivered(crest_dead *dead, const crest_state_series *series);
/* 0 and 0.0 where the address leads nowhere. */
double crest_dead_gauge(crest_dead *dead, const crest_state_series *series);
int64_t crest_dead_range(crest_dead *dead, const crest_state_series *series);

/* A histogram's or timer's records; the caller frees it. NULL without memory, or where the metric's
 * layout cannot be. */
crest_distribution *crest_dead_distribution(crest_dead *dead, const crest_state_series *series);
/* How many of those records, `all`, receivers of differences have, cell by cell; the caller frees
 * it. All of them where a part of the file had no room. NULL without memory, and for NULL. */
crest_distribution *crest_dead_delivered_counts(crest_dead *dead, const crest_state_series *series,
                                                const crest_distribution *all);

#endif
