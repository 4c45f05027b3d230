/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The OTLP reporter: from a snapshot to bodies, requests, and what the answers mean for each. See
 * <crest/otlp_http.h>. otlp_make.c makes it.
 *
 * A report of differences (delta), step by step; cumulative ones have the steps 2 and 4 only:
 *
 *     1. A body that is pending, its fate not known, is sent again as it is.
 *           taken: what is staged becomes confirmed     refused: it is forgotten
 *           not known again: the report ends
 *     2. The encoder makes a body of the series from `next` on: differences to what is confirmed.
 *     3. Its series are staged.
 *     4. It is sent.
 *           taken: staged becomes confirmed     refused: it is forgotten, and comes with the next
 *           difference     not known: the bytes become pending, and the report ends
 *     5. On with 2 until the snapshot ends.
 *
 * Invariant: what is staged is what the one pending body, or the body under way, has.
 */
#include "otlp/otlp_fate.h"
#include "otlp/otlp_reporter.h"
#include "otlp/otlp_resource.h"

#include <crest/clock.h>
#include <crest/family.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OTLP_NS_PER_S UINT64_C(1000000000)

CREST_COUNTER_FAMILY(otlp_http_points, "crest.otlp-sent-points",
                     "Points that the OTLP reporter has delivered.", address);
CREST_COUNTER_FAMILY_OPTIONS(otlp_http_bytes, "crest.otlp-sent",
                             "What the OTLP reporter has delivered, as sent.",
                             (.unit = CREST_BYTES), address);
CREST_COUNTER_FAMILY(otlp_http_dropped, "crest.otlp-dropped-points",
                     "Points that OTLP receivers did not take.", cause);
CREST_COUNTER_FAMILY(otlp_http_warnings, "crest.otlp-warnings",
                     "Answers of OTLP receivers that took all points and warned.", address);

/* What became of a body. */
typedef enum otlp_end {
    OTLP_END_TAKEN,
    OTLP_END_NOT,     /* and others may be */
    OTLP_END_LARGE,   /* refused for its size */
    OTLP_END_UNKNOWN, /* perhaps it was taken: no answer, or one that is worth a retry */
    OTLP_END_ALL      /* refused, as others would be */
} otlp_end;

/* Notes a failure. The first one is the report's, but one that is worth a retry is before refusals.
 */
static void otlp_http_failed(otlp_reporter *otlp, const crest_error *error)
{
    if (otlp->status != CREST_OK &&
        (otlp->status != CREST_REFUSED || error->status == CREST_REFUSED))
        return;
    otlp->status = error->status;
    *otlp->error = *error;
}

static void otlp_http_drop(const char *cause, uint64_t points)
{
    crest_counter_add(otlp_http_dropped_with(cause), (int64_t)points);
}

/* A body was taken, perhaps not whole. Zero if none of it was: then it counts as refused. */
static int otlp_http_taken(otlp_reporter *otlp, size_t points, size_t length,
                           const crest_otlp_answer *said)
{
    uint64_t rejected = said->rejected < points ? said->rejected : points;
    if (rejected > 0)
        otlp_http_drop("rejected", rejected);
    else if (said->words[0] != '\0')
        crest_counter_inc(otlp_http_warnings_with(otlp->shown));
    if (rejected == points && points > 0) {
        crest_error error;
        crest_error_set(&error, CREST_REFUSED,
                        "POST %s: the receiver answered with success, and rejected all %zu points "
                        "of a body. Its words: %s",
                        otlp->shown, points,
                        said->words[0] != '\0' ? said->words : "(it says nothing)");
        otlp_http_failed(otlp, &error);
        return 0;
    }
    crest_counter_add(otlp_http_points_with(otlp->shown), (int64_t)(points - rejected));
    crest_counter_add(otlp_http_bytes_with(otlp->shown), (int64_t)length);
    if (rejected == 0 && said->words[0] == '\0')
        return 1;
    otlp->partial = 1;
    if (!otlp->warned)
        crest_log_write(CREST_LOG_WARNING,
                        "crest: otlp: %s took a body of %zu points and rejected %llu of them%s%s "
                        "(they are not sent again; crest_otlp_dropped_points_total counts them)",
                        otlp->shown, points, (unsigned long long)rejected,
                        said->words[0] != '\0' ? ". Its words: " : "", said->words);
    otlp->warned = 1;
    return 1;
}

