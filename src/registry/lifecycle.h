/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How series leave and come back: the inside of <crest/lifetime.h>; docs/architecture.md tells the
 * whole story.
 *
 *     SHOWN ── release, retire ──► LEAVING ── exported once more ──► RESTING ── no thread has
 *       ▲  ◄──── a write, _with ────┘   ▲ ◄──────── growth ─────────────┘    written for a minute
 *       └── idle ──► HIDDEN ── growth ──► SHOWN                                       ──► GONE
 *
 *     call            from             to           the child's handle      marked
 *     release         SHOWN, HIDDEN    LEAVING      leads to the cold path
 *     withdraw        SHOWN, HIDDEN    RESTING      leads to the cold path
 *       (no labels)   SHOWN            HIDDEN       as before
 *     readmit         HIDDEN           SHOWN        as before
 *     retire          SHOWN, HIDDEN    LEAVING (*)  is dead                 RETIRED
 *     revive          LEAVING, RESTING, GONE, not retired
 *                                      SHOWN        leads to the cells
 *     again           GONE, retired    SHOWN        leads to the cells      no more
 *     replace         LEAVING, retired RESTING      is dead
 *
 *     (*) RESTING where it is not to be exported once more
 *
 * From GONE it comes back, from zero, by a write or _with; one that was retired by _with alone.
 *
 * A released or retired series' handle has slot 0, so that each later record takes the cold path,
 * where it brings the series back (released) or is counted as late (retired). What a thread records
 * that had loaded the slot before is found by comparing values once a tick (growth.h).
 *
 * All of these are called under the lock.
 */
#ifndef CREST_LIFECYCLE_H
#define CREST_LIFECYCLE_H

#include "registry/life.h"

/* How many waits a release of the child takes: to be reserved before (slots.h). */
unsigned crest_lives_waits(const crest_child *child);

/* The child of a family is released; its handle leads to the cold path after it. CREST_NO_MEMORY:
 * nothing was done. */
crest_status crest_lives_release(crest_child *child);

/* Snapshots from now on do not have the child, nor is it exported once more. Of a family it is
 * released besides, so that a record through its own handle brings it back; without labels it keeps
 * its slot, because declared handles are copies, and comes back when its value changes or by
 * crest_lives_readmit. CREST_NO_MEMORY: nothing was done. */
crest_status crest_lives_withdraw(crest_child *child);
void crest_lives_readmit(crest_child *child);

/* The child is retired, its handle dead of `why`. `shown`: it is exported once more. */
void crest_lives_retire(crest_child *child, crest_status why, int shown);

/* The child, and its parts, live again, from zero where they were gone; 0 and *status if not. */
int crest_lives_revive(crest_child *child, crest_status *status);

/* A retired child of these values of which everything has gone, or NULL; and its next life, from
 * zero, by the handle that it has had; 0 and *status if it cannot be. */
crest_child *crest_lives_remembered(const crest_metric *metric, const char *const *values,
                                    uint32_t hash);
int crest_lives_again(crest_child *child, crest_status *status);

/* Retired children of these values are shown no more, for a new one comes. */
void crest_lives_replace(const crest_metric *metric, const char *const *values, uint32_t hash);

#endif
