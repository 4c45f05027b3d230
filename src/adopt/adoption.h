/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adoption: what dead runs counted goes on in this one, each file exactly once. Counters,
 * histograms and timers are adopted; gauges, range samplers and operations in flight are not.
 *
 * State: each dead file's phase; and in this run's header {adopted_ids, adopted}.
 * Steps of a start, which holds the lock of the name:
 *
 *     A1  read all dead files; note each id that a file's committed list names
 *     A2  mark each file so named ADOPTED. It cannot be: remove it; that fails too: adopt nothing
 *     A3  add what the others counted to a table of cells that no reader finds, and what they had
 *         delivered of it to one of words (cells/delivered_cells.h)
 *     A4  commit: store the ids, then their number. From this store on the table counts
 *     A5  mark the files ADOPTED, and give them the names of files that are done with
 *
 * Invariant: a count is in exactly one of: an unmarked, unnamed dead file; a committed table.
 *  - A kill before A4: this run's file is dead and uncommitted, its table counts for nothing. The
 *    next start finds it behind the others, a longer chain.
 *  - A kill after A4: the next start finds the ids in this run's file, and does A2.
 *  - A2 comes before A4, because this file is itself done with after the next commit: then its list
 *    is read by no later start any more.
 *
 * Model: tests/model/state_adoption.pml, with kills between any two steps, and wrong variants.
 */
#ifndef CREST_ADOPTION_H
#define CREST_ADOPTION_H

#include "adopt/adopted_counts.h"

typedef enum crest_adopt_which {
    CREST_ADOPT_KILLED, /* runs without a farewell */
    CREST_ADOPT_ALL,
    CREST_ADOPT_REPORT, /* of the same as KILLED pages beside, and no totals go on */
    CREST_ADOPT_NONE
} crest_adopt_which;

/* Once a process, at its first start with a file; not under the lock. Allocates, blocks on files.
 */
void crest_adopt(crest_adopt_which which, crest_adoption *done);

/* For tests: called after each step, numbered from 1 to CREST_ADOPT_STEPS; NULL. */
typedef void crest_adopt_step(int step);
extern crest_adopt_step *crest_adopt_test;
#define CREST_ADOPT_STEPS 7

#endif
