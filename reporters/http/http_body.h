/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The body of a push: takes a page piece by piece, compresses it as it comes, and keeps it in one
 * bounded buffer, so that a push whose connection breaks can be repeated with the same bytes. Knows
 * neither metrics nor HTTP.
 *
 *     crest_http_body body = {.limit = CREST_HTTP_BODY_BYTES_MAX};
 *     crest_http_body_begin(&body, 1);
 *     crest_snapshot_write(snapshot, format, NULL, crest_http_body_write, &body, &error);
 *     crest_http_body_end(&body);
 *     ... body.bytes, body.length ...
 *     crest_http_body_fini(&body);
 */
#ifndef CREST_REPORTERS_HTTP_BODY_H
#define CREST_REPORTERS_HTTP_BODY_H

#include <crest/status.h>

/* The most bytes of a push, as sent; compressed, that is a page of about a gigabyte. */
#define CREST_HTTP_BODY_BYTES_MAX (UINT32_C(64) << 20)

/* Zeroed but for `limit` before its first begin. The buffer and zlib's state are kept for the next
 * body, so that pushing every minute does not allocate every minute. */
typedef struct crest_http_body {
    size_t limit;         /* bytes as sent */
    unsigned char *bytes; /* what to send */
    size_t length, capacity;
    uint64_t plain_bytes; /* what went in */
    int gzip;
    crest_status status; /* CREST_OK, CREST_LIMIT or CREST_NO_MEMORY: why write stopped */
    void *deflater;      /* z_stream */
} crest_http_body;

/* Empties it, ready for writes; gzip non-zero compresses. CREST_NO_MEMORY. */
crest_status crest_http_body_begin(crest_http_body *body, int gzip);

/* A crest_write_fn with the body as its context; non-zero, with body->status set, to stop. */
int crest_http_body_write(void *body, const void *bytes, size_t length);

/* Completes it; body->status. */
crest_status crest_http_body_end(crest_http_body *body);

void crest_http_body_fini(crest_http_body *body);

#endif
