/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A fixed buffer in front of a write callback. Bytes go out in pieces of at most
 * CREST_BUFFER_BYTES, so a page of any length needs one allocation.
 *
 *     crest_buffer buffer;
 *     if (!crest_buffer_init(&buffer, write, context)) ...no memory...
 *     crest_buffer_put_text(&buffer, "comm_events_total ");
 *     crest_buffer_put_u64(&buffer, 12);
 *     if (!crest_buffer_flush(&buffer)) ...buffer.failed is what the callback returned...
 *     crest_buffer_fini(&buffer);
 *
 * Putting never fails: once the callback has refused a piece, the rest is dropped, and
 * crest_buffer_flush says so. Not thread-safe.
 */
#ifndef CREST_BASE_BUFFER_H
#define CREST_BASE_BUFFER_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define CREST_BUFFER_BYTES 65536u

/* The same as crest_write_fn, which the base does not know. */
typedef int crest_buffer_write_fn(void *context, const void *bytes, size_t length);

typedef struct crest_buffer {
    char *bytes;
    size_t used;
    crest_buffer_write_fn *write;
    void *context;
    int failed;         /* what the callback returned when it refused; 0: it has not */
    size_t refused;     /* bytes of the refused piece */
    uint64_t delivered; /* bytes that the callback has taken */
} crest_buffer;

/* Allocates; 0 when there is no memory, non-zero otherwise. The callback and its context are
 * borrowed until crest_buffer_fini. */
int crest_buffer_init(crest_buffer *buffer, crest_buffer_write_fn *write, void *context);

/* Frees; what was not flushed is lost. */
void crest_buffer_fini(crest_buffer *buffer);

/* Hands out what is left; 0 when the callback has refused this piece or an earlier one. */
int crest_buffer_flush(crest_buffer *buffer);

/* Hands out bytes that lie elsewhere; the buffer is empty. 0 as crest_buffer_flush. */
int crest_buffer_hand_out(crest_buffer *buffer, const char *bytes, size_t length);

/* Room for `length` bytes, up to CREST_BUFFER_BYTES, to write into; add what was written to
 * `used`. */
static inline char *crest_buffer_reserve(crest_buffer *buffer, size_t length)
{
    if (CREST_BUFFER_BYTES - buffer->used < length)
        crest_buffer_flush(buffer);
    return buffer->bytes + buffer->used;
}

/* For more than fits; crest_buffer_put_bytes calls it. */
void crest_buffer_put_long(crest_buffer *buffer, const char *bytes, size_t length);

static inline void crest_buffer_put_bytes(crest_buffer *buffer, const char *bytes, size_t length)
{
    if (CREST_BUFFER_BYTES - buffer->used < length) {
        crest_buffer_put_long(buffer, bytes, length);
        return;
    }
    memcpy(buffer->bytes + buffer->used, bytes, length);
    buffer->used += length;
}

static inline void crest_buffer_put_char(crest_buffer *buffer, char c)
{
    *crest_buffer_reserve(buffer, 1) = c;
    buffer->used++;
}

void crest_buffer_put_text(crest_buffer *buffer, const char *text);

/* Numbers as number.h writes them. */
void crest_buffer_put_u64(crest_buffer *buffer, uint64_t value);
void crest_buffer_put_scaled(crest_buffer *buffer, uint64_t value, unsigned decimals);
void crest_buffer_put_double(crest_buffer *buffer, double value);

#endif
