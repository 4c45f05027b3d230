/* SPDX-License-Identifier: Apache-2.0 */
/* The timed loops as C. See hot_loops.h. */
#define HOT_LANGUAGE "C"
#define HOT_METRIC(name) "bench.c." name
#define HOT_TABLE hot_loops_c
#include "hot_loops_body.h"
