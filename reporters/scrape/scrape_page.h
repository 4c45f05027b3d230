/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One page: a thread of its own takes the snapshot and writes it into a pipe, from which the
 * server's thread reads; where there are no threads, the server makes it. Everything but the
 * thread's work is called by the server's thread.
 */
#ifndef CREST_REPORTERS_SCRAPE_PAGE_H
#define CREST_REPORTERS_SCRAPE_PAGE_H

#include "scrape/scrape_pipe.h"

#include <crest/prometheus.h>
#include <pthread.h>

/* What pages of an endpoint have in common; owned by the reporter, and constant. */
typedef struct crest_scrape_settings {
    char *listen;
    unsigned concurrency, connections;
    uint64_t timeout_ms;
    int gzip;
    char *include, *exclude;  /* NULL: all, and none */
    char *hosts;              /* beside the machine's own names; NULL: none */
    crest_page_options page;  /* but its names */
    crest_page_label *target; /* page.target, texts owned */
} crest_scrape_settings;

typedef struct crest_scrape_page {
    crest_scrape_pipe pipe;
    crest_registry *registry;
    const crest_scrape_settings *settings;
    crest_format format;
    char *name_texts; /* the wanted names, one after the other, each with its NUL; NULL: all */
    unsigned name_count;
    pthread_t thread;
    crest_error error; /* once the pipe is closed */

    /* the server's */
    struct crest_scrape_page *next;
    void *connection; /* that waits for the page; NULL: nobody does any more */
    int paused;       /* the connection has to be resumed */
    int joined;       /* the thread has ended */
    int here;         /* there is no thread: the server's own makes it, under no lock */
    int begun;        /* and has done so */
} crest_scrape_page;

/* NULL when there is no memory. name_texts becomes the page's. */
crest_scrape_page *crest_scrape_page_new(const crest_scrape_settings *settings,
                                         crest_registry *registry, crest_format format, int gzip,
                                         uint64_t deadline_ns, int wake);
/* Makes it, on the caller's thread. */
void crest_scrape_page_make(crest_scrape_page *page);
/* Starts the thread, all signals blocked if they are for the caller; 0 or an errno. */
int crest_scrape_page_start(crest_scrape_page *page);
/* Joins the thread, if there is one and it is about to end; non-zero when it has ended. */
int crest_scrape_page_join(crest_scrape_page *page);
/* Without a thread, or joined. NULL does nothing. */
void crest_scrape_page_free(crest_scrape_page *page);

#endif
