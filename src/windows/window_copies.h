/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies window results into what a snapshot keeps of them.
 */
#ifndef CREST_WINDOW_COPIES_H
#define CREST_WINDOW_COPIES_H

#include "snapshot/snapshot_windows.h"
#include "windows/windows.h"

/* Copies all windows of the directory's series, or of its range samplers alone; NULL without
 * memory. Freed with crest_alloc_free. */
crest_window_copies *crest_windows_copy(const crest_windows *windows,
                                        const crest_directory *directory, int ranges_only);

#endif
