/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One page. A thread of its own takes the snapshot and writes it into a pipe; the server's thread
 * reads from that. Where there are no threads, the server makes the page. The server's thread calls
 * everything but the page thread's work.
 */
#ifndef CREST_REPORTERS_SCRAPE_PAGE_H
#define CREST_REPORTERS_SCRAPE_PAGE_H

#include "scrape/scrape_pipe.h"

#include <crest/prometheus.h>
#include <pthread.h>

struct crest_scrape_page;
struct MHD_Connection;

#define CREST_SCRAPE_FOREIGN                                                                       \
    "This endpoint is on a loopback address and answers requests for localhost, 127.0.0.1 and "    \
    "[::1] only, so that no page in a browser can read it by a name of its own. Other names are "  \
    "allowed with "

/* What an endpoint serves instead of /metrics. */
typedef struct crest_scrape_other {
    /* In the server's thread: what is at this path. Fills what the page has of it and returns 0; or
     * returns a status to refuse with, and *why. */
    unsigned (*ask)(struct crest_scrape_page *page, const char *path,
                    struct MHD_Connection *connection, const char **why);
    /* As crest_scrape_page_make: writes the page and frees page->other. */
    void (*make)(struct crest_scrape_page *page);
    /* What a request for another Host is told: CREST_SCRAPE_FOREIGN and the option. */
    const char *foreign;
    const char *policy; /* Content-Security-Policy of all answers; NULL: none */
    /* A path that a POST may go to, and what is answered, whatever is asked there; NULL: none. */
    const char *posted, *posted_answer;
    /* Frees page->other of a page that is not made. */
    void (*forget)(struct crest_scrape_page *page);
} crest_scrape_other;

/* What pages of an endpoint share; constant, and owned by the reporter. */
typedef struct crest_scrape_settings {
    const crest_scrape_other *other; /* NULL: it serves /metrics */
    const void *about;               /* of `other`, and its own; may be NULL */
    char *listen;
    unsigned concurrency, connections;
    uint64_t timeout_ms;
    int gzip;
    char *include, *exclude;  /* NULL: everything, and nothing */
    char *hosts;              /* accepted beside the machine's own names; NULL: none */
    crest_page_options page;  /* without its names */
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
    crest_error error; /* valid once the pipe is closed */

    /* of crest_scrape_other */
    void *other;
    const char *type;  /* its Content-Type; static */
    uint64_t lasts_ns; /* how long it takes to make */
    int packed;        /* compressed as it is stored, not as it is sent */
    unsigned detail;

    /* the server's */
    struct crest_scrape_page *next;
    void *connection; /* the connection that waits for the page; NULL: none does any more */
    int paused;       /* the server has to resume the connection */
    int joined;       /* the thread has ended */
    int here;         /* no thread: the server's own makes it, under no lock */
    int begun;        /* and has done so */
} crest_scrape_page;

/* NULL without memory. The page owns name_texts from then on. */
crest_scrape_page *crest_scrape_page_new(const crest_scrape_settings *settings,
                                         crest_registry *registry, crest_format format, int gzip,
                                         uint64_t deadline_ns, int wake);
/* Makes the page, on the caller's thread. */
void crest_scrape_page_make(crest_scrape_page *page);
/* Starts the thread, all signals blocked if they are for the caller; 0 or an errno. */
int crest_scrape_page_start(crest_scrape_page *page);
/* Joins the thread, if there is one and it is about to end; non-zero when it has ended. */
int crest_scrape_page_join(crest_scrape_page *page);
/* Its thread must have been joined, if there was one. NULL does nothing. */
void crest_scrape_page_free(crest_scrape_page *page);

#endif
