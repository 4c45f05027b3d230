/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A fixed buffer in front of a write callback. See buffer.h.
 */
#include "base/buffer.h"
#include "base/alloc.h"
#include "base/number.h"

int crest_buffer_init(crest_buffer *buffer, crest_buffer_write_fn *write, void *context)
{
    *buffer = (crest_buffer){.write = write, .context = context};
    /* not zeroed: that would cost a page of a thousand series a twentieth of its time */
    buffer->bytes = crest_alloc_resize(NULL, CREST_BUFFER_BYTES, 1);
    return buffer->bytes != NULL;
}

void crest_buffer_fini(crest_buffer *buffer)
{
    crest_alloc_free(buffer->bytes);
    buffer->bytes = NULL;
}

int crest_buffer_hand_out(crest_buffer *buffer, const char *bytes, size_t length)
{
    if (buffer->failed == 0 && length != 0) {
        buffer->failed = buffer->write(buffer->context, bytes, length);
        if (buffer->failed == 0)
            buffer->delivered += length;
        else
            buffer->refused = length;
    }
    return buffer->failed == 0;
}

int crest_buffer_flush(crest_buffer *buffer)
{
    crest_buffer_hand_out(buffer, buffer->bytes, buffer->used);
    buffer->used = 0;
    return buffer->failed == 0;
}

/* Fills the buffer before it goes out, so that only the last piece is short. */
void crest_buffer_put_long(crest_buffer *buffer, const char *bytes, size_t length)
{
    while (length != 0) {
        size_t part = CREST_BUFFER_BYTES - buffer->used;
        if (part > length)
            part = length;
        memcpy(buffer->bytes + buffer->used, bytes, part);
        buffer->used += part;
        bytes += part;
        length -= part;
        if (buffer->used == CREST_BUFFER_BYTES)
            crest_buffer_flush(buffer);
    }
}

void crest_buffer_put_text(crest_buffer *buffer, const char *text)
{
    crest_buffer_put_bytes(buffer, text, strlen(text));
}

void crest_buffer_put_u64(crest_buffer *buffer, uint64_t value)
{
    buffer->used += crest_number_u64(crest_buffer_reserve(buffer, CREST_NUMBER_BYTES_MAX), value);
}

void crest_buffer_put_scaled(crest_buffer *buffer, uint64_t value, unsigned decimals)
{
    char *text = crest_buffer_reserve(buffer, CREST_NUMBER_BYTES_MAX);
    buffer->used += crest_number_scaled(text, value, decimals);
}

void crest_buffer_put_double(crest_buffer *buffer, double value)
{
    buffer->used +=
        crest_number_double(crest_buffer_reserve(buffer, CREST_NUMBER_BYTES_MAX), value);
}
