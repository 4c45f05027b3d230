/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a declaration or a name to a metric: found, or made with its companions. Stages have two
 * histograms; metrics with operations in flight have gauges.
 */
#ifndef CREST_METRIC_GET_H
#define CREST_METRIC_GET_H

#include "metrics/metric_inside.h"

/* Finds or creates, taking the lock itself; NULL and *status on failure, counted as misuse. Texts
 * are copied. Any thread, no signal handler. */
crest_metric *crest_metric_get(crest_registry *registry, crest_kind kind,
                               const crest_metric_options *options, const char *const *keys,
                               unsigned key_count, crest_status *status);

/* The metric of a declaration, the same way. */
crest_metric *crest_metric_get_declared(const crest_declaration *declaration, crest_status *status);

/* The same under the lock; nothing is counted. */
crest_metric *crest_metric_get_declared_locked(const crest_declaration *declaration,
                                               crest_status *status);

/* The same for an open family, of a kind that has one series a child. */
crest_metric *crest_metric_get_open_locked(crest_registry *registry, crest_kind kind,
                                           const crest_metric_options *options,
                                           crest_status *status);

#endif
