/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Slots, thread records and shared cells: the inside of <crest/cell.h>. It knows where values live,
 * not what they mean.
 */
#ifndef CREST_CELLS_H
#define CREST_CELLS_H

#include "cells/thread_arena.h"
#include <crest/cell.h>
#include <sys/types.h>

/*
 * A thread's cells, which outlive the thread: when it ends the record is marked free, and the next
 * new thread adopts it and adds on top. Values never move, so a reader can neither miss nor double
 * one. A lane's belong to no thread, ever: see <crest/lane.h>.
 */
typedef struct crest_thread_record {
    crest_cells *cells;
    struct crest_thread_record *next; /* records are only ever pushed */
    uint32_t owned;                   /* a crest_record_owner */
    pid_t owner_process, owner;       /* as the system numbers them; the owner's and the lock's */
    uint32_t lent;         /* the owner's: to a runtime, so many rounds of destructors yet */
    crest_reserve reserve; /* the owner's; a lane has none */
} crest_thread_record;

typedef enum crest_record_owner {
    CREST_RECORD_FREE,
    CREST_RECORD_OWNED,
    CREST_RECORD_LANE
} crest_record_owner;

/* Makes the pthread key and the fork handlers; what a constructor does, or the first to come. */
void crest_cells_prepare(void);

/* Under the lock. A new slot with its shared cell, or 0: no memory, or all CREST_SLOT_COUNT are in
 * use. */
uint32_t crest_cells_slot_new(void);

/* Under the lock. This thread's cell, its record and chunk made if need be; NULL when that cannot
 * be: no memory, or the thread is being torn down. What is to be counted then goes to the shared
 * cell. */
uint64_t *crest_cells_touch(uint32_t slot);

/* What this thread has in reserve; NULL before its first touch and after its end. */
crest_reserve *crest_cells_reserve(void);

/* Under the lock: as many lanes as <crest/lane.h> says for so many processors, or those that there
 * are; 0 without memory. */
unsigned crest_cells_lanes_make(unsigned processors);

/* The record of a lane, its number modulo how many there are; NULL while there are none. */
crest_thread_record *crest_cells_lane(unsigned lane);

/* Under the lock. A lane's cell, its chunk made if need be; NULL without memory. */
uint64_t *crest_cells_touch_lane(const crest_thread_record *lane, uint32_t slot);

/* This thread's table, lent to a runtime which adds to it by itself until the thread's last
 * destructors but one have run; NULL if the thread has none, or none that leads to the slot. */
crest_cells *crest_cells_lend(uint32_t slot);

/* Whether a runtime adds to cells by itself. */
int crest_cells_runtime(void);

/* The slot's shared cell, written atomically by whoever has none of his own. Never NULL for a slot
 * given. */
uint64_t *crest_cells_shared(uint32_t slot);

/* Adds to a counter's shared cell, which goes no further than UINT64_MAX and then says that the
 * counter is full, whatever is in the other cells. Non-zero for the call that filled it. Any
 * thread, no lock. */
int crest_cells_shared_add(uint32_t slot, uint64_t amount);

/* The newest record, or NULL; follow ->next. Without a lock. */
const crest_thread_record *crest_cells_records(void);

/* A record's cell, or NULL while its thread has not touched the slot's chunk. Any thread. */
const uint64_t *crest_cells_of(const crest_thread_record *record, uint32_t slot);

/* Of a counter: shared cell plus the sum of all records' cells, UINT64_MAX at most. */
uint64_t crest_cells_sum(uint32_t slot);

/* The same of many, one after the other: cheaper by far where neighbours are of one chunk. */
void crest_cells_sums(const uint32_t *slots, size_t count, uint64_t *sums);

/* Under the lock: the sum of this slot, in which nobody adds any more, is to be 0 for the next
 * series. Nobody zeroes another thread's cells: what they hold is subtracted from now on. 0 when
 * that cannot be: no memory, or far too large a sum. */
int crest_cells_sum_anew(uint32_t slot);

/* Whether any thread's cell holds something, of whatever kind. Any thread; reads them all. */
int crest_cells_any(void);

/* Thread records, and slots given. */
uint64_t crest_cells_record_count(void);
uint64_t crest_cells_slot_count(void);

#endif
