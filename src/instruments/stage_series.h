/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What stages are made of beside a timer: two histograms with the label `stage`, of the gap to the
 * mark before and of the time since the start.
 */
#ifndef CREST_STAGE_SERIES_H
#define CREST_STAGE_SERIES_H

#include "registry/metric_inside.h"

struct crest_keyed;

/* Counts the stages of a metric's options. CREST_INVALID_ARGUMENT when they cannot be: none, empty,
 * twice the same, not UTF-8, one after a NULL; or some where the kind has none. */
crest_status crest_stages_check(crest_kind kind, const char *const *stages, unsigned *count);

/* Under the lock: the histograms of a metric that is being made. */
crest_status crest_stages_histograms_make(crest_metric *metric);

/* Under the lock: the series of a new child of such a metric, as zero, and the keyed series that
 * leads to them. */
crest_status crest_stages_child_make(crest_child *child, const char *const *values);

/* Under the lock: the same of a child that lived before, whose stages may have gone. */
crest_status crest_stages_child_again(crest_child *child);

/* Under the lock: the children of the histograms of a child of stages, into `parts`, but for those
 * that were retired by themselves; returns how many, 0 for a child of anything else. */
#define CREST_STAGES_PARTS_MAX (2 * CREST_STAGES_MAX)
unsigned crest_stages_parts(const crest_child *child, crest_child **parts);

#endif
