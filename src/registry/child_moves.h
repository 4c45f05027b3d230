/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How series leave and come back: the inside of <crest/lifetime.h>; docs/architecture.md tells the
 * whole story.
 *
 *     SHOWN ── release, retire ──► LEAVING ── exported once more ──► QUARANTINED ── no thread has
 *       ▲  ◄──── a write, _with ────┘   ▲ ◄──────── growth ───────────────┘    written for a minute
 *       └── idle ──► HIDDEN ── growth ──► SHOWN                                         ──► GONE
 *
 *     call            from             to           the child's handle      marked
 *     release         SHOWN, HIDDEN    LEAVING      leads to the cold path
 *     withdraw        SHOWN, HIDDEN    QUARANTINED  leads to the cold path
 *       (no labels)   SHOWN            HIDDEN       as before
 *     readmit         HIDDEN           SHOWN        as before
 *     retire          SHOWN, HIDDEN    LEAVING (*)  is dead                 RETIRED
 *     revive          LEAVING, QUARANTINED, GONE, not retired
 *                                      SHOWN        leads to the cells
 *     again           GONE, retired    SHOWN        leads to the cells      no more
 *     replace         LEAVING, retired QUARANTINED  is dead
 *
 *     (*) QUARANTINED where it is not to be exported once more
 *
 * From GONE a write or _with brings it back, from zero; a retired series comes back by _with only.
 *
 * A released or retired series' handle has slot 0, so each later record takes the cold path. There
 * it brings the series back (released) or is counted as late (retired). A thread that had loaded
 * the slot before still records into its cells; growth.h finds that by comparing values once a
 * tick.
 *
 * All of these are called under the lock.
 */
#ifndef CREST_CHILD_MOVES_H
#define CREST_CHILD_MOVES_H

#include "registry/series_state.h"

/* Waits that a release of the child takes; the caller reserves them first (slots.h). */
unsigned crest_child_waits(const crest_child *child);

/* Releases a family's child: its handle leads to the cold path. CREST_NO_MEMORY: nothing was done.
 */
crest_status crest_child_release(crest_child *child);

/* Takes the child from snapshots at once, without a last export. CREST_NO_MEMORY: nothing was done.
 *  - A family's child is released, so that a record through its own handle brings it back.
 *  - A child without labels keeps its slot, because declared handles are copies. It comes back when
 *    its value changes, or by crest_child_readmit. */
crest_status crest_child_withdraw(crest_child *child);
void crest_child_readmit(crest_child *child);

/* Retires the child: its handle is dead, of status `why`. `shown`: it is exported once more. */
void crest_child_retire(crest_child *child, crest_status why, int shown);

/* Brings the child and its parts back, from zero where they were gone; 0 and *status on failure. */
int crest_child_revive(crest_child *child, crest_status *status);

/* _remembered: a retired child of these values whose series are all gone, or NULL. _again: its next
 * life, from zero, by its old handle; 0 and *status on failure. */
crest_child *crest_child_remembered(const crest_metric *metric, const char *const *values,
                                    uint32_t hash);
int crest_child_reborn(crest_child *child, crest_status *status);

/* Retired children of these values leave snapshots, for a new child replaces them. */
void crest_child_replace(const crest_metric *metric, const char *const *values, uint32_t hash);

#endif
