/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rings of spans. See span_rings.h for the protocol.
 */
#define _GNU_SOURCE
#include "spans/span_rings.h"
#include "base/forked.h"
#include "base/sync.h"
#include "cells/cells.h"

#include <linux/futex.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* What a thread's word holds: the rings' epoch in the upper half, a ring's number from 1. */
#define RINGS_NONE 0xffffu
_Static_assert(CREST_SPAN_RINGS_MAX < RINGS_NONE, "a ring's number has no room");

typedef struct crest_span_ring {
    /* the thread's */
    uint64_t head;
    uint64_t seen;
    uint64_t offered, dropped, unsampled;
    uint64_t own_rest[3];
    /* the reader's */
    uint64_t tail;
    uint64_t rest[7];
    uint64_t slot[CREST_SPAN_RING_SLOTS][CREST_SPAN_SLOT_WORDS];
} span_ring;

typedef struct span_rings {
    uint64_t given; /* rings that threads have claimed, at most `count` count */
    uint64_t count;
    uint64_t offered, dropped, unsampled; /* by threads without a ring */
    uint64_t rest[3];
    span_ring ring[];
} span_rings;

static span_rings *rings_root;          /* NULL: not made, or in the child of a fork */
static uint32_t rings_bell;             /* futex: 1 while the reader sleeps */
static uint32_t rings_epoch = 1u << 16; /* another one in each child: its threads have no rings */

/* The child has none. Its memory was zeroed by the kernel, for a handler that forked in the middle
 * of a put writes there. */
static void rings_forked(void)
{
    crest_atomic_store_ptr_release(CREST_PTR(&rings_root), NULL); /* no partner: one thread */
    rings_bell = 0;
    rings_epoch += 1u << 16;
}
CREST_FORKED(SPANS, rings_forked)

static span_rings *rings_seen(void)
{
    /* acquire: partner of the release store in crest_span_rings_make */
    return crest_atomic_load_ptr_acquire(CREST_PTR(&rings_root));
}

