/* SPDX-License-Identifier: Apache-2.0 */
/* The limits that need tables: a hash of names, and plain histograms. See limit_loops.h. */
#include "limit_loops.h"
#include "plain_hdr.h"

#include <string.h>

/* ---- names ---- */

/* Half a cache line. The entry points to the very name that the caller passes, which is in the
 * cache already; a library's own table would hold a copy. */
typedef struct limit_name {
    uint64_t first, last; /* the ends of the name, which overlap if it is short */
    const char *name;     /* NULL: none is here */
    uint32_t length, number;
} limit_name;

static limit_name *limit_table;
static const char *const *limit_names;
static uint64_t limit_mask, limit_found;

static inline uint64_t limit_word(const char *from, size_t length)
{
    uint64_t word = 0;
    memcpy(&word, from, length);
    return word;
}

/* All of a name of at most sixteen bytes, the last sixteen of another. */
static inline limit_name limit_name_of(const char *name, uint32_t number)
{
    size_t length = strlen(name);
    const char *end = name + length;
    limit_name of = {0, 0, name, (uint32_t)length, number};
    if (length >= 16) {
        of.first = limit_word(end - 16, 8);
        of.last = limit_word(end - 8, 8);
    } else if (length >= 8) {
        of.first = limit_word(name, 8);
        of.last = limit_word(end - 8, 8);
    } else {
        for (size_t i = 0; i < length; i++)
            of.first |= (uint64_t)(unsigned char)name[i] << 8 * i;
    }
    return of;
}

/* The highest bits of one multiplication for sixteen bytes, without the seed that a table with
 * names from outside needs. */
static inline uint64_t limit_hash(const limit_name *of)
{
    __extension__ typedef unsigned __int128 wide;
    const uint64_t odd = UINT64_C(0x9e3779b97f4a7c15), other = UINT64_C(0xbf58476d1ce4e5b9);
    uint64_t hash = odd;
    for (size_t at = 0; at + 16 < of->length; at += 16) {
        wide product = (wide)(limit_word(of->name + at, 8) ^ hash) *
                       (limit_word(of->name + at + 8, 8) ^ other);
        hash = (uint64_t)product ^ (uint64_t)(product >> 64);
    }
    wide product = (wide)(of->first ^ hash) * (of->last ^ other);
    return ((uint64_t)product ^ (uint64_t)(product >> 64)) * odd >> 32;
}

static inline int limit_same(const limit_name *one, const limit_name *other)
{
    uint64_t differ =
        (one->first ^ other->first) | (one->last ^ other->last) | (one->length ^ other->length);
    for (size_t at = 0; differ == 0 && at + 16 < one->length; at += 8)
        differ = limit_word(one->name + at, 8) ^ limit_word(other->name + at, 8);
    return differ == 0;
}

/* The place of a name: where it is, or where it is to be. */
static inline limit_name *limit_place(const limit_name *of)
{
    uint64_t at = limit_hash(of) & limit_mask;
    while (limit_table[at].name != NULL && !limit_same(&limit_table[at], of))
        at = (at + 1) & limit_mask;
    return &limit_table[at];
}

/* Enough places that seven of eight names are in the first place that is probed. */
int limit_names_prepare(const char *const *names, unsigned count)
{
    uint64_t places = 4;
    while (places < 4 * (uint64_t)count)
        places *= 2;
    limit_table = calloc(places, sizeof *limit_table);
    if (limit_table == NULL)
        return 0;
    limit_mask = places - 1;
    limit_names = names;
    for (unsigned i = 0; i < count; i++) {
        limit_name of = limit_name_of(names[i], i);
        *limit_place(&of) = of;
    }
    return 1;
}

LOOPS_LOOP void limit_hash_and_probe(unsigned object, uint64_t times)
{
    (void)object;
    uint64_t found = 0;
    for (uint64_t i = 0; i < times; i++) {
        uint32_t number = loops_order[i % LOOPS_VALUES];
        limit_name of = limit_name_of(limit_names[number], number);
        found += limit_place(&of)->number == number;
    }
    limit_found += found;
}

uint64_t limit_hash_total(void)
{
    return limit_found;
}

/* ---- plain histograms ---- */

static plain_hdr *limit_plain[LIMIT_PLAINS][LOOPS_HOT];

/* Two decimal digits up to 2^42 - 1: what a histogram of Crest has by default. */
int limit_plain_prepare(void)
{
    int all = 1;
    for (unsigned i = 0; i < LIMIT_PLAINS * LOOPS_HOT; i++) {
        plain_hdr **plain = &limit_plain[i % LIMIT_PLAINS][i / LIMIT_PLAINS];
        if (*plain == NULL)
            *plain = plain_hdr_new(1, (INT64_C(1) << 42) - 1, 2);
        all &= *plain != NULL;
    }
    return all;
}

LOOPS_LOOP void limit_plain_hdr(unsigned object, uint64_t times)
{
    plain_hdr *plain = limit_plain[LIMIT_PLAIN][object];
    for (uint64_t i = 0; i < times; i++)
        plain_hdr_record(plain, loops_values[i % LOOPS_VALUES]);
}

LOOPS_LOOP void limit_plain_hdr_folded(unsigned object, uint64_t times)
{
    plain_hdr *plain = limit_plain[LIMIT_PLAIN_FOLDED][object];
    for (uint64_t i = 0; i < times; i++)
        plain_hdr_record_folded(plain, loops_values[i % LOOPS_VALUES]);
}

LOOPS_LOOP void limit_plain_hdr_even(unsigned object, uint64_t times)
{
    plain_hdr *plain = limit_plain[LIMIT_PLAIN_EVEN][object];
    for (uint64_t i = 0; i < times; i++)
        plain_hdr_record(plain, loops_even[i % LOOPS_VALUES]);
}

uint64_t limit_plain_total(enum limit_plain which, unsigned object, int64_t *least, int64_t *most)
{
    const plain_hdr *plain = limit_plain[which][object];
    uint64_t counted = 0;
    for (int32_t i = 0; i < plain->counts_len; i++)
        counted += (uint64_t)plain->counts[i];
    *least = plain->min_value;
    *most = plain->max_value;
    return counted == (uint64_t)plain->total_count ? counted : 0;
}
