/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the windows keep of a range sampler: extremes and area of each tick. The part of windows.c
 * that differs from counters and distributions, because a sampler's extremes are not cumulative:
 * they are taken away at each tick.
 */
#ifndef CREST_RANGE_WINDOWS_H
#define CREST_RANGE_WINDOWS_H

#include "cells/range_cell.h"
#include "windows/window_times.h"

__extension__ typedef __int128 crest_range_area;

/* The sum of several ticks. */
typedef struct crest_range_bin {
    crest_range_area area;
    int64_t minimum, maximum; /* above the maximum: no tick is there */
    uint64_t time;
} crest_range_bin;

typedef struct crest_range_ring {
    int begun;             /* there is a reading before the next */
    crest_range_bin *bins; /* of the windows longer than a minute, or NULL */
    crest_range_reading last;
    crest_range_area area[CREST_WINDOW_READINGS]; /* value times CREST_RANGE_TICK_NS */
    int64_t minimum[CREST_WINDOW_READINGS];       /* above the maximum: no tick is there */
    int64_t maximum[CREST_WINDOW_READINGS];
    uint64_t time[CREST_WINDOW_READINGS]; /* how long the tick was, in CREST_RANGE_TICK_NS */
} crest_range_ring;

/* An empty ring. `new`: the sampler was made after the reading before this ring's first. Then, if
 * no window of the cell has ended, it stood at 0 and what it did belongs to the first tick.
 * Otherwise its past belongs to no tick. NULL without memory. */
crest_range_ring *crest_range_ring_new(const crest_range_cell *cell, int new);
void crest_range_ring_free(crest_range_ring *ring);

/* Ends the cell's window and keeps it as the tick at this place. 0 if the tick's area is not known:
 * swing times time left 64 bits. The middle of the extremes then stands for it. */
int crest_range_ring_take(crest_range_ring *ring, crest_range_cell *cell, unsigned at);

/* Gives the ring bins for these times; 0 without memory. */
int crest_range_ring_bins(crest_range_ring *ring, const crest_window_times *times);
/* Adds the tick just taken to its bin. */
void crest_range_ring_add(crest_range_ring *ring, const crest_window_times *times);

/* Fills minimum, maximum and average from the `count` ticks up to `newest`; 0 if there are none. */
int crest_range_ring_result(const crest_range_ring *ring, unsigned newest, unsigned count,
                            crest_window *result);
/* The same from the ticks or bins of a window. */
int crest_range_ring_window(const crest_range_ring *ring, const crest_window_times *times,
                            const crest_window_span *span, crest_window *result);

#endif
