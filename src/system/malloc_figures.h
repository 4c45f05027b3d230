/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the C library's allocator says of itself, where it says so without wrapping at 4 GiB:
 * mallinfo2, of glibc 2.33 and later. A program with another allocator in its place has little
 * there, which is what is said then.
 */
#ifndef CREST_MALLOC_FIGURES_H
#define CREST_MALLOC_FIGURES_H

#include <stddef.h>

typedef struct crest_malloc_figures {
    size_t held_bytes;    /* from the system, mapped blocks included */
    size_t mapped_bytes;  /* in blocks that are mapped one by one */
    size_t mapped_blocks; /* those */
    size_t used_bytes;    /* allocated, mapped blocks included */
    size_t free_bytes;    /* held and not allocated */
    size_t free_chunks;   /* in so many pieces, the fast bins' not counted */
    size_t top_bytes;     /* of the free ones, what can be given back from the top */
} crest_malloc_figures;

/* 0 where there is no mallinfo2. Takes the allocator's locks, and walks its free chunks. */
int crest_malloc_figures_read(crest_malloc_figures *figures);

#endif
