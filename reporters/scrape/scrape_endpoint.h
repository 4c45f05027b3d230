/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An endpoint of pages of crest_scrape_other, as a part of a reporter: its addresses, and its
 * server from start to stop.
 *
 *     crest_scrape_endpoint_init(&self->endpoint, &pages, listen, hosts, &error)
 *     crest_scrape_endpoint_start(&self->endpoint, registry, threadless, shown, &loopback,
 *                                 &error)
 *     crest_scrape_endpoint_stop(&self->endpoint, left_ns, &error)      again while it is late
 *     crest_scrape_endpoint_fini(&self->endpoint)
 */
#ifndef CREST_REPORTERS_SCRAPE_ENDPOINT_H
#define CREST_REPORTERS_SCRAPE_ENDPOINT_H

#include "scrape/scrape_server.h"

typedef struct crest_scrape_endpoint {
    crest_scrape_settings settings;
    pthread_mutex_t lock;        /* guards server */
    crest_scrape_server *server; /* NULL: not serving */
} crest_scrape_endpoint;

/* Copies the texts; `hosts` may be NULL. Of a failure nothing is left to fini. */
crest_status crest_scrape_endpoint_init(crest_scrape_endpoint *endpoint,
                                        const crest_scrape_other *pages, const char *listen,
                                        const char *hosts, crest_error *error);
void crest_scrape_endpoint_fini(crest_scrape_endpoint *endpoint);

/* shown: CREST_SCRAPE_SHOWN_BYTES, HOST:PORT as in a URL; *loopback: no other machine reaches it.
 * `threadless` is what is said where threads are forbidden. */
crest_status crest_scrape_endpoint_start(crest_scrape_endpoint *endpoint, crest_registry *registry,
                                         const char *threadless, char *shown, int *loopback,
                                         crest_error *error);
/* CREST_TIMED_OUT: it is still busy after left_ns; the caller calls again. */
crest_status crest_scrape_endpoint_stop(crest_scrape_endpoint *endpoint, uint64_t left_ns,
                                        crest_error *error);

/* Whether a page of another site has a browser ask: a browser then says so. A person's own request,
 * go tool pprof's and curl's have neither header. Source: W3C, Fetch Metadata; RFC 6454, 7. */
int crest_scrape_cross_site(struct MHD_Connection *connection);

#endif
