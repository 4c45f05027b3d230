/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Heap memory of everything that is not on the record path (that is arena.h): snapshots, windows,
 * reporters. All of it goes through here, so that a test can fail each allocation in turn.
 */
#ifndef CREST_BASE_ALLOC_H
#define CREST_BASE_ALLOC_H

#include <stddef.h>

/* Zeroed memory for count objects of size bytes; NULL when there is none or the product overflows.
 */
void *crest_alloc(size_t count, size_t size);

/* Resizes to `count` objects; new bytes are not zeroed. NULL leaves the old block as it was. */
void *crest_alloc_resize(void *block, size_t count, size_t size);

/* A copy of a text; NULL when there is no memory or text is NULL. */
char *crest_alloc_text(const char *text);

/* Frees; NULL does nothing. */
void crest_alloc_free(void *block);

/* For tests: the `after`-th allocation from now on (1: the next) and every later one fail, until
 * set to 0. */
void crest_alloc_fail_after(unsigned long after);

#endif
