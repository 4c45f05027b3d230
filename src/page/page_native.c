/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Histograms of a protobuf page. See page_native.h.
 */
#include "page/page_native.h"
#include "names/buckets.h"
#include "page/page_exemplar.h"
#include "page/protobuf_fields.h"

#include <math.h>

/* Field of Metric. */
enum { NATIVE_METRIC_HISTOGRAM = 7 };
/* Fields of Histogram. */
enum {
    NATIVE_SAMPLE_COUNT = 1,
    NATIVE_SAMPLE_SUM = 2,
    NATIVE_BUCKET = 3,
    NATIVE_SAMPLE_COUNT_FLOAT = 4,
    NATIVE_SCHEMA = 5,
    NATIVE_ZERO_THRESHOLD = 6,
    NATIVE_ZERO_COUNT = 7,
    NATIVE_ZERO_COUNT_FLOAT = 8,
    NATIVE_POSITIVE_SPAN = 12,
    NATIVE_POSITIVE_DELTA = 13,
    NATIVE_POSITIVE_COUNT = 14,
    NATIVE_CREATED = 15,
    NATIVE_EXEMPLARS = 16
};
/* Fields of Bucket, BucketSpan and Exemplar. */
enum { NATIVE_BUCKET_COUNT = 1, NATIVE_BUCKET_BOUND = 2, NATIVE_BUCKET_EXEMPLAR = 3 };
enum { NATIVE_SPAN_OFFSET = 1, NATIVE_SPAN_LENGTH = 2 };
enum { NATIVE_EXEMPLAR_LABEL = 1, NATIVE_EXEMPLAR_VALUE = 2, NATIVE_EXEMPLAR_TIME = 3 };

#define NATIVE_NS_PER_S UINT64_C(1000000000)
/* Up to so many empty buckets between two others are written; more begin a new span. */
#define NATIVE_GAP_MAX 2

void crest_protobuf_histograms_begin(crest_protobuf_histograms *histograms, const crest_page *page,
                                     const crest_page_metric *metric, unsigned decimals)
{
    const crest_page_options *options = page->options;
    const crest_series_view *series = &metric->first;
    crest_unit unit = crest_unit_of(series->kind, series->unit);
    const crest_buckets *buckets = series->buckets;
    if (buckets == NULL)
        buckets = crest_buckets_for_unit(unit, series->kind);
    histograms->page = page;
    histograms->metric = metric;
    histograms->decimals = decimals;
    histograms->mode = series->native == CREST_NATIVE_DEFAULT ? options->native
                       : series->native == CREST_NATIVE_OFF   ? CREST_PAGE_NATIVE_OFF
                       : series->native == CREST_NATIVE_ON    ? CREST_PAGE_NATIVE_ON
                                                              : CREST_PAGE_NATIVE_ONLY;
    double factor = series->native_factor > 1 ? series->native_factor : options->native_factor;
    histograms->schema =
        crest_native_schema(factor > 1 ? factor : CREST_PAGE_NATIVE_FACTOR_DEFAULT);
    histograms->limit =
        options->native_buckets != 0 ? options->native_buckets : CREST_PAGE_NATIVE_BUCKETS_DEFAULT;
    histograms->bounds = buckets->bounds;
    histograms->bound_count =
        buckets->count < CREST_BUCKETS_MAX ? buckets->count : CREST_BUCKETS_MAX;
    for (unsigned i = 0; i < histograms->bound_count; i++)
        histograms->limits[i] = crest_buckets_limit(buckets->bounds[i], unit);
}

static char *native_put_exemplar(char *at, unsigned field, const crest_page_exemplar *exemplar)
{
    char *body;
    at = crest_wire_begin(at, field, &body);
    if (exemplar->whole)
        at =
            crest_protobuf_label(at, NATIVE_EXEMPLAR_LABEL, CREST_EXEMPLAR_LABEL,
                                 sizeof CREST_EXEMPLAR_LABEL - 1, exemplar->id, exemplar->id_bytes);
    if (exemplar->traced) {
        at = crest_protobuf_label(at, NATIVE_EXEMPLAR_LABEL, CREST_EXEMPLAR_TRACE_LABEL,
                                  sizeof CREST_EXEMPLAR_TRACE_LABEL - 1, exemplar->trace_text,
                                  CREST_EXEMPLAR_TRACE_BYTES - 1);
        at = crest_protobuf_label(at, NATIVE_EXEMPLAR_LABEL, CREST_EXEMPLAR_SPAN_LABEL,
                                  sizeof CREST_EXEMPLAR_SPAN_LABEL - 1, exemplar->span_text,
                                  CREST_EXEMPLAR_SPAN_BYTES - 1);
    }
    at = crest_wire_double(at, NATIVE_EXEMPLAR_VALUE, exemplar->value);
    at = crest_protobuf_time(at, NATIVE_EXEMPLAR_TIME, exemplar->wall_ns / NATIVE_NS_PER_S,
                             (uint32_t)(exemplar->wall_ns % NATIVE_NS_PER_S));
    return crest_wire_end(body, at);
}

/* Puts classic buckets. The bucket of an exemplar (NULL: there is none) is that of the value
 * itself, as on a text page. Readers add the last bucket, +Inf, themselves; it is put only with an
 * exemplar. */
static char *native_put_classic(const crest_protobuf_histograms *histograms,
                                const crest_totals *totals, const crest_page_exemplar *exemplar,
                                char *at)
{
    unsigned count = histograms->bound_count;
    int left = exemplar != NULL;
    for (unsigned i = 0; i <= count; i++) {
        double bound = i < count ? histograms->bounds[i] : (double)INFINITY;
        int here = left && exemplar->value <= bound;
        char *body;
        if (i == count && !here)
            break;
        at = crest_wire_begin(at, NATIVE_BUCKET, &body);
        at = crest_wire_u64(at, NATIVE_BUCKET_COUNT, i < count ? totals->below[i] : totals->count);
        at = crest_wire_double(at, NATIVE_BUCKET_BOUND, bound);
        if (here) {
            at = native_put_exemplar(at, NATIVE_BUCKET_EXEMPLAR, exemplar);
            left = 0;
        }
        at = crest_wire_end(body, at);
    }
    return at;
}

