/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The OTLP reporter of profiles: each report sends the CPU time since the last one, as one profile.
 * See <crest/otlp_http.h>. otlp_make.c makes it.
 *
 * The schema is in alpha, and a receiver of another version may answer 200 and keep nothing. So
 * each request names the schema in a header. A profile that was not taken is not sent again: the
 * next one is of newer time.
 */
#include "otlp/otlp_fate.h"
#include "otlp/otlp_reporter.h"
#include "otlp/otlp_resource.h"

#include <crest/clock.h>
#include <crest/profile.h>
#include <string.h>
#include <unistd.h>

#define OTLP_PROFILES_SCHEMA "Crest-Profiles-Schema: " CREST_PROFILE_OTLP_SCHEMA

static crest_status otlp_profiles_body(otlp_reporter *otlp, const crest_report *report,
                                       const crest_profile *profile, crest_error *error)
{
    static const crest_resource nothing = {.service = "", .version = "", .instance = ""};
    char service[CREST_OTLP_SERVICE_BYTES];
    crest_page_label attributes[CREST_OTLP_ATTRIBUTES_MAX];
    unsigned count = crest_otlp_resource(report->resource != NULL ? report->resource : &nothing,
                                         otlp->more, otlp->more_count, service, attributes);
    crest_status status = crest_http_body_begin(&otlp->packed, otlp->gzip);
    if (status == CREST_OK)
        status = crest_profile_write_otlp(profile, attributes, count, crest_http_body_write,
                                          &otlp->packed, error);
    if (status == CREST_OK)
        status = crest_http_body_end(&otlp->packed);
    return status == CREST_OK
               ? CREST_OK
               : crest_error_set(error, status, "POST %s: no memory for a profile of %llu samples",
                                 otlp->shown, (unsigned long long)crest_profile_samples(profile));
}

static crest_status otlp_profiles_judge(otlp_reporter *otlp, const crest_http_answer *answer,
                                        crest_error *error)
{
    const crest_otlp_question question = {otlp->shown, CREST_OTLP_PROTOBUF, "profiles", 1,
                                          otlp->packed.length};
    crest_otlp_answer said;
    if (crest_otlp_judge(&question, answer, &said, error) != CREST_OTLP_TAKEN)
        return error->status;
    if (said.rejected == 0)
        return CREST_OK;
    return crest_error_set(error, CREST_REFUSED,
                           "POST %s: the receiver rejected the profile%s%s (it is not sent again)",
                           otlp->shown, said.words[0] != '\0' ? ". Its words: " : "", said.words);
}

static crest_status otlp_profiles_send(otlp_reporter *otlp, const crest_report *report,
                                       crest_error *error)
{
    const char *lines[CREST_OTLP_HEADERS_MAX + 1];
    crest_http_answer answer;
    crest_http_request request =
        crest_otlp_request(otlp, CREST_OTLP_PROTOBUF, report->deadline_ns);
    request.content_encoding = otlp->gzip ? "gzip" : NULL;
    request.headers = lines;
    request.header_count = otlp->headers.count + 1;
    request.body = otlp->packed.bytes;
    request.length = otlp->packed.length;
    request.once = 1;
    lines[0] = OTLP_PROFILES_SCHEMA;
    for (unsigned i = 0; i < otlp->headers.count; i++)
        lines[i + 1] = otlp->headers.lines[i];
    crest_http_login_into(&otlp->login, &request);
    crest_status status = crest_http_send(otlp->http, &request, &answer, error);
    return status == CREST_OK ? otlp_profiles_judge(otlp, &answer, error) : status;
}

static crest_status otlp_profiles_report(crest_reporter *self, const crest_report *report,
                                         crest_error *error)
{
    otlp_reporter *otlp = self->state;
    if (otlp->process != getpid())
        return crest_error_set(error, CREST_REFUSED,
                               "No profiles are sent to %s: this reporter and its connection are "
                               "those of the process %ld, of which this one is a fork. Make one "
                               "here",
                               otlp->shown, (long)otlp->process);
    crest_profile *profile = crest_profile_stream_next(otlp->stream, error);
    if (profile == NULL)
        return error->status;
    crest_status status = CREST_OK;
    /* one without samples too, when the last one was not taken: to see whether they are now */
    if ((crest_profile_samples(profile) > 0 || otlp->warned) && !otlp->disabled) {
        crest_http_renew(otlp->http);
        status = otlp_profiles_body(otlp, report, profile, error);
        if (status == CREST_OK)
            status = crest_http_login_read(&otlp->login, error);
        if (status == CREST_OK)
            status = crest_otlp_headers_read(&otlp->headers, error);
        if (status == CREST_OK)
            status = otlp_profiles_send(otlp, report, error);
        crest_http_login_wipe(&otlp->login);
        crest_otlp_headers_wipe(&otlp->headers);
        otlp->warned = status != CREST_OK;
    }
    crest_profile_free(profile);
    return status;
}

crest_status crest_otlp_profiles_init(otlp_reporter *otlp, crest_error *error)
{
    otlp->reporter.name = CREST_OTLP_PROFILES_NAME;
    otlp->reporter.report = otlp_profiles_report;
    otlp->reporter.no_snapshot = 1;
    otlp->stream = crest_profile_stream_open(error);
    return otlp->stream != NULL ? CREST_OK : CREST_NO_MEMORY;
}
