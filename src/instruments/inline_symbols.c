/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every inline function of the public headers once more, as an exported symbol, for callers that
 * cannot inline C: foreign-function interfaces, other languages. The same text, compiled with the
 * keyword redefined; `flatten`, so that what they call of each other is inlined there too. Each
 * begins on a cache line: where the one before ended instead, the record of a histogram lay in
 * one piece more that is fetched, and cost an eighth more.
 */
#include <stddef.h>

#define CREST_INLINE __attribute__((visibility("default"), flatten, aligned(64)))
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

#include <crest/crest.h>
