/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bytes of a stamp: pure functions, in and out. See stamp_code.h; the layout is described in
 * <crest/stamp.h>.
 */
#include "latency/peers/stamp_code.h"
#include "base/siphash.h"

#include <string.h>

#define STAMP_ERROR_UNKNOWN 0xffffu
#define STAMP_MANTISSA_BITS 11
#define STAMP_MANTISSA_MAX ((1u << STAMP_MANTISSA_BITS) - 1)
#define STAMP_EXPONENT_MAX 31u

/* ---- error bounds ---- */

uint16_t crest_stamp_error_code(uint64_t error_ns)
{
    unsigned exponent = 0;
    while (exponent < STAMP_EXPONENT_MAX && error_ns >> exponent > STAMP_MANTISSA_MAX)
        exponent++;
    uint64_t mantissa = error_ns >> exponent;
    if ((mantissa << exponent) != error_ns)
        mantissa++;
    if (mantissa > STAMP_MANTISSA_MAX && exponent < STAMP_EXPONENT_MAX) {
        mantissa = (mantissa + 1) / 2;
        exponent++;
    }
    if (mantissa > STAMP_MANTISSA_MAX)
        return STAMP_ERROR_UNKNOWN;
    return (uint16_t)(exponent << STAMP_MANTISSA_BITS | mantissa);
}

uint64_t crest_stamp_error_of(uint16_t code)
{
    if (code == STAMP_ERROR_UNKNOWN)
        return CREST_STAMP_UNKNOWN;
    return (uint64_t)(code & STAMP_MANTISSA_MAX) << (code >> STAMP_MANTISSA_BITS);
}

/* Each bound has one code: a number that fits a smaller exponent must use that. */
static int stamp_error_is_shortest(uint16_t code)
{
    return code >> STAMP_MANTISSA_BITS == 0 ||
           (code & STAMP_MANTISSA_MAX) >= 1u << (STAMP_MANTISSA_BITS - 1);
}

/* ---- numbers ---- */

static void stamp_put(unsigned char *to, uint64_t number, unsigned bytes)
{
    while (bytes-- != 0) {
        to[bytes] = (unsigned char)number;
        number >>= 8;
    }
}

static uint64_t stamp_take(const unsigned char *from, unsigned bytes)
{
    uint64_t number = 0;
    while (bytes-- != 0)
        number = number << 8 | *from++;
    return number;
}

/* ---- ids ---- */

static void stamp_digest(const void *bytes, size_t length, unsigned char *digest)
{
    crest_siphash hash;
    crest_siphash_begin_public(&hash);
    const unsigned char *at = bytes;
    for (size_t i = 0; i < length; i++)
        crest_siphash_byte(&hash, at[i]);
    crest_siphash_end_bytes(&hash, digest);
}

int crest_stamp_identify(const crest_op *op, crest_stamp_view *view)
{
    if (op->kind < CREST_OP_U64 || op->kind > CREST_OP_TEXT || op->length > CREST_OP_EXACT_BYTES ||
        op->length == 0)
        return 0;
    view->kind = op->kind;
    view->length = op->length;
    memset(view->id, 0, sizeof view->id);
    if (op->kind == CREST_OP_U64 || op->kind == CREST_OP_U64X2) {
        stamp_put(view->id, op->word[0], 8);
        if (op->kind == CREST_OP_U64X2)
            stamp_put(view->id + 8, op->word[1], 8);
    } else if (op->length <= CREST_STAMP_EXACT_BYTES) {
        memcpy(view->id, op->word, op->length);
    } else {
        stamp_digest(op->word, op->length, view->id);
    }
    return 1;
}

/* The operation that the id names, if it does. */
static crest_op stamp_operation(const crest_stamp_view *view)
{
    if (view->kind == CREST_OP_U64)
        return crest_op_u64(stamp_take(view->id, 8));
    if (view->kind == CREST_OP_U64X2)
        return crest_op_u64x2(stamp_take(view->id, 8), stamp_take(view->id + 8, 8));
    if (view->length > CREST_STAMP_EXACT_BYTES)
        return crest_op_none();
    crest_op op = crest_op_bytes(view->id, view->length);
    op.kind = view->kind;
    return op;
}

