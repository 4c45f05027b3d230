/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is exported of the operations in flight: for a metric that uses the keyed calls, how many
 * there are (`.in-flight`), the age of the oldest (`.oldest`), and the ids and ages of the oldest
 * that are stuck (`.stuck`), of all its series together. Here they are made; in_flight_figures.c
 * brings them up to date.
 */
#ifndef CREST_IN_FLIGHT_GAUGES_H
#define CREST_IN_FLIGHT_GAUGES_H

#include "base/utf8.h"
#include "instruments/keyed_series.h"

#include <pthread.h>

/* Stuck operations of a metric that are exported at a time. */
#define CREST_STUCK_MAX 3u
/* An operation without a deadline is stuck after this; with one, after half of it. */
#define CREST_STUCK_S 60u
/* Ids of stuck operations of a metric that are exported in the life of a process; the ones after
 * them share the id `overflow`. */
#define CREST_STUCK_IDS_MAX 1000u

/* An id as a label value: valid UTF-8, which a text need not be. */
typedef struct crest_figures_id {
    char text[CREST_OP_TEXT_BYTES * CREST_UTF8_REPLACEMENT_BYTES];
} crest_figures_id;

/* A stuck operation that is exported. */
typedef struct crest_figures_stuck {
    crest_gauge *gauge;
    crest_figures_id id;
} crest_figures_stuck;

/* Of one metric. All but the first words belong to the thread that refreshes, under the gauges'
 * lock. */
typedef struct crest_in_flight_figures {
    struct crest_in_flight_figures *next;
    const crest_registry_state *state;
    crest_gauge *count;
    crest_gauge *oldest;
    crest_metric *stuck;
    uint64_t stuck_ns; /* the age from which on an operation is */
    uint64_t operations;
    uint64_t oldest_ns;
    uint64_t ids; /* that have been exported so far */
    unsigned top_count, shown_count;
    crest_in_flight_seen top[CREST_STUCK_MAX]; /* the oldest stuck ones, the oldest first */
    crest_figures_stuck shown[CREST_STUCK_MAX];
} crest_in_flight_figures;

/* Held while gauges are brought up to date, so that an older reading does not come after a newer
 * one. The library's lock may be taken under it. */
extern pthread_mutex_t crest_in_flight_gauges_lock;

/* The newest of all of them, or NULL; the others follow. Any thread. */
crest_in_flight_figures *crest_in_flight_gauges(void);

/* Under the lock: the gauges of a timer or of stages, if it has none yet. */
crest_status crest_in_flight_figures_make(crest_metric *metric);

/* The registry is going to be freed: its gauges are left alone from now on. */
void crest_in_flight_figures_forget(const crest_registry_state *state);

#endif
