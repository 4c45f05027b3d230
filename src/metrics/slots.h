/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reuse of slots, and spare waits.
 *
 * A wait is one block of memory for a series that growth.c looks at. It is taken when the series
 * begins to leave. After the slot's quarantine the same block holds the free slot, so giving a slot
 * back needs no memory:
 *
 *     spare ── crest_wait_take ──► waits for its series ── crest_slot_give ──► keeps a free slot
 *       ▲ ◄──── crest_wait_give ─────────┘                                          │
 *       └──────────────────────── crest_slot_reuse ─────────────────────────────────┘
 */
#ifndef CREST_SLOTS_H
#define CREST_SLOTS_H

#include "metrics/metric_inside.h"

/* A waiting series, or a free slot. */
typedef struct crest_wait {
    struct crest_wait *next;
    crest_series *series;
    uint64_t since_ns;   /* life and value are unchanged at least since then */
    uint64_t seen;       /* the value compared */
    uint64_t generation; /* directories from this generation on lack the series */
    uint64_t life;       /* at the last look */
    uint32_t looks;      /* looks since then; at one a second it wraps to 0 in 136 years */
    uint32_t slot;       /* of a free slot */
} crest_wait;

/* Under the lock: reserves so many spare waits, so that what follows is done wholly or not at all;
 * 0 without memory. */
int crest_waits_reserve(unsigned waits);

/* Under the lock: takes a reserved wait; gives one back. */
crest_wait *crest_wait_take(void);
void crest_wait_give(crest_wait *wait);

/* Under the lock: a used slot, its quarantine over, for a series of the metric; its value made 0. 0
 * if there is none. */
uint32_t crest_slot_reuse(const crest_metric *metric);

/* Under the lock, at the end of the quarantine: frees the slot of the wait's series, and gives back
 * the memory that its cells lead to. The series has no slot then. */
void crest_slot_give(crest_wait *wait);

/* The number of free used slots. Any thread. */
uint64_t crest_slots_free(void);

#endif
