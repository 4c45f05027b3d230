/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The timed loop of resolving label values. Compiled as C; `times` operations each, and afterwards
 * how many led to the right handle.
 */
#ifndef BENCH_RESOLVE_LOOPS_H
#define BENCH_RESOLVE_LOOPS_H

#include <crest/crest.h>

CREST_BEGIN_C

/* Three values to a handle, of a family with 1,000 series, in an order that jumps about. */
void resolve_labels(unsigned which, uint64_t times);
uint64_t resolve_total(void);

CREST_END_C

#endif
