/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The slowest operation: which one took the longest of a tick, and of a window.
 *
 * Each shard keeps in `noted` the largest value since the ticker's last visit, so that nearly all
 * records only compare with it. A larger one of a timer is written with its operation on the
 * series' board, without a lock; that happens as often as records are broken, about ten times in a
 * million. What the board has no place for, or comes with a first touch, is noted under the lock.
 * The ticker takes notes and resets `noted`, right before it reads the series' counts: what is
 * recorded between the two shows one tick late, never not at all.
 */
#ifndef CREST_SLOWEST_NOTE_H
#define CREST_SLOWEST_NOTE_H

#include "cells/slowest_board.h"
#include "registry/metric_inside.h"

/* The shared shard of a timer's series. */
typedef struct crest_slowest_shard {
    crest_shared_shard shared;
    crest_note note; /* the slowest of this tick that was noted under the lock */
    crest_note_board board;
} crest_slowest_shard;

/* Under the lock: a new one, or NULL; and its end, when nobody records into it any more. */
crest_slowest_shard *crest_slowest_shard_new(void);
void crest_slowest_shard_give(crest_slowest_shard *shard);

/*
 * Records a duration that is the longest of the shard in this tick, and notes its operation. 0, and
 * nothing was done, when that takes the lock. By the shard's thread, or, of a lane's shard (`lane`
 * non-zero), by any. Any handler. No lock.
 */
int crest_slowest_record(const crest_series *series, crest_shard *shard, uint64_t value,
                         const crest_op *op, int lane);

/* The same of a duration that is among the first few of a thread's cell: see first_values.h. */
int crest_slowest_begin(const crest_series *series, uint64_t *cell, crest_reserve *reserve,
                        uint64_t value, const crest_op *op);

/* Under the lock: notes the operation if none of this tick is as slow. */
void crest_slowest_note(const crest_series *series, uint64_t value, const crest_op *op);

/* Without it: notes the value alone, if the series has not gone. */
void crest_slowest_note_unlocked(const crest_series *series, uint64_t value);

/* Takes what was noted of a distribution since the last time; value 0 if nothing was. Takes the
 * lock, if anything was noted under it. */
void crest_slowest_take(const crest_series *series, crest_note *note);

/*
 * The notes of a window that can still become its largest: falling from the oldest to the newest, a
 * few of them, at most one a reading.
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

/* Adds the note of a reading, whose place held another one a whole window ago. 0 without memory:
 * the note is then missing. */
int crest_slowest_push(crest_slowest *slowest, unsigned reading, const crest_note *note);

/* Whose the value of that reading was; CREST_OP_NONE when that is not known. */
crest_op crest_slowest_of(const crest_slowest *slowest, unsigned reading, uint64_t value);

void crest_slowest_fini(crest_slowest *slowest);

#endif
