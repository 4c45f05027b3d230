/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asking for memory ahead: what the next distributions are read from is on its way from memory
 * while this one is read and, on a page, while its lines are written. Counts of a histogram take
 * some ten kilobytes, which come at a line a nanosecond or ten, so that a page of many histograms
 * would wait for memory most of its time.
 *
 *     crest_ahead_of(&ahead, directory, index, 20);
 *     ...the series is read...
 *     crest_ahead_ask(&ahead);     twenty times, between lines
 */
#ifndef CREST_PREFETCH_H
#define CREST_PREFETCH_H

#include "cells/cells.h"
#include "cells/shards.h"
#include "snapshot/directory.h"

/* Blocks of counts, and cache lines of them all, that are asked for of a series: all, of what some
 * ten threads record at the usual precision. */
#define CREST_AHEAD_BLOCKS 128u
#define CREST_AHEAD_LINES 2048u

typedef struct crest_ahead_block {
    uintptr_t from;
    size_t lines;
} crest_ahead_block;

typedef struct crest_ahead {
    crest_ahead_block blocks[CREST_AHEAD_BLOCKS];
    unsigned count;
    size_t lines; /* of all */
    unsigned at;  /* the first block of which some is left, */
    size_t done;  /* and lines of it that have been asked for */
    size_t part;  /* lines at a time */
} crest_ahead;

/* Asks for what leads to the counts of the series after the one after `index`, and finds those of
 * the one after it, of which crest_ahead_ask then asks for all in so many parts. */
void crest_ahead_of(crest_ahead *ahead, const crest_directory *directory, size_t index,
                    unsigned parts);
/* Asks for the next part; does nothing after the last. */
void crest_ahead_ask(crest_ahead *ahead);

#endif
