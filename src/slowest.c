/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Noting, and what is left of the notes in a window. See slowest.h.
 */
#include "slowest.h"
#include "alloc.h"
#include "atomic.h"
#include "cells.h"
#include "lock.h"

#include <string.h>

#define SLOWEST_ROOM_FIRST 4u

void crest_slowest_note(const crest_series *series, uint64_t value, const crest_op *op)
{
    crest_note *note = &((crest_shared_shard *)series->shared)->note;
    if (value <= note->value)
        return;
    note->op = *op;
    note->value = value;
}

void crest_slowest_note_unlocked(const crest_series *series, uint64_t value)
{
    crest_atomic_raise(&((crest_shared_shard *)series->shared)->noted, value);
}

/* Takes one word; the exchange only if there is something, for it is another thread's line. */
static uint64_t slowest_take_word(uint64_t *noted)
{
    return crest_atomic_load(noted) != 0 ? crest_atomic_exchange(noted, 0) : 0;
}

static crest_shard *slowest_shard(const crest_thread_record *record, uint32_t slot)
{
    const uint64_t *cell = crest_cells_of(record, slot);
    /* acquire: partner of the release store in record.c */
    return cell ? (crest_shard *)(uintptr_t)crest_atomic_load_acquire(cell) : NULL;
}

/* Whether anything has been noted. */
static int slowest_any(const crest_series *series)
{
    if (crest_atomic_load(&((crest_shared_shard *)series->shared)->noted) != 0)
        return 1;
    for (const crest_thread_record *record = crest_cells_records(); record; record = record->next) {
        const crest_shard *shard = slowest_shard(record, crest_atomic_load32(&series->slot));
        if (shard != NULL && crest_atomic_load(&shard->noted) != 0)
            return 1;
    }
    return 0;
}

/*
 * The largest of all words. The owner of one may write it at the same time, without a lock prefix:
 * then either this sees what he wrote, or he overwrites the zero and it is seen the next time.
 */
static uint64_t slowest_take_words(const crest_series *series)
{
    uint64_t largest = slowest_take_word(&((crest_shared_shard *)series->shared)->noted);
    for (const crest_thread_record *record = crest_cells_records(); record; record = record->next) {
        crest_shard *shard = slowest_shard(record, crest_atomic_load32(&series->slot));
        uint64_t noted = shard != NULL ? slowest_take_word(&shard->noted) : 0;
        if (noted > largest)
            largest = noted;
    }
    return largest;
}

void crest_slowest_take(const crest_series *series, crest_note *note)
{
    memset(note, 0, sizeof *note);
    if (!slowest_any(series))
        return;
    if (series->metric->kind != CREST_KIND_TIMER) {
        note->value = slowest_take_words(series);
        return;
    }
    crest_shared_shard *shared = series->shared;
    crest_lock_saved saved;
    crest_lock_take(&saved);
    uint64_t largest = slowest_take_words(series);
    *note = shared->note;
    memset(&shared->note, 0, sizeof shared->note);
    crest_lock_drop(&saved);
    if (largest > note->value) /* noted without the lock: whose it was is not known */
        *note = (crest_note){.value = largest};
}

static int slowest_grow(crest_slowest *slowest)
{
    if (slowest->count < slowest->room)
        return 1;
    unsigned room = slowest->room ? 2 * slowest->room : SLOWEST_ROOM_FIRST;
    crest_slowest_entry *entries =
        crest_alloc_resize(slowest->entries, room, sizeof *slowest->entries);
    if (entries == NULL)
        return 0;
    slowest->entries = entries;
    slowest->room = room;
    return 1;
}

int crest_slowest_push(crest_slowest *slowest, unsigned reading, const crest_note *note)
{
    if (slowest->count != 0 && slowest->entries[0].reading == reading) {
        slowest->count--;
        memmove(slowest->entries, slowest->entries + 1, slowest->count * sizeof *slowest->entries);
    }
    if (note->value == 0)
        return 1;
    while (slowest->count != 0 && slowest->entries[slowest->count - 1].note.value <= note->value)
        slowest->count--;
    if (!slowest_grow(slowest))
        return 0;
    slowest->entries[slowest->count++] = (crest_slowest_entry){reading, *note};
    return 1;
}

crest_op crest_slowest_of(const crest_slowest *slowest, unsigned reading, uint64_t value)
{
    for (unsigned i = 0; i < slowest->count; i++)
        if (slowest->entries[i].reading == reading && slowest->entries[i].note.value == value)
            return slowest->entries[i].note.op;
    return (crest_op){{0, 0, 0, 0}, 0, CREST_OP_NONE};
}

void crest_slowest_fini(crest_slowest *slowest)
{
    crest_alloc_free(slowest->entries);
    memset(slowest, 0, sizeof *slowest);
}
