/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counting and telling misuse. See misuse.h.
 */
#include "base/misuse.h"
#include "base/atomic.h"
#include "base/error.h"
#include "registry/handles.h"
#include "names/lookalike_names.h"
#include "base/utf8.h"

#include <crest/family.h>
#include <string.h>

CREST_COUNTER_FAMILY(
    misuse_family, "crest.misuse",
    "Calls that could not do what was asked, by cause; the log says the first of each.", cause);

#define MISUSE_WHAT_BYTES 128

#define MISUSE_LABEL(name, label, text) label,
#define MISUSE_TEXT(name, label, text) text,
static const char *const misuse_labels[] = {CREST_MISUSE_TABLE(MISUSE_LABEL)};
static const char *const misuse_texts[] = {CREST_MISUSE_TABLE(MISUSE_TEXT)};

/* The first of each cause, kept until somebody listens. */
enum { MISUSE_NONE, MISUSE_WRITING, MISUSE_KEPT, MISUSE_TOLD };
static struct {
    uint64_t early; /* counted before the series exist */
    crest_counter *counter;
    uint32_t later; /* counted where the lock may be held */
    uint32_t state;
    char what[MISUSE_WHAT_BYTES];
} misuse_causes[CREST_MISUSE_COUNT];

/* The series exist, as zero, from load on. */
__attribute__((constructor)) static void misuse_constructor(void)
{
    for (int i = 0; i < CREST_MISUSE_COUNT; i++) {
        crest_counter *counter = misuse_family_with(misuse_labels[i]);
        if (crest_handle_dead(&counter->handle) != CREST_OK)
            continue; /* no memory even for this: the early count goes on */
        /* partner: the acquire load in crest_misuse_count */
        crest_atomic_store_ptr_release(CREST_PTR(&misuse_causes[i].counter), counter);
        crest_counter_add(counter, (int64_t)crest_atomic_load(&misuse_causes[i].early));
    }
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
    crest_counter *counter =
        crest_atomic_load_ptr_acquire(CREST_PTR(&misuse_causes[cause].counter));
    if (counter != NULL)
        crest_counter_inc(counter);
    else
        crest_atomic_add(&misuse_causes[cause].early, 1);
}

void crest_misuse_count_later(crest_misuse cause)
{
    uint32_t *later = &misuse_causes[cause].later, waiting;
    do
        waiting = crest_atomic_load32(later);
    while (!crest_atomic_cas32_acquire(later, waiting, waiting + 1));
}

void crest_misuse_settle(void)
{
    for (int i = 0; i < CREST_MISUSE_COUNT; i++)
        if (CREST_UNLIKELY(crest_atomic_load32(&misuse_causes[i].later) != 0))
            for (uint32_t n = crest_atomic_exchange32(&misuse_causes[i].later, 0); n != 0; n--)
                crest_misuse_count((crest_misuse)i, NULL);
}

uint64_t crest_misuse_value(crest_misuse cause)
{
    crest_counter *counter =
        crest_atomic_load_ptr_acquire(CREST_PTR(&misuse_causes[cause].counter));
    return counter ? crest_counter_value(counter) : crest_atomic_load(&misuse_causes[cause].early);
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

/* What a log can show: a name that was refused may hold anything, line ends and escapes too. */
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
    crest_misuse_settle();
    crest_split_tell();
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
