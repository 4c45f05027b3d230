/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Encoded spans that wait to be sent. See span_queue.h.
 */
#include "common/span_queue.h"

#include <crest/family.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

CREST_COUNTER_FAMILY(span_queue_sent_spans, "crest.spans-sent",
                     "Kept spans that an exporter has delivered.", exporter);
CREST_COUNTER_FAMILY_OPTIONS(span_queue_sent_bytes, "crest.spans-sent-size",
                             "What an exporter of spans has delivered, as sent.",
                             (.unit = CREST_BYTES), exporter);
CREST_COUNTER_FAMILY(span_queue_lost_spans, "crest.spans-lost",
                     "Kept spans that an exporter has not delivered, or not for sure.", exporter,
                     cause);

/* What a body takes of the queue. */
static size_t span_queue_weight(const crest_span_body *body)
{
    return sizeof *body + body->length;
}

static void span_queue_count_lost(const crest_span_queue *queue, const char *cause, uint64_t spans)
{
    crest_counter_add(span_queue_lost_spans_with(queue->exporter.name, cause), (int64_t)spans);
}

static crest_status span_queue_take(crest_span_exporter *exporter, const crest_span_batch *batch,
                                    crest_error *error)
{
    crest_span_queue *queue = exporter->state;
    return batch->count == 0 ? CREST_OK : queue->encode(queue->owner, batch, queue, error);
}

crest_status crest_span_queue_init(crest_span_queue *queue, const char *name,
                                   crest_span_encode_fn *encode, void *owner, crest_error *error)
{
    *queue = (crest_span_queue){
        .exporter = {.name = name, .take = span_queue_take, .state = queue, .prompt = 1},
        .encode = encode,
        .owner = owner,
        .process = getpid(),
    };
    queue->end = &queue->first;
    return pthread_mutex_init(&queue->lock, NULL) == 0
               ? CREST_OK
               : crest_error_set(error, CREST_SYSTEM, "No lock for the spans of %s", name);
}

void crest_span_queue_fini(crest_span_queue *queue)
{
    /* in a fork's child the parent's tracing thread may have been within: leave it all */
    if (queue->encode == NULL || queue->process != getpid())
        return;
    crest_span_queue_end(queue);
    while (crest_span_queue_first(queue) != NULL)
        crest_span_queue_lost(queue, "stopped");
    pthread_mutex_destroy(&queue->lock);
    queue->encode = NULL;
}

crest_status crest_span_queue_begin(crest_span_queue *queue, crest_error *error)
{
    crest_status status = crest_span_exporter_add(&queue->exporter);
    queue->added = status == CREST_OK;
    if (!queue->added)
        crest_error_set(error, status, "%s gets no spans: %s (%u exporters may be)",
                        queue->exporter.name, crest_status_text(status), CREST_SPAN_EXPORTERS_MAX);
    return status;
}

void crest_span_queue_end(crest_span_queue *queue)
{
    if (queue->added) {
        /* operations under way too: this is the last that the exporter gets */
        (void)crest_spans_flush(1);
        (void)crest_span_exporter_remove(&queue->exporter);
    }
    queue->added = 0;
}

crest_status crest_span_queue_put(crest_span_queue *queue, const void *bytes, size_t length,
                                  size_t spans)
{
    crest_span_body *body = malloc(sizeof *body + length);
    if (body == NULL) {
        span_queue_count_lost(queue, "no-memory", spans);
        return CREST_NO_MEMORY;
    }
    *body = (crest_span_body){.next = NULL, .length = length, .spans = spans};
    memcpy(body->bytes, bytes, length);
    pthread_mutex_lock(&queue->lock);
    int fits = queue->bytes + span_queue_weight(body) <= CREST_SPAN_QUEUE_BYTES_MAX;
    if (fits) {
        *queue->end = body;
        queue->end = &body->next;
        queue->bytes += span_queue_weight(body);
    }
    pthread_mutex_unlock(&queue->lock);
    if (!fits) {
        free(body);
        span_queue_count_lost(queue, "queue-full", spans);
    }
    return CREST_OK;
}

const crest_span_body *crest_span_queue_first(crest_span_queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    const crest_span_body *first = queue->first;
    pthread_mutex_unlock(&queue->lock);
    return first;
}

/* Takes the oldest off; returns how many spans it had. */
static size_t span_queue_drop(crest_span_queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    crest_span_body *body = queue->first;
    queue->first = body->next;
    if (queue->first == NULL)
        queue->end = &queue->first;
    queue->bytes -= span_queue_weight(body);
    pthread_mutex_unlock(&queue->lock);
    size_t spans = body->spans;
    free(body);
    return spans;
}

void crest_span_queue_sent(crest_span_queue *queue, size_t bytes, uint64_t rejected)
{
    size_t spans = span_queue_drop(queue);
    rejected = rejected < spans ? rejected : spans;
    crest_counter_add(span_queue_sent_spans_with(queue->exporter.name),
                      (int64_t)(spans - rejected));
    crest_counter_add(span_queue_sent_bytes_with(queue->exporter.name), (int64_t)bytes);
    if (rejected != 0)
        span_queue_count_lost(queue, "rejected", rejected);
}

void crest_span_queue_lost(crest_span_queue *queue, const char *cause)
{
    span_queue_count_lost(queue, cause, span_queue_drop(queue));
}
