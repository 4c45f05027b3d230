/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What several parsers of the kernel's texts need: tables of names and numbers, and a note of what
 * was wrong. Pure.
 *
 *     static const char *const keys[] = {"pgfault", "pgmajfault"};
 *     uint64_t values[2], found = crest_table_lines(text, keys, 2, values, &fault);
 *     if (crest_table_has(found, 1)) ...values[1]...
 *
 * Who parses takes what is right and remembers the first thing that is wrong in a fault, which the
 * collector tells with the name of the file. What is absent is no fault.
 */
#ifndef CREST_PROC_TABLE_H
#define CREST_PROC_TABLE_H

#include "system/parse/proc_text.h"

/* Keys of one table, because what was found is a mask of 64 bits. */
#define CREST_TABLE_KEYS_MAX 64u

/* The first thing that was wrong; all zero: nothing was. */
typedef struct crest_fault {
    const char *why;  /* what was expected; static */
    crest_text shown; /* what was there; borrowed from the text */
} crest_fault;

/* Remembers what is wrong, if nothing was before. */
void crest_fault_set(crest_fault *fault, const char *why, crest_text shown);

/* A whole text as a whole number: digits, and the end. */
int crest_table_number(crest_text text, uint64_t *value);

/* Takes up to `count` whole numbers off; how many there were before anything else. */
unsigned crest_table_u64s(crest_text *line, uint64_t *values, unsigned count);

int crest_table_begins(crest_text text, const char *prefix);

/*
 * A key a line, perhaps with a colon, then a number, then what is ignored. values[i] is that of
 * keys[i], and bit i of the result says that it was there; a key that comes twice counts the first
 * time. The value of a wanted key that is no number is a fault, and absent.
 */
uint64_t crest_table_lines(crest_text text, const char *const *keys, unsigned count,
                           uint64_t *values, crest_fault *fault);

/* The same of pairs in one line, "rbytes=4096 wbytes=0". What has another form is skipped. */
uint64_t crest_table_pairs(crest_text line, const char *const *keys, unsigned count,
                           uint64_t *values, crest_fault *fault);

static inline int crest_table_has(uint64_t found, unsigned key)
{
    return (int)(found >> key & 1);
}

#endif
