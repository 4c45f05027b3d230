/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parts of messages. See protobuf_fields.h.
 */
#include "page/protobuf_fields.h"

#include <math.h>

/* Fields of google.protobuf.Timestamp. */
enum { FIELDS_TIME_SECONDS = 1, FIELDS_TIME_NANOSECONDS = 2 };

double crest_protobuf_scaled(uint64_t value, unsigned decimals)
{
    static const uint64_t scales[] = {1,      10,      100,      1000,      10000,
                                      100000, 1000000, 10000000, 100000000, 1000000000};
    if (decimals == 0 || value <= UINT64_C(1) << 53)
        return (double)value / (double)scales[decimals];
    /* more bits than a double has, and whether there was a remainder: so it is rounded once */
    unsigned __int128 shifted = (unsigned __int128)value << 62;
    unsigned __int128 quotient = shifted / scales[decimals];
    quotient |= shifted % scales[decimals] != 0;
    return ldexp((double)quotient, -62);
}

char *crest_protobuf_time(char *at, unsigned field, uint64_t seconds, uint32_t nanoseconds)
{
    char *body;
    at = crest_wire_begin(at, field, &body);
    at = crest_wire_u64(at, FIELDS_TIME_SECONDS, seconds);
    if (nanoseconds != 0)
        at = crest_wire_u64(at, FIELDS_TIME_NANOSECONDS, nanoseconds);
    return crest_wire_end(body, at);
}

char *crest_protobuf_label(char *at, unsigned field, const char *key, size_t key_bytes,
                           const char *value, size_t value_bytes)
{
    at = crest_wire_tag(at, field, CREST_WIRE_LENGTH);
    at = crest_wire_varint(at,
                           crest_wire_text_bytes(key_bytes) + crest_wire_text_bytes(value_bytes));
    at = crest_wire_bytes(at, CREST_PROTOBUF_LABEL_NAME, key, key_bytes);
    return crest_wire_bytes(at, CREST_PROTOBUF_LABEL_VALUE, value, value_bytes);
}
