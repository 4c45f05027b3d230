/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pages: a registry or a snapshot as text, streamed through a callback in pieces of at most
 * CREST_PAGE_PIECE_BYTES. For a host that serves /metrics itself, and for reporters.
 *
 *     crest_prometheus_write(NULL, stdout);
 *
 * A host that serves /metrics asks first which format the client wants:
 *
 *     const char *type;
 *     crest_format format = crest_format_negotiate(accept_header, &type);
 *     ... send Content-Type: type ...
 *     crest_page_write(NULL, format, send_piece, connection, &error);
 *
 * All formats have the same series and values; OpenMetrics adds units, and exemplars: beside the
 * bucket that the slowest operation of the last minute fell into, the id of that operation.
 * Prometheus' protobuf adds to these when counters and histograms began, and native histograms.
 *
 * Sources: Prometheus text exposition format 0.0.4; OpenMetrics 1.0.0; io.prometheus.client's
 * metrics.proto, and Prometheus' specification of native histograms.
 */
#ifndef CREST_PAGE_H
#define CREST_PAGE_H

#include <crest/snapshot.h>
#include <stdio.h>

#define CREST_PAGE_PIECE_BYTES 65536u

/* How much of an Accept header is read. */
#define CREST_ACCEPT_BYTES_MAX 8192u

/* Names that a narrowed page may be asked for. */
#define CREST_PAGE_NAMES_MAX 1000u

typedef enum crest_format {
    CREST_FORMAT_PROMETHEUS_TEXT, /* text/plain; version=0.0.4; charset=utf-8 */
    CREST_FORMAT_OPENMETRICS,     /* application/openmetrics-text; version=1.0.0; charset=utf-8 */
    /* application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily;
       encoding=delimited */
    CREST_FORMAT_PROMETHEUS_PROTOBUF
} crest_format;

/* Takes `length` bytes, borrowed for the call; 0 to go on, anything else to stop. */
typedef int crest_write_fn(void *context, const void *bytes, size_t length);

/* A label put on the crest_target_info series, never on others. */
typedef struct crest_page_label {
    const char *key;
    const char *value;
} crest_page_label;

/*
 * Which results of the windows a page has. Rates and averages a scraper can compute from what is
 * cumulative, as Prometheus does with rate(). It cannot compute the extremes of a range sampler,
 * since what was between two pages is in no page. So only those are there by default.
 */
enum {
    CREST_PAGE_WINDOWS_NONE = -1,  /* none: for the last page of a process, where they would stay */
    CREST_PAGE_WINDOWS_RANGES = 0, /* range samplers' X_min1m, X_avg1m, X_max1m */
    CREST_PAGE_WINDOWS_ALL = 1     /* X_rate1m, X_peak1m, X_avg1m, X_max1m of the others too */
};

/*
 * Histograms of a protobuf page: classic buckets, as the text formats have them, native ones, or
 * both, of which a reader takes what it wants. Native buckets grow by a factor each, so that a
 * histogram is one series to its reader and quantiles are as exact everywhere. Those of
 * CREST_RANGE_NONE have classic buckets whatever is asked for: nothing is known of their values.
 */
enum {
    CREST_PAGE_NATIVE_OFF = -1, /* classic ones only */
    CREST_PAGE_NATIVE_ON = 0,   /* both */
    CREST_PAGE_NATIVE_ONLY = 1  /* native ones only */
};
#define CREST_PAGE_NATIVE_FACTOR_DEFAULT 1.1
#define CREST_PAGE_NATIVE_BUCKETS_DEFAULT 160u
#define CREST_PAGE_NATIVE_BUCKETS_MIN 10u
#define CREST_PAGE_NATIVE_BUCKETS_MAX 500u

