/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of <crest/peer_clock.h>: what stamps need of a peer clock, and its metrics.
 */
#ifndef CREST_PEER_CLOCK_INSIDE_H
#define CREST_PEER_CLOCK_INSIDE_H

#include "clock/clock_inside.h"

#include <crest/crest.h>
#include <crest/peer_clock.h>

/* Why an exchange was refused, as the label says it. */
typedef enum crest_peer_refusal {
    CREST_PEER_IMPOSSIBLE,
    CREST_PEER_CLOCK_SET,
    CREST_PEER_REFUSALS
} crest_peer_refusal;

/* The series of one clock; all NULL for a quiet clock. */
typedef struct crest_peer_series {
    crest_gauge_family offset_family, error_family;
    crest_gauge *offset, *error; /* NULL until there is an estimate */
    int shown;                   /* the gauges are in snapshots, not released */
    crest_timer *round_trip;
    crest_counter *steps;
    crest_counter *refused[CREST_PEER_REFUSALS];
    crest_counter *early[2]; /* not recorded; recorded as 0 */
    crest_counter *without_offset;
} crest_peer_series;

/* Finds or makes all series but the gauges; otherwise why one could not be made. */
crest_status crest_peer_series_get(crest_registry *registry, const char *peer,
                                   crest_peer_series *series);

/* Sets the gauges; releases them when there is no estimate (NULL). One thread at a time. */
void crest_peer_series_show(crest_peer_series *series, const char *peer,
                            const crest_peer_clock_state *state);

void crest_peer_series_release(crest_peer_series *series);

/* crest_peer_clock_read for a moment that was read before. The error may grow by *drift_ppm / 10^6
 * in each nanosecond. Any thread, any signal handler. */
crest_status crest_peer_clock_at(const crest_peer_clock *clock, const crest_clock_wall *now,
                                 crest_peer_clock_state *state, unsigned *drift_ppm);

/* Counts a stamp that arrived before it was sent, or while there was no estimate. Any thread, any
 * signal handler. */
void crest_peer_clock_count_early(const crest_peer_clock *clock, int recorded);
void crest_peer_clock_count_without(const crest_peer_clock *clock);

/* For messages; never NULL. */
const char *crest_peer_clock_name(const crest_peer_clock *clock);

#endif
