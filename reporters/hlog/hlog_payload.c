/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The compressed form of HdrHistogram's bytes: cookie, length, and zlib's stream of the V2 bytes.
 * See <crest/hlog.h>.
 */
#include <crest/hlog.h>

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define HLOG_COOKIE UINT32_C(0x1c849304)
#define HLOG_COOKIE_WIDTH UINT32_C(0xf0)
#define HLOG_HEAD_BYTES 8u
/* Where the V2 bytes have the length of their counts, and the digits. */
#define HLOG_COUNTS_AT 4
#define HLOG_DIGITS_AT 12

static uint32_t hlog_get(const unsigned char *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static void hlog_put(unsigned char *at, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        at[i] = (unsigned char)(value >> (24 - 8 * i));
}

crest_status crest_distribution_encode_compressed(const crest_distribution *distribution,
                                                  void *bytes, size_t room, size_t *length)
{
    size_t plain = 0;
    crest_status status = crest_distribution_encode(distribution, NULL, 0, &plain);
    *length = 0;
    if (status != CREST_LIMIT || plain == 0)
        return status;
    uLongf packed = compressBound(plain);
    unsigned char *from = malloc(plain), *to = malloc(HLOG_HEAD_BYTES + packed);
    status = CREST_NO_MEMORY;
    if (from != NULL && to != NULL &&
        crest_distribution_encode(distribution, from, plain, &plain) == CREST_OK &&
        compress(to + HLOG_HEAD_BYTES, &packed, from, plain) == Z_OK) {
        hlog_put(to, HLOG_COOKIE | 0x10);
        hlog_put(to + 4, (uint32_t)packed);
        *length = HLOG_HEAD_BYTES + packed;
        status = *length <= room ? CREST_OK : CREST_LIMIT;
        if (status == CREST_OK)
            memcpy(bytes, to, *length);
    }
    free(from);
    free(to);
    return status;
}

/* ---- reading ---- */

/* How many bytes of counts so many digits can need: 64 powers of two, and nine bytes a cell. */
static size_t hlog_counts_max(uint32_t digits)
{
    static const unsigned char bits[] = {0, 4, 7, 10, 14, 17};
    return digits < sizeof bits ? ((size_t)64 * CREST_HDR_COUNT_BYTES_MAX) << bits[digits] : 0;
}

#define HLOG_REFUSE(error, ...)                                                                    \
    crest_error_set(error, CREST_INVALID_ARGUMENT,                                                 \
                    "Not a compressed histogram of HdrHistogram: " __VA_ARGS__)

/* Inflates up to `room` bytes; how many there were, or -1. */
static long hlog_inflate(z_stream *stream, unsigned char *to, size_t room)
{
    stream->next_out = to;
    stream->avail_out = (uInt)room;
    int result = inflate(stream, Z_SYNC_FLUSH);
    return result == Z_OK || result == Z_STREAM_END || result == Z_BUF_ERROR
               ? (long)(room - stream->avail_out)
               : -1;
}

/* The V2 bytes of a stream, whose length is as their head says; NULL with *error. */
static unsigned char *hlog_unpack(z_stream *stream, size_t *length, crest_error *error)
{
    unsigned char head[CREST_HDR_HEADER_BYTES], beyond;
    long got = hlog_inflate(stream, head, sizeof head);
    if (got != (long)sizeof head) {
        HLOG_REFUSE(error, "zlib says \"%s\" of its first bytes",
                    stream->msg != NULL ? stream->msg : "they end too soon");
        return NULL;
    }
    size_t counts = hlog_get(head + HLOG_COUNTS_AT), digits = hlog_get(head + HLOG_DIGITS_AT);
    if (counts > hlog_counts_max((uint32_t)digits)) {
        HLOG_REFUSE(error, "its counts are to take %d bytes, more than %d digits can need",
                    (int)counts, (int)digits);
        return NULL;
    }
    unsigned char *plain = malloc(sizeof head + counts);
    if (plain == NULL) {
        crest_error_set(error, CREST_NO_MEMORY, "No memory for %zu bytes of a histogram", counts);
        return NULL;
    }
    memcpy(plain, head, sizeof head);
    got = hlog_inflate(stream, plain + sizeof head, counts);
    if (got != (long)counts || hlog_inflate(stream, &beyond, 1) != 0) {
        HLOG_REFUSE(error, "its counts are to take %zu bytes, and %s", counts,
                    got < 0                ? stream->msg != NULL ? stream->msg : "are damaged"
                    : got < (long)counts ? "it ends before"
                                           : "it goes on after them, or is damaged there");
        free(plain);
        return NULL;
    }
    *length = sizeof head + counts;
    return plain;
}

crest_distribution *crest_distribution_decode_compressed(const void *bytes, size_t length,
                                                         crest_error *error)
{
    const unsigned char *from = bytes;
    if (from == NULL || length < 4 || (hlog_get(from) & ~HLOG_COOKIE_WIDTH) != HLOG_COOKIE)
        return crest_distribution_decode(bytes, length, error);
    if (length < HLOG_HEAD_BYTES || hlog_get(from + 4) != length - HLOG_HEAD_BYTES) {
        HLOG_REFUSE(error, "it has %zu bytes, which is not what it says", length);
        return NULL;
    }
    z_stream stream = {.next_in = (Bytef *)(uintptr_t)(from + HLOG_HEAD_BYTES),
                       .avail_in = (uInt)(length - HLOG_HEAD_BYTES)};
    if (inflateInit(&stream) != Z_OK) {
        crest_error_set(error, CREST_NO_MEMORY, "No memory to inflate a histogram");
        return NULL;
    }
    size_t unpacked = 0;
    unsigned char *plain = hlog_unpack(&stream, &unpacked, error);
    crest_distribution *made =
        plain != NULL ? crest_distribution_decode(plain, unpacked, error) : NULL;
    free(plain);
    inflateEnd(&stream);
    return made;
}
