/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Spans on their way from the tracing thread to a reporter: encoded bodies in a queue that is
 * bounded in bytes.
 *
 *     tracing thread     take: encodes the batch, puts bodies at the end; one that does not fit is
 *                        lost, and counted ("queue-full")
 *     reporter's thread  crest_span_queue_first: looks at the oldest; sends it; then
 *                        crest_span_queue_sent, or _lost, takes it off
 *
 *     crest_span_queue_init(&self->queue, "zipkin", encode, self);
 *     crest_span_queue_begin(&self->queue, error);           in the reporter's start
 *     if (report->final)
 *         crest_span_queue_end(&self->queue);                the last batch has come
 *     while ((body = crest_span_queue_first(&self->queue)) != NULL) ...
 *     crest_span_queue_fini(&self->queue);
 *
 * Invariant: a body is sent, lost with its cause counted, or in the queue. The body that the
 * reporter's thread has from crest_span_queue_first stays where it is: only that thread takes off.
 */
#ifndef CREST_REPORTERS_SPAN_QUEUE_H
#define CREST_REPORTERS_SPAN_QUEUE_H

#include <crest/span.h>

#include <pthread.h>
#include <sys/types.h>

/* Bytes of bodies that wait, those of all that surrounds them included. */
#define CREST_SPAN_QUEUE_BYTES_MAX 4194304u

/* How often a reporter of spans sends, unless told otherwise. */
#define CREST_SPAN_INTERVAL_MS 5000u

typedef struct crest_span_body {
    struct crest_span_body *next;
    size_t length, spans;
    char bytes[];
} crest_span_body;

struct crest_span_queue;

/* Encodes a batch that is not empty and hands its bodies to crest_span_queue_put; on the tracing
 * thread. */
typedef crest_status crest_span_encode_fn(void *owner, const crest_span_batch *batch,
                                          struct crest_span_queue *queue, crest_error *error);

typedef struct crest_span_queue {
    crest_span_exporter exporter; /* first: what tracing holds */
    crest_span_encode_fn *encode;
    void *owner;
    pid_t process;        /* that made it */
    int added;            /* it is an exporter; the reporter's own */
    pthread_mutex_t lock; /* guards the bodies and how many bytes they are */
    crest_span_body *first, **end;
    size_t bytes;
} crest_span_queue;

/* `name` is the exporter's, and the label of what is counted; borrowed. CREST_SYSTEM. */
crest_status crest_span_queue_init(crest_span_queue *queue, const char *name,
                                   crest_span_encode_fn *encode, void *owner, crest_error *error);
/* Frees it, and what it still has, which is then counted as lost ("stopped"). It is no exporter. */
void crest_span_queue_fini(crest_span_queue *queue);

/* Makes it an exporter: batches come from now on. */
crest_status crest_span_queue_begin(crest_span_queue *queue, crest_error *error);
/* Makes it none, after a last batch; does nothing the second time. */
void crest_span_queue_end(crest_span_queue *queue);

/* Copies a body to the end. CREST_OK also when there was no room and it was counted as lost;
 * CREST_NO_MEMORY, counted too. */
crest_status crest_span_queue_put(crest_span_queue *queue, const void *bytes, size_t length,
                                  size_t spans);

/* The oldest body, or NULL. */
const crest_span_body *crest_span_queue_first(crest_span_queue *queue);
/* It is out, as so many bytes, without `rejected` of its spans, which are counted as lost
 * ("rejected"): takes it off. */
void crest_span_queue_sent(crest_span_queue *queue, size_t bytes, uint64_t rejected);
/* It is lost, by a cause of a few words joined with dashes: takes it off. */
void crest_span_queue_lost(crest_span_queue *queue, const char *cause);

#endif
