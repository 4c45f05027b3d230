/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Further headers of OTLP requests, such as a vendor's api-key: from a file that is read anew for
 * each report, so that its secrets can be exchanged, and from a list that stays.
 *
 *     crest_otlp_headers_init(&headers, path, labels, count, &error);
 *     if (crest_otlp_headers_read(&headers, &error) == CREST_OK)
 *         request.headers = headers.lines, request.header_count = headers.count;
 *     crest_otlp_headers_wipe(&headers);
 *     crest_otlp_headers_fini(&headers);
 *
 * The file has a header a line, "Name: value"; empty lines and those that begin with '#' are none.
 * A header of the file replaces one of the list.
 */
#ifndef CREST_REPORTERS_OTLP_HEADERS_H
#define CREST_REPORTERS_OTLP_HEADERS_H

#include <crest/page.h>

#define CREST_OTLP_HEADERS_MAX 32u
#define CREST_OTLP_HEADERS_FILE_BYTES_MAX 16384u

typedef struct crest_otlp_headers {
    char *path;                         /* NULL: no file */
    char *kept[CREST_OTLP_HEADERS_MAX]; /* "Name: value", of the list */
    unsigned kept_count;
    char *file;   /* the file's text, between read and wipe */
    size_t bytes; /* of it */
    int told;     /* the log was warned that others can read it */
    const char *lines[CREST_OTLP_HEADERS_MAX];
    unsigned count;
} crest_otlp_headers;

/* Checks and copies; reads the file once to see that it can be. The struct is zeroed before.
 * CREST_INVALID_ARGUMENT with a message that has no value of a header in it, CREST_NO_MEMORY; fini
 * is due in any case. */
crest_status crest_otlp_headers_init(crest_otlp_headers *headers, const char *path,
                                     const crest_page_label *list, unsigned count,
                                     crest_error *error);

/* Fills lines and count, which are good until wipe. CREST_IO naming file and line, CREST_NO_MEMORY.
 */
crest_status crest_otlp_headers_read(crest_otlp_headers *headers, crest_error *error);

void crest_otlp_headers_wipe(crest_otlp_headers *headers);

void crest_otlp_headers_fini(crest_otlp_headers *headers);

#endif
