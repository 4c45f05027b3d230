/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sampling that is the same on all nodes: an operation's randomness, 56 bits of a public hash of
 * its id, against a threshold. Exported as `rv` of OpenTelemetry's tracestate (OTEP 235).
 */
#ifndef CREST_SPAN_SAMPLING_H
#define CREST_SPAN_SAMPLING_H

#include "base/hash.h"
#include <crest/op.h>

/* Above every randomness. */
#define CREST_SPAN_NONE (UINT64_C(1) << 56)

/* Not by the seed of the process: all nodes must find the same. */
static inline uint64_t crest_span_randomness(const uint64_t words[4], uint64_t shape)
{
    uint64_t first = crest_hash_fold(words[0] ^ UINT64_C(0x9e3779b97f4a7c15),
                                     words[1] ^ UINT64_C(0xd1b54a32d192ed03));
    uint64_t second = crest_hash_fold(words[2] ^ UINT64_C(0x8cb92ba72f3d8dd7),
                                      words[3] ^ UINT64_C(0xaef17502108ef2d9));
    return crest_hash_mix(first ^ shape, second) >> 8;
}

static inline uint64_t crest_span_randomness_of(const crest_op *op)
{
    return crest_span_randomness(op->word, (uint64_t)op->length << 32 | op->kind);
}

#endif
