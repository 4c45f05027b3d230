/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counting and telling misuse. See misuse.h.
 */
#include "base/misuse.h"
#include "base/atomic.h"
#include "base/bound_word.h"
#include "base/error.h"
#include "base/utf8.h"

#include <string.h>

#define MISUSE_WHAT_BYTES 128

#define MISUSE_LABEL(name, label, text) label,
#define MISUSE_TEXT(name, label, text) text,
static const char *const misuse_labels[] = {CREST_MISUSE_TABLE(MISUSE_LABEL)};
static const char *const misuse_texts[] = {CREST_MISUSE_TABLE(MISUSE_TEXT)};

/* The first detail of each cause: NONE, WRITING (by one thread), KEPT until a log callback is set,
 * TOLD. */
enum { MISUSE_NONE, MISUSE_WRITING, MISUSE_KEPT, MISUSE_TOLD };
static struct {
    crest_bound_word count;
    uint32_t state;
    char what[MISUSE_WHAT_BYTES];
} misuse_causes[CREST_MISUSE_COUNT];

static crest_bound_word misuse_late_records;

const char *crest_misuse_label(crest_misuse cause)
{
    return misuse_labels[cause];
}

void crest_misuse_bind(crest_misuse cause, uint64_t *word)
{
    crest_bound_word_bind(&misuse_causes[cause].count, word);
}

void crest_misuse_late_bind(uint64_t *word)
{
    crest_bound_word_bind(&misuse_late_records, word);
}

void crest_misuse_late(uint64_t records)
{
    crest_bound_word_add(&misuse_late_records, records);
}

static void misuse_keep(crest_misuse cause, const char *what)
{
    uint32_t *state = &misuse_causes[cause].state;
    if (crest_atomic_load32(state) != MISUSE_NONE ||
        !crest_atomic_cas32_acquire(state, MISUSE_NONE, MISUSE_WRITING))
        return;
    if (what != NULL)
        memcpy(misuse_causes[cause].what, what, strnlen(what, MISUSE_WHAT_BYTES - 1));
    /* partner: the acquire load in crest_misuse_tell */
    crest_atomic_store32_release(state, MISUSE_KEPT);
}

void crest_misuse_count(crest_misuse cause, const char *what)
{
    misuse_keep(cause, what);
    crest_bound_word_add(&misuse_causes[cause].count, 1);
}

uint64_t crest_misuse_value(crest_misuse cause)
{
    return crest_bound_word_value(&misuse_causes[cause].count);
}

crest_misuse crest_misuse_of(crest_status status)
{
    switch (status) {
    case CREST_INVALID_ARGUMENT: return CREST_MISUSE_ARGUMENT;
    case CREST_INVALID_LABEL: return CREST_MISUSE_LABEL;
    case CREST_INVALID_TEXT: return CREST_MISUSE_TEXT;
    case CREST_TYPE_CLASH: return CREST_MISUSE_TYPE_CLASH;
    case CREST_NAME_CLASH: return CREST_MISUSE_NAME_CLASH;
    case CREST_SPLIT_NAME: return CREST_MISUSE_SPLIT_NAME;
    case CREST_LIMIT: return CREST_MISUSE_LIMIT;
    case CREST_NO_MEMORY: return CREST_MISUSE_NO_MEMORY;
    case CREST_ABI_MISMATCH: return CREST_MISUSE_ABI;
    case CREST_NOT_FOUND:
    case CREST_LATE: return CREST_MISUSE_LATE;
    case CREST_MISMATCH: return CREST_MISUSE_MISMATCH;
    case CREST_NOT_RUNNING: return CREST_MISUSE_NOT_RUNNING;
    case CREST_NEGATIVE: return CREST_MISUSE_NEGATIVE;
    case CREST_INVALID_OPTIONS: return CREST_MISUSE_OPTIONS;
    default: return CREST_MISUSE_NAME;
    }
}

/* What a log may show: a refused name may hold any bytes, line ends and escapes included. */
static void misuse_show(const char *what, char *shown, size_t size)
{
    crest_utf8_copy(what, shown, size, NULL);
    for (unsigned char *at = (unsigned char *)shown; *at != '\0'; at++) {
        if (*at < ' ' || *at == 127)
            *at = '?';
        /* U+0080 to U+009F, control characters of two bytes */
        if (at[0] == 0xc2 && at[1] < 0xa0)
            memset(at, '?', 2);
    }
}

static void misuse_tell_one(int cause)
{
    char what[MISUSE_WHAT_BYTES * CREST_UTF8_REPLACEMENT_BYTES];
    misuse_show(misuse_causes[cause].what, what, sizeof what);
    int known = what[0] != '\0';
    crest_log_write(CREST_LOG_WARNING,
                    "crest: %s%s%s%s. Told once; crest_misuse_total{cause=\"%s\"} counts them all.",
                    misuse_texts[cause], known ? " (first seen on '" : "", what, known ? "')" : "",
                    misuse_labels[cause]);
}

void crest_misuse_tell(void)
{
    if (!crest_log_wanted())
        return;
    for (int i = 0; i < CREST_MISUSE_COUNT; i++) {
        uint32_t *state = &misuse_causes[i].state;
        /* acquire: partner of the release store in misuse_keep */
        if (crest_atomic_load32_acquire(state) == MISUSE_KEPT &&
            crest_atomic_cas32_acquire(state, MISUSE_KEPT, MISUSE_TOLD))
            misuse_tell_one(i);
    }
}