static const char *stamp_wrong_id(const crest_stamp_view *view)
{
    uint32_t used = view->length;
    switch (view->kind) {
    case CREST_OP_U64:
        if (view->length != 8)
            return "the id is a number, but not of 8 bytes (byte 2)";
        break;
    case CREST_OP_U64X2:
        if (view->length != 16)
            return "the id is a pair of numbers, but not of 16 bytes (byte 2)";
        break;
    case CREST_OP_BYTES:
    case CREST_OP_TEXT:
        if (view->length == 0 || view->length > CREST_OP_EXACT_BYTES)
            return "the id is not of 1 to 32 bytes (byte 2)";
        break;
    default: return "there is no such kind of id (byte 1)";
    }
    for (; used < sizeof view->id; used++)
        if (view->id[used] != 0)
            return "there is something behind the id (bytes 16 to 31)";
    if (view->kind == CREST_OP_TEXT && memchr(view->id, 0, view->length <= 16 ? view->length : 0))
        return "the id is a text, but has a zero byte in it (bytes 16 to 31)";
    return NULL;
}

/* ---- whole stamps ---- */

const char *crest_stamp_wrong(const crest_stamp_view *view)
{
    if (view->hops > CREST_STAMP_HOPS_MAX)
        return "it has been relayed too often (byte 3)";
    if (view->origin_ns < CREST_WALL_NS_MIN || view->origin_ns > CREST_WALL_NS_MAX)
        return "the time of origin is none: before September 2001 or after 2260 (bytes 8 to 15)";
    return stamp_wrong_id(view);
}

void crest_stamp_write(const crest_stamp_view *view, crest_stamp *stamp)
{
    unsigned char *bytes = stamp->bytes;
    bytes[0] = CREST_STAMP_VERSION;
    bytes[1] = (unsigned char)view->kind;
    bytes[2] = (unsigned char)view->length;
    bytes[3] = (unsigned char)view->hops;
    stamp_put(bytes + 4, crest_stamp_error_code(view->path_error_ns), 2);
    stamp_put(bytes + 6, crest_stamp_error_code(view->clock_error_ns), 2);
    stamp_put(bytes + 8, view->origin_ns, 8);
    memcpy(bytes + 16, view->id, sizeof view->id);
}

void crest_stamp_write_parent(const crest_stamp *stamp, crest_span_id parent,
                              crest_stamp_parent *to)
{
    memcpy(to->bytes, stamp->bytes, CREST_STAMP_BYTES);
    to->bytes[0] = CREST_STAMP_PARENT_VERSION;
    stamp_put(to->bytes + CREST_STAMP_BYTES, parent, sizeof parent);
}

const char *crest_stamp_parse(const unsigned char *bytes, size_t size, crest_stamp_view *view)
{
    int parent = bytes[0] == CREST_STAMP_PARENT_VERSION;
    uint16_t path = (uint16_t)stamp_take(bytes + 4, 2), clock = (uint16_t)stamp_take(bytes + 6, 2);
    if (bytes[0] != CREST_STAMP_VERSION && !parent)
        return "it is not of version 1 or 2 (byte 0), the only ones that this library reads";
    if (size != (parent ? CREST_STAMP_PARENT_BYTES : CREST_STAMP_BYTES))
        return parent ? "it is of version 2, but has not 40 bytes"
                      : "it is of version 1, but has not 32 bytes";
    if (!stamp_error_is_shortest(path) || !stamp_error_is_shortest(clock))
        return "an error bound is not written in the shortest way (bytes 4 to 7)";
    *view = (crest_stamp_view){
        .origin_ns = stamp_take(bytes + 8, 8),
        .path_error_ns = crest_stamp_error_of(path),
        .clock_error_ns = crest_stamp_error_of(clock),
        .hops = bytes[3],
        .kind = bytes[1],
        .length = bytes[2],
        .parent = parent ? stamp_take(bytes + CREST_STAMP_BYTES, 8) : 0,
    };
    memcpy(view->id, bytes + 16, sizeof view->id);
    const char *wrong = crest_stamp_wrong(view);
    if (wrong == NULL)
        view->op = stamp_operation(view);
    return wrong;
}
