/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Slots, threads' tables and shared cells; sums over them are in cell_sums.c. See cells.h and
 * <crest/cell.h>.
 */
#define _GNU_SOURCE
#include "cells/cells.h"
#include "base/arena.h"
#include "base/atomic.h"
#include "base/fork.h"
#include "base/forked.h"
#include "base/lock.h"
#include "clock/clock_inside.h"
#include "state/directory_records.h"

#include <crest/lane.h>
#include <errno.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

_Static_assert(CREST_CHUNK_CELLS == CREST_STATE_CHUNK && CREST_CHUNK_COUNT == CREST_STATE_CHUNKS,
               "the state file's readers know chunks of this size");

/* Before a new table is made, this many owned tables are probed for ended threads; each table
 * once at most. */
#define CELLS_PROBES 16

/* A thread's table before its first touch and after its end: no chunk. */
static const crest_cells cells_none;

__thread crest_cells *crest_thread_cells = (crest_cells *)(uintptr_t)&cells_none;

/* The table's word, as declared in <crest/cell.h>. */
extern __attribute__((visibility("hidden"),
                      alias("crest_thread_cells"))) __thread crest_cells *crest_thread_cells_own
    __attribute__((tls_model("initial-exec")));

/* This thread's table; NULL before the first touch, CELLS_GONE after the thread's end. Together
 * with the table's pointer above, the library's whole 16 bytes of static TLS. */
static __thread crest_thread_table *cells_table;

static crest_thread_table cells_gone_mark;
#define CELLS_GONE (&cells_gone_mark)

static crest_thread_table *cells_newest;
static uint64_t cells_table_count;
static uint64_t *cells_shared_chunk[CREST_CHUNK_COUNT];
/* chunk 0 is never given out, so slot 0 always leads to the cold path */
static uint32_t cells_slot_next = CREST_CHUNK_CELLS;

/* <crest/lane.h>: the number of lanes, and their tables. */
static crest_thread_table *cells_lane[CREST_LANES_MAX];
static uint32_t cells_lane_count;
static crest_thread_table *cells_adopted;
static uint32_t cells_runtime;

/* A lent table is kept for this many of the four rounds of the thread's destructors: in all but the
 * last, other libraries' destructors may still record through it. */
#define CELLS_LENT_ROUNDS 3u

static pthread_key_t cells_key;
static uint32_t cells_prepared; /* 0: no; 1: under way; 2: done; 3: no key left */
enum { CELLS_UNPREPARED, CELLS_PREPARING, CELLS_READY, CELLS_NO_KEY };

static crest_thread_table *cells_probe_next; /* next table to probe; NULL: the newest; under the
                                               * lock */

/* Compiler barrier: signal handlers of this thread see earlier stores before later ones. */
static inline void cells_order_for_handlers(void)
{
    __asm__ volatile("" ::: "memory");
}

/*
 * The end of a thread. The mark comes first, so a later handler on this thread is harmless:
 *  - it still finds the table: it may use it, for it is not free yet;
 *  - it finds no chunk: it takes the shared cell and cannot bring the table back.
 */
static void cells_thread_end(void *value)
{
    crest_thread_table *table = value;
    if (table->lent > 1 && pthread_setspecific(cells_key, table) == 0) {
        table->lent--;
        return;
    }
    crest_atomic_store_ptr_release(&table->operation, NULL); /* no partner: a new owner's is NULL */
    table->lent = 0;
    cells_table = CELLS_GONE;
    cells_order_for_handlers();
    crest_thread_cells_own = (crest_cells *)(uintptr_t)&cells_none;
    cells_order_for_handlers();
    /* partner: the compare-and-swap in cells_table_adopt; the next owner sees all that was added
     */
    crest_atomic_store32_release(&table->owned, CREST_TABLE_FREE);
}

/* Under the lock: notes process and thread of the table's owner. */
static void cells_sign(crest_thread_table *table)
{
    table->owner_process = getpid();
    table->owner = (pid_t)syscall(SYS_gettid);
}

/* First of all calls in a forked child, whose cells the kernel has zeroed. */
static void cells_forked(void)
{
    crest_arena_forked();
    crest_clock_forked();
}

/* The child of fork() has one thread: every other thread's table is free; lanes stay. A child of
 * _Fork() may have started threads before it makes its calls, so it frees none. */
