/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writer of Protocol Buffers: fields into memory, and messages of any length through a buffer of
 * CREST_BUFFER_BYTES. It knows no metric and reads nothing.
 *
 * Fields go to a pointer into memory that the caller has reserved; each function returns their end:
 *
 *     char *body;
 *     at = crest_wire_begin(at, 1, &body);          a nested message of a length not known yet
 *     at = crest_wire_bytes(at, 1, "peer", 4);
 *     at = crest_wire_double(at, 2, 0.5);
 *     at = crest_wire_end(body, at);                puts the length in front of it
 *
 * A stream of length-delimited messages goes through a crest_wire. A message may be longer than the
 * buffer, and its length comes first. So full buffers are kept until its end, and others are
 * allocated, up to CREST_WIRE_KEPT_MAX. A message that is longer still, or for which there is no
 * memory, is encoded twice, and only counted the first time:
 *
 *     crest_wire_init(&wire, &buffer);
 *     do {
 *         crest_wire_open(&wire);
 *         char *at = crest_wire_reserve(&wire, 100);
 *         crest_wire_commit(&wire, crest_wire_u64(at, 1, 12));
 *         crest_wire_put_text(&wire, 2, text);
 *     } while (!crest_wire_close(&wire));
 *
 * States of a crest_wire, and what takes it from one to the next:
 *
 *     IDLE      open: WHOLE           nothing is open
 *     WHOLE     no room: WHOLE        the full buffer is kept, if it can be
 *               no room: COUNTING       nothing is kept any more
 *               close: IDLE             the message lies in the kept buffers and in the present
 *                                       one, its length is back-patched in the first of them
 *     COUNTING  close: MEASURED       bytes are counted and dropped
 *     MEASURED  open: KNOWN           the caller encodes the same once more
 *     KNOWN     close: IDLE           the length went out first, the bytes follow it
 *
 * Every length and number takes the fewest bytes, as with the encoders of Google's library.
 * Decoding and encoding again gives the same bytes, if the caller put fields in the order of their
 * numbers. Not thread-safe. Source: protobuf.dev/programming-guides/encoding.
 */
#ifndef CREST_WIRE_PROTOBUF_H
#define CREST_WIRE_PROTOBUF_H

#include "base/buffer.h"
#include <crest/abi.h>

/* The longest varint, and the longest tag and varint of a field up to 2047. */
#define CREST_WIRE_VARINT_BYTES_MAX 10u
#define CREST_WIRE_FIELD_BYTES_MAX (CREST_WIRE_VARINT_BYTES_MAX + 2u)
/* Room kept in front of a message in the buffer for its length. */
#define CREST_WIRE_LENGTH_BYTES 3u
/* Full buffers of a message that are kept at most: with these a message's length, and so the room
 * for it, stays below 2 MiB. */
#define CREST_WIRE_KEPT_MAX 15u
/* What crest_wire_reserve gives at most. */
#define CREST_WIRE_ROOM_MAX (CREST_BUFFER_BYTES - CREST_WIRE_LENGTH_BYTES)

/* Wire types. */
enum { CREST_WIRE_VARINT = 0, CREST_WIRE_FIXED64 = 1, CREST_WIRE_LENGTH = 2 };

/* ---- fields in memory ---- */

/* Bytes of a varint; most are lengths of a label or a value. */
static inline size_t crest_wire_varint_bytes(uint64_t value)
{
    if (CREST_LIKELY(value < 0x80))
        return 1;
    return (size_t)((63 - __builtin_clzll(value | 1)) / 7 + 1);
}

static inline char *crest_wire_varint(char *at, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        *at++ = (char)(value | 0x80);
    *at++ = (char)value;
    return at;
}

static inline char *crest_wire_tag(char *at, unsigned field, unsigned type)
{
    return crest_wire_varint(at, (uint64_t)field << 3 | type);
}

/* Small numbers of either sign in few bytes: 0, -1, 1, -2 as 0, 1, 2, 3. */
static inline uint64_t crest_wire_zigzag(int64_t value)
{
    return (uint64_t)value << 1 ^ (uint64_t)(value >> 63);
}

/* uint64, uint32, bool, an enumeration; int64 and int32 converted to uint64_t. */
static inline char *crest_wire_u64(char *at, unsigned field, uint64_t value)
{
    return crest_wire_varint(crest_wire_tag(at, field, CREST_WIRE_VARINT), value);
}

