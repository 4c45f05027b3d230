/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Claims: which exported names of a registry are whose, so that no two metrics are exported under
 * one.
 *
 * A metric claims its plain names, those of its family and samples. Names that windows derive are
 * up to 24 a metric and are not claimed. They are a stem, a word of a result and a window (rate1m,
 * p99_9_5m), and the unit, if any, and are read from their end in one way only. So
 *   - no plain name is a derived one, because a plain name that ends like one is refused
 *     (crest_derived_looks), whether there is a metric that derives it or not;
 *   - of two metrics that derive a common name stem, unit and result are the same. Then their
 *     families have one name, which both claim; but for rates and peaks of histograms and timers,
 *     which count events and have no unit: comm_ping_rate1m is derived by a timer
 *     comm.ping-seconds, whose family is comm_ping_seconds, and by a counter comm.ping. Therefore
 *     histograms, timers and counters without a unit claim the stem of their rates too:
 *     "comm_ping*".
 */
#ifndef CREST_NAME_CLAIMS_H
#define CREST_NAME_CLAIMS_H

#include "registry/metric_inside.h"

/* An empty table; false without memory. */
bool crest_claims_init(ck_hs_t *table);

/* Under the lock: whether a metric of this name, kind, unit and windows would be exported under a
 * name of another, or under one that is no metric's to have: CREST_NAME_CLASH, and *other is that
 * other, or NULL. Takes nothing from the arena. */
crest_status crest_claims_check(crest_registry_state *state, const crest_metric *wanted,
                                const crest_metric **other);

/* Under the lock, after that: takes the names for the metric, or none of them; what it had made of
 * them before is used again. */
crest_status crest_claims_take(crest_registry_state *state, crest_metric *metric);

/* Gives them back, for a metric that could not be made after all, or whose registry is freed: the
 * next try must not find them taken. */
void crest_claims_drop(crest_registry_state *state, crest_claims *claims);

#endif