static void cells_forked_own(void)
{
    for (crest_thread_table *table = cells_newest; table != NULL; table = table->next) {
        if (table == cells_table)
            cells_sign(table);
        else if (table->owned != CREST_TABLE_LANE)
            crest_atomic_store32(&table->owned, CREST_TABLE_FREE);
    }
}

void crest_cells_prepare(void)
{
    /* acquire: partner of the release store below; a thread that sees READY sees the key */
    if (crest_atomic_load32_acquire(&cells_prepared) >= CELLS_READY ||
        !crest_atomic_cas32_acquire(&cells_prepared, CELLS_UNPREPARED, CELLS_PREPARING))
        return;
    int no_key = pthread_key_create(&cells_key, cells_thread_end);
    crest_fork_prepare();
    crest_forked_call(CREST_FORKED_OWN_RECORDS, cells_forked_own);
    crest_forked_call(CREST_FORKED_CELLS, cells_forked);
    crest_atomic_store32_release(&cells_prepared, no_key ? CELLS_NO_KEY : CELLS_READY);
}

/* Early: setting a late key allocates; and before other constructors record. */
__attribute__((constructor(101))) static void cells_constructor(void)
{
    crest_cells_prepare();
    crest_lock_saved saved;
    crest_lock_take(&saved);
    crest_forked_prepare();
    crest_lock_drop(&saved);
}

uint32_t crest_cells_slot_new(void)
{
    uint32_t slot = cells_slot_next, chunk = slot >> CREST_CHUNK_BITS;
    if (slot >= CREST_SLOT_COUNT)
        return 0;
    if (cells_shared_chunk[chunk] == NULL) {
        uint64_t *cells = crest_arena_take(CREST_ARENA_CELLS, CREST_CHUNK_CELLS * sizeof(uint64_t),
                                           CREST_LINE_BYTES);
        if (cells == NULL)
            return 0;
        /* partner: crest_cells_shared's load, in threads that got the slot without the lock */
        crest_atomic_store_ptr_release(CREST_PTR(&cells_shared_chunk[chunk]), cells);
        crest_state_note_shared_chunk(chunk, cells);
    }
    crest_atomic_store32(&cells_slot_next, slot + 1);
    return slot;
}

/*
 * Under the lock: an orphaned table. Its thread first recorded after its own destructor could run,
 * and has ended. If a new thread has got the ended thread's number, the table is only not found.
 * The caller sees all that the thread wrote: the thread's exit in the kernel, which the probe
 * observes, passes full barriers.
 */
static crest_thread_table *cells_table_left(void)
{
    pid_t process = getpid();
    uint64_t tables = crest_atomic_load(&cells_table_count);
    for (uint64_t probes = 0; probes < CELLS_PROBES && probes < tables; probes++) {
        crest_thread_table *table = cells_probe_next ? cells_probe_next : cells_newest;
        if (table == NULL)
            return NULL;
        cells_probe_next = table->next;
        if (crest_atomic_load32(&table->owned) == CREST_TABLE_OWNED &&
            table->owner_process == process && syscall(SYS_tgkill, process, table->owner, 0) != 0 &&
            errno == ESRCH) {
            /* another thread may have freed it since the probe */
            crest_atomic_store32(&table->owned, CREST_TABLE_OWNED);
            return table;
        }
    }
    return NULL;
}

static void cells_describe(const crest_thread_table *table)
{
    crest_state_note_thread(table->cells,
                            table->owned == CREST_TABLE_LANE ? CREST_STATE_THREAD_LANE : 0);
}

void crest_cells_describe(void)
{
    for (uint32_t chunk = 0; chunk < CREST_CHUNK_COUNT; chunk++)
        if (cells_shared_chunk[chunk] != NULL)
            crest_state_note_shared_chunk(chunk, cells_shared_chunk[chunk]);
    for (const crest_thread_table *table = cells_newest; table != NULL; table = table->next)
        cells_describe(table);
}

/* Under the lock: a table that no reader finds; NULL without memory. */
static crest_thread_table *cells_table_make(crest_table_owner owner)
{
    crest_thread_table *table =
        crest_arena_take(CREST_ARENA_META, sizeof *table, _Alignof(crest_thread_table));
    crest_cells *cells = crest_arena_take(CREST_ARENA_CELLS, sizeof *cells, CREST_LINE_BYTES);
    if (table == NULL || cells == NULL)
        return NULL;
    table->cells = cells;
    table->owned = owner;
    return table;
}

