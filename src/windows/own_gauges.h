/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gauges that the library has of itself, as of the last tick: how much the windows cover, series,
 * threads' tables, memory.
 */
#ifndef CREST_OWN_GAUGES_H
#define CREST_OWN_GAUGES_H

/* Makes them, before the first tick. Any thread; locks, allocates. */
void crest_own_gauges_make(void);

/* Sets them. `window_s` and `covered_s`: of the default registry's `windows` windows, the length
 * and the covered seconds. Called by the ticker. */
void crest_own_gauges_set(const unsigned *window_s, const double *covered_s, unsigned windows);

#endif
