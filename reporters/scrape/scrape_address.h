/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where to listen: a list of addresses, of which the first free one is taken. The syntax is in
 * <crest/prometheus.h>.
 */
#ifndef CREST_REPORTERS_SCRAPE_ADDRESS_H
#define CREST_REPORTERS_SCRAPE_ADDRESS_H

#include <crest/prometheus.h>

#define CREST_SCRAPE_HOST_BYTES_MAX 255u
/* "[…]:65535" and a NUL. */
#define CREST_SCRAPE_SHOWN_BYTES (CREST_SCRAPE_HOST_BYTES_MAX + 9)

typedef struct crest_scrape_address {
    char host[CREST_SCRAPE_HOST_BYTES_MAX + 1]; /* "": every interface */
    unsigned first, last;                       /* ports */
} crest_scrape_address;

typedef struct crest_scrape_listener {
    int socket; /* listening, non-blocking, closed by exec */
    unsigned port;
    int loopback;                         /* clients on other machines cannot reach it */
    char shown[CREST_SCRAPE_SHOWN_BYTES]; /* HOST:PORT, as in a URL */
} crest_scrape_listener;

/* Takes the next address off *list. 1; 0 at the end; -1 with *error filled: it is malformed. */
int crest_scrape_address_next(const char **list, crest_scrape_address *address, crest_error *error);

/* Whether the whole list can be read. */
crest_status crest_scrape_address_check(const char *list, crest_error *error);

/* Listens on the first free address. CREST_INVALID_ARGUMENT for the list, CREST_UNREACHABLE when
 * none is free or exists, CREST_SYSTEM. Looking up a name may block. */
crest_status crest_scrape_address_listen(const char *list, crest_scrape_listener *listener,
                                         crest_error *error);

#endif
