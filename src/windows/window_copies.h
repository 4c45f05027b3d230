/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Window results as a snapshot keeps them: of the windowed series alone, 104 bytes a counter with
 * three windows.
 */
#ifndef CREST_WINDOW_COPIES_H
#define CREST_WINDOW_COPIES_H

#include "windows/windows.h"

typedef struct crest_window_copies crest_window_copies;

/* Copies what all windows say of the directory's series, or of its range samplers alone; NULL
 * without memory. Freed with crest_alloc_free. */
crest_window_copies *crest_windows_copy(const crest_windows *windows,
                                        const crest_directory *directory, int ranges_only);

/* Which windows there are; NULL: none. */
unsigned crest_window_copies_windows(const crest_window_copies *copies,
                                     unsigned window_s[CREST_WINDOWS_MAX]);

/* Fills *window; 0, and all zero, if the series at this index has no such window. */
int crest_window_copies_find(const crest_window_copies *copies, size_t index, unsigned window_s,
                             crest_window *window);

/* As crest_snapshot_move, which is called for all that are to stay, ascending, `to` from 0 on. */
void crest_window_copies_move(crest_window_copies *copies, size_t from, size_t to);

#endif
