/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The server of a scrape endpoint: one thread that accepts connections, lets libmicrohttpd read
 * requests and write answers, ends what takes too long, and looks after the pages being made. What
 * is answered is its handlers' business: scrape_routes.c.
 */
#ifndef CREST_REPORTERS_SCRAPE_SERVER_H
#define CREST_REPORTERS_SCRAPE_SERVER_H

#include "scrape/scrape_server_inside.h"

/* What libmicrohttpd is to call when a request has come, of whichever connection; cls is the
 * server. Called in the server's thread. */
typedef struct crest_scrape_handlers {
    /* with the URI of each request, before its arguments are read */
    void *(*uri)(void *cls, const char *uri, struct MHD_Connection *connection);
    MHD_AccessHandlerCallback handle;
    MHD_RequestCompletedCallback completed;
} crest_scrape_handlers;

/* Listens and starts the thread, unless there are none (loop.h). NULL with *status and *error
 * filled. settings and handlers are borrowed. */
crest_scrape_server *crest_scrape_server_start(const crest_scrape_settings *settings,
                                               const crest_scrape_handlers *handlers,
                                               crest_registry *registry, crest_status *status,
                                               crest_error *error);

/* Lets answers be finished until shortly before `deadline_ns` (on crest_scrape_now_ns's timeline),
 * ends the thread and frees the server. CREST_TIMED_OUT when the thread is still busy; call it
 * again. In the child of a fork it only forgets the server. */
crest_status crest_scrape_server_stop(crest_scrape_server *server, uint64_t deadline_ns,
                                      crest_error *error);

/* Of one whose turns the host's loop takes: does what is due, and says when to come again, in ms;
 * UINT64_MAX: when a descriptor says so. */
uint64_t crest_scrape_server_turn(crest_scrape_server *server);

/* 0 in the child of a fork. */
unsigned crest_scrape_server_port(crest_scrape_server *server);

/* ---- for scrape_routes.c ---- */

/* Starts making a page for a connection; 0, or not when there can be none now. */
int crest_scrape_server_make(crest_scrape_server *server, crest_scrape_page *page);
/* Nobody wants the page any more; its server frees it when its thread has ended. */
void crest_scrape_server_drop(crest_scrape_page *page);

#endif