int crest_span_rings_make(uint64_t bytes)
{
    if (rings_seen() != NULL)
        return 1;
    uint64_t count = bytes / sizeof(span_ring);
    if (count < CREST_SPAN_RINGS_MIN)
        count = CREST_SPAN_RINGS_MIN;
    if (count > CREST_SPAN_RINGS_MAX)
        count = CREST_SPAN_RINGS_MAX;
    size_t size = sizeof(span_rings) + count * sizeof(span_ring);
    span_rings *rings = mmap(NULL, size, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (rings == MAP_FAILED)
        return 0;
    if (madvise(rings, size, MADV_WIPEONFORK) != 0) {
        munmap(rings, size);
        return 0;
    }
    rings->count = count;
    /* partner: the acquire load in rings_seen */
    crest_atomic_store_ptr_release(CREST_PTR(&rings_root), rings);
    return 1;
}

/* ---- writing ---- */

/* The calling thread's ring, claimed if need be; NULL when there is none. A handler in between may
 * claim another one: then the thread's later spans go to one of the two, and both are read. */
static span_ring *rings_own(span_rings *rings)
{
    uint32_t *own = crest_cells_ring();
    if (own == NULL)
        return NULL;
    uint32_t number = crest_atomic_load32(own) ^ rings_epoch;
    if (CREST_UNLIKELY(number - 1 >= RINGS_NONE)) {
        uint64_t given = crest_atomic_load(&rings->given);
        while (given < rings->count && !crest_atomic_cas(&rings->given, given, given + 1))
            given = crest_atomic_load(&rings->given);
        number = given < rings->count ? (uint32_t)given + 1 : RINGS_NONE;
        crest_atomic_store32(own, rings_epoch | number);
    }
    return number <= rings->count ? &rings->ring[number - 1] : NULL;
}

/* Reserves slots; returns the first one's number, or UINT64_MAX when there is no room. */
static uint64_t rings_reserve(span_ring *ring, unsigned slots)
{
    uint64_t head = crest_atomic_load(&ring->head), was;
    for (;; head = was) {
        if (CREST_UNLIKELY(head + slots - crest_atomic_load(&ring->seen) > CREST_SPAN_RING_SLOTS)) {
            /* acquire: partner of the release in rings_read_one. A handler in between may have seen
               more: then less is stored over it, which costs a look */
            uint64_t tail = crest_atomic_load_acquire(&ring->tail);
            crest_atomic_store(&ring->seen, tail);
            if (head + slots - tail > CREST_SPAN_RING_SLOTS)
                return UINT64_MAX;
        }
        was = crest_word_change(&ring->head, head, head + slots);
        if (CREST_LIKELY(was == head))
            break;
    }
    return head;
}

static uint64_t *rings_slot(span_ring *ring, uint64_t number)
{
    return ring->slot[number % CREST_SPAN_RING_SLOTS];
}

/* Writes the words that the first slot has no room for. */
static void rings_put_more(span_ring *ring, uint64_t number, const uint64_t *detail, unsigned words)
{
    while (words > 0) {
        unsigned part = words < CREST_SPAN_SLOT_ROOM ? words : CREST_SPAN_SLOT_ROOM;
        memcpy(rings_slot(ring, number) + 1, detail, part * sizeof *detail);
        detail += part;
        words -= part;
        number++;
    }
}

int crest_span_rings_reserve(unsigned words, crest_span_place *place)
{
    span_rings *rings = rings_seen();
    span_ring *ring = rings != NULL ? rings_own(rings) : NULL;
    if (CREST_UNLIKELY(ring == NULL)) {
        if (rings != NULL) {
            crest_atomic_add(&rings->offered, 1);
            crest_atomic_add(&rings->dropped, 1);
        }
        return 0;
    }
    crest_word_add(&ring->offered, 1);
    place->ring = ring;
    place->slots = CREST_SPAN_SLOTS_OF(words);
    place->first = rings_reserve(ring, place->slots);
    if (CREST_UNLIKELY(place->first == UINT64_MAX)) {
        crest_word_add(&ring->dropped, 1);
        return 0;
    }
    place->word = rings_slot(ring, place->first);
    return 1;
}

void crest_span_rings_commit(const crest_span_place *place, uint64_t head, unsigned at,
                             const uint64_t *detail, unsigned words)
{
    unsigned here = CREST_SPAN_SLOT_WORDS - at;
    if (CREST_LIKELY(words <= here))
        here = words;
    else
        rings_put_more(place->ring, place->first + 1, detail + here, words - here);
    for (unsigned i = 0; i < here; i++)
        place->word[at + i] = detail[i];
    /* release: W4 */
    crest_atomic_store_release(place->word,
                               head | 1 | (uint64_t)place->slots << 8 | (uint64_t)words << 48);
    /* the reader wrote to it last, on another processor: by the next span it is here */
    const uint64_t *next = rings_slot(place->ring, place->first + place->slots);
    __builtin_prefetch(next, 1);
    __builtin_prefetch(next + CREST_SPAN_SLOT_WORDS / 2, 1);
    if (CREST_UNLIKELY((place->first + place->slots) / (CREST_SPAN_RING_SLOTS / 2) !=
                       place->first / (CREST_SPAN_RING_SLOTS / 2)))
        crest_span_rings_wake();
}

void crest_span_rings_unsampled(void)
{
    span_rings *rings = rings_seen();
    span_ring *ring = rings != NULL ? rings_own(rings) : NULL;
    if (ring != NULL) {
        crest_word_add(&ring->unsampled, 1);
    } else if (rings != NULL) {
        crest_atomic_add(&rings->unsampled, 1);
    }
}

/* ---- reading ---- */

/* Unpacks the words behind a head; returns the details. */
static const uint64_t *rings_unpack(uint64_t head, const uint64_t *word, crest_span_record *record)
{
    unsigned flags = (unsigned)(head >> 32 & 0xff);
    memset(record, 0, sizeof *record);
    record->head = head & ~((uint64_t)CREST_SPAN_HAS_ID << 32);
    memcpy(&record->series, &word[0], sizeof record->series);
    record->end_ns = word[1];
    record->duration_ns = word[2];
    record->op.length = (uint32_t)(word[3] >> 32);
    record->op.kind = (uint32_t)word[3];
    word += 4;
    unsigned identity = crest_span_op_words(record->op.kind);
    memcpy(record->op.word, word, identity * sizeof *word);
    word += identity;
    if (flags & CREST_SPAN_HAS_ID)
        record->id = *word++;
    if (flags & CREST_SPAN_HAS_PARENT) {
        record->parent = word[0];
        memcpy(&record->trace, &word[1], sizeof record->trace);
        word += 3;
    }
    memcpy(record->detail, word, sizeof record->detail);
    return word;
}

/* Reads one span; 0 when there is none. */
static int rings_read_one(span_ring *ring, crest_span_taker *take, void *context)
{
    uint64_t tail = crest_atomic_load(&ring->tail);
    uint64_t *slot = rings_slot(ring, tail);
    uint64_t word[CREST_SPAN_SLOTS_MAX * CREST_SPAN_SLOT_ROOM + CREST_SPAN_WORDS_FIRST];
    crest_span_record record;
    uint64_t head = crest_atomic_load_acquire(slot);
    if (head == 0)
        return 0;
    unsigned slots = (unsigned)(head >> 8 & 0xff);
    for (unsigned i = 0; i < slots; i++)
        memcpy(&word[i * CREST_SPAN_SLOT_ROOM], rings_slot(ring, tail + i) + 1,
               CREST_SPAN_SLOT_ROOM * sizeof *word);
    crest_atomic_store(slot, 0);
    /* release: R3 */
    crest_atomic_store_release(&ring->tail, tail + slots);
    memset(&word[slots * CREST_SPAN_SLOT_ROOM], 0, CREST_SPAN_WORDS_FIRST * sizeof *word);
    const uint64_t *detail = rings_unpack(head, word, &record);
    take(context, &record, detail);
    return 1;
}

static uint64_t rings_claimed(const span_rings *rings)
{
    uint64_t given = crest_atomic_load(&rings->given); /* a slot's first word orders its span */
    return given < rings->count ? given : rings->count;
}

size_t crest_span_rings_read(crest_span_taker *take, void *context, size_t most)
{
    span_rings *rings = rings_seen();
    uint64_t count = rings != NULL ? rings_claimed(rings) : 0;
    size_t taken = 0;
    for (uint64_t i = 0; i < count; i++)
        for (unsigned n = 0; n < CREST_SPAN_RING_SLOTS && taken < most; n++) {
            if (!rings_read_one(&rings->ring[i], take, context))
                break;
            taken++;
        }
    return taken;
}

crest_span_rings_totals crest_span_rings_totals_of(void)
{
    const span_rings *rings = rings_seen();
    crest_span_rings_totals totals = {0, 0, 0};
    if (rings == NULL)
        return totals;
    totals.dropped = crest_atomic_load(&rings->dropped);
    totals.unsampled = crest_atomic_load(&rings->unsampled);
    totals.offered = crest_atomic_load(&rings->offered);
    for (uint64_t i = 0, count = rings_claimed(rings); i < count; i++) {
        totals.dropped += crest_atomic_load(&rings->ring[i].dropped);
        totals.unsampled += crest_atomic_load(&rings->ring[i].unsampled);
        totals.offered += crest_atomic_load(&rings->ring[i].offered);
    }
    totals.offered += totals.unsampled;
    return totals;
}

/* ---- waiting ---- */

void crest_span_rings_wait(uint64_t ns)
{
    /* a ring that was half full just before rings no bell: `ns` bounds how long it waits */
    struct timespec wait = crest_monotonic_timespec(ns);
    crest_atomic_store32(&rings_bell, 1);
    syscall(SYS_futex, &rings_bell, FUTEX_WAIT_PRIVATE, 1, &wait, NULL, 0);
    crest_atomic_store32(&rings_bell, 0);
}

void crest_span_rings_wake(void)
{
    /* an exchange, so that one of many threads makes the call; no order is needed */
    if (crest_atomic_load32(&rings_bell) != 0 && crest_atomic_exchange32(&rings_bell, 0) != 0)
        syscall(SYS_futex, &rings_bell, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}