/* Notes until when the receiver wants to be left alone. */
static void otlp_http_wait(otlp_reporter *otlp, uint64_t seconds)
{
    if (seconds > CREST_OTLP_HTTP_RETRY_S_MAX)
        seconds = CREST_OTLP_HTTP_RETRY_S_MAX;
    if (seconds > 0)
        otlp->reporter.retry_at_ns = crest_now() + seconds * OTLP_NS_PER_S;
}

/* ---- a body ---- */

crest_http_request crest_otlp_request(const otlp_reporter *otlp, crest_otlp_encoding encoding,
                                      uint64_t deadline_ns)
{
    return (crest_http_request){
        .kind = CREST_OTLP_KIND,
        .method = "POST",
        .url = otlp->url,
        .shown = otlp->shown,
        .ca_file = otlp->ca_file,
        .proxy = otlp->proxy,
        .proxy_shown = otlp->proxy_shown,
        .content_type = crest_otlp_content_type(encoding),
        .headers = otlp->headers.lines,
        .header_count = otlp->headers.count,
        .deadline_ns = deadline_ns,
    };
}

/* Sends these bytes, and says what became of them. */
static otlp_end otlp_http_send(otlp_reporter *otlp, const void *bytes, size_t length, size_t points)
{
    crest_http_request request =
        crest_otlp_request(otlp, otlp->form.encoding, otlp->report->deadline_ns);
    request.content_encoding = otlp->gzip ? "gzip" : NULL;
    request.body = bytes;
    request.length = length;
    const crest_otlp_question question = {otlp->shown, otlp->form.encoding, "points", points,
                                          length};
    crest_http_answer answer;
    crest_otlp_answer said;
    crest_error error = {.status = CREST_OK};
    crest_http_login_into(&otlp->login, &request);
    if (crest_http_send(otlp->http, &request, &answer, &error) != CREST_OK) {
        otlp_http_failed(otlp, &error);
        return OTLP_END_UNKNOWN;
    }
    crest_otlp_fate fate = crest_otlp_judge(&question, &answer, &said, &error);
    if (fate == CREST_OTLP_TAKEN)
        return otlp_http_taken(otlp, points, length, &said) ? OTLP_END_TAKEN : OTLP_END_NOT;
    if (fate == CREST_OTLP_LATER)
        otlp_http_wait(otlp, answer.retry_after_s);
    /* a body that is too large may be made smaller, once */
    if (fate != CREST_OTLP_TOO_LARGE || otlp->halved || otlp->pending.bytes != NULL)
        otlp_http_failed(otlp, &error);
    if (fate == CREST_OTLP_TOO_LARGE)
        return OTLP_END_LARGE;
    if (fate == CREST_OTLP_LATER)
        return OTLP_END_UNKNOWN;
    otlp_http_drop("refused", points);
    return fate == CREST_OTLP_REFUSED ? OTLP_END_NOT : OTLP_END_ALL;
}

/* The series [first, end) are in the body that is about to be sent. */
static crest_status otlp_http_stage(otlp_reporter *otlp, size_t first, size_t end)
{
    crest_status status = CREST_OK;
    uint64_t wall_ns = crest_snapshot_wall_ns(otlp->report->snapshot);
    for (size_t i = first; i < end && status == CREST_OK; i++) {
        crest_series_view series;
        crest_snapshot_series(otlp->report->snapshot, i, &series);
        if (series.kind == CREST_KIND_COUNTER || series.distribution != NULL)
            status = crest_otlp_delivered_stage(&otlp->account, &series, wall_ns);
    }
    return status;
}

/* Keeps the bytes of a body whose fate is not known. Without memory it is forgotten, as if it had
 * been refused. */
static void otlp_http_keep(otlp_reporter *otlp, const void *bytes, size_t length, size_t points)
{
    unsigned char *kept = malloc(length);
    if (kept == NULL) {
        crest_otlp_delivered_drop(&otlp->account);
        return;
    }
    memcpy(kept, bytes, length);
    otlp->pending = (otlp_pending){kept, length, points};
}

/* The bytes as they are sent: compressed, if that is asked for. */
static crest_status otlp_http_pack(otlp_reporter *otlp, const void **bytes, size_t *length)
{
    crest_http_body *packed = &otlp->packed;
    if (!otlp->gzip)
        return CREST_OK;
    crest_status status = crest_http_body_begin(packed, 1);
    if (status == CREST_OK) {
        (void)crest_http_body_write(packed, *bytes, *length);
        status = crest_http_body_end(packed);
    }
    *bytes = packed->bytes;
    *length = packed->length;
    return status;
}

