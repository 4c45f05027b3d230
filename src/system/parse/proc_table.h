/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What several parsers of the kernel's texts need: tables of names and numbers, and a note of what
 * was wrong. Pure.
 *
 *     static const char *const keys[] = {"pgfault", "pgmajfault"};
 *     uint64_t values[2], found = crest_table_lines(text, keys, 2, values, &fault);
 *     if (crest_table_has(found, 1)) ...values[1]...
 *
 * A parser takes well-formed values and remembers the first malformed one in a fault. The collector
 * tells the fault with the name of the file. An absent value is no fault.
 */
#ifndef CREST_PROC_TABLE_H
#define CREST_PROC_TABLE_H

#include "system/parse/proc_text.h"

/* Keys of one table, because what was found is a mask of 64 bits. */
#define CREST_TABLE_KEYS_MAX 64u

/* The first thing that was malformed; all zero: nothing was. */
typedef struct crest_fault {
    const char *why;  /* what was expected; static */
    crest_text shown; /* what was there; borrowed from the text */
} crest_fault;

/* Remembers a fault, unless there is one already. */
void crest_fault_set(crest_fault *fault, const char *why, crest_text shown);

/* Reads a whole text as a whole number: digits, and the end. */
int crest_table_number(crest_text text, uint64_t *value);

/* Takes up to `count` whole numbers off; returns how many came before anything else. */
unsigned crest_table_u64s(crest_text *line, uint64_t *values, unsigned count);

int crest_table_begins(crest_text text, const char *prefix);

/*
 * Lines of a key, perhaps with a colon, then a number; the rest is ignored. values[i] is that of
 * keys[i], and bit i of the result says that it was there. A repeated key counts the first time. A
 * wanted key with a value that is no number is a fault, and absent.
 */
uint64_t crest_table_lines(crest_text text, const char *const *keys, unsigned count,
                           uint64_t *values, crest_fault *fault);

/* The same for pairs in one line, "rbytes=4096 wbytes=0". Words of another form are skipped. */
uint64_t crest_table_pairs(crest_text line, const char *const *keys, unsigned count,
                           uint64_t *values, crest_fault *fault);

static inline int crest_table_has(uint64_t found, unsigned key)
{
    return (int)(found >> key & 1);
}

#endif
