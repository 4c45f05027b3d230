/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The identity of an operation, by value: an integer, a pair of integers, bytes (a block hash) or
 * a text. A duration is only ever taken between a start and an end that name the same operation.
 *
 *     crest_op op = crest_op_bytes(block->hash, 32);
 */
#ifndef CREST_OP_H
#define CREST_OP_H

#include <crest/abi.h>

typedef enum crest_op_kind {
    CREST_OP_NONE = 0, /* no operation, or input that gives no identity; ends no timing */
    CREST_OP_U64,
    CREST_OP_U64X2,
    CREST_OP_BYTES,
    CREST_OP_TEXT
} crest_op_kind;

/* Up to this many bytes of an identity are kept and compared exactly. */
#define CREST_OP_EXACT_BYTES 32u
/* A longer one keeps this many bytes as a readable prefix and a 128-bit keyed hash of it all. */
#define CREST_OP_PREFIX_BYTES 16u

typedef struct crest_op {
    uint64_t word[4]; /* the identity, zero-padded */
    uint32_t length;  /* bytes of the identity as given */
    uint32_t kind;    /* crest_op_kind: the integer 7 and the text "7" are two operations */
} crest_op;

/* Bytes that crest_op_format needs at most, NUL included. */
#define CREST_OP_TEXT_BYTES 80u

CREST_BEGIN_C

/* No operation: that of a timing whose id is not known yet. It ends nothing. */
CREST_INLINE crest_op crest_op_none(void)
{
    crest_op op = {{0, 0, 0, 0}, 0, CREST_OP_NONE};
    return op;
}

CREST_INLINE crest_op crest_op_u64(uint64_t id)
{
    crest_op op = {{id, 0, 0, 0}, 8, CREST_OP_U64};
    return op;
}

CREST_INLINE crest_op crest_op_u64x2(uint64_t first, uint64_t second)
{
    crest_op op = {{first, second, 0, 0}, 16, CREST_OP_U64X2};
    return op;
}

/* Non-zero when both name the same operation, kind included. Cost: inline, six comparisons; two
 * where the compiler sees that `b` is of crest_op_u64. */
CREST_INLINE int crest_op_equal(const crest_op *a, const crest_op *b)
{
    uint64_t differ =
        (a->word[0] ^ b->word[0]) | (uint64_t)((a->length ^ b->length) | (a->kind ^ b->kind));
    /* an integer's other words are zero, on both sides */
    if (!__builtin_constant_p(b->kind) || b->kind != CREST_OP_U64)
        differ |= (a->word[1] ^ b->word[1]) | (a->word[2] ^ b->word[2]) | (a->word[3] ^ b->word[3]);
    return differ == 0;
}

/* The identity is the `length` bytes at `bytes`, copied; beyond CREST_OP_EXACT_BYTES their prefix
 * and a SipHash-2-4-128 under a key drawn once a process. NULL or no bytes give CREST_OP_NONE.
 * Async-signal-safe after the first long identity of the process. Cost: a call, a copy. */
CREST_API crest_op crest_op_bytes(const void *bytes, size_t length);

/* As crest_op_bytes, from pairs of hexadecimal digits, either case. Anything else, an odd number of
 * digits included, gives CREST_OP_NONE, which equals no operation made from good digits. */
CREST_API crest_op crest_op_hex(const char *digits);

/* The identity is a NUL-terminated text, copied; NULL gives CREST_OP_NONE. Otherwise as _bytes. */
CREST_API crest_op crest_op_text(const char *text);

/* Writes a readable form ("7", "7:8", "0x12ab…", "text") and a NUL into `text` of `size` bytes, cut
 * to fit; returns the bytes written without the NUL. Any thread, any handler. */
CREST_API size_t crest_op_format(const crest_op *op, char *text, size_t size);

CREST_END_C

#ifdef CREST_DISABLE
#include <crest/off/op_off.h>
#endif

#endif
