/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From label values to a child: found, brought back, or made, with the parts of a child of stages.
 *
 * A part is a child of one of two histograms with the additional label `stage`: of the gap to the
 * previous mark, or of the time since the start. So making a child of stages makes other children,
 * which is why this file is one of its own.
 */
#ifndef CREST_CHILD_GET_H
#define CREST_CHILD_GET_H

#include "metrics/metric_inside.h"

/* The child of these values, as below, taking the lock itself; a failure is counted as misuse.
 * Values are cleaned: valid UTF-8 of bounded length. Any thread; lock-free when the child exists
 * and records. */
crest_child *crest_child_get(crest_metric *metric, const char *const *values, crest_status *status);

/* Under the lock: the child of these clean values, made if need be. Beyond the limit the overflow
 * child, and *status is CREST_LIMIT. NULL in a freed registry, where a new child would never be
 * retired. */
crest_child *crest_child_get_locked(crest_metric *metric, const char *const *values,
                                    crest_status *status);

/* Under the lock: a new child with all its parts, published; NULL and *status on failure. Values
 * are copied. */
crest_child *crest_child_make(crest_metric *metric, const char *const *values,
                              crest_status *status);

/* Under the lock: the next life of a retired child whose series are all gone, by its old handle,
 * with its parts; 0 and *status on failure. */
int crest_child_again(crest_child *child, crest_status *status);

#endif
