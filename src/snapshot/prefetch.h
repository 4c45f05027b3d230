/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prefetch for readers of distributions: what the next ones are read from is on its way from memory
 * while this one is read and, on a page, while its lines are written. Counts of a histogram take
 * some ten kilobytes, which come at a line a nanosecond or ten, so that a reader of many histograms
 * would wait for memory much of its time.
 *
 * Three stages, one link of the chain to the counts for each series: threads' cells and the shared
 * shard of series i+3, shards of i+2, counts of i+1.
 *
 * Price: 75 lines. Gain: docs/performance.md.
 */
#ifndef CREST_PREFETCH_H
#define CREST_PREFETCH_H

#include "snapshot/directory.h"

/* Series `index` of the directory has been read: asks for what leads to those after it, and for the
 * counts of the next. */
void crest_prefetch(const crest_directory *directory, size_t index);

#endif
