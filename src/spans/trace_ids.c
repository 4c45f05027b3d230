/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ids of traces and spans, derived from operations: no table, no random number, the same in every
 * process. See <crest/trace_context.h>.
 */
#include <crest/trace_context.h>

#include "base/siphash.h"

#include <string.h>

#define TRACE_ID_BYTES 16u

static void trace_hash(crest_siphash *hash, const void *bytes, size_t length)
{
    const unsigned char *at = bytes;
    for (size_t i = 0; i < length; i++)
        crest_siphash_byte(hash, at[i]);
}

static void trace_hash_number(crest_siphash *hash, uint64_t number)
{
    for (int shift = 56; shift >= 0; shift -= 8)
        crest_siphash_byte(hash, (unsigned char)(number >> shift));
}

/* Bytes of the id that crest_op keeps; of more than CREST_OP_EXACT_BYTES all its words. */
static size_t trace_kept(const crest_op *op)
{
    return op->length < CREST_OP_EXACT_BYTES ? op->length : CREST_OP_EXACT_BYTES;
}

static crest_trace_id trace_hashed(const crest_op *op)
{
    crest_trace_id trace;
    crest_siphash hash;
    crest_siphash_begin_public(&hash);
    crest_siphash_byte(&hash, (unsigned char)op->kind);
    if (op->kind == CREST_OP_U64 || op->kind == CREST_OP_U64X2) {
        trace_hash_number(&hash, op->word[0]);
        if (op->kind == CREST_OP_U64X2)
            trace_hash_number(&hash, op->word[1]);
    } else {
        trace_hash(&hash, op->word, trace_kept(op));
    }
    crest_siphash_end_bytes(&hash, trace.bytes);
    if (!crest_trace_id_valid(&trace))
        trace.bytes[TRACE_ID_BYTES - 1] = 1;
    return trace;
}

/* The trace; CREST_TRACE_RANDOM in *flags if it is a hash. */
static crest_trace_id trace_of(const crest_op *op, uint8_t *flags)
{
    crest_trace_id trace = {{0}};
    *flags = 0;
    if (op->kind < CREST_OP_U64 || op->kind > CREST_OP_TEXT || op->length == 0)
        return trace;
    if (op->kind == CREST_OP_BYTES && op->length >= TRACE_ID_BYTES) {
        memcpy(trace.bytes, op->word, TRACE_ID_BYTES);
        if (crest_trace_id_valid(&trace))
            return trace;
    }
    *flags = CREST_TRACE_RANDOM;
    return trace_hashed(op);
}

crest_trace_id crest_trace_id_of(crest_op op)
{
    uint8_t flags;
    return trace_of(&op, &flags);
}

crest_span_context crest_span_context_of(crest_op op, crest_span_id span)
{
    crest_span_context context = {.span = span};
    context.trace = trace_of(&op, &context.flags);
    if (crest_span_context_valid(&context))
        return context;
    return (crest_span_context){.span = 0};
}

crest_span_id crest_span_id_in(const crest_trace_id *trace, const char *metric,
                               const char *instance)
{
    unsigned char digest[16];
    crest_span_id span = 0;
    crest_siphash hash;
    if (!crest_trace_id_valid(trace))
        return 0;
    crest_siphash_begin_public(&hash);
    trace_hash(&hash, trace->bytes, sizeof trace->bytes);
    trace_hash(&hash, metric, metric ? strlen(metric) + 1 : 0);
    trace_hash(&hash, instance, instance ? strlen(instance) : 0);
    crest_siphash_end_bytes(&hash, digest);
    for (size_t i = 0; i < sizeof span; i++)
        span = span << 8 | digest[i];
    return span != 0 ? span : 1;
}

crest_span_id crest_span_id_of(crest_op op, const char *metric, const char *instance)
{
    crest_trace_id trace = crest_trace_id_of(op);
    return crest_span_id_in(&trace, metric, instance);
}
