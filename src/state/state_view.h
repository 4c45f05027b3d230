/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A state file as bytes in memory, read whole: its header, its records, and what addresses in its
 * cells lead to. It trusts nothing: a length, offset or address that leads out of the file leads
 * nowhere. The file may be of a living process; then it is a reading of about one moment.
 *
 *     crest_state_view *view;
 *     if (crest_state_view_read(descriptor, &view, &error) == CREST_OK)
 *         for (crest_state_cursor cursor = {0}; (record = crest_state_next(view, &cursor));)
 *             ...
 *     crest_state_view_free(view);
 */
#ifndef CREST_STATE_VIEW_H
#define CREST_STATE_VIEW_H

#include "state/state_format.h"

#include <crest/status.h>

/* The largest file that is read. */
#define CREST_STATE_VIEW_MAX (UINT64_C(16) << 30)

typedef struct crest_state_view {
    const crest_state_header *header; /* texts end with a NUL */
    const crest_state_extent *extents;
    uint32_t extent_count;
    uint32_t lost;  /* extents that are not in the file, which was cut or damaged */
    uint32_t last;  /* the extent that the last address was found in; a hint */
    uint64_t bytes; /* of the file */
    char *start;    /* its first byte, on a page */
    char *memory;
} crest_state_view;

/* Reads the file of this descriptor. CREST_IO: it cannot be read, or is no state file of this
 * version and layout; CREST_NO_MEMORY. Errors say which. */
crest_status crest_state_view_read(int descriptor, crest_state_view **view, crest_error *error);
void crest_state_view_free(crest_state_view *view);

/* The bytes at an address of the process; NULL where there are not so many. Aligned to 8 if the
 * address is. */
const void *crest_state_at(crest_state_view *view, uint64_t address, uint64_t bytes);
/* The word at an address that is a multiple of 8; 0 where there is none. */
uint64_t crest_state_word(crest_state_view *view, uint64_t address);

typedef struct crest_state_cursor {
    uint32_t extent;
    uint64_t at;
    uint64_t damaged; /* records passed over because their check differs */
    int spans;        /* set before: those of finished spans instead of the directory's */
} crest_state_cursor;

/* The next whole record that is not FREE, of at least the size of its structure; NULL at the end.
 */
const crest_state_record *crest_state_next(const crest_state_view *view,
                                           crest_state_cursor *cursor);

/* Splits what lies behind a record's structure (`skip` bytes further, for bounds) into `count`
 * texts; 0 if there are not so many. */
int crest_state_texts(const crest_state_record *record, size_t skip, const char **texts,
                      size_t count);

#endif
