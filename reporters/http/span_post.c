/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bodies of spans over HTTP. See span_post.h.
 */
#include "http/span_post.h"

#include <string.h>

/* Sets the request's body: as it is, or compressed. */
static crest_status span_post_pack(crest_span_post *post, const crest_span_body *body,
                                   crest_http_request *request, crest_error *error)
{
    crest_http_body *packed = post->packed;
    request->body = body->bytes;
    request->length = body->length;
    if (packed == NULL)
        return CREST_OK;
    crest_status status = crest_http_body_begin(packed, 1);
    if (status == CREST_OK) {
        (void)crest_http_body_write(packed, body->bytes, body->length);
        status = crest_http_body_end(packed);
    }
    if (status != CREST_OK)
        return crest_error_set(error, status, "POST %s: no memory for a body of %zu spans",
                               request->shown, body->spans);
    request->content_encoding = "gzip";
    request->body = packed->bytes;
    request->length = packed->length;
    return CREST_OK;
}

/* After a request without an answer: it may be tried again only if nothing went out. */
static int span_post_failed(crest_span_post *post, const crest_http_answer *answer,
                            crest_error *error)
{
    if (!answer->sent)
        return 0;
    static const char more[] = " (whether its spans arrived is not known, so they are not sent "
                               "again; crest_spans_lost_total counts them)";
    size_t used = strlen(error->message), room = sizeof error->message - 1 - used;
    strncat(error->message, more, room);
    crest_span_queue_lost(post->queue, "no-answer");
    return 0;
}

/* Sends the oldest body; zero ends the report. */
static int span_post_one(crest_span_post *post, const crest_span_body *body, crest_error *error)
{
    crest_http_answer answer;
    crest_http_request request = post->request;
    uint64_t rejected = 0;
    request.once = 1;
    if (span_post_pack(post, body, &request, error) != CREST_OK)
        return 0;
    if (crest_http_send(post->http, &request, &answer, error) != CREST_OK)
        return span_post_failed(post, &answer, error);
    switch (post->judge(post->owner, body, &answer, &rejected, error)) {
    case CREST_SPAN_TAKEN: crest_span_queue_sent(post->queue, request.length, rejected); return 1;
    case CREST_SPAN_LATER: post->retry_after_s = answer.retry_after_s; return 0;
    case CREST_SPAN_LARGE: crest_span_queue_lost(post->queue, "too-large"); return 1;
    case CREST_SPAN_REFUSED: crest_span_queue_lost(post->queue, "refused"); return 1;
    case CREST_SPAN_NEVER: crest_span_queue_lost(post->queue, "refused"); return 0;
    }
    return 0;
}

crest_status crest_span_post_all(crest_span_post *post, crest_error *error)
{
    crest_error one = {.status = CREST_OK};
    crest_status status = CREST_OK;
    const crest_span_body *body;
    int more = 1;
    post->retry_after_s = 0;
    while (more && (body = crest_span_queue_first(post->queue)) != NULL) {
        one.status = CREST_OK;
        more = span_post_one(post, body, &one);
        if (one.status == CREST_OK || status != CREST_OK)
            continue;
        status = one.status;
        *error = one;
    }
    return status;
}
