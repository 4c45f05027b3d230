/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The connections of a scrape endpoint: accepting them, and how long each may take. Everything is
 * called by the server's thread.
 */
#ifndef CREST_REPORTERS_SCRAPE_CONNECTIONS_H
#define CREST_REPORTERS_SCRAPE_CONNECTIONS_H

#include "scrape/scrape_server_inside.h"

/* An MHD_NotifyConnectionCallback; cls is the server. */
void crest_scrape_connections_notify(void *cls, struct MHD_Connection *connection, void **context,
                                     enum MHD_ConnectionNotificationCode what);
/* Whether the server could accept one more. If not, new clients must not wake the server. */
int crest_scrape_connections_have_room(const crest_scrape_server *server);
/* Accepts one connection; 0 when there is none, or no room. */
int crest_scrape_connections_accept(crest_scrape_server *server);
void crest_scrape_connections_close_late(crest_scrape_server *server, uint64_t now_ns);
/* Lets libmicrohttpd work once through its connections. */
void crest_scrape_connections_turn(crest_scrape_server *server);
/* Shuts the connection down: it is closed as soon as libmicrohttpd sees that. */
void crest_scrape_connections_shut(crest_scrape_connection *connection);

/* ---- for the handlers ---- */

/* A request has come whole and is to be answered until then; the request has been answered. */
void crest_scrape_connections_answering(struct MHD_Connection *connection, uint64_t until_ns);
void crest_scrape_connections_answered(struct MHD_Connection *connection);
/* The client has taken more of the answer. It has until then, and no longer than
 * CREST_PROMETHEUS_STALL_S before it takes more. */
void crest_scrape_connections_reads(struct MHD_Connection *connection, uint64_t until_ns);
/* Sends this instead of an answer, and nothing more; non-zero if that was done. */
void crest_scrape_connections_refuse(struct MHD_Connection *connection, const char *answer,
                                     size_t length);
/* Non-zero also for a connection without a place. */
int crest_scrape_connections_refused(struct MHD_Connection *connection);
/* Breaks the connection off so that the client notices: with a reset. */
void crest_scrape_connections_reset(struct MHD_Connection *connection);

#endif