/* Tells the state file what the receiver has of a series, unless it knows. */
static void otlp_http_tell(const otlp_reporter *otlp, size_t index, crest_otlp_entry *entry)
{
    /* one of them is 0 */
    uint64_t has = entry->counter + crest_distribution_count(entry->distribution);
    if (entry->noted == has)
        return;
    if (entry->distribution != NULL)
        crest_report_delivered_counts(otlp->report, index, entry->distribution);
    else
        crest_report_delivered(otlp->report, index, entry->counter);
    entry->noted = has;
}

/* The series [first, end) were in a body that has arrived. */
static void otlp_http_carry(otlp_reporter *otlp, size_t first, size_t end)
{
    crest_otlp_delivered_settle(&otlp->account);
    for (size_t i = first; i < end; i++) {
        crest_series_view series;
        if (crest_snapshot_series(otlp->report->snapshot, i, &series) == CREST_OK &&
            (series.kind == CREST_KIND_COUNTER || series.distribution != NULL))
            otlp_http_tell(otlp, i, crest_otlp_delivered_find(&otlp->account, &series));
    }
}

/* Notes what became of a body of the encoder's; non-zero ends the report. */
static int otlp_http_note(otlp_reporter *otlp, otlp_end end, const crest_otlp_body *body,
                          const void *bytes, size_t length)
{
    int delta = otlp->form.temporality == CREST_OTLP_DELTA;
    if (delta && end == OTLP_END_TAKEN)
        otlp_http_carry(otlp, body->first, body->end);
    else if (delta && end == OTLP_END_UNKNOWN)
        otlp_http_keep(otlp, bytes, length, body->points);
    else if (delta)
        crest_otlp_delivered_drop(&otlp->account);
    if (end == OTLP_END_LARGE && !otlp->halved) {
        otlp->too_large = body->length;
        return 1;
    }
    if (end == OTLP_END_LARGE)
        otlp_http_drop("too-large", body->points);
    otlp->next = body->end;
    return end == OTLP_END_UNKNOWN || end == OTLP_END_ALL;
}

/* The encoder's bodies go out. */
static int otlp_http_put(void *context, const crest_otlp_body *body)
{
    otlp_reporter *otlp = context;
    const void *bytes = body->bytes;
    size_t length = body->length;
    crest_status status = otlp_http_pack(otlp, &bytes, &length);
    if (status == CREST_OK && otlp->form.temporality == CREST_OTLP_DELTA)
        status = otlp_http_stage(otlp, body->first, body->end);
    if (status != CREST_OK) {
        crest_error error;
        crest_otlp_delivered_drop(&otlp->account);
        crest_error_set(&error, status, "POST %s: no memory for a body of %zu points", otlp->shown,
                        body->points);
        otlp_http_failed(otlp, &error);
        return 1;
    }
    otlp_end end = otlp_http_send(otlp, bytes, length, body->points);
    return otlp_http_note(otlp, end, body, bytes, length);
}

/* ---- a report ---- */

/* What the receiver has of a series. */
static crest_status otlp_http_delivered(void *context, size_t index,
                                        const crest_series_view *series, crest_otlp_delivered *was)
{
    otlp_reporter *otlp = context;
    crest_otlp_entry *entry = crest_otlp_delivered_find(&otlp->account, series);
    if (entry->wall_ns == 0) {
        /* nothing yet of this process; of a dead run whose totals go on it may have some */
        crest_series_view then;
        crest_status status = crest_report_previous(otlp->report, index, &then);
        *was = (crest_otlp_delivered){then.counter, then.distribution, 0};
        return status;
    }
    otlp_http_tell(otlp, index, entry);
    *was = (crest_otlp_delivered){entry->counter, entry->distribution, entry->wall_ns};
    return CREST_OK;
}

/* Encodes and sends the snapshot from otlp->next on. */
static void otlp_http_write(otlp_reporter *otlp, int stale)
{
    const crest_report *report = otlp->report;
    char service[CREST_OTLP_SERVICE_BYTES];
    crest_page_label attributes[CREST_OTLP_ATTRIBUTES_MAX], target[CREST_OTLP_ATTRIBUTES_MAX];
    crest_otlp_options form = otlp->form;
    crest_error error;
    form.attributes = attributes;
    form.attribute_count =
        crest_otlp_resource(report->resource, otlp->more, otlp->more_count, service, attributes);
    form.target = target;
    form.target_count = crest_otlp_target(report->resource, target);
    form.windows = report->final && !stale ? CREST_PAGE_WINDOWS_NONE : otlp->windows;
    form.stale = stale;
    form.first = otlp->next;
    form.delivered = otlp_http_delivered;
    form.delivered_context = otlp;
    crest_status status = crest_otlp_write(report->snapshot, &form, otlp_http_put, otlp, &error);
    if (status != CREST_OK && otlp->status == CREST_OK && otlp->too_large == 0)
        otlp_http_failed(otlp, &error);
}

