/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From label values to a child: found, brought back, or made, with the parts of a child of stages.
 *
 * The parts of stages are children of two histograms with the label `stage` besides: of the gap to
 * the mark before, and of the time since the start. So a child of stages is made by way of other
 * children, which is why that stands here and not in a file of its own.
 */
#ifndef CREST_CHILD_GET_H
#define CREST_CHILD_GET_H

#include "registry/metric_inside.h"

/* The child of these values, as below, taking the lock itself; what stands in the way is counted as
 * misuse. Values are cleaned: valid UTF-8 of bounded length. Any thread; lock-free when it is there
 * and records. */
crest_child *crest_child_get(crest_metric *metric, const char *const *values, crest_status *status);

/* Under the lock: the child of these clean values, made if need be, or the overflow child past the
 * limit, *status then being CREST_LIMIT. None in a registry that has been freed, which would never
 * be killed. */
crest_child *crest_child_get_locked(crest_metric *metric, const char *const *values,
                                    crest_status *status);

/* Under the lock: a new child with all that belongs to it, published; NULL and *status when that
 * fails. Values are copied. */
crest_child *crest_child_make(crest_metric *metric, const char *const *values,
                              crest_status *status);

/* Under the lock: the next life of a child that was retired and of which everything has gone, by
 * the handle that it has had, with its parts; 0 and *status if it cannot be. */
int crest_child_again(crest_child *child, crest_status *status);

#endif
