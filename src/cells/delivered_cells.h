/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How far receivers of differences have a series: two tables of words by slot in the state file,
 * beside the cells and never summed with them. The next run's differences begin there. A counter's
 * word is a number; a histogram's leads to a shard (distributions/delivered_counts.h), as a cell of
 * a thread does.
 *
 *     own        what this run's reporters have delivered beyond `inherited`; grows
 *     inherited  what dead runs' reporters had delivered of what was adopted; fixed once the
 *                adoption is committed, and like the adopted counts worth nothing before
 *
 * All calls under the lock; without a state file they do nothing.
 */
#ifndef CREST_DELIVERED_CELLS_H
#define CREST_DELIVERED_CELLS_H

#include "cells/layouts.h"

#include <stdint.h>

/* A receiver has the counter of this slot up to `counter`. A smaller value than before changes
 * nothing. Without memory the file goes on saying what it said. */
void crest_delivered_raise(uint32_t slot, uint64_t counter);

/* Before the adoption's commit: a dead run had delivered so much of what the slot adopts; adds up
 * over dead runs. 0 without memory. */
int crest_delivered_inherit(uint32_t slot, uint64_t counter);

/* The word of a histogram's slot, made if need be, in this run's table or, `inherited`, in that of
 * dead runs. NULL without a state file or without memory. */
uint64_t *crest_delivered_counts_word(uint32_t slot, int inherited);
/* What it leads to; NULL: nothing. */
const crest_shard *crest_delivered_counts(uint32_t slot, int inherited);

/* The slot's series has ended, and its record is free: the next one begins at zero. `layout` is
 * that of a histogram, whose memory is given back; NULL for other kinds. */
void crest_delivered_end(uint32_t slot, const crest_layout *layout);

#endif
