/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Slots, threads' tables and shared cells: the inside of <crest/cell.h>. It knows where values
 * live, not what they mean.
 */
#ifndef CREST_CELLS_H
#define CREST_CELLS_H

#include "cells/thread_arena.h"
#include <crest/cell.h>
#include <sys/types.h>

/*
 * A thread's cells. They outlive the thread: at its end the table is marked free, and the next new
 * thread adopts it and adds on top. Values never move, so a reader neither misses nor doubles one.
 * A lane's table belongs to no thread, ever: see <crest/lane.h>.
 */
typedef struct crest_thread_table {
    crest_cells *cells;
    struct crest_thread_table *next; /* push-only list of tables */
    uint32_t owned;                  /* a crest_table_owner */
    pid_t owner_process, owner;      /* kernel's numbers; owner writes, under the lock */
    uint32_t lent;         /* remaining destructor rounds before a lent table is freed; 0: not lent;
                            * owner only */
    crest_reserve reserve; /* owner only; a lane has none */
    uint32_t ring;         /* the spans' (spans/span_rings.h); owner only */
    uint32_t event_ring; /* the events' (events/event_rings.h); owner, and adopter under the lock */
    void *operation;     /* that the owner is in, for profiles; NULL: none; owner writes */
} crest_thread_table;

/* Of event_ring: the table has got another owner since. */
#define CREST_CELLS_PASSED 0x80000000u

typedef enum crest_table_owner {
    CREST_TABLE_FREE,
    CREST_TABLE_OWNED,
    CREST_TABLE_LANE
} crest_table_owner;

/* Makes the pthread key and the fork handlers. The constructor calls it, unless an earlier first
 * touch did. */
void crest_cells_prepare(void);

/* Under the lock: a new slot with its shared cell; 0 without memory, or when all CREST_SLOT_COUNT
 * are in use. */
uint32_t crest_cells_slot_new(void);

/* Under the lock: this thread's cell, its table and chunk made if need be. NULL without memory, or
 * while the thread is torn down; the caller then uses the shared cell. */
uint64_t *crest_cells_touch(uint32_t slot);

/* This thread's reserve (thread_arena.h); NULL before its first touch and after its end. */
crest_reserve *crest_cells_reserve(void);

/* This thread's word for its ring of spans, 0 at first; NULL before its first touch and after its
 * end. The next thread with this table has it too. */
uint32_t *crest_cells_ring(void);

/* This thread's table; NULL before its first touch and after its end. */
const crest_thread_table *crest_cells_table(void);

/* Under the lock: the same, made if need be; NULL without memory and after the thread's end. */
crest_thread_table *crest_cells_table_make(void);

/* Where this thread keeps the operation that it is in (profiling/operations.h); NULL before its
 * first touch and after its end. Any handler. */
void **crest_cells_operation(void);

/* Under the lock: the same place of another thread, by the kernel's number; NULL if it has none. */
void *const *crest_cells_operation_of(pid_t thread);

/* Under the lock: makes as many lanes as <crest/lane.h> says for so many processors, unless there
 * are some; returns their number, 0 without memory. */
unsigned crest_cells_lanes_make(unsigned processors);

/* Under the lock: the table of what dead runs counted, made if need be; no reader finds it before
 * _publish, and only its maker writes it before that. NULL without memory. */
crest_thread_table *crest_cells_adopted(void);
void crest_cells_adopted_publish(void);

/* A lane's table, by its number modulo the number of lanes; NULL while there are none. */
crest_thread_table *crest_cells_lane(unsigned lane);

/* Under the lock: a lane's cell, its chunk made if need be; NULL without memory. */
uint64_t *crest_cells_touch_lane(const crest_thread_table *lane, uint32_t slot);

/* Lends this thread's table to a language runtime. The runtime adds to it by itself until all
 * rounds but the last of the thread's destructors have run. NULL if the thread has no table, or
 * none that leads to the slot. */
crest_cells *crest_cells_lend(uint32_t slot);

/* Whether a runtime was lent a table and adds to cells by itself. */
int crest_cells_runtime(void);

/* The slot's shared cell, which threads without a cell of their own write atomically. Never NULL
 * for a slot in use. */
uint64_t *crest_cells_shared(uint32_t slot);

/* Saturating add to a counter's shared cell. At UINT64_MAX the counter is full, whatever its other
 * cells hold. Non-zero for the call that filled it. Any thread, no lock. */
int crest_cells_shared_add(uint32_t slot, uint64_t amount);

/* The newest table, or NULL; follow ->next. Without a lock. */
const crest_thread_table *crest_cells_tables(void);

/* A table's cell, or NULL while its thread has not touched the slot's chunk. Any thread. */
const uint64_t *crest_cells_of(const crest_thread_table *table, uint32_t slot);

/* A counter's value: shared cell plus all tables' cells, UINT64_MAX at most. */
uint64_t crest_cells_sum(uint32_t slot);

/* The same for many slots: far cheaper where neighbours in the list share a chunk. */
void crest_cells_sums(const uint32_t *slots, size_t count, uint64_t *sums);

/* Under the lock: makes the sum of a quiescent slot (no thread adds to it) 0 for its next series.
 * Only its own thread may write a cell, so the present sum is kept and subtracted from now on. 0 on
 * failure: no memory, or a sum too large. */
int crest_cells_sum_anew(uint32_t slot);

/* Under the lock: what is subtracted from the sum of the slot's cells, see crest_cells_sum_anew. */
uint64_t crest_cells_base(uint32_t slot);

/* Under the lock: writes into the state file what tables and shared cells there are. */
void crest_cells_describe(void);

/* Whether any thread's cell, of any kind, is non-zero. Any thread; reads them all. */
int crest_cells_any(void);

/* The number of threads' tables, and of slots given out. */
uint64_t crest_cells_table_count(void);
uint64_t crest_cells_slot_count(void);

#endif
