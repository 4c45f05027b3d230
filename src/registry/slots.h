/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Slots that are used again, and the waits that are spare.
 *
 * A wait is one block of memory for a series that is looked at (growth.h). It is taken when the
 * series begins to leave; when its slot has rested out, the same block keeps the free slot, so that
 * giving a slot back needs no memory:
 *
 *     spare ── crest_wait_take ──► waits for its series ── crest_slot_give ──► keeps a free slot
 *       ▲ ◄──── crest_wait_give ─────────┘                                          │
 *       └──────────────────────── crest_lives_slot ─────────────────────────────────┘
 */
#ifndef CREST_SLOTS_H
#define CREST_SLOTS_H

#include "registry/metric_inside.h"

/* A series that is waited for, or a slot that is free. */
typedef struct crest_wait {
    struct crest_wait *next;
    crest_series *series;
    uint64_t since_ns;   /* its life and value are what they are at least since then */
    uint64_t seen;       /* the value */
    uint64_t generation; /* directories from this on do not have it */
    uint64_t life;       /* as of the last look */
    uint32_t looks;      /* since then; at one a second 136 years of them are as many as none */
    uint32_t slot;       /* of a free one */
} crest_wait;

/* Under the lock: sees to it that so many waits are spare, before anything is done, so that nothing
 * is done by halves; 0 without memory. */
int crest_lives_reserve(unsigned waits);

/* Under the lock: a spare one, of which there is one; and back. */
crest_wait *crest_wait_take(void);
void crest_wait_give(crest_wait *wait);

/* Under the lock: a used slot for a series of the metric that has rested, its value made 0; 0 if
 * there is none. */
uint32_t crest_lives_slot(const crest_metric *metric);

/* Under the lock: the slot of the wait's series has rested out. What the series' cells lead to is
 * taken back, and the slot is free; the series has none. */
void crest_slot_give(crest_wait *wait);

/* Slots that rested out and wait for use. Any thread. */
uint64_t crest_lives_free_slots(void);

#endif
