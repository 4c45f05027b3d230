/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gauges that the library has of itself, as of the last tick: how much the windows cover, series,
 * threads' tables, memory.
 */
#ifndef CREST_OWN_GAUGES_H
#define CREST_OWN_GAUGES_H

/* They are there before the first tick. Any thread; locks, allocates. */
void crest_own_gauges_make(void);

/* Sets them; of the default registry's windows, `windows` of them, the first so many seconds are
 * covered. The thread that ticks. */
void crest_own_gauges_set(const unsigned *window_s, const double *covered_s, unsigned windows);

#endif
