/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Windows: what series did in the last minutes. Knows no threads and no clock: the ticker feeds it
 * snapshots, which carry their own time.
 *
 * A windowed series has a place. Places are given at each reading:
 *
 *   1. the series without a place whose metrics want windows, in the order of the snapshot
 *      (exported name, then label values);
 *   2. until the process has CREST_WINDOWED_SERIES_DEFAULT places, or as many as
 *      crest_windows_configure set;
 *   3. the other series go without until places become free.
 *
 * A series that is older than its place is known only from then on, and its window says so by what
 * it covers.
 */
#ifndef CREST_WINDOWS_H
#define CREST_WINDOWS_H

#include "snapshot/snapshot_inside.h"
#include "windows/window_frames.h"
#include "windows/window_idle.h"

/* A windowed series of a directory. */
typedef struct crest_window_entry {
    uint32_t index; /* in the directory */
    uint32_t place; /* its number and, in the upper bits, how it is read */
} crest_window_entry;

/* A block of places: which are taken, and which of those are in the directory. */
typedef struct crest_window_block {
    crest_window_frames *frames;
    uint64_t taken, present;
} crest_window_block;

typedef struct crest_windows {
    crest_window_times times;
    crest_snapshot *last;
    crest_window_block *blocks;
    unsigned block_count;
    unsigned free_from;          /* blocks before this one have no free place */
    crest_window_entry *entries; /* of the last snapshot's directory, ascending */
    size_t entry_count;
    int stale;        /* the entries are not those of all series that should have a place */
    uint64_t refused; /* series that go without a place */
    crest_idle idle;
} crest_windows;

crest_windows *crest_windows_new(void);
/* The series then have no places. */
void crest_windows_free(crest_windows *windows);

/* Takes a reading; owns the snapshot from then on. Non-zero if memory lacked for a series or a part
 * of what is kept of it. The series is then known from a later reading on. */
int crest_windows_tick(crest_windows *windows, crest_snapshot *snapshot);

/* The result of the window of so many seconds for a series; all zero if it has none. */
void crest_windows_result(const crest_windows *windows, const crest_series *series,
                          unsigned window_s, crest_window *result);
/* The same for an entry, of the last snapshot or made by the third function. That returns 0 if the
 * series has no place, and leaves `index` alone. */
void crest_windows_entry_result(const crest_windows *windows, const crest_window_entry *entry,
                                const crest_window_span *span, crest_window *result);
crest_kind crest_windows_entry_kind(const crest_windows *windows, const crest_window_entry *entry);

int crest_windows_entry_of(const crest_windows *windows, const crest_series *series,
                           crest_window_entry *entry);

/* How much of the window is covered, in seconds. */
double crest_windows_covered_s(const crest_windows *windows, unsigned window_s);

/* Series of all registries with a place, and those without for want of one. */
uint64_t crest_windows_places(void);
uint64_t crest_windows_refused(void);

/* In the child of a fork, which has no windows yet. */
void crest_windows_forked(void);

/* Sets the windows of registries observed from now on (ascending, the first CREST_WINDOW_S), and
 * how many places there are; 0 keeps the present setting. */
void crest_windows_set(const unsigned *window_s, unsigned windows, unsigned series_max);
/* The windows that are kept; returns how many. */
unsigned crest_windows_kept(unsigned window_s[CREST_WINDOWS_MAX]);

#endif
