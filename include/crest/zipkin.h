/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Zipkin reporter, in libcrest-reporters: sends kept spans (span.h) to a Zipkin server, as
 * Zipkin's JSON of version 2, `POST URL/api/v2/spans`.
 *
 *     crest_error error;
 *     crest_zipkin_options options = {.url = "http://127.0.0.1:9411"};
 *     crest_reporter *zipkin = crest_zipkin_new(&options, &error);
 *     crest_reporter_attach(NULL, zipkin, &(crest_schedule){.interval_ms = 5000}, &error);
 *
 * From crest_start: zipkin=URL, and
 *
 *   zipkin.gzip                  on (the default) or off
 *   zipkin.user, with zipkin.password-file=PATH or zipkin.password-env=NAME
 *   zipkin.bearer-file=PATH or zipkin.bearer-env=NAME
 *   zipkin.ca-file, zipkin.cert-file, zipkin.key-file, zipkin.key-password-file
 *   zipkin.proxy=http://[user:password@]host:port
 *   zipkin.interval (5s), zipkin.timeout (10s), zipkin.jitter: see run.h
 *
 * A span:
 *
 *   traceId, id, parentId   in hexadecimal: 32 and 16 digits
 *   name                    the metric's; Zipkin makes it small letters
 *   kind                    SERVER, CLIENT, PRODUCER or CONSUMER; none of a span within a process
 *   timestamp, duration     in microseconds; a duration below one is 1
 *   localEndpoint           serviceName: the option service, or "unknown"
 *   annotations             events
 *   tags                    instance; operation, of a root; outcome, if it is cancelled; error, of
 *                           outcome error or timeout: the message or the outcome; kept, unless it
 * was
 *                           sampled; folded, folded_sum_ns, folded_max_ns; and attributes, as texts
 *
 * Zipkin has no links: they are left out. Texts are cut at 4096 bytes, at a character; what is not
 * UTF-8 becomes U+FFFD.
 *
 * Each batch is encoded when tracing hands it over, into a queue of 4 MiB; the reporter's thread
 * sends it, each body at most once, over a connection of its own. What becomes of a body, and how
 * it is counted, is as with otlp.traces: see otlp_http.h. Zipkin answers 202.
 *
 * Source: Zipkin's zipkin2-api.yaml 1.0.0; tried with Zipkin 3.6.1.
 */
#ifndef CREST_ZIPKIN_H
#define CREST_ZIPKIN_H

#include <crest/reporter.h>
#include <crest/span.h>

/* The path of a server. */
#define CREST_ZIPKIN_PATH "/api/v2/spans"
/* Bytes of a URL, its NUL and the path that is added included. */
#define CREST_ZIPKIN_URL_BYTES_MAX 4096u

/* Zero or NULL is the default of each. */
typedef struct crest_zipkin_options {
    /* http:// or https://, with an optional user:password@ and an optional path, to which
       /api/v2/spans is added unless it ends so; required. User and password are never shown */
    const char *url CREST_DEFAULT_(NULL);
    /* non-zero: do not compress */
    int no_gzip CREST_DEFAULT_(0);
    /* basic or bearer authentication, and TLS; see pushgateway.h */
    const char *user CREST_DEFAULT_(NULL);
    const char *password_file CREST_DEFAULT_(NULL);
    const char *password_env CREST_DEFAULT_(NULL);
    const char *bearer_file CREST_DEFAULT_(NULL);
    const char *bearer_env CREST_DEFAULT_(NULL);
    const char *ca_file CREST_DEFAULT_(NULL);
    const char *cert_file CREST_DEFAULT_(NULL);
    const char *key_file CREST_DEFAULT_(NULL);
    const char *key_password_file CREST_DEFAULT_(NULL);
    /* http://[user:password@]host:port; NULL: none */
    const char *proxy CREST_DEFAULT_(NULL);
} crest_zipkin_options;

CREST_BEGIN_C

/*
 * Makes a reporter; options are copied. NULL with *error filled (error may be NULL):
 * CREST_INVALID_ARGUMENT, CREST_LIMIT, CREST_NO_MEMORY, CREST_SYSTEM when libcurl cannot be used.
 * Owned by the caller, freed with crest_reporter_free. Thread-safe; allocates; reads files;
 * initialises libcurl once a process.
 *
 * Its report: CREST_REFUSED, CREST_UNREACHABLE, CREST_TIMED_OUT (cancelled included), CREST_IO. In
 * a fork's child it is CREST_REFUSED. Blocks until report->deadline_ns at most.
 */
CREST_API crest_reporter *crest_zipkin_new(const crest_zipkin_options *options, crest_error *error);

CREST_END_C

#ifdef CREST_DISABLE
#include <crest/off/zipkin_off.h>
#endif

#endif
