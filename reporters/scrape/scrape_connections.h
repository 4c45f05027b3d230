/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The connections of a scrape endpoint: accepting them, and how long each may take. All is for the
 * server's thread.
 */
#ifndef CREST_REPORTERS_SCRAPE_CONNECTIONS_H
#define CREST_REPORTERS_SCRAPE_CONNECTIONS_H

#include "scrape/scrape_server_inside.h"

/* An MHD_NotifyConnectionCallback; cls is the server. */
void crest_scrape_connections_notify(void *cls, struct MHD_Connection *connection, void **context,
                                     enum MHD_ConnectionNotificationCode what);
/* Whether one more could be accepted; otherwise those who knock are not to wake anybody. */
int crest_scrape_connections_have_room(const crest_scrape_server *server);
/* Accepts one; 0 when there is none, or no room. */
int crest_scrape_connections_accept(crest_scrape_server *server);
void crest_scrape_connections_close_late(crest_scrape_server *server, uint64_t now_ns);
/* Lets libmicrohttpd work once through its connections. */
void crest_scrape_connections_turn(crest_scrape_server *server);
/* Closes it as soon as libmicrohttpd sees that. */
void crest_scrape_connections_shut(crest_scrape_connection *connection);

/* ---- for the handlers ---- */

/* A request has come whole and is to be answered by then; it has been answered. */
void crest_scrape_connections_answering(struct MHD_Connection *connection, uint64_t until_ns);
void crest_scrape_connections_answered(struct MHD_Connection *connection);
/* Its client has read on; it has until then, and no longer than CREST_PROMETHEUS_STALL_S without
 * doing so again. */
void crest_scrape_connections_reads(struct MHD_Connection *connection, uint64_t until_ns);
/* Sends this instead of an answer, and nothing more; whether that was done. */
void crest_scrape_connections_refuse(struct MHD_Connection *connection, const char *answer,
                                     size_t length);
/* Non-zero as well of a connection that has no place here. */
int crest_scrape_connections_refused(struct MHD_Connection *connection);
/* Breaks the connection off so that the client notices: with a reset. */
void crest_scrape_connections_reset(struct MHD_Connection *connection);

#endif
