/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When series were made, by their slots: a table beside the cells, so that it is 4 bytes a series
 * and 4 more in each would be 8.
 */
#ifndef CREST_CREATED_H
#define CREST_CREATED_H

#include <stdint.h>

/* Under the lock: the slot has a new series. Without memory nothing is known of it. */
void crest_made_now(uint32_t slot);

/* When that was, in seconds since 1970; 0: not known, as in the child of a fork, where all values
 * begin anew at that moment and not at this one. Any thread. */
uint32_t crest_made_s(uint32_t slot);

#endif
