/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a declaration or a name to a metric: found, or made with all that comes with it. Stages have
 * two histograms; what counts operations in flight has its gauges.
 */
#ifndef CREST_METRIC_GET_H
#define CREST_METRIC_GET_H

#include "registry/metric_inside.h"

/* Find or create, taking the lock itself; NULL and *status when that fails, which is counted as
 * misuse. Texts are copied. Any thread, no signal handler. */
crest_metric *crest_metric_get(crest_registry *registry, crest_kind kind,
                               const crest_metric_options *options, const char *const *keys,
                               unsigned key_count, crest_status *status);

/* The same under the lock; nothing is counted. */
crest_metric *crest_metric_get_locked(crest_registry *registry, crest_kind kind,
                                      const crest_metric_options *options, const char *const *keys,
                                      unsigned key_count, crest_status *status);

/* The same for an open family, of a kind that has one series a child. */
crest_metric *crest_metric_get_open_locked(crest_registry *registry, crest_kind kind,
                                           const crest_metric_options *options,
                                           crest_status *status);

#endif
