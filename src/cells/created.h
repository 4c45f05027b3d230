/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Creation times of series, by slot. A table beside the cells costs 4 bytes a series; 4 more in
 * each series would cost 8.
 */
#ifndef CREST_CREATED_H
#define CREST_CREATED_H

#include <stdint.h>

/* Under the lock: the slot's series is created now. Without memory its time stays unknown. */
void crest_made_now(uint32_t slot);

/* Seconds since 1970; 0: not known, as in the child of a fork: there all values begin anew at the
 * fork, not at creation. Any thread. */
uint32_t crest_made_s(uint32_t slot);

#endif
