/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The slowest operation of a tick, and of a window.
 *
 *  1. Each shard keeps in `noted` the largest value since the ticker's last visit, so nearly all
 *     records only compare with it.
 *  2. A timer's larger value is written, with its operation, on the series' board, without a lock.
 *     That happens as often as records are broken, about ten times in a million.
 *  3. A note for which the board has no place, or that comes with a first touch, goes under the
 *     lock.
 *  4. The ticker takes notes and resets `noted` right before it reads the series' counts. A record
 *     between the two shows one tick late, but always shows.
 */
#ifndef CREST_SLOWEST_NOTE_H
#define CREST_SLOWEST_NOTE_H

#include "cells/slowest_board.h"
#include "metrics/metric_inside.h"

/* The shared shard of a timer's series. */
typedef struct crest_slowest_shard {
    crest_shared_shard shared;
    crest_note note; /* the slowest of this tick noted under the lock */
    crest_note_board board;
} crest_slowest_shard;

/* Under the lock: makes one, or NULL; frees one that no thread records into any more. */
crest_slowest_shard *crest_slowest_shard_new(void);
void crest_slowest_shard_give(crest_slowest_shard *shard);

/*
 * Records a duration that is the shard's longest of this tick, and notes its operation. 0, and
 * nothing was done, when that takes the lock. By the shard's thread; for a lane's shard (`lane`
 * non-zero) by any thread. Any handler. No lock.
 */
int crest_slowest_record(const crest_series *series, crest_shard *shard, uint64_t value,
                         const crest_op *op, int lane);

/* Whether an operation as slow is noted in this tick already. A tick may end in between: the record
 * then counts in the next one, without a note. Any thread, any handler. */
int crest_slowest_is(const crest_series *series, uint64_t value);

/* crest_slowest_record for a duration among a thread's first few: see first_values.h. */
int crest_slowest_begin(const crest_series *series, uint64_t *cell, crest_reserve *reserve,
                        uint64_t value, const crest_op *op);

/* Under the lock: notes the operation if no other of this tick is as slow. */
void crest_slowest_note(const crest_series *series, uint64_t value, const crest_op *op);

/* Without the lock: notes the value alone, if the series is not gone. */
void crest_slowest_note_unlocked(const crest_series *series, uint64_t value);

/* Takes the note of a distribution since the last time; value 0: none. Takes the lock only for
 * notes made under it. */
void crest_slowest_take(const crest_series *series, crest_note *note);

/* Resets `noted` in every thread's shard: the next record of each takes the cold path. The notes
 * stay. Any thread. */
void crest_slowest_forget(const crest_series *series);

/*
 * A window's candidates: the notes that can still become its largest (monotonic queue). Values fall
 * from the oldest to the newest; a few, at most one a reading.
 */
typedef struct crest_slowest_entry {
    unsigned reading;
    crest_note note;
} crest_slowest_entry;

typedef struct crest_slowest {
    crest_slowest_entry *entries; /* grown on demand */
    unsigned count;
    unsigned room;
} crest_slowest;

/* Adds the note of a reading, in place of the reading a whole window ago. 0 without memory: the
 * note is missing then. */
int crest_slowest_push(crest_slowest *slowest, unsigned reading, const crest_note *note);

/* The operation of that reading's value; CREST_OP_NONE when not known. */
crest_op crest_slowest_of(const crest_slowest *slowest, unsigned reading, uint64_t value);

void crest_slowest_fini(crest_slowest *slowest);

#endif