typedef struct crest_page_options {
    /* one of CREST_PAGE_WINDOWS_ */
    int windows CREST_DEFAULT_(CREST_PAGE_WINDOWS_RANGES);
    /* what crest_target_info says (service, version, …); NULL: that series is left out */
    const crest_page_label *target CREST_DEFAULT_(NULL);
    unsigned target_count CREST_DEFAULT_(0);
    /*
     * Only the families of these names, `name_count` of them, borrowed for the call; 0: all. A
     * family is selected by its name in either format, or by the name of any of its samples: X by
     * X, X_total, X_bucket, X_sum, X_count and X_created, as far as it has these. A family is on
     * the page whole or not at all. A name of no family selects nothing.
     */
    const char *const *names CREST_DEFAULT_(NULL);
    unsigned name_count CREST_DEFAULT_(0);
    /* OpenMetrics: also X_created, when the series was made, for counters and distributions. It
     * costs the scraper one more series for each of them. */
    int created CREST_DEFAULT_(0);
    /* OpenMetrics and protobuf: non-zero leaves exemplars out. */
    int no_exemplars CREST_DEFAULT_(0);
    /* protobuf: one of CREST_PAGE_NATIVE_ */
    int native CREST_DEFAULT_(CREST_PAGE_NATIVE_ON);
    /* protobuf: by how much a native bucket's bounds may differ, above 1; 0: the default, 1.1. The
     * next smaller factor is taken of 65536, 256, 16, 4, 2, 1.41, 1.19, 1.09, 1.044, 1.022, 1.011,
     * 1.0054 and 1.0027, but none by which buckets were narrower than the range's precision */
    double native_factor CREST_DEFAULT_(0);
    /* protobuf: native buckets of a series that are not empty, CREST_PAGE_NATIVE_BUCKETS_MIN to
     * _MAX; 0: the default, 160. A series that has more gets a larger factor until it fits */
    unsigned native_buckets CREST_DEFAULT_(0);
} crest_page_options;

CREST_BEGIN_C

/* The Content-Type of a format; NULL for none. */
CREST_API const char *crest_format_content_type(crest_format format);

/*
 * The format that the client of an HTTP server wants, by its Accept header: the format with the
 * highest q. Of two with equal q, a type that is named goes before one that only a wildcard
 * accepts; of two named ones the first. Protobuf is for a client that names it, its proto and its
 * encoding, and by no wildcard. NULL, a header that accepts no format, and one that cannot be
 * parsed give CREST_FORMAT_PROMETHEUS_TEXT; a malformed part of the header is ignored.
 * *content_type (may be NULL) is what to send as Content-Type, a constant text. For OpenMetrics
 * and protobuf it repeats an escaping=allow-utf-8, underscores or values that was asked for, since
 * all of these leave a page's names as they are.
 * Thread-safe, signal-safe; reads the header once, at most CREST_ACCEPT_BYTES_MAX bytes of it.
 * Sources: RFC 9110, 12.5.1; what Prometheus 2.42 to 3.x send.
 */
CREST_API crest_format crest_format_negotiate(const char *accept, const char **content_type);

/*
 * Writes a page of a snapshot; options may be NULL. A pure function of its arguments.
 * CREST_IO when `write` stopped it, CREST_NO_MEMORY, CREST_INVALID_ARGUMENT; error may be NULL.
 * Thread-safe; allocates one piece, and for protobuf some 50 KiB, and up to 1 MiB of pieces while
 * a long family is encoded.
 */
CREST_API crest_status crest_snapshot_write(const crest_snapshot *snapshot, crest_format format,
                                            const crest_page_options *options,
                                            crest_write_fn *write, void *context,
                                            crest_error *error);

/* Writes the registry (NULL: the default one) as it is, with the windows of range samplers only. It
 * keeps no snapshot: each value is read when its line is written, so that the page takes no more
 * memory however many series there are; but for protobuf it takes one, and allocates as
 * crest_snapshot_take. CREST_NO_MEMORY may come after part of the page has been
 * written, as CREST_IO may. While `write` waits, slots of series that went are not used again. */
CREST_API crest_status crest_page_write(crest_registry *registry, crest_format format,
                                        crest_write_fn *write, void *context, crest_error *error);

/* crest_page_write as text 0.0.4 to a stdio stream; 0, or -1 with errno set by the failed write. */
CREST_API int crest_prometheus_write(crest_registry *registry, FILE *stream);

/*
 * The exported names of a metric are a pure function of its canonical name, kind and unit. This
 * writes the main one ("comm_events_total", "comm_ping_time_seconds") and a NUL into `text`, cut to
 * `size`, and returns its length. `qualifier` (such as "rate1m") may be NULL.
 */
CREST_API size_t crest_exported_name(const char *canonical, crest_kind kind, crest_unit unit,
                                     const char *qualifier, char *text, size_t size);

CREST_END_C

#ifdef CREST_DISABLE
#include <crest/off/page_off.h>
#endif

#endif
