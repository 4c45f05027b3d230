/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The server of a scrape endpoint: one thread that accepts connections and ends those that take too
 * long. It lets libmicrohttpd read requests and write answers, and looks after the pages being
 * made. Its handlers decide what is answered: scrape_routes.c.
 */
#ifndef CREST_REPORTERS_SCRAPE_SERVER_H
#define CREST_REPORTERS_SCRAPE_SERVER_H

#include "scrape/scrape_server_inside.h"

/* What libmicrohttpd calls when a request has come, on any connection; cls is the server. Called in
 * the server's thread. */
typedef struct crest_scrape_handlers {
    /* called with the URI of each request, before its arguments are read */
    void *(*uri)(void *cls, const char *uri, struct MHD_Connection *connection);
    MHD_AccessHandlerCallback handle;
    MHD_RequestCompletedCallback completed;
} crest_scrape_handlers;

/* Listens and starts the thread, unless threads are forbidden (loop.h). NULL with *status and
 * *error filled. settings and handlers are borrowed. */
crest_scrape_server *crest_scrape_server_start(const crest_scrape_settings *settings,
                                               const crest_scrape_handlers *handlers,
                                               crest_registry *registry, crest_status *status,
                                               crest_error *error);

/* Lets answers be finished until shortly before `deadline_ns` (on crest_scrape_now_ns's timeline).
 * Then ends the thread and frees the server. CREST_TIMED_OUT when the thread is still busy; the
 * caller calls again. In the child of a fork it only forgets the server. */
crest_status crest_scrape_server_stop(crest_scrape_server *server, uint64_t deadline_ns,
                                      crest_error *error);

/* A turn of the host's loop, for a server without a thread: does what is due. Returns in how many
 * ms to call again; UINT64_MAX: when a descriptor is ready. */
uint64_t crest_scrape_server_turn(crest_scrape_server *server);

/* 0 in the child of a fork. */
unsigned crest_scrape_server_port(crest_scrape_server *server);

/* ---- for scrape_routes.c ---- */

/* Starts making a page for a connection; 0, or not when there can be none now. */
int crest_scrape_server_make(crest_scrape_server *server, crest_scrape_page *page);
/* No connection wants the page any more; the server frees it when its thread has ended. */
void crest_scrape_server_drop(crest_scrape_page *page);

#endif
