/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which spans were kept lately. See kept_spans.h.
 */
#include "spans/kept_spans.h"
#include "base/alloc.h"
#include "base/forked.h"
#include "base/sync.h"

#include <pthread.h>
#include <string.h>

typedef struct kept_span {
    uint64_t key; /* 0: none */
    crest_trace_id trace;
    crest_span_id id;
    uint64_t lasted_ns;
} kept_span;

static pthread_mutex_t kept_spans_lock = PTHREAD_MUTEX_INITIALIZER; /* guards the table */
static kept_span *kept_spans;                                       /* NULL: none was kept */

static void kept_spans_forked(void)
{
    crest_mutex_fresh(&kept_spans_lock);
}
CREST_FORKED(KEPT_SPANS, kept_spans_forked)

static uint64_t kept_spans_mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0x9fb21c651e98df25);
    return hash ^ hash >> 32;
}

/* Never 0. */
static uint64_t kept_spans_key(const crest_op *op, const char *name)
{
    uint64_t hash = (uint64_t)op->length << 32 | op->kind;
    for (unsigned i = 0; i < 4; i++)
        hash = kept_spans_mix(hash, op->word[i]);
    for (; *name != '\0'; name++)
        hash = kept_spans_mix(hash, (unsigned char)*name);
    return hash | 1;
}

/* Bits that the lowest, which is always set, is not among. */
static size_t kept_spans_place(uint64_t key)
{
    return (size_t)(key >> 32) % CREST_KEPT_SPANS;
}

void crest_kept_spans_note(const crest_span *span)
{
    if (span->op.kind == CREST_OP_NONE || span->name == NULL || span->folded_count != 0)
        return;
    uint64_t key = kept_spans_key(&span->op, span->name);
    uint64_t lasted_ns = span->end_unix_ns - span->start_unix_ns;
    pthread_mutex_lock(&kept_spans_lock);
    if (kept_spans == NULL)
        kept_spans = crest_alloc(CREST_KEPT_SPANS, sizeof *kept_spans);
    kept_span *place = kept_spans != NULL ? &kept_spans[kept_spans_place(key)] : NULL;
    if (place != NULL && (place->key != key || place->lasted_ns <= lasted_ns))
        *place =
            (kept_span){.key = key, .trace = span->trace, .id = span->id, .lasted_ns = lasted_ns};
    pthread_mutex_unlock(&kept_spans_lock);
}

int crest_kept_spans_find(const crest_op *op, const char *name, crest_trace_id *trace,
                          crest_span_id *id)
{
    if (op->kind == CREST_OP_NONE)
        return 0;
    pthread_mutex_lock(&kept_spans_lock);
    int found = 0;
    if (kept_spans != NULL) {
        uint64_t key = kept_spans_key(op, name);
        const kept_span *place = &kept_spans[kept_spans_place(key)];
        found = place->key == key;
        *trace = place->trace;
        *id = place->id;
    }
    pthread_mutex_unlock(&kept_spans_lock);
    return found;
}

void crest_kept_spans_forget(void)
{
    pthread_mutex_lock(&kept_spans_lock);
    crest_alloc_free(kept_spans);
    kept_spans = NULL;
    pthread_mutex_unlock(&kept_spans_lock);
}
