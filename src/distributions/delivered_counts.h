/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How far receivers of differences have a histogram or timer: shards in the state file that no
 * thread records into and no sum has (cells/delivered_cells.h). Each cell is a word of its own, as
 * a counter's is: a kill amid a store leaves some cells as they were, and the next run sends those
 * records once more.
 *
 * All calls under the lock; without a state file they do nothing.
 */
#ifndef CREST_DELIVERED_COUNTS_H
#define CREST_DELIVERED_COUNTS_H

#include "distributions/distribution_inside.h"

/* A receiver has what the slot's series recorded, as far as the distribution has it. Cells that are
 * higher already stay. Without memory the file goes on saying what it said. */
void crest_delivered_raise_counts(uint32_t slot, const crest_distribution *delivered);

/* Before the adoption's commit: a dead run had delivered this of what the slot adopts; adds up over
 * dead runs. 0 without memory. */
int crest_delivered_inherit_counts(uint32_t slot, const crest_distribution *delivered);

/* Adds a distribution to a shard of the same layout that no thread writes; 0 without memory. */
int crest_shard_add_counts(crest_shard *shard, const crest_layout *layout,
                           const crest_distribution *more);

#endif
