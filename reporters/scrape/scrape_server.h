/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The server of a scrape endpoint: one thread that accepts connections, lets libmicrohttpd read
 * requests and write answers, ends what takes too long, and looks after the pages being made. What
 * is answered is in scrape_routes.c.
 */
#ifndef CREST_REPORTERS_SCRAPE_SERVER_H
#define CREST_REPORTERS_SCRAPE_SERVER_H

#include "scrape/scrape_address.h"
#include "scrape/scrape_page.h"

#include <microhttpd.h>

/* A message for the log, which is told outside of all locks. */
#define CREST_SCRAPE_NOTE_BYTES 512u

typedef struct crest_scrape_connection {
    int socket;        /* -1: this place is free */
    int added;         /* libmicrohttpd has told that it has it */
    int answering;     /* a request has come whole; otherwise it is being waited for */
    uint64_t since_ns; /* of which */
    uint64_t until_ns; /* it is closed then */
    int closing;
    int refused; /* it gets no answer any more */
} crest_scrape_connection;

typedef struct crest_scrape_server {
    const crest_scrape_settings *settings;
    crest_registry *registry;
    crest_scrape_listener listener; /* its socket is -1 once closed */
    int wake;                       /* an eventfd: pages and stop write to it */
    pthread_t thread;
    int loop;      /* there is none: the host's loop takes turns */
    int listening; /* the loop waits for the listener */

    pthread_mutex_t lock; /* guards these */
    pthread_cond_t changed;
    int stopping, ended;
    uint64_t stop_ns; /* everything is to be over by then */

    /* the thread's own */
    struct MHD_Daemon *daemon;
    int epoll; /* the daemon's, borrowed */
    crest_scrape_connection *connections;
    unsigned open;
    crest_scrape_page *pages;
    unsigned making;          /* of these, whose threads run */
    uint64_t accept_again_ns; /* no descriptors were left */
    char note[CREST_SCRAPE_NOTE_BYTES];
    unsigned notes_left_out;
    uint64_t note_again_ns;

    struct crest_scrape_server *next; /* of the process */
    int orphaned;                     /* in the child of a fork */
} crest_scrape_server;

/* Listens and starts the thread, unless there are none (loop.h). NULL with *status and *error
 * filled. settings are borrowed. */
crest_scrape_server *crest_scrape_server_start(const crest_scrape_settings *settings,
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

/* ---- scrape_connections.c, for the server's thread ---- */

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

/* ---- for scrape_routes.c ---- */

/* Starts making a page for a connection; 0, or not when there can be none now. */
int crest_scrape_server_make(crest_scrape_server *server, crest_scrape_page *page);
/* Nobody wants the page any more; its server frees it when its thread has ended. */
void crest_scrape_server_drop(crest_scrape_page *page);
/* A request has come whole and is to be answered by then; it has been answered. */
void crest_scrape_server_answering(struct MHD_Connection *connection, uint64_t until_ns);
void crest_scrape_server_answered(struct MHD_Connection *connection);
/* Its client has read on; it has until then, and no longer than CREST_PROMETHEUS_STALL_S without
 * doing so again. */
void crest_scrape_server_reads(struct MHD_Connection *connection, uint64_t until_ns);
/* Sends this instead of an answer, and nothing more; whether that was done. */
void crest_scrape_server_refuse(struct MHD_Connection *connection, const char *answer,
                                size_t length);
/* Non-zero as well of a connection that has no place here. */
int crest_scrape_server_refused(struct MHD_Connection *connection);
/* Breaks the connection off so that the client notices: with a reset. */
void crest_scrape_server_reset(struct MHD_Connection *connection);

#endif
