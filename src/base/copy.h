/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies of a few bytes. A call of memcpy costs more than the bytes of a label's key or value.
 */
#ifndef CREST_BASE_COPY_H
#define CREST_BASE_COPY_H

#include <stdint.h>
#include <string.h>

/* Bytes behind the source and behind the target that crest_copy_padded may touch. */
#define CREST_COPY_PAD 16u

/* Copies `length` bytes and up to CREST_COPY_PAD - 1 more; returns the end of the `length` bytes.
 */
static inline char *crest_copy_padded(char *to, const char *from, size_t length)
{
    char *end = to + length;
    do {
        memcpy(to, from, CREST_COPY_PAD);
        to += CREST_COPY_PAD;
        from += CREST_COPY_PAD;
    } while (to < end);
    return end;
}

/* Copies exactly `length` bytes: a short text as its two ends, which may overlap. */
static inline char *crest_copy_short(char *to, const char *from, size_t length)
{
    if (length > 32) {
        memcpy(to, from, length);
    } else if (length > 16) {
        char first[16], last[16];
        memcpy(first, from, 16);
        memcpy(last, from + length - 16, 16);
        memcpy(to, first, 16);
        memcpy(to + length - 16, last, 16);
    } else if (length >= 8) {
        uint64_t first, last;
        memcpy(&first, from, 8);
        memcpy(&last, from + length - 8, 8);
        memcpy(to, &first, 8);
        memcpy(to + length - 8, &last, 8);
    } else if (length >= 4) {
        uint32_t first, last;
        memcpy(&first, from, 4);
        memcpy(&last, from + length - 4, 4);
        memcpy(to, &first, 4);
        memcpy(to + length - 4, &last, 4);
    } else if (length != 0) {
        char first = from[0], middle = from[length / 2], last = from[length - 1];
        to[0] = first;
        to[length / 2] = middle;
        to[length - 1] = last;
    }
    return to + length;
}

#endif