/* The same, and on with smaller bodies if one was too large. */
static void otlp_http_write_all(otlp_reporter *otlp, int stale)
{
    otlp->next = 0;
    otlp->too_large = 0;
    otlp_http_write(otlp, stale);
    if (otlp->too_large == 0 || otlp->status != CREST_OK)
        return;
    otlp->halved = 1;
    otlp->form.body_bytes = otlp->too_large / 2;
    if (otlp->form.body_bytes < CREST_OTLP_BODY_BYTES_MIN)
        otlp->form.body_bytes = CREST_OTLP_BODY_BYTES_MIN;
    otlp->too_large = 0;
    otlp_http_write(otlp, stale);
}

/* Sends the pending body again; zero when its fate is still not known, or nothing can be sent. */
static int otlp_http_resume(otlp_reporter *otlp)
{
    otlp_pending *pending = &otlp->pending;
    if (pending->bytes == NULL)
        return 1;
    otlp_end end = otlp_http_send(otlp, pending->bytes, pending->length, pending->points);
    if (end == OTLP_END_UNKNOWN)
        return 0;
    if (end == OTLP_END_TAKEN)
        crest_otlp_delivered_settle(&otlp->account);
    else
        crest_otlp_delivered_drop(&otlp->account);
    if (end == OTLP_END_LARGE)
        otlp_http_drop("too-large", pending->points);
    free(pending->bytes);
    *pending = (otlp_pending){.bytes = NULL};
    return end != OTLP_END_ALL;
}

/* Between reading the secrets and wiping them. */
static void otlp_http_exchange(otlp_reporter *otlp)
{
    const crest_report *report = otlp->report;
    int delta = otlp->form.temporality == CREST_OTLP_DELTA;
    if (delta && crest_otlp_delivered_begin(&otlp->account,
                                            crest_snapshot_size(report->snapshot)) != CREST_OK) {
        otlp->status = crest_error_set(otlp->error, CREST_NO_MEMORY,
                                       "No memory to remember what is sent to %s", otlp->shown);
        return;
    }
    if (!otlp_http_resume(otlp))
        return;
    otlp_http_write_all(otlp, 0);
    if (report->final && !delta && !otlp->no_stale && otlp->status == CREST_OK)
        otlp_http_write_all(otlp, 1);
}

static crest_status otlp_http_make(otlp_reporter *otlp, const crest_report *report,
                                   crest_error *error)
{
    uint64_t now_ns = crest_now();
    if (otlp->reporter.retry_at_ns > now_ns && !report->final)
        return crest_error_set(
            error, CREST_UNREACHABLE,
            "POST %s: not tried; the receiver has asked to be left alone for %llu s more",
            otlp->shown,
            (unsigned long long)((otlp->reporter.retry_at_ns - now_ns) / OTLP_NS_PER_S + 1));
    otlp->reporter.retry_at_ns = 0;
    otlp->report = report;
    otlp->error = error;
    otlp->status = CREST_OK;
    otlp->halved = otlp->partial = 0;
    crest_status status = crest_http_login_read(&otlp->login, error);
    if (status == CREST_OK)
        status = crest_otlp_headers_read(&otlp->headers, error);
    if (status == CREST_OK) {
        otlp_http_exchange(otlp);
        status = otlp->status;
    }
    crest_http_login_wipe(&otlp->login);
    crest_otlp_headers_wipe(&otlp->headers);
    if (status == CREST_OK && !otlp->partial)
        otlp->warned = 0;
    otlp->report = NULL;
    otlp->error = NULL;
    return status;
}

crest_status crest_otlp_http_report(crest_reporter *self, const crest_report *report,
                                    crest_error *error)
{
    otlp_reporter *otlp = self->state;
    if (otlp->disabled)
        return CREST_OK;
    if (otlp->process != getpid())
        return crest_error_set(error, CREST_REFUSED,
                               "Not sent to %s: this reporter and its connection are those of the "
                               "process %ld, of which this one is a fork. Make one here",
                               otlp->shown, (long)otlp->process);
    if (pthread_mutex_trylock(&otlp->one_at_a_time) != 0)
        return crest_error_set(error, CREST_ALREADY,
                               "Not sent to %s: this reporter is busy with another report",
                               otlp->shown);
    crest_http_renew(otlp->http);
    crest_status status = otlp_http_make(otlp, report, error);
    pthread_mutex_unlock(&otlp->one_at_a_time);
    return status;
}
