/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Claims: which metric owns which exported names of a registry, so that no two metrics are exported
 * under one name.
 *
 * A metric claims its plain names: its family's and its samples'. Derived names (of windows) are up
 * to 24 a metric and are not claimed. A derived name is a stem, a word of a result and a window
 * (rate1m, p99_9_5m), and the unit, if any. Read from its end it has one reading only. So
 *   - no plain name is a derived one: a plain name that ends like one is refused
 *     (crest_derived_looks), even if no metric derives it;
 *   - two metrics that derive a common name have the same stem, unit and result. Then their
 *     families have one name, which both claim.
 *
 * One exception: rates and peaks of histograms and timers count events and have no unit.
 * comm_ping_rate1m is derived by a timer comm.ping-seconds, whose family is comm_ping_seconds, and
 * by a counter comm.ping. Therefore histograms, timers and counters without a unit also claim the
 * stem of their rates: "comm_ping*".
 */
#ifndef CREST_NAME_CLAIMS_H
#define CREST_NAME_CLAIMS_H

#include "metrics/metric_inside.h"

/* An empty table; false without memory. */
bool crest_claims_init(ck_hs_t *table);

/* Under the lock: CREST_NAME_CLASH when a metric of this name, kind, unit and windows would take a
 * name of another, then *other, or a reserved name, then *other is NULL. Takes nothing from the
 * arena. */
crest_status crest_claims_check(crest_registry_state *state, const crest_metric *wanted,
                                const crest_metric **other);

/* Under the lock, after that check: claims all names for the metric, or none. Claims made earlier
 * for it are reused. */
crest_status crest_claims_take(crest_registry_state *state, crest_metric *metric);

/* Gives claims back when the metric could not be made or its registry is freed: a later try must
 * not clash with them. */
void crest_claims_drop(crest_registry_state *state, crest_claims *claims);

#endif