/* sint64 and sint32. */
static inline char *crest_wire_s64(char *at, unsigned field, int64_t value)
{
    return crest_wire_u64(at, field, crest_wire_zigzag(value));
}

/* The eight bytes of a double or a fixed64, little-endian on every machine. */
static inline char *crest_wire_fixed64(char *at, uint64_t bits)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    bits = __builtin_bswap64(bits);
#endif
    memcpy(at, &bits, sizeof bits);
    return at + sizeof bits;
}

static inline char *crest_wire_double(char *at, unsigned field, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return crest_wire_fixed64(crest_wire_tag(at, field, CREST_WIRE_FIXED64), bits);
}

/* string and bytes. */
static inline char *crest_wire_bytes(char *at, unsigned field, const char *bytes, size_t length)
{
    at = crest_wire_varint(crest_wire_tag(at, field, CREST_WIRE_LENGTH), length);
    memcpy(at, bytes, length);
    return at + length;
}

/* Begins a nested message, or packed numbers; hand *body to crest_wire_end at their end. */
static inline char *crest_wire_begin(char *at, unsigned field, char **body)
{
    at = crest_wire_tag(at, field, CREST_WIRE_LENGTH) + 1;
    *body = at;
    return at;
}

/* Puts the length in front of the bytes from `body` to `at`, and moves them if it takes more than a
 * byte. So CREST_WIRE_LENGTH_BYTES - 1 bytes behind `at` must be the caller's. Less than 2 MiB. */
static inline char *crest_wire_end(char *body, char *at)
{
    size_t length = (size_t)(at - body), more = crest_wire_varint_bytes(length) - 1;
    if (more != 0)
        memmove(body + more, body, length);
    crest_wire_varint(body - 1, length);
    return at + more;
}

/* ---- a stream of messages ---- */

typedef enum crest_wire_state {
    CREST_WIRE_IDLE,
    CREST_WIRE_WHOLE,
    CREST_WIRE_COUNTING,
    CREST_WIRE_MEASURED,
    CREST_WIRE_KNOWN
} crest_wire_state;

/* A full buffer of the open message. */
typedef struct crest_wire_kept {
    char *bytes;
    size_t used;
} crest_wire_kept;

typedef struct crest_wire {
    crest_buffer *out;
    crest_wire_state state;
    unsigned kept_count; /* WHOLE: buffers of the message in front of the present one */
    crest_wire_kept kept[CREST_WIRE_KEPT_MAX];
    size_t from;     /* WHOLE: where in its first buffer the room for the length begins */
    uint64_t length; /* COUNTING: bytes so far; MEASURED: all; KNOWN: bytes to come */
} crest_wire;

/* `out` is borrowed while the wire is used; it may hold bytes already. */
void crest_wire_init(crest_wire *wire, crest_buffer *out);

/* Begins a length-delimited message. */
void crest_wire_open(crest_wire *wire);
/* Ends it. 0: it was longer than the buffer and was only counted. The caller then encodes the same
 * again, from open on; it must give as many bytes. */
int crest_wire_close(crest_wire *wire);

/* For crest_wire_reserve: makes room in the buffer. */
char *crest_wire_make_room(crest_wire *wire, size_t room);

/* Memory for `room` bytes of the open message, up to CREST_WIRE_ROOM_MAX: the caller writes there
 * and hands the end to crest_wire_commit. */
static inline char *crest_wire_reserve(crest_wire *wire, size_t room)
{
    if (CREST_BUFFER_BYTES - wire->out->used < room)
        return crest_wire_make_room(wire, room);
    return wire->out->bytes + wire->out->used;
}

void crest_wire_commit(crest_wire *wire, const char *end);

/* Raw bytes, without tag or length. _bytes: any number, as they are. _utf8: a text without its NUL,
 * as valid UTF-8: invalid parts become U+FFFD. */
void crest_wire_put_bytes(crest_wire *wire, const char *bytes, size_t length);
void crest_wire_put_utf8(crest_wire *wire, const char *text);
/* The bytes that crest_wire_put_utf8 makes of a text. */
size_t crest_wire_utf8_bytes(const char *text);
/* A string field, number below 16: tag, length and valid UTF-8. _bytes: how many bytes that takes.
 */
void crest_wire_put_text(crest_wire *wire, unsigned field, const char *text);
static inline size_t crest_wire_text_bytes(size_t length)
{
    return 1 + crest_wire_varint_bytes(length) + length;
}

#endif
