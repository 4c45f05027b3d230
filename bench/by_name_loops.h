/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The timed loops of by-name calls, and those through handles that they are compared with. Compiled
 * as C; `times` operations each, as in hot_loops.h.
 */
#ifndef BENCH_BY_NAME_LOOPS_H
#define BENCH_BY_NAME_LOOPS_H

#include "hot_loops.h"

/* Names that are taken in an order of chance, so that no processor learns it. */
#define BY_NAME_NAMES 1000u

CREST_BEGIN_C

/* Makes the metrics; the total is the sum over all of them, whoever counted. */
void by_name_prepare(void);
uint64_t by_name_total(void);

/* A literal, one of HOT_METRICS, and how often it was counted. */
void by_name_literal(unsigned which, uint64_t times);
uint64_t by_name_literal_total(unsigned which);

/* Each of BY_NAME_NAMES in turn: through its handle, by its whole name, by its name under the
 * source of the file. */
void by_name_handles(unsigned which, uint64_t times);
void by_name_run_time(unsigned which, uint64_t times);
void by_name_sourced(unsigned which, uint64_t times);

CREST_END_C

#endif
