/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OTLP: a snapshot as metrics of OpenTelemetry's protocol, in bodies for `POST /v1/metrics`. For
 * reporters, and for hosts that send such bodies themselves.
 *
 *     static int send_body(void *context, const crest_otlp_body *body);
 *     crest_otlp_options options = {.attributes = attributes, .attribute_count = 2};
 *     crest_otlp_write(snapshot, &options, send_body, connection, &error);
 *
 * The same series as on a page (page.h). Names are those that Prometheus translates, by default,
 * into the page's names: "casper.add-block-time" in "s" becomes casper_add_block_time_seconds.
 *
 *     counter          monotonic Sum
 *     gauge            Gauge
 *     range sampler    Gauge of its value, and of what windows say of it: x.min1m, x.avg1m, x.max1m
 *     histogram, timer ExponentialHistogram or Histogram, with minimum, maximum, and the page's
 *                      exemplar
 *
 * Numbers: a counter whose base unit is the unit it counts in is as_int up to 2^63 - 1, the most
 * that OTLP's as_int holds, and as_double above. All else is as_double, rounded once. Labels are
 * attributes of points; one whose value is "" is left out, as it does not exist to Prometheus.
 * Bytes that are not UTF-8 become U+FFFD and are counted in
 * crest_misuse_total{cause="invalid-text"}.
 *
 * Sources: opentelemetry-proto 1.11, metrics.proto; OTLP 1.x's JSON encoding; OpenTelemetry's data
 * model of metrics; how Prometheus 3.16 translates names.
 */
#ifndef CREST_OTLP_H
#define CREST_OTLP_H

#include <crest/page.h>
#include <crest/span.h>

/* The path of a receiver: of metrics, of traces. */
#define CREST_OTLP_PATH "/v1/metrics"
#define CREST_OTLP_TRACES_PATH "/v1/traces"
#define CREST_OTLP_PROFILES_PATH "/v1development/profiles"

/* Bytes of a body, at most: by default, and what may be asked for. */
#define CREST_OTLP_BODY_BYTES_DEFAULT 4194304u
#define CREST_OTLP_BODY_BYTES_MIN 1024u
#define CREST_OTLP_BODY_BYTES_MAX 67108864u
/* Attributes of a resource. */
#define CREST_OTLP_ATTRIBUTES_MAX 64u

/* What bodies are made of. */
typedef enum crest_otlp_encoding {
    CREST_OTLP_PROTOBUF = 0, /* application/x-protobuf */
    CREST_OTLP_JSON = 1      /* application/json */
} crest_otlp_encoding;

/* What sums and histograms count: all since their series began, or what came since `previous`. */
typedef enum crest_otlp_temporality {
    CREST_OTLP_CUMULATIVE = 0,
    CREST_OTLP_DELTA = 1
} crest_otlp_temporality;

/* How histograms and timers are sent. Those of CREST_RANGE_NONE are explicit, with one bucket,
 * whatever is asked for: nothing is known of their values. */
typedef enum crest_otlp_histograms {
    CREST_OTLP_EXPONENTIAL = 0, /* the page's native buckets */
    CREST_OTLP_EXPLICIT = 1     /* the metric's own buckets, as on a text page */
} crest_otlp_histograms;

/* A whole ExportMetricsServiceRequest; borrowed for the call. */
typedef struct crest_otlp_body {
    const void *bytes;
    size_t length;
    size_t points;
    /* The series whose own points end in this body: first to end - 1, of the snapshot. A body of
       windows' results only has none. After a body was delivered, crest_otlp_options.first = end
       goes on behind it. */
    size_t first;
    size_t end;
} crest_otlp_body;

/* Takes a body; 0 to go on, anything else to stop. */
typedef int crest_otlp_body_fn(void *context, const crest_otlp_body *body);

/* What a receiver of differences has confirmed of a series; borrowed until the next is asked for.
 */
typedef struct crest_otlp_delivered {
    uint64_t counter;
    const crest_distribution *distribution; /* NULL: nothing */
    uint64_t wall_ns;                       /* when, since 1970: the difference's start time */
} crest_otlp_delivered;

/* Fills *was for series `index` of the snapshot. CREST_NOT_FOUND: nothing was delivered of this
 * life of the series, so that all of it is new, from its birth. */
typedef crest_status crest_otlp_delivered_fn(void *context, size_t index,
                                             const crest_series_view *series,
                                             crest_otlp_delivered *was);

