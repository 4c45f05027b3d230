/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The private struct of an OTLP reporter, for the files that share it: otlp_make.c, which makes it,
 * otlp_http.c, which reports metrics, otlp_traces_http.c, which reports spans, and
 * otlp_profiles_http.c, which reports profiles.
 */
#ifndef CREST_REPORTERS_OTLP_REPORTER_H
#define CREST_REPORTERS_OTLP_REPORTER_H

#include "common/span_queue.h"
#include "http/http_body.h"
#include "http/http_login.h"
#include "http/http_transport.h"
#include "otlp/otlp_delivered.h"
#include "otlp/otlp_headers.h"

#include <crest/otlp_http.h>
#include <pthread.h>
#include <sys/types.h>

#define CREST_OTLP_KIND "otlp"
#define CREST_OTLP_TRACES_NAME "otlp-traces"
#define CREST_OTLP_PROFILES_NAME "otlp-profiles"

/* A body whose fate is not known, to be sent again as it is. */
typedef struct otlp_pending {
    unsigned char *bytes; /* as sent; NULL: there is none */
    size_t length;
    size_t points;
} otlp_pending;

typedef struct otlp_reporter {
    crest_reporter reporter; /* first: what the caller holds */
    pid_t process;           /* that made it */
    char *url;               /* user and password included */
    char *shown;             /* without */
    char *ca_file;           /* NULL: the system's authorities */
    char *proxy;             /* user and password included; NULL: none */
    char *proxy_shown;       /* without */
    crest_page_label *more;  /* attributes of the resource */
    unsigned more_count;
    crest_otlp_options form; /* what bodies are made of, but for a report's own */
    int windows, gzip, no_stale, disabled;
    int traces; /* it sends spans, from the queue, and nothing else */
    crest_span_queue queue;
    struct crest_profile_stream
        *stream; /* it sends profiles, and nothing else; NULL: it does not */
    crest_http *http;
    crest_http_login login;
    crest_otlp_headers headers;
    /* held during a report (trylock only); guards the fields below */
    pthread_mutex_t one_at_a_time;
    crest_http_body packed; /* gzip: the body as sent */
    crest_otlp_account account;
    otlp_pending pending;
    int warned; /* the log was told of the last reports' partial successes */
    /* of the report under way */
    const crest_report *report;
    crest_error *error;  /* the report's */
    crest_status status; /* of the first failure, which *error tells */
    size_t next;         /* the first series that is not in a body that was dealt with */
    size_t too_large;    /* bytes of a body that was too large; 0: none was */
    int halved;          /* this report has gone on with smaller bodies */
    int partial;         /* a receiver rejected points, or warned */
} otlp_reporter;

/* A request to its server, of headers that were read, without a body; for the caller to go on
 * with. Texts are borrowed from the reporter. */
crest_http_request crest_otlp_request(const otlp_reporter *otlp, crest_otlp_encoding encoding,
                                      uint64_t deadline_ns);

crest_status crest_otlp_http_report(crest_reporter *self, const crest_report *report,
                                    crest_error *error);

/* One of spans: sets what it is, before it is used; CREST_SYSTEM. */
crest_status crest_otlp_traces_init(otlp_reporter *otlp, crest_error *error);

/* The same, of profiles; CREST_NO_MEMORY. */
crest_status crest_otlp_profiles_init(otlp_reporter *otlp, crest_error *error);

#endif
