/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The children of a metric: found by label values and walked without a lock, added under it.
 *
 * A chained hash table per family. A child costs its own link and its share of the heads, because
 * ten thousand idle children must be cheap.
 *
 * Growth: a full table's links are moved, in place, to a table four times as large. Meanwhile:
 *   1. A lookup may be led into another chain and miss its child. It always ends, for a moved link
 *      leads only to moved links. So "not found" means: look again under the lock.
 *   2. A walk over all children reads the version before and after (seqlock; odd: links are being
 *      moved), and walks again if it changed.
 * An outgrown table stays, since a reader may be in it; together they are a third of the last.
 */
#ifndef CREST_CHILDREN_H
#define CREST_CHILDREN_H

#include "metrics/metric_inside.h"

/* The hash of a family's label values; NULL counts as "". */
uint32_t crest_children_hash(const crest_metric *metric, const char *const *values);

/* The child of these values that is not retired, or NULL. Without the lock it may also be NULL for
 * a child that is being moved. Any thread. */
crest_child *crest_children_find(const crest_metric *metric, const char *const *values);

/* Under the lock: the next retired child of these values, behind `after` (NULL: the first).
 * crest_children_find finds none of them. */
crest_child *crest_children_retired(const crest_metric *metric, const char *const *values,
                                    uint32_t hash, const crest_child *after);

/* Under the lock: adds a child, complete but for its link; 0 without memory, and nothing was done.
 */
int crest_children_add(crest_metric *metric, crest_child *child);

/* A walk over all children of a metric; begins with a zeroed cursor. */
typedef struct crest_children_cursor {
    const struct crest_children_table *table;
    uint32_t chain;
    crest_child *child;
} crest_children_cursor;

/* The next child, or NULL at the end. Any thread. */
crest_child *crest_children_next(const crest_metric *metric, crest_children_cursor *cursor);

/* Read before and after a walk: if it differs, the walk may have missed children or met some twice.
 * Waits while links are being moved. */
uint64_t crest_children_version(const crest_metric *metric);

#endif
