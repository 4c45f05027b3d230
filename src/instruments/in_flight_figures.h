/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is exported of the operations in flight: for a metric that uses the keyed calls, how many
 * there are (`.in-flight`), the age of the oldest (`.oldest`), and the ids and ages of the oldest
 * that are stuck (`.stuck`), of all its series together.
 */
#ifndef CREST_IN_FLIGHT_FIGURES_H
#define CREST_IN_FLIGHT_FIGURES_H

#include "registry/metric_inside.h"

/* Stuck operations of a metric that are exported at a time. */
#define CREST_STUCK_MAX 3u
/* An operation without a deadline is stuck after this; with one, after half of it. */
#define CREST_STUCK_S 60u
/* Ids of stuck operations of a metric that are exported in the life of a process; the ones after
 * them share the id `overflow`. */
#define CREST_STUCK_IDS_MAX 1000u

/* Under the lock: the gauges of a timer or of stages, if it has none yet. */
crest_status crest_in_flight_figures_make(crest_metric *metric);

/* Expires what is overdue and brings the gauges up to date: before each snapshot, and so with each
 * tick. Any thread; locks nothing that recording needs. */
void crest_in_flight_refresh(void);

/* The registry is going to be freed: its gauges are left alone from now on. */
void crest_in_flight_figures_forget(const crest_registry_state *state);

#endif
