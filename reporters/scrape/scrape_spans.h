/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The last kept spans, as lines of JSON, for /spans: a ring of one process, however many endpoints
 * it has. `crest op` reads it.
 */
#ifndef CREST_REPORTERS_SCRAPE_SPANS_H
#define CREST_REPORTERS_SCRAPE_SPANS_H

#include <microhttpd.h>
#include <stddef.h>

/* Bytes of lines that are kept; of more, the oldest go. Taken with the first span. */
#define CREST_SCRAPE_SPANS_BYTES 1048576u

/* An endpoint serves: spans are kept from the first one's start to the last one's stop. */
void crest_scrape_spans_begin(void);
void crest_scrape_spans_end(void);

/* The lines, oldest first, `*length` bytes that the caller frees; NULL without memory. */
char *crest_scrape_spans_copy(size_t *length);

/* Non-zero when the request is of this machine, for a loopback name: no page in a browser can have
 * made it under a name of its own. */
int crest_scrape_spans_near(struct MHD_Connection *connection);

#endif
