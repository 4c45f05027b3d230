/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The samples' store. See sample_store.h.
 *
 * Turning over: the table in use is a number that handlers load after they have announced
 * themselves in `users` of that table, and check again. So a table without users, which is not in
 * use, has no adder and will have none until it is in use again.
 */
#include "profiling/sample_store.h"
#include "base/alloc.h"
#include "base/atomic.h"

#include <string.h>

/* A ring entry's first word: when << 32 | generation << 13 | entry. 0: none. */
#define STORE_GENERATION_BITS 18u
#define STORE_ENTRY_BITS 13u

_Static_assert(CREST_STACKS_MAX == 1u << STORE_ENTRY_BITS, "a ring entry's bits");

typedef struct store_ring_entry {
    uint64_t what, operation;
} store_ring_entry;

struct crest_samples_mark {
    uint64_t generation[2];
    uint64_t count[2][CREST_STACKS_MAX];
};

static crest_stack_table *store_table[2];
static store_ring_entry *store_ring;
static uint64_t store_ring_next;
static uint64_t store_users[2];
static uint64_t store_generation[2]; /* of what each table holds; odd and even */
static uint64_t store_in_use;        /* a generation; its lowest bit is the table */
static crest_sample_counts store_counts;

int crest_samples_make(void)
{
    if (store_ring != NULL)
        return 1;
    for (unsigned i = 0; i < 2; i++)
        if (store_table[i] == NULL)
            store_table[i] = crest_alloc(1, sizeof *store_table[i]);
    if (store_table[0] == NULL || store_table[1] == NULL)
        return 0;
    store_generation[0] = 0;
    store_generation[1] = 1;
    store_in_use = 0;
    store_ring = crest_alloc(CREST_SAMPLE_RING, sizeof *store_ring);
    return store_ring != NULL;
}

void crest_samples_free(void)
{
    for (unsigned i = 0; i < 2; i++) {
        crest_alloc_free(store_table[i]);
        store_table[i] = NULL;
    }
    crest_alloc_free(store_ring);
    store_ring = NULL;
}

void crest_samples_forked(void)
{
    crest_atomic_store(&store_users[0], 0);
    crest_atomic_store(&store_users[1], 0);
}

static void store_ring_put(uint32_t when_ms, uint64_t operation, uint64_t generation,
                           uint32_t number)
{
    uint64_t at = crest_atomic_load(&store_ring_next);
    while (!crest_atomic_cas(&store_ring_next, at, at + 1))
        at = crest_atomic_load(&store_ring_next);
    store_ring_entry *entry = &store_ring[at % CREST_SAMPLE_RING];
    uint64_t mask = (UINT64_C(1) << STORE_GENERATION_BITS) - 1;
    crest_atomic_store(&entry->what, 0);
    /* release: after the 0; partner: the acquire loads in crest_samples_of */
    crest_atomic_store_release(&entry->operation, operation);
    crest_atomic_store_release(&entry->what, (uint64_t)when_ms << 32 |
                                                 (generation & mask) << STORE_ENTRY_BITS | number);
}

/* Enters the table in use; its generation. */
static uint64_t store_enter(void)
{
    for (;;) {
        /* acquire: partner of the release store in crest_samples_turn: the table is clear */
        uint64_t generation = crest_atomic_load_acquire(&store_in_use);
        crest_atomic_add(&store_users[generation & 1], 1);
        if (crest_atomic_load_acquire(&store_in_use) == generation)
            return generation;
        crest_atomic_add(&store_users[generation & 1], UINT64_MAX);
    }
}

void crest_samples_add(const crest_cpu_sample *sample)
{
    uint64_t generation = store_enter();
    uint32_t number = crest_stack_table_add(store_table[generation & 1], sample->frames,
                                            sample->depth, sample->label, sample->weight);
    crest_atomic_add(&store_counts.samples, sample->weight);
    if (number == CREST_STACK_REFUSED)
        crest_atomic_add(&store_counts.refused, sample->weight);
    for (unsigned i = 0; i < CREST_SAMPLE_OPERATIONS && sample->operation[i] != 0; i++)
        if (number != CREST_STACK_REFUSED)
            store_ring_put(sample->when_ms, sample->operation[i], generation, number);
    /* release: what was added; partner: the acquire load in crest_samples_turn */
    crest_atomic_add_release(&store_users[generation & 1], UINT64_MAX);
}

void crest_samples_walked(int broken, int truncated, uint64_t weight)
{
    if (broken)
        crest_atomic_add(&store_counts.broken, weight);
    if (truncated)
        crest_atomic_add(&store_counts.truncated, weight);
}

void crest_samples_elsewhere(uint64_t weight)
{
    crest_atomic_add(&store_counts.elsewhere, weight);
}

