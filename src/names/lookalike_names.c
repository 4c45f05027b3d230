/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names that differ only in case and separators, and the pairs found. See lookalike_names.h.
 */
#include "names/lookalike_names.h"
#include "base/atomic.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/misuse.h"

#include <crest/metric.h>
#include <string.h>

enum { SPLIT_NONE, SPLIT_KEPT, SPLIT_TOLD };

typedef struct split_pair {
    uint32_t state;
    crest_split_kind kind;
    char added[CREST_NAME_BYTES_MAX + 1];
    char known[CREST_NAME_BYTES_MAX + 1];
} split_pair;

/* Filled from the first on, under the lock. */
static split_pair split_pairs[CREST_SPLITS_MAX];

static int split_separator(char c)
{
    return c == '.' || c == '-' || c == '_';
}

static int split_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The next byte of the name in its compared form; 0 at its end. */
static char split_next(const char *name, size_t *at)
{
    for (;;) {
        size_t from = *at;
        char c = name[from];
        if (c == '\0')
            return 0;
        (*at)++;
        if (!split_separator(c))
            return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
        while (split_separator(name[*at]))
            (*at)++;
        if (from != 0 && split_digit(name[from - 1]) && split_digit(name[*at]))
            return '.';
    }
}

int crest_split_same(const char *a, const char *b)
{
    size_t at_a = 0, at_b = 0;
    for (;;) {
        char c = split_next(a, &at_a);
        if (c != split_next(b, &at_b))
            return 0;
        if (c == 0)
            return 1;
    }
}

uint64_t crest_split_hash(const char *name)
{
    char text[CREST_NAME_BYTES_MAX];
    size_t length = 0, at = 0;
    for (char c; length < sizeof text && (c = split_next(name, &at)) != 0; length++)
        text[length] = c;
    return crest_hash_bytes(crest_hash_seed(), text, length);
}

void crest_split_keep(crest_split_kind kind, const char *added, const char *known)
{
    if (kind == CREST_SPLIT_ADDED)
        crest_misuse_count(CREST_MISUSE_SPLIT_NAME, NULL);
    unsigned i = 0;
    for (; i < CREST_SPLITS_MAX && crest_atomic_load32(&split_pairs[i].state) != SPLIT_NONE; i++)
        if (split_pairs[i].kind == kind && strcmp(split_pairs[i].added, added) == 0 &&
            strcmp(split_pairs[i].known, known) == 0)
            return;
    if (i == CREST_SPLITS_MAX)
        return;
    split_pairs[i].kind = kind;
    memcpy(split_pairs[i].added, added, strnlen(added, CREST_NAME_BYTES_MAX));
    memcpy(split_pairs[i].known, known, strnlen(known, CREST_NAME_BYTES_MAX));
    /* partner: the acquire load in crest_split_tell */
    crest_atomic_store32_release(&split_pairs[i].state, SPLIT_KEPT);
}

static void split_tell_one(const split_pair *pair)
{
    switch (pair->kind) {
    case CREST_SPLIT_ADDED:
        crest_log_write(CREST_LOG_WARNING,
                        "crest: the new metric '%s' differs from '%s' only in case or separators: "
                        "if they are one thing, it is split in two. Strict mode (strict=on) "
                        "refuses such a name.",
                        pair->added, pair->known);
        break;
    case CREST_SPLIT_REFUSED:
        crest_log_write(CREST_LOG_WARNING,
                        "crest: metric '%s' was refused, because it differs from '%s' only in "
                        "case or separators and the registry is strict. What is recorded under it "
                        "goes nowhere.",
                        pair->added, pair->known);
        break;
    case CREST_SPLIT_CLASH:
        crest_log_write(CREST_LOG_WARNING,
                        "crest: metric '%s' was refused, because '%s' is exported under a name "
                        "that it would have. What is recorded under it goes nowhere.",
                        pair->added, pair->known);
        break;
    case CREST_SPLIT_TAKEN:
        crest_log_write(CREST_LOG_WARNING,
                        "crest: metric '%s' was refused, because a name that it would be exported "
                        "under is made up by Prometheus or by a page, or ends like what windows "
                        "give (_rate1m, _avg5m_seconds). What is recorded under it goes nowhere.",
                        pair->added);
        break;
    }
}

void crest_split_tell(void)
{
    if (!crest_log_wanted())
        return;
    for (unsigned i = 0; i < CREST_SPLITS_MAX; i++) {
        uint32_t *state = &split_pairs[i].state;
        /* acquire: partner of the release store in crest_split_keep */
        if (crest_atomic_load32_acquire(state) == SPLIT_KEPT &&
            crest_atomic_cas32_acquire(state, SPLIT_KEPT, SPLIT_TOLD))
            split_tell_one(&split_pairs[i]);
    }
}
