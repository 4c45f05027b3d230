/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Window results as a snapshot keeps them: of the windowed series alone, 104 bytes a counter with
 * three windows. Kept, found, and moved here when a snapshot is narrowed; the windows fill them
 * (window_copies.h).
 *
 *     copies = crest_window_copies_new(window_s, windows, counters, others);
 *     crest_window_copies_add(copies, index, counter);      for each series, ascending
 *     crest_window_copies_put(copies, w, &window);              for each window of it
 *
 * Freed with crest_alloc_free. A snapshot owns it: one thread at a time fills or moves, any number
 * of threads read afterwards.
 */
#ifndef CREST_SNAPSHOT_WINDOWS_H
#define CREST_SNAPSHOT_WINDOWS_H

#include <crest/window.h>
#include <stddef.h>
#include <stdint.h>

typedef struct crest_window_copies crest_window_copies;

/* Empty, with room for so many series; NULL without memory. */
crest_window_copies *crest_window_copies_new(const unsigned *window_s, unsigned windows,
                                             size_t counters, size_t others);
/* Adds the series with this index, a counter or another. */
void crest_window_copies_add(crest_window_copies *copies, uint32_t index, int counter);
/* Stores the result of window number w, from 0 on, of the series added last. */
void crest_window_copies_put(crest_window_copies *copies, unsigned w, const crest_window *window);

/* Fills window_s with the windows that there are, and returns how many; copies NULL: none. */
unsigned crest_window_copies_windows(const crest_window_copies *copies,
                                     unsigned window_s[CREST_WINDOWS_MAX]);

/* Fills *window; 0, and all zero, if the series at this index has no such window. */
int crest_window_copies_find(const crest_window_copies *copies, size_t index, unsigned window_s,
                             crest_window *window);

/* As crest_snapshot_move. Called for every series that stays, ascending, `to` from 0 on. */
void crest_window_copies_move(crest_window_copies *copies, size_t from, size_t to);

#endif
