/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages of Protocol Buffers through a buffer. See protobuf.h.
 */
#include "wire/protobuf.h"
#include "base/alloc.h"
#include "base/utf8.h"

#include <assert.h>

/* Bytes are copied in steps of this size. */
#define WIRE_STEP_BYTES 4096u

void crest_wire_init(crest_wire *wire, crest_buffer *out)
{
    *wire = (crest_wire){.out = out};
}

void crest_wire_open(crest_wire *wire)
{
    crest_buffer *out = wire->out;
    if (wire->state == CREST_WIRE_MEASURED) {
        char *at = crest_buffer_reserve(out, CREST_WIRE_VARINT_BYTES_MAX);
        out->used = (size_t)(crest_wire_varint(at, wire->length) - out->bytes);
        wire->state = CREST_WIRE_KNOWN;
        return;
    }
    assert(wire->state == CREST_WIRE_IDLE);
    crest_buffer_reserve(out, CREST_WIRE_LENGTH_BYTES);
    wire->from = out->used;
    out->used += CREST_WIRE_LENGTH_BYTES;
    wire->length = 0;
    wire->state = CREST_WIRE_WHOLE;
}

/* Hands out what lies in front of the open message, and moves the message to the buffer's
 * beginning. */
static void wire_move_up(crest_wire *wire)
{
    crest_buffer *out = wire->out;
    size_t from = wire->from, length = out->used - from;
    out->used = from;
    crest_buffer_flush(out);
    memmove(out->bytes, out->bytes + from, length);
    out->used = length;
    wire->from = 0;
}

/* Keeps the full buffer, in which the message begins or goes on, and takes a new one. 0: cannot. */
static int wire_keep(crest_wire *wire)
{
    crest_buffer *out = wire->out;
    if (wire->kept_count == CREST_WIRE_KEPT_MAX)
        return 0;
    char *fresh = crest_alloc_resize(NULL, CREST_BUFFER_BYTES, 1);
    if (fresh == NULL)
        return 0;
    wire->kept[wire->kept_count++] = (crest_wire_kept){out->bytes, out->used};
    out->bytes = fresh;
    out->used = 0;
    return 1;
}

/* Bytes of the open message so far, without the room for its length. */
static uint64_t wire_whole(const crest_wire *wire)
{
    uint64_t bytes = wire->out->used - wire->from - CREST_WIRE_LENGTH_BYTES;
    for (unsigned i = 0; i < wire->kept_count; i++)
        bytes += wire->kept[i].used;
    return bytes;
}

/* Frees the kept buffers, handing out what they hold from here on in the first of them; SIZE_MAX:
 * it is dropped. */
static void wire_let_go(crest_wire *wire, size_t from)
{
    for (unsigned i = 0; i < wire->kept_count; i++, from = from != SIZE_MAX ? 0 : from) {
        const crest_wire_kept *kept = &wire->kept[i];
        if (from != SIZE_MAX)
            crest_buffer_hand_out(wire->out, kept->bytes + from, kept->used - from);
        crest_alloc_free(kept->bytes);
    }
    wire->kept_count = 0;
}

char *crest_wire_make_room(crest_wire *wire, size_t room)
{
    crest_buffer *out = wire->out;
    assert(room <= CREST_WIRE_ROOM_MAX);
    if (wire->state == CREST_WIRE_KNOWN)
        return crest_buffer_reserve(out, room);
    if (wire->state == CREST_WIRE_WHOLE && wire->from != 0)
        wire_move_up(wire);
    if (wire->state == CREST_WIRE_WHOLE && CREST_BUFFER_BYTES - out->used < room &&
        !wire_keep(wire)) {
        wire->length = wire_whole(wire);
        wire_let_go(wire, SIZE_MAX);
        out->used = 0;
        wire->state = CREST_WIRE_COUNTING;
    }
    return out->bytes + out->used;
}

void crest_wire_commit(crest_wire *wire, const char *end)
{
    crest_buffer *out = wire->out;
    size_t used = (size_t)(end - out->bytes), more = used - out->used;
    if (wire->state == CREST_WIRE_COUNTING) {
        wire->length += more;
        return;
    }
    out->used = used;
    if (wire->state == CREST_WIRE_KNOWN) {
        assert(more <= wire->length);
        wire->length -= more;
    }
}

int crest_wire_close(crest_wire *wire)
{
    crest_buffer *out = wire->out;
    if (wire->state == CREST_WIRE_COUNTING) {
        wire->state = CREST_WIRE_MEASURED;
        return 0;
    }
    if (wire->state == CREST_WIRE_WHOLE && wire->kept_count != 0) {
        uint64_t length = wire_whole(wire);
        size_t from = CREST_WIRE_LENGTH_BYTES - crest_wire_varint_bytes(length);
        crest_wire_varint(wire->kept[0].bytes + from, length);
        wire_let_go(wire, from);
    } else if (wire->state == CREST_WIRE_WHOLE) {
        char *to = out->bytes + wire->from, *body = to + CREST_WIRE_LENGTH_BYTES;
        size_t length = out->used - wire->from - CREST_WIRE_LENGTH_BYTES;
        to = crest_wire_varint(to, length);
        memmove(to, body, length);
        out->used = (size_t)(to - out->bytes) + length;
    } else {
        assert(wire->state == CREST_WIRE_KNOWN && wire->length == 0);
    }
    wire->state = CREST_WIRE_IDLE;
    return 1;
}

void crest_wire_put_bytes(crest_wire *wire, const char *bytes, size_t length)
{
    while (length != 0) {
        size_t part = length < WIRE_STEP_BYTES ? length : WIRE_STEP_BYTES;
        char *at = crest_wire_reserve(wire, part);
        memcpy(at, bytes, part);
        crest_wire_commit(wire, at + part);
        bytes += part;
        length -= part;
    }
}

/* Calls crest_wire_put_bytes, unless `wire` is NULL, with each valid part and with U+FFFD for each
 * invalid one; returns the number of bytes. */
static size_t wire_utf8(crest_wire *wire, const char *text)
{
    size_t length = strlen(text), bytes = 0;
    for (;;) {
        size_t valid = crest_utf8_valid_length(text, length), bad = 0;
        if (wire != NULL)
            crest_wire_put_bytes(wire, text, valid);
        bytes += valid;
        text += valid;
        length -= valid;
        if (length == 0)
            return bytes;
        crest_utf8_character(text, length, &bad);
        if (wire != NULL)
            crest_wire_put_bytes(wire, CREST_UTF8_REPLACEMENT, CREST_UTF8_REPLACEMENT_BYTES);
        bytes += CREST_UTF8_REPLACEMENT_BYTES;
        text += bad;
        length -= bad;
    }
}

size_t crest_wire_utf8_bytes(const char *text)
{
    return wire_utf8(NULL, text);
}

void crest_wire_put_utf8(crest_wire *wire, const char *text)
{
    wire_utf8(wire, text);
}

void crest_wire_put_text(crest_wire *wire, unsigned field, const char *text)
{
    char *at = crest_wire_reserve(wire, CREST_WIRE_FIELD_BYTES_MAX);
    at = crest_wire_tag(at, field, CREST_WIRE_LENGTH);
    crest_wire_commit(wire, crest_wire_varint(at, crest_wire_utf8_bytes(text)));
    crest_wire_put_utf8(wire, text);
}
