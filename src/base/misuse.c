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
#define MISUSE_CASES_MAX 64u /* of all causes together */

#define MISUSE_LABEL(name, label, text) label,
#define MISUSE_TEXT(name, label, text) text,
static const char *const misuse_labels[] = {CREST_MISUSE_TABLE(MISUSE_LABEL)};
static const char *const misuse_texts[] = {CREST_MISUSE_TABLE(MISUSE_TEXT)};

static struct {
    crest_bound_word count;
} misuse_causes[CREST_MISUSE_COUNT];

/* A case: NONE, WRITING (by one thread), KEPT until there is a log, TOLD. */
enum { MISUSE_NONE, MISUSE_WRITING, MISUSE_KEPT, MISUSE_TOLD };
static struct misuse_case {
    uint32_t state;
    crest_misuse cause;
    char what[MISUSE_WHAT_BYTES];
    char why[CREST_MISUSE_WHY_BYTES]; /* "": only what it is */
} misuse_cases[MISUSE_CASES_MAX];

static uint64_t misuse_untold; /* cases that are KEPT */

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

/* Keeps the case unless it is known, or there is no room. A case that another thread (or the code
 * that a handler has interrupted) is still writing may be kept twice. */
static void misuse_keep(crest_misuse cause, const char *what, const char *why)
{
    unsigned same = 0;
    if (what == NULL)
        what = "";
    for (unsigned i = 0; i < MISUSE_CASES_MAX && same < CREST_MISUSE_CASES; i++) {
        struct misuse_case *at = &misuse_cases[i];
        /* acquire: partner of the release store below */
        uint32_t state = crest_atomic_load32_acquire(&at->state);
        if (state == MISUSE_NONE &&
            crest_atomic_cas32_acquire(&at->state, MISUSE_NONE, MISUSE_WRITING)) {
            at->cause = cause;
            memcpy(at->what, what, strnlen(what, sizeof at->what - 1));
            memcpy(at->why, why, strnlen(why, sizeof at->why - 1));
            crest_atomic_add(&misuse_untold, 1);
            /* partner: the acquire loads above and in crest_misuse_tell */
            crest_atomic_store32_release(&at->state, MISUSE_KEPT);
            return;
        }
        if (state < MISUSE_KEPT || at->cause != cause)
            continue;
        if (strncmp(at->what, what, sizeof at->what - 1) == 0)
            return;
        same++;
    }
}

void crest_misuse_explain(crest_misuse cause, const char *what, const char *why)
{
    misuse_keep(cause, what, why);
}

void crest_misuse_count(crest_misuse cause, const char *what)
{
    misuse_keep(cause, what, "");
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

static void misuse_tell_one(const struct misuse_case *told)
{
    char what[sizeof told->what * CREST_UTF8_REPLACEMENT_BYTES];
    char why[sizeof told->why * CREST_UTF8_REPLACEMENT_BYTES];
    misuse_show(told->what, what, sizeof what);
    misuse_show(told->why, why, sizeof why);
    int known = what[0] != '\0';
    crest_log_write(CREST_LOG_WARNING,
                    "crest: %s%s%s%s%s%s. Told once; crest_misuse_total{cause=\"%s\"} counts all.",
                    misuse_texts[told->cause], known ? " (first seen on '" : "", what,
                    known ? "')" : "", why[0] != '\0' ? ": " : "", why,
                    misuse_labels[told->cause]);
}

void crest_misuse_tell(void)
{
    if (crest_atomic_load(&misuse_untold) == 0 || !crest_log_wanted())
        return;
    for (unsigned i = 0; i < MISUSE_CASES_MAX; i++) {
        struct misuse_case *at = &misuse_cases[i];
        /* acquire: partner of the release store in misuse_keep */
        if (crest_atomic_load32_acquire(&at->state) == MISUSE_KEPT &&
            crest_atomic_cas32_acquire(&at->state, MISUSE_KEPT, MISUSE_TOLD)) {
            crest_atomic_add(&misuse_untold, UINT64_MAX);
            misuse_tell_one(at);
        }
    }
}
