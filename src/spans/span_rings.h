/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rings of spans, one a thread: bounded, lossy, counted. The thread and its signal handlers write,
 * the tracing thread reads. Memory is taken once; pages that no thread writes cost nothing.
 *
 * State of a ring: `head`, the next slot to reserve; `tail`, the next to read, and `seen`, what the
 * writer last saw of it; each slot's first word, 0 until the span in it is committed. A ring is
 * full when head - tail is its size. `seen` is never above `tail`: the writer looks at the reader's
 * line only when its own says that the ring is full.
 *
 *   writer (any handler may do all of it between two of these steps):
 *     W1  count the span as offered
 *     W2  reserve its slots: raise `head`, if the ring has room; else count it as dropped
 *     W3  write the slots
 *     W4  commit: the first slot's first word, with release
 *   reader:
 *     R1  load the first word of the slot at `tail`, with acquire; 0: nothing more yet
 *     R2  copy the span
 *     R3  set the first word to 0, then `tail` behind its slots, with release
 *
 * Invariants: a slot between tail and head is written only by the call that reserved it; a slot's
 * first word is 0 when it is reserved, as continuations leave theirs alone. R3 pairs with W2's
 * acquire load of `tail`, W4 with R1. After the writers have stopped and the reader has found
 * nothing more, offered = dropped + read.
 *
 * A handler that leaves by longjmp in the middle of W3 never commits: the reader waits there for
 * good, and that thread's spans are dropped once the ring is full.
 */
#ifndef CREST_SPAN_RINGS_H
#define CREST_SPAN_RINGS_H

#include "spans/span_record.h"

/* Slots of a ring, and rings. */
#define CREST_SPAN_RING_SLOTS 512u
#define CREST_SPAN_RINGS_MIN 4u
#define CREST_SPAN_RINGS_MAX 1024u

typedef struct crest_span_rings_totals {
    uint64_t offered;
    uint64_t dropped;
    uint64_t unsampled;
} crest_span_rings_totals;

/* Makes the rings, once in a process: as many as these bytes hold, within the bounds above. 0
 * without memory. Not for handlers; the caller holds a lock of its own. */
int crest_span_rings_make(uint64_t bytes);

/* Slots that the calling thread has reserved for a span: W1 and W2. */
typedef struct crest_span_place {
    struct crest_span_ring *ring;
    uint64_t first; /* the number of the first slot */
    unsigned slots;
    uint64_t *word; /* the first slot's, from its head */
} crest_span_place;

/* Offers a span of so many words behind its head. 0 when it was dropped, and counted; otherwise the
 * caller writes its words but for the head, and commits it. Any thread, any handler. No lock, no
 * allocation. */
int crest_span_rings_reserve(unsigned words, crest_span_place *place);

/* W3 of `words` of details, behind the first slot's word `at`, and W4. A system call where the
 * reader sleeps and the ring is half full. */
void crest_span_rings_commit(const crest_span_place *place, uint64_t head, unsigned at,
                             const uint64_t *detail, unsigned words);

/* Counts a span as offered and not sampled. */
void crest_span_rings_unsampled(void);

/*
 * By the tracing thread: calls `take` for what was committed, ring by ring, at most `most` spans in
 * all. Returns how many.
 */
typedef void crest_span_taker(void *context, const crest_span_record *record,
                              const uint64_t *detail);
size_t crest_span_rings_read(crest_span_taker *take, void *context, size_t most);

/* Counts since the rings were made. Any thread. */
crest_span_rings_totals crest_span_rings_totals_of(void);

/* The tracing thread: waits until a ring is half full, it is woken, or `ns` have passed. */
void crest_span_rings_wait(uint64_t ns);
void crest_span_rings_wake(void);

#endif
