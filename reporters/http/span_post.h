/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sends the bodies of a span queue over HTTP, the oldest first, each at most once.
 *
 *     crest_span_post post = {.queue = &self->queue, .http = self->http, .request = request,
 *                             .packed = gzip ? &self->packed : NULL, .judge = judge};
 *     return crest_span_post_all(&post, error);
 *
 * What becomes of a body:
 *
 *     no byte of it went out        it stays, and the report fails
 *     no whole answer               lost ("no-answer"), and the report fails: it may have arrived,
 *                                   and a server would then have its spans twice
 *     an answer                     as `judge` says
 */
#ifndef CREST_REPORTERS_SPAN_POST_H
#define CREST_REPORTERS_SPAN_POST_H

#include "common/span_queue.h"
#include "http/http_body.h"
#include "http/http_transport.h"

/* What an answer means for a body. */
typedef enum crest_span_fate {
    CREST_SPAN_TAKEN,   /* perhaps without some of its spans */
    CREST_SPAN_LATER,   /* not taken, and worth a retry: it stays */
    CREST_SPAN_REFUSED, /* it is lost; others may be taken */
    CREST_SPAN_LARGE,   /* it is lost, for its size */
    CREST_SPAN_NEVER    /* it is lost, and so would others be: they stay for the next report */
} crest_span_fate;

/* Sets *rejected to the spans that were not taken of a body that was; else fills *error. */
typedef crest_span_fate crest_span_judge_fn(void *owner, const crest_span_body *body,
                                            const crest_http_answer *answer, uint64_t *rejected,
                                            crest_error *error);

typedef struct crest_span_post {
    crest_span_queue *queue;
    crest_http *http;
    crest_http_request request; /* all but its body */
    crest_http_body *packed;    /* compresses; NULL: sent as it is */
    crest_span_judge_fn *judge;
    void *owner;
    uint64_t retry_after_s; /* set: how long the server wants to be left alone; 0: it did not say */
} crest_span_post;

/* Sends what is queued, until it is empty or a failure ends it. The status is that of the first
 * failure, which *error tells. */
crest_status crest_span_post_all(crest_span_post *post, crest_error *error);

#endif
