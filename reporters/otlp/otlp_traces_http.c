/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The OTLP reporter of spans: from batches to bodies in a queue, and from there to a receiver. See
 * <crest/otlp_http.h>. otlp_make.c makes it.
 */
#include "http/span_post.h"
#include "otlp/otlp_fate.h"
#include "otlp/otlp_reporter.h"
#include "otlp/otlp_resource.h"

#include <crest/clock.h>
#include <string.h>
#include <unistd.h>

#define OTLP_TRACES_NS_PER_S UINT64_C(1000000000)

/* ---- on the tracing thread ---- */

static int otlp_traces_put(void *context, const crest_otlp_traces_body *body)
{
    return crest_span_queue_put(context, body->bytes, body->length, body->spans) != CREST_OK;
}

static crest_status otlp_traces_encode(void *owner, const crest_span_batch *batch,
                                       crest_span_queue *queue, crest_error *error)
{
    const otlp_reporter *otlp = owner;
    static const crest_resource nothing = {.service = "", .version = "", .instance = ""};
    char service[CREST_OTLP_SERVICE_BYTES];
    crest_page_label attributes[CREST_OTLP_ATTRIBUTES_MAX];
    if (otlp->disabled)
        return CREST_OK;
    const crest_otlp_traces_options form = {
        .encoding = otlp->form.encoding,
        .attributes = attributes,
        .attribute_count = crest_otlp_resource(batch->resource != NULL ? batch->resource : &nothing,
                                               otlp->more, otlp->more_count, service, attributes),
        .body_bytes = otlp->form.body_bytes,
    };
    return crest_otlp_traces_write(batch, &form, otlp_traces_put, queue, error);
}

/* ---- on the reporter's thread ---- */

static crest_span_fate otlp_traces_taken(otlp_reporter *otlp, const crest_span_body *body,
                                         const crest_otlp_answer *said, uint64_t *rejected)
{
    *rejected = said->rejected < body->spans ? said->rejected : body->spans;
    otlp->partial |= said->rejected != 0 || said->words[0] != '\0';
    if (otlp->partial && !otlp->warned)
        crest_log_write(CREST_LOG_WARNING,
                        "crest: otlp-traces: %s took a body of %zu spans and rejected %llu of "
                        "them%s%s (they are not sent again; crest_spans_lost_total counts them)",
                        otlp->shown, body->spans, (unsigned long long)*rejected,
                        said->words[0] != '\0' ? ". Its words: " : "", said->words);
    otlp->warned |= otlp->partial;
    return CREST_SPAN_TAKEN;
}

static crest_span_fate otlp_traces_judge(void *owner, const crest_span_body *body,
                                         const crest_http_answer *answer, uint64_t *rejected,
                                         crest_error *error)
{
    otlp_reporter *otlp = owner;
    const crest_otlp_question question = {otlp->shown, otlp->form.encoding, "spans", body->spans,
                                          body->length};
    crest_otlp_answer said;
    switch (crest_otlp_judge(&question, answer, &said, error)) {
    case CREST_OTLP_TAKEN: return otlp_traces_taken(otlp, body, &said, rejected);
    case CREST_OTLP_LATER: return CREST_SPAN_LATER;
    case CREST_OTLP_REFUSED: return CREST_SPAN_REFUSED;
    case CREST_OTLP_TOO_LARGE: return CREST_SPAN_LARGE;
    case CREST_OTLP_NEVER: break;
    }
    return CREST_SPAN_NEVER;
}

/* Between reading the secrets and wiping them. */
static crest_status otlp_traces_exchange(otlp_reporter *otlp, const crest_report *report,
                                         crest_error *error)
{
    crest_span_post post = {
        .queue = &otlp->queue,
        .http = otlp->http,
        .packed = otlp->gzip ? &otlp->packed : NULL,
        .judge = otlp_traces_judge,
        .owner = otlp,
        .request = crest_otlp_request(otlp, otlp->form.encoding, report->deadline_ns),
    };
    crest_http_login_into(&otlp->login, &post.request);
    crest_status status = crest_span_post_all(&post, error);
    if (post.retry_after_s > CREST_OTLP_HTTP_RETRY_S_MAX)
        post.retry_after_s = CREST_OTLP_HTTP_RETRY_S_MAX;
    otlp->reporter.retry_at_ns =
        post.retry_after_s != 0 ? crest_now() + post.retry_after_s * OTLP_TRACES_NS_PER_S : 0;
    return status;
}

static crest_status otlp_traces_report(crest_reporter *self, const crest_report *report,
                                       crest_error *error)
{
    otlp_reporter *otlp = self->state;
    if (otlp->process != getpid())
        return crest_error_set(error, CREST_REFUSED,
                               "No spans are sent to %s: this reporter and its connection are "
                               "those of the process %ld, of which this one is a fork. Make one "
                               "here",
                               otlp->shown, (long)otlp->process);
    if (report->final)
        crest_span_queue_end(&otlp->queue);
    uint64_t now_ns = crest_now();
    if (crest_span_queue_first(&otlp->queue) == NULL)
        return CREST_OK;
    if (self->retry_at_ns > now_ns && !report->final)
        return crest_error_set(
            error, CREST_UNREACHABLE,
            "POST %s: not tried; the receiver has asked to be left alone for %llu s more",
            otlp->shown,
            (unsigned long long)((self->retry_at_ns - now_ns) / OTLP_TRACES_NS_PER_S + 1));
    otlp->partial = 0;
    crest_http_renew(otlp->http);
    crest_status status = crest_http_login_read(&otlp->login, error);
    if (status == CREST_OK)
        status = crest_otlp_headers_read(&otlp->headers, error);
    if (status == CREST_OK)
        status = otlp_traces_exchange(otlp, report, error);
    crest_http_login_wipe(&otlp->login);
    crest_otlp_headers_wipe(&otlp->headers);
    if (status == CREST_OK && !otlp->partial)
        otlp->warned = 0;
    return status;
}

static crest_status otlp_traces_start(crest_reporter *self, crest_registry *registry,
                                      crest_error *error)
{
    otlp_reporter *otlp = self->state;
    (void)registry;
    return crest_span_queue_begin(&otlp->queue, error);
}

static crest_status otlp_traces_stop(crest_reporter *self, uint64_t deadline_ns, crest_error *error)
{
    otlp_reporter *otlp = self->state;
    (void)deadline_ns;
    (void)error;
    crest_span_queue_end(&otlp->queue);
    return CREST_OK;
}

crest_status crest_otlp_traces_init(otlp_reporter *otlp, crest_error *error)
{
    otlp->traces = 1;
    otlp->reporter.name = CREST_OTLP_TRACES_NAME;
    otlp->reporter.report = otlp_traces_report;
    otlp->reporter.start = otlp_traces_start;
    otlp->reporter.stop = otlp_traces_stop;
    otlp->reporter.no_snapshot = 1;
    return crest_span_queue_init(&otlp->queue, CREST_OTLP_TRACES_NAME, otlp_traces_encode, otlp,
                                 error);
}
