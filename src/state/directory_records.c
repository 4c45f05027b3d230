/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing records. See directory_records.h.
 *
 * Records lie one behind the other in extents of the directory. A series that ended leaves its
 * place to another of no more bytes, so a node whose peers come and go does not fill the file.
 */
#include "state/directory_records.h"
#include "base/arena.h"
#include "base/atomic.h"
#include "base/forked.h"
#include "state/state_file.h"

#include <string.h>

#define RECORDS_EXTENT_FIRST (UINT64_C(256) << 10)
#define RECORDS_EXTENT (UINT64_C(1) << 20)
/* Free places of up to this many bytes are used again; larger ones are rare. */
#define RECORDS_REUSED_MAX 1024u
#define RECORDS_REUSED_STEP 32u

/* A free place. */
typedef struct records_free {
    struct records_free *next;
    crest_state_record *record;
} records_free;

/* All of it under the lock. */
static struct {
    int on;
    int full; /* an extent had no room: asking again for each record would take 0.3 ms each */
    crest_state_extent *extent; /* the newest; NULL: none yet */
    char *memory;
    uint32_t metrics;
    crest_state_record **series[CREST_STATE_CHUNKS]; /* by slot: its record, or NULL */
    records_free *free[RECORDS_REUSED_MAX / RECORDS_REUSED_STEP + 1];
    records_free *spare;
} records_own;

int crest_state_is_on(void)
{
    return records_own.on;
}

void crest_state_directory_open(void)
{
    records_own.on = crest_state_header_own() != NULL;
}

/* Sizes are rounded up, so that a free place fits many. */
uint32_t crest_state_record_bytes(size_t bytes, const crest_state_behind *behind)
{
    bytes += behind->more_bytes;
    for (size_t i = 0; i < behind->count; i++)
        bytes += strlen(behind->texts[i]) + 1;
    return (uint32_t)((bytes + RECORDS_REUSED_STEP - 1) & ~(size_t)(RECORDS_REUSED_STEP - 1));
}

/* A place at the end of the directory, its bytes stored; NULL without room. */
static crest_state_record *records_place_new(uint32_t bytes)
{
    crest_state_extent *extent = records_own.extent;
    if (extent == NULL || extent->used + bytes > extent->bytes) {
        uint64_t wanted = extent == NULL ? RECORDS_EXTENT_FIRST : RECORDS_EXTENT;
        if (records_own.full || bytes > RECORDS_EXTENT_FIRST)
            return NULL;
        extent = crest_state_extend(CREST_STATE_DIRECTORY, wanted, &records_own.memory);
        records_own.full = extent == NULL;
        if (extent == NULL)
            return NULL;
        records_own.extent = extent;
    }
    crest_state_record *record = (crest_state_record *)(void *)(records_own.memory + extent->used);
    record->bytes = bytes;
    record->type = CREST_STATE_FREE;
    /* release: a reader in another process that counts the record finds its length */
    crest_atomic_store_release(&extent->used, extent->used + bytes);
    return record;
}

static crest_state_record *records_place(uint32_t bytes)
{
    records_free *there =
        bytes <= RECORDS_REUSED_MAX ? records_own.free[bytes / RECORDS_REUSED_STEP] : NULL;
    if (there == NULL)
        return records_place_new(bytes);
    records_own.free[bytes / RECORDS_REUSED_STEP] = there->next;
    there->next = records_own.spare;
    records_own.spare = there;
    return there->record;
}

static void records_give(crest_state_record *record)
{
    /* release: a reader that copies the next record's body has seen this, or sees its check fail */
    crest_atomic_store32_release(&record->type, CREST_STATE_FREE);
    records_free *there = records_own.spare;
    if (record->bytes > RECORDS_REUSED_MAX)
        return;
    if (there != NULL)
        records_own.spare = there->next;
    else
        there = crest_arena_take(CREST_ARENA_META, sizeof *there, _Alignof(records_free));
    if (there == NULL)
        return; /* the place is lost */
    *there = (records_free){records_own.free[record->bytes / RECORDS_REUSED_STEP], record};
    records_own.free[record->bytes / RECORDS_REUSED_STEP] = there;
}

