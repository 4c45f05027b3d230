/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A bounded pipe from the thread that encodes a page (writer) to the server's thread (reader). It
 * holds CREST_PROMETHEUS_BUFFER_BYTES, compressed on the way in if wanted.
 *
 *   writer      writes at any time; when the pipe is full it waits, until the deadline
 *   reader      reads when the client takes bytes; never waits; woken through a descriptor
 *
 * One writer, one reader, one lock. Where both are the same thread, the writer cannot wait for
 * itself. Such a pipe grows instead, until the whole page is in it.
 */
#ifndef CREST_REPORTERS_SCRAPE_PIPE_H
#define CREST_REPORTERS_SCRAPE_PIPE_H

#include <crest/prometheus.h>
#include <pthread.h>
#include <sys/types.h>
#include <zlib.h>

typedef struct crest_scrape_pipe {
    /* the writer's own */
    int gzip;
    z_stream deflater;
    uint64_t deadline_ns; /* on crest_scrape_now_ns's timeline */
    int wake;             /* an eventfd, borrowed */

    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t room;
    size_t start, used;
    size_t enough; /* bytes at which a waiting reader is woken */
    int awaited;   /* the reader waits for `enough`, or for the end */
    int due;       /* it has come */
    int cancelled, closed;
    crest_status status; /* how it was closed */
    uint64_t taken;      /* bytes read, in all */
    char *bytes;         /* its own below, or memory that it has grown into */
    size_t size;
    int grows;
    char own[CREST_PROMETHEUS_BUFFER_BYTES];
} crest_scrape_pipe;

/* Nanoseconds of CLOCK_MONOTONIC, which no test moves. */
uint64_t crest_scrape_now_ns(void);

/* Never fails. `grows`: writer and reader are one thread, which writes everything before it
 * reads. */
void crest_scrape_pipe_init(crest_scrape_pipe *pipe, int gzip, int grows, uint64_t deadline_ns,
                            int wake);
void crest_scrape_pipe_fini(crest_scrape_pipe *pipe);

/* Writer: calls these in this order; `write` is a crest_write_fn. `open` returns CREST_OK or
 * CREST_NO_MEMORY; `write` 0, or non-zero when the page is not wanted any more. */
crest_status crest_scrape_pipe_open(crest_scrape_pipe *pipe);
int crest_scrape_pipe_write(void *pipe, const void *bytes, size_t length);
/* CREST_OK: everything was written. A pipe that was cancelled or late is broken in any case. Always
 * wakes the reader. */
void crest_scrape_pipe_close(crest_scrape_pipe *pipe, crest_status status);

/* Reader: returns the bytes read; 0 when there are none now, and the reader is then woken later. */
enum { CREST_SCRAPE_PIPE_END = -1, CREST_SCRAPE_PIPE_BROKEN = -2 };
ssize_t crest_scrape_pipe_read(crest_scrape_pipe *pipe, char *bytes, size_t size);
/* Before the first read: asks to be woken when the pipe is full or closed. */
void crest_scrape_pipe_await(crest_scrape_pipe *pipe);
/* Whether the awaited state has come; non-zero once. */
int crest_scrape_pipe_due(crest_scrape_pipe *pipe);
/* Non-zero when the page is whole; *used is then what is left of it to read. Otherwise *status is
 * CREST_OK while the writer writes, or why it broke. */
int crest_scrape_pipe_whole(crest_scrape_pipe *pipe, size_t *used, crest_status *status);
/* Whether the writer is done with the pipe. */
int crest_scrape_pipe_closed(crest_scrape_pipe *pipe);
/* Writer: whether the page is still wanted: neither cancelled nor late. */
int crest_scrape_pipe_wanted(crest_scrape_pipe *pipe);
/* Makes the writer's next write fail. */
void crest_scrape_pipe_cancel(crest_scrape_pipe *pipe);

#endif
