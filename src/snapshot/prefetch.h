/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prefetch for readers of distributions. While the reader reads one series and writes its lines,
 * what the next series are read from is on its way from memory. Counts of a histogram take some ten
 * kilobytes, which come at a cache line each 1 to 10 ns. Without prefetch a reader of many
 * histograms would wait for memory much of its time.
 *
 * Three stages, one link of the chain to the counts for each series: threads' cells and the shared
 * shard of series i+3, shards of i+2, counts of i+1.
 *
 * Price: 75 lines. Gain: docs/performance.md.
 */
#ifndef CREST_PREFETCH_H
#define CREST_PREFETCH_H

#include "snapshot/directory.h"

/* The reader has read series `index` of the directory: prefetches what leads to the series after
 * it, and the counts of the next. */
void crest_prefetch(const crest_directory *directory, size_t index);

#endif
