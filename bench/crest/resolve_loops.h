/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loops of counters by name in other ways than loops_named: under a source, and by a literal name
 * (the call site keeps the handle).
 */
#ifndef BENCH_RESOLVE_LOOPS_H
#define BENCH_RESOLVE_LOOPS_H

#include "loops.h"

#include <crest/by_name.h>
#include <crest/crest.h>

CREST_BEGIN_C

/* What follows the source in each name, and the source. */
extern const char **resolve_sourced_names;
extern crest_source *resolve_source;
loops_loop resolve_sourced;

/* bench.literal-0 and so on, one of LOOPS_HOT. */
loops_loop resolve_literal;

CREST_END_C

#endif
