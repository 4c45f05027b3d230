/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Claims: which exported names of a registry are whose, so that no two metrics are exported under
 * one.
 *
 * A metric's plain names (of its family and samples) are claimed as they are. Those that windows
 * derive are up to 24, so of them only their stems are claimed: comm.events, a counter, has the
 * derived names comm_events_rate1m, …, comm_events_peak15m, and claims "comm_events*E". It is
 * enough, because a derived name can be read from its end in one way only: the unit, if its last
 * word is one; before it a word that ends with the window (rate5m), or, of a quantile, such a word
 * and one or two before it (p99_9_5m); and the rest is the stem. So
 *   - two metrics derive a common name if and only if they have the same stem, the same unit behind
 *     it, and results of one group: E, rate and peak, or V, of values, of which all have the
 *     average and the maximum;
 *   - a plain name is derived by a metric if one of the stems that can be read from it is claimed
 *     by a metric that has such a name among those it derives: these are then looked through;
 *   - the derived names of a new metric are each looked up among the plain ones.
 */
#ifndef CREST_NAME_CLAIMS_H
#define CREST_NAME_CLAIMS_H

#include "registry/metric_inside.h"

/* An empty table; false without memory. */
bool crest_claims_init(ck_hs_t *table);

/* Under the lock: whether a metric of this name, kind, unit, windows and quantiles would be
 * exported under a name of another: CREST_NAME_CLASH, and *other is that one, or NULL if the name
 * is nobody's in particular. Takes nothing from the arena. */
crest_status crest_claims_check(crest_registry_state *state, const crest_metric *wanted,
                                const crest_metric **other);

/* Under the lock, after that: takes the names for the metric, or none of them; what it had made of
 * them before is used again. */
crest_status crest_claims_take(crest_registry_state *state, crest_metric *metric);

/* Gives them back, for a metric that could not be made after all, or whose registry is freed: the
 * next try must not find them taken. */
void crest_claims_drop(crest_registry_state *state, crest_claims *claims);

#endif
