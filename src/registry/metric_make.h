/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Making a metric, in three steps, all under the lock:
 *
 *     1. prepare   the metric, new or of the registry before; its exported names are taken
 *     2. between   the caller makes what belongs to it: companions, and its only child if it has no
 *                  labels (instruments/metric_get.c)
 *     3. conclude  it is published, or taken back
 *
 * A companion has nothing beside it: crest_metric_with does all three.
 */
#ifndef CREST_METRIC_MAKE_H
#define CREST_METRIC_MAKE_H

#include "registry/metric_spec.h"

/* A metric that is being made. */
typedef struct crest_metric_draft {
    crest_registry_state *state;
    crest_metric *metric;
    crest_metric *split; /* the first of the names like its own but for case, separators; or NULL */
    int again;           /* it lived in the registry before, and has the children that it had */
} crest_metric_draft;

/* Step 1. The spec has been checked, and the registry has no metric of its name. On a failure there
 * is no draft, and nothing to conclude. What failed half way stays in the arena, unreferenced. */
crest_status crest_metric_prepare(crest_registry_state *state, const crest_metric_spec *spec,
                                  crest_metric_draft *draft);

/* Step 3, after a preparation that did not fail. *status says whether the step between has failed,
 * and then NULL is returned, as when it cannot be published. */
crest_metric *crest_metric_conclude(const crest_metric_draft *draft, crest_status *status);

/*
 * A metric that comes with another one, by the name of that one and a word: `options->name` is the
 * word. No other caller can find it or make it; when another metric has taken the name it is
 * CREST_NAME_CLASH. A histogram has the range and buckets of its parent. Never a timer.
 */
crest_metric *crest_metric_with(crest_metric *parent, crest_kind kind,
                                const crest_metric_options *options, const char *const *keys,
                                unsigned key_count, crest_status *status);

#endif
