/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What headers of a scrape mean. Pure functions.
 */
#ifndef CREST_REPORTERS_SCRAPE_HEADERS_H
#define CREST_REPORTERS_SCRAPE_HEADERS_H

#include <stdint.h>

/* Whether an Accept-Encoding (NULL: none) accepts gzip: by name, or else by *, with a q above 0. */
int crest_scrape_wants_gzip(const char *accept_encoding);

/* Whether it refuses an uncompressed answer: identity, or else *, with a q of 0. Source: RFC 9110,
 * 12.5.3. */
int crest_scrape_refuses_identity(const char *accept_encoding);

/* X-Prometheus-Scrape-Timeout-Seconds (NULL: none), a decimal number, in milliseconds: at least 1,
 * at most `highest_ms`; `otherwise_ms` when there is none or it is malformed. */
uint64_t crest_scrape_timeout_ms(const char *seconds, uint64_t otherwise_ms, uint64_t highest_ms);

#endif
