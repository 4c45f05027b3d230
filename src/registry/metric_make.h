/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Making a metric, in three steps, all under the lock:
 *
 *     1. prepare   the metric, new or of the previous registry; claims its exported names
 *     2. between   the caller makes companions, and the only child if there are no labels
 *                  (instruments/metric_get.c)
 *     3. conclude  publishes it, or takes it back
 *
 * A companion has no companions: crest_metric_with does all three.
 */
#ifndef CREST_METRIC_MAKE_H
#define CREST_METRIC_MAKE_H

#include "metrics/metric_spec.h"

/* A metric that is being made. */
typedef struct crest_metric_draft {
    crest_registry_state *state;
    crest_metric *metric;
    crest_metric *split; /* a metric of the same name but for case and separators, or NULL */
    int again;           /* of the previous registry, with its old children */
} crest_metric_draft;

/* Step 1. The caller has checked the spec and that the registry lacks the name. On failure there is
 * no draft and nothing to conclude; memory taken half way stays in the arena, unreferenced. */
crest_status crest_metric_prepare(crest_registry_state *state, const crest_metric_spec *spec,
                                  crest_metric_draft *draft);

/* Step 3, after a successful step 1. *status says whether the step between failed. Returns NULL
 * then, and when the metric cannot be published. */
crest_metric *crest_metric_conclude(const crest_metric_draft *draft, crest_status *status);

/*
 * A companion: a metric named after its parent and a word, `options->name`. No caller outside can
 * find or make it. CREST_NAME_CLASH when another metric has the name. A histogram takes its
 * parent's range and buckets. Never a timer.
 */
crest_metric *crest_metric_with(crest_metric *parent, crest_kind kind,
                                const crest_metric_options *options, const char *const *keys,
                                unsigned key_count, crest_status *status);

#endif