/* Under the lock: pushes a table to the readers' list. */
static void cells_table_push(crest_thread_table *table)
{
    table->next = cells_newest;
    crest_atomic_add(&cells_table_count, 1);
    /* partner: the acquire load in crest_cells_tables */
    crest_atomic_store_ptr_release(CREST_PTR(&cells_newest), table);
}

/* Under the lock: a new table in the readers' list; NULL without memory. */
static crest_thread_table *cells_table_new(crest_table_owner owner)
{
    crest_thread_table *table = cells_table_make(owner);
    if (table == NULL)
        return NULL;
    cells_describe(table);
    cells_table_push(table);
    return table;
}

crest_thread_table *crest_cells_adopted(void)
{
    if (cells_adopted == NULL && (cells_adopted = cells_table_make(CREST_TABLE_LANE)) != NULL)
        crest_state_note_thread(cells_adopted->cells, CREST_STATE_THREAD_ADOPTED);
    return cells_adopted;
}

void crest_cells_adopted_publish(void)
{
    cells_table_push(cells_adopted);
}

static crest_thread_table *cells_table_adopt(void)
{
    for (crest_thread_table *table = cells_newest; table != NULL; table = table->next)
        /* acquire: partner of the release store in cells_thread_end */
        if (crest_atomic_load32(&table->owned) == CREST_TABLE_FREE &&
            crest_atomic_cas32_acquire(&table->owned, CREST_TABLE_FREE, CREST_TABLE_OWNED))
            return table;
    crest_thread_table *left = cells_table_left();
    if (left != NULL)
        crest_atomic_store_ptr_release(&left->operation,
                                       NULL); /* its thread did not end by itself */
    return left != NULL ? left : cells_table_new(CREST_TABLE_OWNED);
}

/* This thread's table, made or adopted; NULL when that is impossible. Inline: a first touch of a
 * cell is mostly that of a thread which has one. */
static inline __attribute__((always_inline)) crest_thread_table *cells_table_own(void)
{
    if (cells_table == CELLS_GONE)
        return NULL;
    if (cells_table != NULL)
        return cells_table;
    crest_cells_prepare();
    if (crest_atomic_load32_acquire(&cells_prepared) != CELLS_READY)
        return NULL;
    crest_thread_table *table = cells_table_adopt();
    if (table == NULL)
        return NULL;
    cells_sign(table);
    table->lent = 0;
    if (table->event_ring != 0)
        crest_atomic_store32(&table->event_ring, table->event_ring | CREST_CELLS_PASSED);
    if (pthread_setspecific(cells_key, table) != 0) {
        /* as in cells_thread_end */
        crest_atomic_store32_release(&table->owned, CREST_TABLE_FREE);
        return NULL;
    }
    cells_table = table;
    return table;
}

/* A table's cell, its chunk made if need be; NULL without memory. */
static uint64_t *cells_touch_of(const crest_thread_table *table, uint32_t slot)
{
    if (table == NULL || slot < CREST_CHUNK_CELLS)
        return NULL;
    uint64_t **chunk = &table->cells->chunk[slot >> CREST_CHUNK_BITS];
    if (*chunk == NULL) {
        uint64_t *cells = crest_arena_take(CREST_ARENA_CELLS, CREST_CHUNK_CELLS * sizeof(uint64_t),
                                           CREST_LINE_BYTES);
        if (cells == NULL)
            return NULL;
        /* biased: the whole slot number indexes it; partner: the acquire load in crest_cells_of */
        uint64_t before = (slot & ~(CREST_CHUNK_CELLS - 1)) * sizeof(uint64_t);
        crest_atomic_store_ptr_release(CREST_PTR(chunk), (void *)((uintptr_t)cells - before));
    }
    return &(*chunk)[slot];
}

uint64_t *crest_cells_touch(uint32_t slot)
{
    const crest_thread_table *table = cells_table_own();
    uint64_t *cell = cells_touch_of(table, slot);
    if (cell != NULL)
        crest_thread_cells_own = table->cells;
    return cell;
}

crest_reserve *crest_cells_reserve(void)
{
    return cells_table != NULL && cells_table != CELLS_GONE ? &cells_table->reserve : NULL;
}

