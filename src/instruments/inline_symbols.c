/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every inline function of the public headers once more, as an exported symbol, for callers that
 * cannot inline C: foreign-function interfaces, other languages. The same text, compiled with the
 * keyword redefined; `flatten`, so that nested calls are inlined too. Each function begins on a
 * cache line: packed, the record of a histogram straddled one more line to fetch, and cost an
 * eighth more.
 */
#include <stddef.h>

#define CREST_INLINE __attribute__((visibility("default"), flatten, aligned(64)))
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

#include <crest/crest.h>
