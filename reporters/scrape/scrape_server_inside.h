/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a scrape endpoint's server is made of: its connections, its pages and its thread. For
 * scrape_server.c, scrape_connections.c and the handlers in scrape_routes.c.
 */
#ifndef CREST_REPORTERS_SCRAPE_SERVER_INSIDE_H
#define CREST_REPORTERS_SCRAPE_SERVER_INSIDE_H

#include "scrape/scrape_address.h"
#include "scrape/scrape_page.h"

#include <microhttpd.h>

/* A message kept for the log, which is told outside of all locks. */
#define CREST_SCRAPE_NOTE_BYTES 512u

typedef struct crest_scrape_connection {
    int socket;        /* -1: this place is free */
    int added;         /* libmicrohttpd has announced it */
    int answering;     /* a request has come whole; otherwise the server waits for one */
    uint64_t since_ns; /* since when it is or does so */
    uint64_t until_ns; /* the server closes it then */
    int closing;
    int refused; /* it gets no answer any more */
} crest_scrape_connection;

typedef struct crest_scrape_server {
    const crest_scrape_settings *settings;
    crest_registry *registry;
    crest_scrape_listener listener; /* its socket is -1 once closed */
    int wake;                       /* an eventfd: pages and stop write to it */
    pthread_t thread;
    int loop;      /* there is no thread: the host's loop takes turns */
    int listening; /* the loop waits for the listener */

    pthread_mutex_t lock; /* guards these */
    pthread_cond_t changed;
    int stopping, ended;
    uint64_t stop_ns; /* everything must be over by then */

    /* the thread's own */
    struct MHD_Daemon *daemon;
    int epoll; /* the daemon's, borrowed */
    crest_scrape_connection *connections;
    unsigned open;
    crest_scrape_page *pages;
    unsigned making;          /* of these, those whose threads run */
    uint64_t accept_again_ns; /* when to accept again, after descriptors ran out; 0: now */
    char note[CREST_SCRAPE_NOTE_BYTES];
    unsigned notes_left_out;
    uint64_t note_again_ns;

    struct crest_scrape_server *next; /* the process's next server */
    int orphaned;                     /* in the child of a fork */
} crest_scrape_server;

#endif