uint32_t *crest_cells_ring(void)
{
    return cells_table != NULL && cells_table != CELLS_GONE ? &cells_table->ring : NULL;
}

const crest_thread_table *crest_cells_table(void)
{
    return cells_table != CELLS_GONE ? cells_table : NULL;
}

crest_thread_table *crest_cells_table_make(void)
{
    return cells_table_own();
}

void **crest_cells_operation(void)
{
    return cells_table != NULL && cells_table != CELLS_GONE ? &cells_table->operation : NULL;
}

void *const *crest_cells_operation_of(pid_t thread)
{
    pid_t process = getpid();
    for (const crest_thread_table *table = cells_newest; table != NULL; table = table->next)
        if (crest_atomic_load32(&table->owned) == CREST_TABLE_OWNED && table->owner == thread &&
            table->owner_process == process)
            return &table->operation;
    return NULL;
}

uint64_t *crest_cells_touch_lane(const crest_thread_table *lane, uint32_t slot)
{
    return cells_touch_of(lane, slot);
}

unsigned crest_cells_lanes_make(unsigned processors)
{
    uint32_t wanted = CREST_LANES_MIN, made = 0;
    while (wanted < processors && wanted < CREST_LANES_MAX)
        wanted *= 2;
    if (cells_lane_count != 0)
        return cells_lane_count;
    /* an earlier call may have made some before memory ran out */
    while (made < wanted && cells_lane[made] != NULL)
        made++;
    while (made < wanted && (cells_lane[made] = cells_table_new(CREST_TABLE_LANE)) != NULL)
        made++;
    if (made < wanted)
        return 0;
    crest_atomic_store32(&cells_runtime, 1);
    /* partner: the acquire load in crest_cells_lane */
    crest_atomic_store32_release(&cells_lane_count, wanted);
    return wanted;
}

crest_thread_table *crest_cells_lane(unsigned lane)
{
    /* acquire: partner of the release store in crest_cells_lanes_make */
    uint32_t count = crest_atomic_load32_acquire(&cells_lane_count);
    return count != 0 ? cells_lane[lane & (count - 1)] : NULL;
}

crest_cells *crest_cells_lend(uint32_t slot)
{
    crest_cells *cells = crest_thread_cells_own;
    if (slot >= CREST_SLOT_COUNT || cells->chunk[slot >> CREST_CHUNK_BITS] == NULL)
        return NULL;
    if (cells_table->lent == 0)
        cells_table->lent = CELLS_LENT_ROUNDS;
    crest_atomic_store32(&cells_runtime, 1);
    return cells;
}

int crest_cells_runtime(void)
{
    return crest_atomic_load32(&cells_runtime) != 0;
}

uint64_t *crest_cells_shared(uint32_t slot)
{
    /* acquire: partner of the release store in crest_cells_slot_new */
    uint64_t *chunk =
        crest_atomic_load_ptr_acquire(CREST_PTR(&cells_shared_chunk[slot >> CREST_CHUNK_BITS]));
    return chunk ? &chunk[slot & (CREST_CHUNK_CELLS - 1)] : NULL;
}

const crest_thread_table *crest_cells_tables(void)
{
    /* acquire: partner of the release store in cells_table_new */
    return crest_atomic_load_ptr_acquire(CREST_PTR(&cells_newest));
}

const uint64_t *crest_cells_of(const crest_thread_table *table, uint32_t slot)
{
    /* acquire: partner of the release store in cells_touch_of */
    const uint64_t *chunk =
        crest_atomic_load_ptr_acquire(CREST_PTR(&table->cells->chunk[slot >> CREST_CHUNK_BITS]));
    return chunk ? &chunk[slot] : NULL;
}

int crest_cells_any(void)
{
    uint32_t end = crest_atomic_load32(&cells_slot_next);
    for (const crest_thread_table *table = crest_cells_tables(); table != NULL;
         table = table->next) {
        for (uint32_t slot = CREST_CHUNK_CELLS; slot < end; slot++) {
            const uint64_t *cell = crest_cells_of(table, slot);
            if (cell != NULL && crest_atomic_load(cell) != 0)
                return 1;
        }
    }
    return 0;
}

uint64_t crest_cells_table_count(void)
{
    return crest_atomic_load(&cells_table_count);
}

uint64_t crest_cells_slot_count(void)
{
    return crest_atomic_load32(&cells_slot_next) - CREST_CHUNK_CELLS;
}
