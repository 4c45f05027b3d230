/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a scrape endpoint answers. Called by libmicrohttpd in the server's thread.
 */
#ifndef CREST_REPORTERS_SCRAPE_ROUTES_H
#define CREST_REPORTERS_SCRAPE_ROUTES_H

#include "scrape/scrape_server.h"

#include <microhttpd.h>

/* Called with the URI of each request, before its arguments are read: one that is too long, or has
 * too many of them, is answered here, because libmicrohttpd 0.9.75 leaves a client without an
 * answer when the arguments do not fit into its memory. Always NULL. */
void *crest_scrape_routes_uri(void *cls, const char *uri, struct MHD_Connection *connection);
/* An MHD_AccessHandlerCallback and an MHD_RequestCompletedCallback; cls is the server. */
enum MHD_Result crest_scrape_routes_handle(void *cls, struct MHD_Connection *connection,
                                           const char *url, const char *method, const char *version,
                                           const char *upload_data, size_t *upload_data_size,
                                           void **request);
void crest_scrape_routes_completed(void *cls, struct MHD_Connection *connection, void **request,
                                   enum MHD_RequestTerminationCode how);

#endif
