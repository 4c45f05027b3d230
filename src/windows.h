/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Windows: the last readings of each series, and what follows from them. It knows no threads and no
 * clock: the ticker feeds it snapshots, which carry their own time.
 */
#ifndef CREST_WINDOWS_H
#define CREST_WINDOWS_H

#include "reading.h"

/* Sixty ticks lie between sixty-one readings. */
#define CREST_WINDOW_READINGS 61u

typedef struct crest_windows {
    uint64_t time_ns[CREST_WINDOW_READINGS];
    unsigned newest; /* index of the last reading */
    unsigned count;  /* readings there are */
    uint64_t ticks;  /* readings there ever were */
    int incomplete;  /* a series' ring could not be had once: it did not begin at zero */
    crest_snapshot *last;
    struct window_ring *rings; /* of all series */
} crest_windows;

crest_windows *crest_windows_new(void);
/* Frees the rings of all series too. */
void crest_windows_free(crest_windows *windows);

/* Takes a reading; owns the snapshot from then on. Non-zero if memory lacked for a series' ring,
 * which then begins with a later reading. */
int crest_windows_tick(crest_windows *windows, crest_snapshot *snapshot);

/* What the window says of a series; all zero if it has no readings. */
void crest_windows_result(const crest_windows *windows, const crest_series *series,
                          crest_window *result);

/* How much of the window is covered, in seconds. */
double crest_windows_covered_s(const crest_windows *windows);

#endif
