/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The gauges of operations in flight, for a metric that uses the keyed calls, over all its series:
 * their number (`.in-flight`), the age of the oldest (`.oldest`), and ids and ages of the oldest
 * stuck ones (`.stuck`). They are made here; in_flight_figures.c updates them.
 */
#ifndef CREST_IN_FLIGHT_GAUGES_H
#define CREST_IN_FLIGHT_GAUGES_H

#include "base/utf8.h"
#include "instruments/keyed_series.h"

#include <pthread.h>

/* Stuck operations of a metric exported at a time. */
#define CREST_STUCK_MAX 3u
/* An operation without a deadline is stuck after this; with one, after half of it. */
#define CREST_STUCK_S 60u
/* Ids of stuck operations of a metric exported in the life of a process; later ones share the id
 * `overflow`. */
#define CREST_STUCK_IDS_MAX 1000u

/* An id as a label value: made valid UTF-8. */
typedef struct crest_figures_id {
    char text[CREST_OP_TEXT_BYTES * CREST_UTF8_REPLACEMENT_BYTES];
} crest_figures_id;

/* An exported stuck operation. */
typedef struct crest_figures_stuck {
    crest_gauge *gauge;
    crest_figures_id id;
} crest_figures_stuck;

/* One metric's gauges. All but the first words belong to the refreshing thread, under the gauges'
 * lock. */
typedef struct crest_in_flight_figures {
    struct crest_in_flight_figures *next;
    const crest_registry_state *state;
    crest_gauge *count;
    crest_gauge *oldest;
    crest_metric *stuck;
    uint64_t stuck_ns; /* age at which an operation is stuck */
    uint64_t operations;
    uint64_t oldest_ns;
    uint64_t ids; /* exported so far */
    unsigned top_count, shown_count;
    crest_in_flight_seen top[CREST_STUCK_MAX]; /* the stuck ones, oldest first */
    crest_figures_stuck shown[CREST_STUCK_MAX];
} crest_in_flight_figures;

/* Held while gauges are updated, so that an older reading cannot overwrite a newer. The library's
 * lock may be taken under it. */
extern pthread_mutex_t crest_in_flight_gauges_lock;

/* The newest metric's gauges, or NULL; the others follow it. Any thread. */
crest_in_flight_figures *crest_in_flight_gauges(void);

/* Under the lock: makes the gauges of a timer or of stages, if it has none yet. */
crest_status crest_in_flight_figures_make(crest_metric *metric);

/* The registry is about to be freed: its gauges are not updated any more. */
void crest_in_flight_figures_forget(const crest_registry_state *state);

#endif