/* Zero or NULL is the default of each. */
typedef struct crest_otlp_options {
    crest_otlp_encoding encoding CREST_DEFAULT_(CREST_OTLP_PROTOBUF);
    crest_otlp_temporality temporality CREST_DEFAULT_(CREST_OTLP_CUMULATIVE);
    crest_otlp_histograms histograms CREST_DEFAULT_(CREST_OTLP_EXPONENTIAL);
    /* of the resource, with OpenTelemetry's keys: service.name, service.instance.id …; borrowed for
       the call. Those with the value NULL or "" are left out. A key may be any text but "", once */
    const crest_page_label *attributes CREST_DEFAULT_(NULL);
    unsigned attribute_count CREST_DEFAULT_(0);
    /* labels of crest_target_info, as crest_page_options.target; NULL: without that series */
    const crest_page_label *target CREST_DEFAULT_(NULL);
    unsigned target_count CREST_DEFAULT_(0);
    /* one of CREST_PAGE_WINDOWS_ */
    int windows CREST_DEFAULT_(CREST_PAGE_WINDOWS_RANGES);
    /* non-zero leaves exemplars out */
    int no_exemplars CREST_DEFAULT_(0);
    /* exponential histograms: as crest_page_options.native_factor and .native_buckets */
    double factor CREST_DEFAULT_(0);
    unsigned buckets CREST_DEFAULT_(0);
    /* bytes of a body, CREST_OTLP_BODY_BYTES_MIN to _MAX; 0: the default. A single point that is
       longer goes alone */
    size_t body_bytes CREST_DEFAULT_(0);
    /* non-zero: points without values, flagged "no recorded value", one millisecond behind the
       snapshot's time: to Prometheus each series ends there. For a process that ends: a marker
       that is as old as the last value would be ignored */
    int stale CREST_DEFAULT_(0);
    /* delta: the snapshot that was delivered before; NULL: none was, so that all is new. Series
       that have grown by nothing since are left out */
    const crest_snapshot *previous CREST_DEFAULT_(NULL);
    /* the series to begin with, 0 being the first */
    size_t first CREST_DEFAULT_(0);
    /* delta: what was delivered, series by series, for a reporter some of whose bodies arrived and
       some did not; NULL: as `previous` says */
    crest_otlp_delivered_fn *delivered CREST_DEFAULT_(NULL);
    void *delivered_context CREST_DEFAULT_(NULL);
} crest_otlp_options;

/* Bytes of a span's text: its name, an attribute's key or value. A longer one is cut at a
 * character. */
#define CREST_OTLP_SPAN_TEXT_BYTES_MAX 4096u

/* A whole ExportTraceServiceRequest; borrowed for the call. It has the spans `first` to end - 1 of
 * the batch. */
typedef struct crest_otlp_traces_body {
    const void *bytes;
    size_t length;
    size_t spans;
    size_t first;
    size_t end;
} crest_otlp_traces_body;

/* Takes a body of spans; 0 to go on, anything else to stop. */
typedef int crest_otlp_traces_body_fn(void *context, const crest_otlp_traces_body *body);

/* Zero or NULL is the default of each. */
typedef struct crest_otlp_traces_options {
    crest_otlp_encoding encoding CREST_DEFAULT_(CREST_OTLP_PROTOBUF);
    /* of the resource, as crest_otlp_options.attributes; borrowed for the call */
    const crest_page_label *attributes CREST_DEFAULT_(NULL);
    unsigned attribute_count CREST_DEFAULT_(0);
    /* bytes of a body, as crest_otlp_options.body_bytes. A single span that is longer goes alone */
    size_t body_bytes CREST_DEFAULT_(0);
} crest_otlp_traces_options;

CREST_BEGIN_C

/*
 * Encodes a batch of spans (<crest/span.h>) for `POST /v1/traces` and hands out its bodies in turn,
 * none without spans; options may be NULL. A pure function of its arguments. A span says beside
 * its own attributes:
 *
 *     operation            the operation's id, of spans without a parent
 *     outcome              "cancelled", which is no error
 *     crest.kept           why a root that was not sampled was kept: "slow", "failed" …
 *     crest.folded         this span stands for so many children of its name
 *     crest.folded_sum_ns, crest.folded_max_ns
 *
 * Outcome error or timeout is the status ERROR. Bytes that are not UTF-8 become U+FFFD, as above.
 * CREST_IO when `write` stopped it, CREST_NO_MEMORY, CREST_INVALID_ARGUMENT; error may be NULL.
 * Thread-safe; not signal-safe. Allocates one body. Source: opentelemetry-proto 1.11, trace.proto.
 */
CREST_API crest_status crest_otlp_traces_write(const crest_span_batch *batch,
                                               const crest_otlp_traces_options *options,
                                               crest_otlp_traces_body_fn *write, void *context,
                                               crest_error *error);

/*
 * Encodes a snapshot and hands out its bodies in turn, none without points; options may be NULL. A
 * pure function of its arguments.
 * CREST_IO when `write` stopped it, CREST_NO_MEMORY, CREST_INVALID_ARGUMENT; error may be NULL.
 * Thread-safe; not signal-safe. Allocates some 60 KiB and one body, and for the difference of a
 * histogram a copy of it.
 */
CREST_API crest_status crest_otlp_write(const crest_snapshot *snapshot,
                                        const crest_otlp_options *options,
                                        crest_otlp_body_fn *write, void *context,
                                        crest_error *error);

/* The Content-Type of an encoding; NULL for none. Thread-safe. */
CREST_API const char *crest_otlp_content_type(crest_otlp_encoding encoding);

CREST_END_C

#ifdef CREST_DISABLE
#include <crest/off/otlp_off.h>
#endif

#endif
