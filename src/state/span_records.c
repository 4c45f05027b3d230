/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing finished spans. See span_records.h.
 */
#include "state/span_records.h"
#include "base/atomic.h"
#include "base/forked.h"
#include "base/lock.h"
#include "state/directory_records.h"
#include "state/state_file.h"

#include <string.h>

/* Under the tracing lock; taken under both. */
static struct {
    crest_state_extent *extent[2]; /* NULL: none */
    char *memory[2];
    unsigned filling;
    int full;
} span_records;

/* Under the lock: both of them, or none that is used. */
static void span_records_take(void)
{
    if (!crest_state_is_on() || span_records.extent[1] != NULL || span_records.full)
        return;
    for (unsigned i = 0; i < 2 && !span_records.full; i++) {
        span_records.extent[i] =
            crest_state_extend(CREST_STATE_SPANS, CREST_STATE_SPANS_BYTES, &span_records.memory[i]);
        span_records.full = span_records.extent[i] == NULL;
    }
    if (span_records.full)
        crest_atomic_add(&crest_state_header_own()->refused_records, 1);
}

void crest_state_spans_open(void)
{
    crest_lock_saved saved;
    crest_lock_take(&saved);
    span_records_take();
    crest_lock_drop(&saved);
}

int crest_state_spans_are_on(void)
{
    return span_records.extent[1] != NULL;
}

int crest_state_note_span(const crest_state_span *span, const uint64_t *words,
                          const char *const *texts)
{
    const crest_state_behind behind = {
        words, (span->event_count + 2 * (size_t)span->attribute_count) * sizeof *words, texts,
        2 + 2 * (size_t)span->attribute_count + span->event_count};
    uint32_t bytes = crest_state_record_bytes(sizeof *span, &behind);
    crest_state_extent *extent = span_records.extent[span_records.filling];
    if (bytes > CREST_STATE_SPAN_BYTES_MAX)
        return 0;
    if (extent->used + bytes > extent->bytes) {
        span_records.filling ^= 1;
        extent = span_records.extent[span_records.filling];
        /* release: a reader in another process has no record of before counted in what follows */
        crest_atomic_store_release(&extent->used, 0);
    }
    crest_state_record *record =
        (crest_state_record *)(void *)(span_records.memory[span_records.filling] + extent->used);
    record->bytes = bytes;
    crest_state_record_fill(record, CREST_STATE_SPAN, span, sizeof *span, &behind);
    /* release: a reader in another process that counts the record finds it whole */
    crest_atomic_store_release(&extent->used, extent->used + bytes);
    return 1;
}

/* The child has no file. */
static void span_records_forked(void)
{
    memset(&span_records, 0, sizeof span_records);
}
CREST_FORKED(STATE_SPANS, span_records_forked)
