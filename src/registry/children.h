/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The children of a metric: found by label values and walked without a lock, added under it.
 *
 * A family's are in a table of chains, each child in the chain of its hash. What a child costs
 * there is its own link and its share of the heads, because ten thousand idle ones must be cheap.
 *
 * When a table gets full, the links are moved to one four times as large, in place. Who is looking
 * for a child meanwhile may be led into another chain and miss it, but always comes to an end, for
 * a link that was moved leads only to links that were; so "not found" means "look again under the
 * lock". Who walks over all of them sees by the version whether links were being moved, and walks
 * again. An outgrown table stays, since a reader may be in it; together they are a third of the
 * last.
 */
#ifndef CREST_CHILDREN_H
#define CREST_CHILDREN_H

#include "registry/metric_inside.h"

/* The hash of a family's label values; NULL counts as "". */
uint32_t crest_children_hash(const crest_metric *metric, const char *const *values);

/* The child of these values that is not retired, or NULL; without the lock also when it was just
 * being moved. Any thread. */
crest_child *crest_children_find(const crest_metric *metric, const char *const *values);

/* Under the lock: the next child of these values that was retired, after `after` (NULL: the first
 * of them), which crest_children_find does not find. */
crest_child *crest_children_retired(const crest_metric *metric, const char *const *values,
                                    uint32_t hash, const crest_child *after);

/* Under the lock: adds a child, complete but for its link; 0 without memory, and nothing was done.
 */
int crest_children_add(crest_metric *metric, crest_child *child);

/* A walk over all children of a metric, which begins with a zeroed cursor. */
typedef struct crest_children_cursor {
    const struct crest_children_table *table;
    uint32_t chain;
    crest_child *child;
} crest_children_cursor;

/* The next child, or NULL at the end. Any thread. */
crest_child *crest_children_next(const crest_metric *metric, crest_children_cursor *cursor);

/* To be read before a walk, and to be equal after it: else some may have been missed or met twice.
 * Waits while links are being moved. */
uint64_t crest_children_version(const crest_metric *metric);

#endif
