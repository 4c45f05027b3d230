/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The OTLP reporter, in libcrest-reporters: sends what otlp.h encodes to an OpenTelemetry receiver
 * over HTTP, `POST URL/v1/metrics`.
 *
 *     crest_error error;
 *     crest_otlp_http_options options = {.url = "http://127.0.0.1:4318"};
 *     crest_reporter *otlp = crest_otlp_http_new(&options, &error);
 *     crest_reporter_attach(NULL, otlp, NULL, &error);
 *
 * From crest_start: otlp=URL, or otlp=on for the URL of the environment, and
 *
 *   otlp.encoding                 protobuf (the default) or json
 *   otlp.temporality              cumulative (the default) or delta
 *   otlp.histograms               exponential (the default) or explicit
 *   otlp.windows                  ranges (the default), off or all: see prometheus.windows
 *   otlp.compression              none (the default) or gzip
 *   otlp.body                     the most bytes of a body before compression, such as 4MiB (the
 *                                 default), 512KiB, 100000
 *   otlp.stale-on-stop            on (the default) or off: see below
 *   otlp.traces                   off (the default); on: kept spans too, POST URL/v1/traces; only:
 *                                 spans and no metrics
 *   otlp.traces-interval          between sending spans; 5s by default
 *   otlp.headers-file=PATH        further headers, a line each: "Name: value"
 *   otlp.user, with otlp.password-file=PATH or otlp.password-env=NAME
 *   otlp.bearer-file=PATH or otlp.bearer-env=NAME
 *   otlp.ca-file, otlp.cert-file, otlp.key-file, otlp.key-password-file
 *   otlp.proxy=http://[user:password@]host:port
 *   otlp.interval, otlp.timeout, otlp.jitter, otlp.include …: see run.h
 *
 * What none of these says is taken from OpenTelemetry's environment variables, so that CREST_OPTS
 * and the program's own options are above them. Those of OTEL_EXPORTER_OTLP_METRICS_ come before
 * those of OTEL_EXPORTER_OTLP_: ENDPOINT (the METRICS_ form as it is, the other with /v1/metrics
 * added), PROTOCOL, COMPRESSION, HEADERS, CERTIFICATE, CLIENT_CERTIFICATE, CLIENT_KEY, TIMEOUT,
 * METRICS_TEMPORALITY_PREFERENCE, METRICS_DEFAULT_HISTOGRAM_AGGREGATION;
 * OTEL_METRIC_EXPORT_INTERVAL, OTEL_METRIC_EXPORT_TIMEOUT; OTEL_SERVICE_NAME,
 * OTEL_RESOURCE_ATTRIBUTES; OTEL_SDK_DISABLED=true makes a reporter that sends nothing. A wrong one
 * is told to the log and ignored.
 *
 * The resource: service, version and instance are service.name, service.version and
 * service.instance.id; resource.KEY=VALUE is an attribute KEY.
 *
 * What happens to a body:
 *
 *   answer                      what the reporter does
 *   200                         done. Points that the receiver rejected (partial success) are
 *                               counted and told, and not sent again
 *   429, 502, 503, 504, no      the report fails, and is tried again after a backoff, or when
 *   connection, no answer       Retry-After says so (seconds or a date; an hour at most)
 *   413                         the report goes on with bodies of half that size, once a report
 *   400                         that body is dropped and counted, the others are sent
 *   all others, redirects, what the report is refused and counted; the next one is the next regular
 *   is no OTLP answer           one
 *
 * Cumulative values need no replay: the next report has them all. With otlp.temporality=delta the
 * reporter keeps what the receiver has confirmed, series by series. What was refused is in the next
 * difference. A body whose fate is not known (no answer, a retry's code) is sent again as it was,
 * byte by byte, with the times it had, before anything else: a receiver that had taken it sees that
 * it is the same. One that is then refused counts as not taken: a receiver that took it without an
 * answer, and refuses the same bytes later, has it twice. The account costs the memory of a copy of
 * all histograms, and ends with the process.
 *
 * The last report before a stop ends each series with a point "no recorded value" (cumulative
 * only), so that Prometheus does not show the last values for five minutes more. A batch program,
 * whose values are there to be looked at when it has ended, sets otlp.stale-on-stop=off.
 *
 * Spans (otlp.traces): each batch that tracing hands over is encoded at once, into a queue of 4
 * MiB, and sent by a thread of its own, named otlp-traces. A body is sent at most once over a
 * connection of its own: after a failed connect, or one of the codes 429, 502, 503 and 504, it
 * stays in the queue for the next try; if it went out and no answer came, it is given up, because a
 * receiver that had taken it would have its spans twice. crest_spans_sent_total, and
 * crest_spans_lost_total by cause: queue-full, rejected (partial success), refused, too-large, no-
 * answer, no-memory, stopped. Of the environment, OTEL_EXPORTER_OTLP_TRACES_ stands for
 * OTEL_EXPORTER_OTLP_METRICS_, and OTEL_BSP_SCHEDULE_DELAY for the interval.
 *
 * Profiles (profile.otlp of profile.h): each report sends the CPU time since the last one, as
 * protobuf of the schema CREST_PROFILE_OTLP_SCHEMA, which the header Crest-Profiles-Schema names,
 * by a thread of its own, named otlp-profiles. A profile that was not taken is not sent again.
 *
 * Memory beside the snapshot: one body, 60 KiB of the encoder's, and libcurl's (42 KiB of 7.88,
 * more of later ones); gzip adds a compressed body and zlib's 256 KiB. Each report is sent one body
 * at a time over one kept connection. Proxies of the environment and ~/.netrc are not used.
 *
 * Sources: OTLP 1.x, "OTLP/HTTP"; OpenTelemetry's specification, "OpenTelemetry Protocol Exporter".
 */
#ifndef CREST_OTLP_HTTP_H
#define CREST_OTLP_HTTP_H

#include <crest/otlp.h>
#include <crest/reporter.h>

/* Bytes of a URL, its NUL and the path that is added included. */
#define CREST_OTLP_HTTP_URL_BYTES_MAX 4096u
/* How long a Retry-After may put a report off. */
#define CREST_OTLP_HTTP_RETRY_S_MAX 3600u

/* Zero or NULL is the default of each; the environment is not looked at. */
typedef struct crest_otlp_http_options {
    /* http:// or https://, with an optional user:password@ and an optional path, to which
       /v1/metrics is added unless it ends so; required. User and password (% and reserved
       characters in them as %XX) are never shown in a message */
    const char *url CREST_DEFAULT_(NULL);
    /* non-zero: the URL is taken as it is, and no path is added */
    int whole_url CREST_DEFAULT_(0);
    crest_otlp_encoding encoding CREST_DEFAULT_(CREST_OTLP_PROTOBUF);
    crest_otlp_temporality temporality CREST_DEFAULT_(CREST_OTLP_CUMULATIVE);
    crest_otlp_histograms histograms CREST_DEFAULT_(CREST_OTLP_EXPONENTIAL);
    /* one of CREST_PAGE_WINDOWS_; the last report leaves them out */
    int windows CREST_DEFAULT_(CREST_PAGE_WINDOWS_RANGES);
    /* bytes of a body before compression, CREST_OTLP_BODY_BYTES_MIN to _MAX; 0: 4 MiB */
    size_t body_bytes CREST_DEFAULT_(0);
    /* non-zero: compress */
    int gzip CREST_DEFAULT_(0);
    /* attributes of the resource beside crest_report.resource's, which come first; their
       service.name, service.version and service.instance.id stand where that says nothing */
    const crest_page_label *attributes CREST_DEFAULT_(NULL);
    unsigned attribute_count CREST_DEFAULT_(0);
    /* further headers, and a file of them */
    const crest_page_label *headers CREST_DEFAULT_(NULL);
    unsigned header_count CREST_DEFAULT_(0);
    const char *headers_file CREST_DEFAULT_(NULL);
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
    /* http://[user:password@]host:port; https goes through it by CONNECT; NULL: none */
    const char *proxy CREST_DEFAULT_(NULL);
    /* non-zero: the last report does not end the series */
    int no_stale CREST_DEFAULT_(0);
    /* non-zero: reports succeed and send nothing */
    int disabled CREST_DEFAULT_(0);
    /* non-zero: a reporter of kept spans (<crest/span.h>) to /v1/traces, and of no metrics, for
       both attach two; where `url` ends with /v1/metrics, that is replaced. Temporality,
       histograms, windows and no_stale do not concern it */
    int traces CREST_DEFAULT_(0);
    /* non-zero: a reporter of profiles of CPU time (<crest/profile.h>) to /v1development/profiles,
       and of nothing else; always as protobuf. `traces` is 0 then */
    int profiles CREST_DEFAULT_(0);
} crest_otlp_http_options;

CREST_BEGIN_C

/*
 * Makes a reporter; options are copied. NULL with *error filled (error may be NULL):
 * CREST_INVALID_ARGUMENT for a URL, a file, a header, or options that contradict each other,
 * CREST_LIMIT, CREST_NO_MEMORY, CREST_SYSTEM when libcurl cannot be used. Owned by the caller,
 * freed with crest_reporter_free. Thread-safe; allocates; reads files; may call the log callback;
 * initialises libcurl, and with it the TLS library, once a process. If its URL is https, make it
 * before crest_start: only atexit handlers registered after it can still speak TLS when the process
 * exits.
 *
 * Its report: CREST_REFUSED and CREST_UNREACHABLE as the table above says; CREST_UNREACHABLE also
 * before the time of a Retry-After, without a request; CREST_TIMED_OUT, cancelled included;
 * CREST_IO: broken off, no OTLP answer, or a secret's file cannot be read; CREST_ALREADY: another
 * report of this reporter is running; CREST_REFUSED in a fork's child; CREST_NO_MEMORY. Blocks
 * until report->deadline_ns at most.
 */
CREST_API crest_reporter *crest_otlp_http_new(const crest_otlp_http_options *options,
                                              crest_error *error);

CREST_END_C

#ifdef CREST_DISABLE
#include <crest/off/otlp_http_off.h>
#endif

#endif
