/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a scrape endpoint answers. Called by libmicrohttpd in the server's thread.
 */
#ifndef CREST_REPORTERS_SCRAPE_ROUTES_H
#define CREST_REPORTERS_SCRAPE_ROUTES_H

#include "scrape/scrape_server.h"

/* Handlers for crest_scrape_server_start. A URI that is too long, or has too many arguments, is
 * answered before its arguments are read: libmicrohttpd 0.9.75 leaves a client without an answer
 * when the arguments do not fit into its memory. */
extern const crest_scrape_handlers crest_scrape_routes;

#endif
