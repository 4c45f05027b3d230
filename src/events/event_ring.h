/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread's ring of events: one writer at a time, and its signal handlers; any number of readers
 * in other processes. Overwrites the oldest; no lock.
 *
 * Positions count bytes since the ring began, in 64 bits, and never wrap. State:
 *
 *   reserved   writers may be writing before it; a byte at p < reserved - size may be overwritten
 *   head       published: position, and the number of events before it, all of them whole
 *   depth      emissions under way on the owner thread: a handler interrupted depth of them
 *   made       events finished
 *   mark[i]    a head in the i-th 32nd of the ring
 *
 * Writer (the owner thread; a handler on it may do all of it between two of these steps):
 *   W1  depth + 1
 *   W2  in a handler (depth was not 0) and reserved + n - head > size: refused, counted; depth - 1.
 *       So a handler never overwrites an event that its thread has not finished
 *   W3  at = reserved, reserved = at + n, as one instruction; in a handler one step with W2
 *   W4  write the words at `at`, each with release
 *   W5  made + 1
 *   W6  in a handler: depth - 1, done; the outermost emission publishes
 *   W7  r = reserved, e = made, and again until reserved is still r: a handler changes both
 *   W8  if a 32nd of the ring was crossed, mark = (r, e); head = (r, e); depth = 0
 *   W9  if reserved is not r any more, a handler came between W7 and W8: depth = 1, and W7 again
 *
 * Reader:
 *   R1  load head, with acquire
 *   R2  copy what lies from its place to head
 *   R3  load reserved, after that copy
 *   R4  place >= reserved - size: what was copied is whole. Else the part before is lost: place
 *       becomes the lowest mark that is not before reserved - size, or head; events lost are those
 *       before the mark less those before the old place
 *
 * Invariants: what lies before head is whole or overwritten. A word that was overwritten while it
 * was copied was stored after the store of `reserved` at W3 (release at W4), so R3 sees that one.
 * A mark's pair is exact: W7 runs while no emission is under way but its own, which is finished.
 * So read + lost = head's events, and likewise in bytes, at every place of every reader.
 *
 * A handler that leaves by longjmp in the middle of an emission never ends it: that thread's later
 * events are refused once the ring is full, and never published.
 *
 * Model: tests/model/event_ring.pml. tests/concurrency/test_events_stress.c has a live reader,
 * test_events_steps.c handlers between any two instructions.
 */
#ifndef CREST_EVENT_RING_H
#define CREST_EVENT_RING_H

#include "base/atomic.h"
#include "events/event_format.h"

#include <crest/abi.h>

/* Where an event's words go. */
typedef struct crest_event_place {
    crest_event_ring *ring;
    char *words;     /* the ring's first */
    uint64_t mask;   /* size - 1 */
    uint64_t at;     /* position of the next word */
    uint64_t before; /* depth that W1 found */
} crest_event_place;

/* One word of the event: W4. */
static inline void crest_event_put(crest_event_place *place, uint64_t word)
{
    /* partner: R3, behind the reader's copy */
    crest_atomic_store_release((uint64_t *)(void *)(place->words + (place->at & place->mask)),
                               word);
    place->at += sizeof word;
}

/* Adds to a word that only this thread and its handlers write; returns what it was. */
static inline uint64_t crest_event_take(uint64_t *word, uint64_t n)
{
    uint64_t was = crest_atomic_load(word), seen;
    while ((seen = crest_word_change(word, was, was + n)) != was)
        was = seen;
    return was;
}

/* W2 and W3 of a handler, as one step; UINT64_MAX when it was refused, and counted. */
static inline uint64_t crest_event_reserve_nested(crest_event_ring *ring, uint64_t size,
                                                  uint64_t bytes)
{
    uint64_t at = crest_atomic_load(&ring->reserved), was;
    for (;; at = was) {
        if (at + bytes - crest_atomic_load(&ring->head.position) > size) {
            crest_word_add(&ring->refused, 1);
            crest_word_add(&ring->refused_bytes, bytes);
            return UINT64_MAX;
        }
        was = crest_word_change(&ring->reserved, at, at + bytes);
        if (CREST_LIKELY(was == at))
            return at;
    }
}

/* W1 to W3. 0 when it was refused. */
static inline int crest_event_reserve(crest_event_ring *ring, uint64_t size, uint64_t bytes,
                                      crest_event_place *place)
{
    uint64_t before = crest_atomic_load(&ring->depth);
    crest_atomic_store(&ring->depth, before + 1);
    CREST_COMPILER_FENCE();
    place->ring = ring;
    place->words = (char *)ring + CREST_EVENT_RING_HEADER_BYTES;
    place->mask = size - 1;
    place->before = before;
    if (CREST_LIKELY(before == 0))
        place->at = crest_event_take(&ring->reserved, bytes);
    else
        place->at = crest_event_reserve_nested(ring, size, bytes);
    CREST_COMPILER_FENCE();
    if (CREST_LIKELY(place->at != UINT64_MAX))
        return 1;
    crest_atomic_store(&ring->depth, before);
    return 0;
}

/* W5 to W9. */
static inline void crest_event_commit(const crest_event_place *place)
{
    crest_event_ring *ring = place->ring;
    CREST_COMPILER_FENCE();
    crest_word_add(&ring->made, 1);
    CREST_COMPILER_FENCE();
    if (CREST_UNLIKELY(place->before != 0)) {
        crest_atomic_store(&ring->depth, place->before);
        return;
    }
    uint64_t reserved = crest_atomic_load(&ring->reserved), made, was;
    uint64_t part = (place->mask + 1) / CREST_EVENT_MARKS;
    for (;;) {
        for (;; reserved = was) {
            CREST_COMPILER_FENCE();
            made = crest_atomic_load(&ring->made);
            CREST_COMPILER_FENCE();
            was = crest_atomic_load(&ring->reserved);
            if (CREST_LIKELY(was == reserved))
                break;
        }
        uint64_t crossed = reserved ^ crest_atomic_load(&ring->head.position);
        if (CREST_UNLIKELY(crossed >= part)) {
            crest_event_mark *mark = &ring->mark[(reserved & place->mask) / part];
            crest_atomic_store_release(&mark->position, reserved);
            crest_atomic_store_release(&mark->events, made);
            crest_atomic_store_release(&mark->sum, reserved ^ made);
        }
        crest_atomic_store_release(&ring->head.events, made);
        crest_atomic_store_release(&ring->head.sum, reserved ^ made);
        /* release: partner of R1 */
        crest_atomic_store_release(&ring->head.position, reserved);
        CREST_COMPILER_FENCE();
        crest_atomic_store(&ring->depth, 0);
        CREST_COMPILER_FENCE();
        was = crest_atomic_load(&ring->reserved);
        if (CREST_LIKELY(was == reserved))
            return;
        crest_atomic_store(&ring->depth, 1);
        reserved = was;
    }
}

#endif
