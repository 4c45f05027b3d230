/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every inline function of the public headers once more, as an exported symbol, for callers that
 * cannot inline C: foreign-function interfaces, other languages. The same text, compiled with the
 * keyword redefined.
 */
#include <stddef.h>

#define CREST_INLINE __attribute__((visibility("default")))
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

#include <crest/crest.h>
