/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Noting the slowest operation, and a window's notes. See slowest_note.h.
 */
#include "metrics/slowest_note.h"
#include "base/alloc.h"
#include "base/arena.h"
#include "base/atomic.h"
#include "base/lock.h"
#include "cells/cells.h"
#include "cells/first_values.h"

#include <string.h>

#define SLOWEST_ROOM_FIRST 4u

crest_slowest_shard *crest_slowest_shard_new(void)
{
    return crest_arena_take_again(CREST_ARENA_SLOWEST, sizeof(crest_slowest_shard));
}

void crest_slowest_shard_give(crest_slowest_shard *shard)
{
    crest_arena_give(CREST_ARENA_SLOWEST, shard, sizeof *shard);
}

/* NULL while the series has no shared part. */
static crest_slowest_shard *slowest_shared(const crest_series *series)
{
    /* acquire: partner of the release store in series.c */
    return crest_atomic_load_ptr_acquire(CREST_PTR(&series->shared));
}

/* Writes once more a note whose turn is over; 0 when the board has no place for it. */
static int slowest_stays(crest_slowest_shard *shared, uint64_t value, const crest_op *op,
                         uint64_t turn)
{
    while (crest_note_board_is_over(&shared->board, turn))
        if (!crest_note_board_write(&shared->board, value, op, &turn))
            return 0;
    return 1;
}

/*
 * Protocol, model tests/model/note_board.pml:
 *
 *   writer: 1. write the note on the board
 *           2. set `noted` (an exchange: a full barrier)
 *           3. count the record
 *           4. is the turn still the same? else write the note once more
 *              (without a place: reset `noted`)
 *   ticker: 1. take the note, which ends the turn (a full barrier)
 *           2. reset `noted`
 *
 * The barriers pair: either the writer's 4 finds the turn over and writes the note again, or the
 * ticker's 2 finds `noted` and resets it.
 * Invariants: `noted` never stays above all notes of its tick, where it would suppress notes. A
 * record counted in a tick has a note in it.
 *
 * A handler may raise `noted` just before this thread lowers it. That is harmless: only values
 * above the board's are written there.
 */
int crest_slowest_record(const crest_series *series, crest_shard *shard, uint64_t value,
                         const crest_op *op, int lane)
{
    crest_slowest_shard *shared = slowest_shared(series);
    uint64_t turn;
    if (shared == NULL || !crest_shard_has_block(shard, value) ||
        !crest_note_board_write(&shared->board, value, op, &turn))
        return 0;
    /* the maximum first: `noted` must never be above it */
    if (lane)
        crest_atomic_raise(&shard->max, value);
    else
        crest_word_raise(&shard->max, value);
    crest_atomic_exchange(&shard->noted, value);
    if (lane)
        crest_shard_record_atomic(shard, value, 1, 0);
    else
        crest_shard_record_cold(shard, value, 1, 0);
    if (!slowest_stays(shared, value, op, turn))
        crest_atomic_store(&shard->noted, 0);
    return 1;
}

int crest_slowest_is(const crest_series *series, uint64_t value)
{
    const crest_slowest_shard *shared = slowest_shared(series);
    return shared != NULL && crest_atomic_load(&shared->board.shown[0]) >= value;
}

/* A beginning has no word `noted` that could stay above the notes: each of its few values goes to
 * the board. */
int crest_slowest_begin(const crest_series *series, uint64_t *cell, crest_reserve *reserve,
                        uint64_t value, const crest_op *op)
{
    crest_slowest_shard *shared = slowest_shared(series);
    uint64_t turn;
    if (shared == NULL || !crest_note_board_write(&shared->board, value, op, &turn) ||
        !crest_beginning_add(cell, series->metric->layout, reserve, value))
        return 0;
    /* a full barrier: the value before the second look at the turn, as above */
    uint64_t barrier = 0;
    crest_atomic_exchange(&barrier, 1);
    slowest_stays(shared, value, op, turn);
    return 1;
}

void crest_slowest_note(const crest_series *series, uint64_t value, const crest_op *op)
{
    crest_note *note = &((crest_slowest_shard *)series->shared)->note;
    if (value <= note->value)
        return;
    note->op = *op;
    crest_atomic_store(&note->value, value); /* the ticker peeks at it without the lock */
}

void crest_slowest_note_unlocked(const crest_series *series, uint64_t value)
{
    crest_slowest_shard *shared = slowest_shared(series); /* first: a histogram's shared shard */
    if (shared != NULL)
        crest_atomic_raise(&shared->shared.noted, value);
}

/* Takes one word; exchanges only a non-zero one, since the line is another thread's. */
static uint64_t slowest_take_word(uint64_t *noted)
{
    return crest_atomic_load(noted) != 0 ? crest_atomic_exchange(noted, 0) : 0;
}

/*
 * The largest of the threads' words, each reset. Its owner thread may write a word meanwhile,
 * without a lock prefix. Then either this sees the owner's value, or the owner overwrites the zero
 * and the next visit sees it.
 */
static uint64_t slowest_take_words(const crest_series *series)
{
    uint64_t largest = 0;
    uint32_t slot = crest_atomic_load32(&series->slot);
    const crest_thread_table *table = crest_cells_tables();
    const crest_shard *next;
    while ((next = crest_shard_next(slot, &table)) != NULL) {
        /* the recording threads noted single values themselves */
        crest_shard *shard = crest_shard_counted((uint64_t)(uintptr_t)next);
        uint64_t noted = shard != NULL ? slowest_take_word(&shard->noted) : 0;
        if (noted > largest)
            largest = noted;
    }
    return largest;
}

void crest_slowest_forget(const crest_series *series)
{
    (void)slowest_take_words(series);
}

/* Takes notes made under the lock, and values noted without it where the operation was unknown.
 * Peeks first: a note missed is there the next time. */
static void slowest_take_locked(crest_slowest_shard *shared, crest_note *note)
{
    if (crest_atomic_load(&shared->note.value) == 0 &&
        crest_atomic_load(&shared->shared.noted) == 0)
        return;
    crest_lock_saved saved;
    crest_lock_take(&saved);
    uint64_t nobodys = slowest_take_word(&shared->shared.noted);
    if (shared->note.value > note->value)
        *note = shared->note;
    shared->note.op = (crest_op){{0, 0, 0, 0}, 0, CREST_OP_NONE};
    crest_atomic_store(&shared->note.value, 0);
    crest_lock_drop(&saved);
    if (nobodys > note->value)
        *note = (crest_note){.value = nobodys};
}

void crest_slowest_take(const crest_series *series, crest_note *note)
{
    memset(note, 0, sizeof *note);
    crest_slowest_shard *shared = slowest_shared(series);
    if (shared == NULL)
        return;
    if (series->metric->kind != CREST_KIND_TIMER) {
        uint64_t nobodys = slowest_take_word(&((crest_shared_shard *)shared)->noted);
        note->value = slowest_take_words(series);
        if (nobodys > note->value)
            note->value = nobodys;
        return;
    }
    /* notes before words: see crest_slowest_record; the notes contain the words' values */
    if (crest_note_board_shows(&shared->board))
        crest_note_board_take(&shared->board, note);
    slowest_take_locked(shared, note);
    slowest_take_words(series);
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