/* Empty buckets before this one; for the first bucket, its index. */
static int native_gap(const crest_native *native, unsigned i)
{
    int index = native->bucket[i].index;
    return i == 0 ? index : index - native->bucket[i - 1].index - 1;
}

static char *native_put_span(char *at, int offset, unsigned length)
{
    char *body;
    at = crest_wire_begin(at, NATIVE_POSITIVE_SPAN, &body);
    at = crest_wire_s64(at, NATIVE_SPAN_OFFSET, offset);
    at = crest_wire_u64(at, NATIVE_SPAN_LENGTH, length);
    return crest_wire_end(body, at);
}

/* Puts spans, at least one: by it readers know that the histogram is native. */
static char *native_put_spans(const crest_native *native, char *at)
{
    unsigned length = 0;
    int offset = 0;
    for (unsigned i = 0; i < native->used; i++) {
        int gap = native_gap(native, i);
        if (i != 0 && gap <= NATIVE_GAP_MAX) {
            length += (unsigned)gap + 1;
            continue;
        }
        if (i != 0)
            at = native_put_span(at, offset, length);
        offset = gap;
        length = 1;
    }
    return native_put_span(at, offset, length);
}

/* Puts the buckets' counts as floating-point numbers, which differences cannot hold. */
static char *native_put_floats(const crest_native *native, char *at)
{
    char *body;
    at = crest_wire_begin(at, NATIVE_POSITIVE_COUNT, &body);
    for (unsigned i = 0; i < native->used; i++) {
        int gap = native_gap(native, i);
        double count = (double)native->bucket[i].count;
        uint64_t bits;
        for (; i != 0 && gap > 0 && gap <= NATIVE_GAP_MAX; gap--)
            at = crest_wire_fixed64(at, 0);
        memcpy(&bits, &count, sizeof bits);
        at = crest_wire_fixed64(at, bits);
    }
    return crest_wire_end(body, at);
}

/* Puts the buckets' counts: each less that of the bucket before. */
static char *native_put_deltas(const crest_native *native, char *at)
{
    const crest_native_bucket *bucket = native->bucket, *end = bucket + native->used;
    uint64_t before = 0;
    int next = bucket->index;
    char *body;
    at = crest_wire_begin(at, NATIVE_POSITIVE_DELTA, &body);
    for (; bucket < end; bucket++) {
        int gap = bucket->index - next;
        for (; gap > 0 && gap <= NATIVE_GAP_MAX; gap--) {
            at = crest_wire_varint(at, crest_wire_zigzag((int64_t)(0 - before)));
            before = 0;
        }
        at = crest_wire_varint(at, crest_wire_zigzag((int64_t)(bucket->count - before)));
        before = bucket->count;
        next = bucket->index + 1;
    }
    return crest_wire_end(body, at);
}

static char *native_put_native(const crest_native *native, int floats, char *at)
{
    at = crest_wire_s64(at, NATIVE_SCHEMA, native->schema);
    at = crest_wire_double(at, NATIVE_ZERO_THRESHOLD, native->zero_threshold);
    if (floats)
        at = crest_wire_double(at, NATIVE_ZERO_COUNT_FLOAT, (double)native->zero_count);
    else
        at = crest_wire_u64(at, NATIVE_ZERO_COUNT, native->zero_count);
    at = native_put_spans(native, at);
    if (native->used == 0)
        return at;
    return floats ? native_put_floats(native, at) : native_put_deltas(native, at);
}

char *crest_protobuf_histogram(crest_protobuf_histograms *histograms, const crest_page_row *row,
                               size_t index, char *at)
{
    const crest_page *page = histograms->page;
    crest_native *native = &histograms->native;
    crest_totals totals;
    crest_page_exemplar found;
    char *body;
    int is_native = histograms->mode != CREST_PAGE_NATIVE_OFF &&
                    page->source->native(page->snapshot, index, histograms->schema,
                                         histograms->limit, histograms->decimals, native);
    int is_classic = !is_native || histograms->mode != CREST_PAGE_NATIVE_ONLY;
    page->source->totals(page->snapshot, index, histograms->limits,
                         is_classic ? histograms->bound_count : 0, &totals);
    const crest_page_exemplar *exemplar =
        crest_page_exemplar_of(&found, page, histograms->metric, index) ? &found : NULL;
    int floats = is_native && native->count > INT64_MAX;
    at = crest_wire_begin(at, NATIVE_METRIC_HISTOGRAM, &body);
    at = crest_wire_u64(at, NATIVE_SAMPLE_COUNT, totals.count);
    at = crest_wire_double(at, NATIVE_SAMPLE_SUM,
                           crest_protobuf_scaled(totals.sum, histograms->decimals));
    if (is_classic)
        at = native_put_classic(histograms, &totals, exemplar, at);
    if (floats)
        at = crest_wire_double(at, NATIVE_SAMPLE_COUNT_FLOAT, (double)totals.count);
    if (is_native)
        at = native_put_native(native, floats, at);
    if (row->made_s != 0)
        at = crest_protobuf_time(at, NATIVE_CREATED, row->made_s, 0);
    if (is_native && exemplar != NULL)
        at = native_put_exemplar(at, NATIVE_EXEMPLARS, exemplar);
    return crest_wire_end(body, at);
}