void crest_state_record_fill(crest_state_record *record, crest_state_type type, const void *body,
                             size_t bytes, const crest_state_behind *behind)
{
    char *at = (char *)record + bytes, *end = (char *)record + record->bytes;
    memcpy(record + 1, (const crest_state_record *)body + 1, bytes - sizeof *record);
    if (behind->more_bytes != 0)
        memcpy(at, behind->more, behind->more_bytes);
    at += behind->more_bytes;
    for (size_t i = 0; i < behind->count; i++) {
        size_t length = strlen(behind->texts[i]) + 1;
        memcpy(at, behind->texts[i], length);
        at += length;
    }
    memset(at, 0, (size_t)(end - at));
    record->check = crest_state_check((uint32_t)type, record + 1, record->bytes - sizeof *record);
    /* release: a reader that sees the type sees the body */
    crest_atomic_store32_release(&record->type, (uint32_t)type);
}

/* Writes a record of this type: `body` begins with a crest_state_record. NULL without room. */
static crest_state_record *records_write(crest_state_type type, const void *body, size_t bytes,
                                         const crest_state_behind *behind)
{
    crest_state_record *record = records_place(crest_state_record_bytes(bytes, behind));
    if (record != NULL)
        crest_state_record_fill(record, type, body, bytes, behind);
    else
        crest_atomic_add(&crest_state_header_own()->refused_records, 1);
    return record;
}

/* ---- metrics and series ---- */

uint32_t crest_state_metric_next(void)
{
    return ++records_own.metrics;
}

void crest_state_note_metric(crest_state_metric *metric, const double *bounds,
                             const char *const *texts)
{
    crest_state_behind behind = {bounds, metric->bound_count * sizeof *bounds, texts,
                                 3 + 2 * (size_t)metric->constant_count + metric->key_count +
                                     metric->stage_count};
    if (records_own.on)
        records_write(CREST_STATE_METRIC, metric, sizeof *metric, &behind);
}

/* Where the record of a slot's series is kept; NULL without memory. */
static crest_state_record **records_of(uint32_t slot)
{
    crest_state_record ***chunk = &records_own.series[slot / CREST_STATE_CHUNK];
    if (*chunk == NULL)
        *chunk = crest_arena_take(CREST_ARENA_META, CREST_STATE_CHUNK * sizeof **chunk,
                                  _Alignof(crest_state_record *));
    return *chunk != NULL ? &(*chunk)[slot % CREST_STATE_CHUNK] : NULL;
}

void crest_state_note_end(uint32_t slot)
{
    crest_state_record **at = records_own.on ? records_of(slot) : NULL;
    if (at == NULL || *at == NULL)
        return;
    records_give(*at);
    *at = NULL;
}

void crest_state_note_series(crest_state_series *series, const char *const *values)
{
    crest_state_behind behind = {NULL, 0, values, series->value_count};
    if (!records_own.on)
        return;
    crest_state_record **at = records_of(series->slot);
    crest_state_record *record = records_write(CREST_STATE_SERIES, series, sizeof *series, &behind);
    if (at == NULL)
        return;
    /* a kill in between leaves two records of the slot, of which the higher birth counts */
    if (*at != NULL)
        records_give(*at);
    *at = record;
}

/* ---- the rest ---- */

static const crest_state_behind records_no_text;

void crest_state_note_thread(const void *table, uint64_t flags)
{
    crest_state_thread thread = {.table = (uint64_t)(uintptr_t)table, .flags = flags};
    if (records_own.on)
        records_write(CREST_STATE_THREAD, &thread, sizeof thread, &records_no_text);
}

void crest_state_note_shared_chunk(uint32_t chunk, const void *cells)
{
    crest_state_shared_chunk shared = {.address = (uint64_t)(uintptr_t)cells, .chunk = chunk};
    if (records_own.on)
        records_write(CREST_STATE_SHARED_CHUNK, &shared, sizeof shared, &records_no_text);
}

void crest_state_note_keyed(crest_state_keyed *keyed, const char *const *values)
{
    crest_state_behind behind = {NULL, 0, values, keyed->value_count};
    if (records_own.on)
        records_write(CREST_STATE_KEYED, keyed, sizeof *keyed, &behind);
}

void crest_state_note_in_flight(const void *block, uint32_t entries, uint32_t entry_bytes)
{
    crest_state_in_flight one = {
        .address = (uint64_t)(uintptr_t)block, .entries = entries, .entry_bytes = entry_bytes};
    if (records_own.on)
        records_write(CREST_STATE_IN_FLIGHT, &one, sizeof one, &records_no_text);
}

/* The child has no file; what is kept here is about its parent's. */
static void records_forked(void)
{
    uint32_t metrics = records_own.metrics; /* numbers that metrics bear */
    memset(&records_own, 0, sizeof records_own);
    records_own.metrics = metrics;
}
CREST_FORKED(STATE_RECORDS, records_forked)