crest_sample_counts crest_samples_counts(void)
{
    return (crest_sample_counts){
        .samples = crest_atomic_load(&store_counts.samples),
        .refused = crest_atomic_load(&store_counts.refused),
        .broken = crest_atomic_load(&store_counts.broken),
        .truncated = crest_atomic_load(&store_counts.truncated),
        .elsewhere = crest_atomic_load(&store_counts.elsewhere),
    };
}

void crest_samples_turn(int held)
{
    uint64_t now = crest_atomic_load(&store_in_use), next = now + 1;
    /* acquire: partner of the release add in crest_samples_add */
    if (held || !crest_stack_table_fills(store_table[now & 1]) ||
        crest_atomic_load_acquire(&store_users[next & 1]) != 0)
        return;
    crest_stack_table_clear(store_table[next & 1]);
    crest_atomic_store(&store_generation[next & 1], next);
    /* partner: the acquire load in store_enter */
    crest_atomic_store_release(&store_in_use, next);
}

/* ---- reading: the profiler's thread, and holders of its lock ---- */

crest_samples_mark *crest_samples_mark_new(void)
{
    crest_samples_mark *mark = crest_alloc_resize(NULL, 1, sizeof *mark);
    for (unsigned i = 0; mark != NULL && i < 2; i++) {
        mark->generation[i] = crest_atomic_load(&store_generation[i]);
        for (uint32_t n = 0; n < CREST_STACKS_MAX; n++)
            mark->count[i][n] = crest_atomic_load(&store_table[i]->entry[n].count);
    }
    return mark;
}

void crest_samples_mark_free(crest_samples_mark *mark)
{
    crest_alloc_free(mark);
}

int crest_samples_mark_turned(const crest_samples_mark *mark)
{
    for (unsigned i = 0; i < 2; i++)
        if (mark->generation[i] != crest_atomic_load(&store_generation[i]))
            return 1;
    return 0;
}

int crest_samples_since(const crest_samples_mark *mark, crest_samples_each *each, void *context)
{
    int stop = 0;
    for (unsigned i = 0; i < 2; i++) {
        const crest_stack_table *table = store_table[i];
        int same = mark->generation[i] == crest_atomic_load(&store_generation[i]);
        for (uint32_t n = 0; n < CREST_STACKS_MAX && !stop; n++) {
            const uint64_t *frames = NULL;
            unsigned depth = crest_stack_table_frames(table, n, &frames);
            uint64_t count =
                crest_atomic_load(&table->entry[n].count) - (same ? mark->count[i][n] : 0);
            if (depth != 0 && count != 0)
                stop = each(context, frames, depth, table->entry[n].label, count);
        }
    }
    return stop;
}

int crest_samples_take(crest_samples_mark *mark, crest_samples_each *each, void *context)
{
    int stop = 0;
    for (unsigned i = 0; i < 2; i++) {
        const crest_stack_table *table = store_table[i];
        uint64_t generation = crest_atomic_load(&store_generation[i]);
        if (mark->generation[i] != generation)
            memset(mark->count[i], 0, sizeof mark->count[i]);
        mark->generation[i] = generation;
        for (uint32_t n = 0; n < CREST_STACKS_MAX && !stop; n++) {
            const uint64_t *frames = NULL;
            unsigned depth = crest_stack_table_frames(table, n, &frames);
            uint64_t now = crest_atomic_load(&table->entry[n].count), since = now;
            if (depth == 0 || now == mark->count[i][n])
                continue;
            since -= mark->count[i][n];
            mark->count[i][n] = now;
            stop = each(context, frames, depth, table->entry[n].label, since);
        }
    }
    return stop;
}

int crest_samples_turns(void)
{
    return crest_stack_table_fills(store_table[crest_atomic_load(&store_in_use) & 1]);
}

int crest_samples_of(uint64_t operation, uint32_t from_ms, uint32_t to_ms, crest_samples_each *each,
                     void *context)
{
    uint64_t mask = (UINT64_C(1) << STORE_GENERATION_BITS) - 1;
    for (uint32_t i = 0; i < CREST_SAMPLE_RING; i++) {
        const store_ring_entry *entry = &store_ring[i];
        /* acquire: partner of the release stores in store_ring_put */
        uint64_t what = crest_atomic_load_acquire(&entry->what);
        uint32_t when_ms = (uint32_t)(what >> 32);
        if (what == 0 || when_ms < from_ms || when_ms > to_ms ||
            crest_atomic_load_acquire(&entry->operation) != operation ||
            crest_atomic_load(&entry->what) != what)
            continue;
        uint64_t generation = what >> STORE_ENTRY_BITS & mask;
        uint32_t number = (uint32_t)what & (CREST_STACKS_MAX - 1);
        const crest_stack_table *table = store_table[generation & 1];
        const uint64_t *frames = NULL;
        if ((crest_atomic_load(&store_generation[generation & 1]) & mask) != generation)
            continue;
        unsigned depth = crest_stack_table_frames(table, number, &frames);
        if (depth != 0 && each(context, frames, depth, table->entry[number].label, 1))
            return 1;
    }
    return 0;
}
