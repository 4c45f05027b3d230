/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The walk over a snapshot for OTLP. See otlp_encoder.h.
 */
#include "otlp/otlp_encoder.h"
#include "base/alloc.h"
#include "names/buckets.h"
#include "page/protobuf_fields.h"

#include <crest/window.h>
#include <math.h>

#define ENCODER_NS_PER_S UINT64_C(1000000000)
#define ENCODER_NS_PER_MS UINT64_C(1000000)
/* Bytes of a body's memory at first. */
#define ENCODER_ROOM_FIRST 65536u

/* ---- the body ---- */

/* Room for so many bytes more; 0 without memory. */
static int encoder_room(crest_otlp_out *out, size_t bytes)
{
    if (out->room - out->used >= bytes)
        return 1;
    size_t room = out->room < ENCODER_ROOM_FIRST ? ENCODER_ROOM_FIRST : out->room;
    while (room - out->used < bytes)
        room *= 2;
    char *grown = crest_alloc_resize(out->bytes, room, 1);
    if (grown == NULL) {
        out->lacked = 1;
        return 0;
    }
    out->bytes = grown;
    out->room = room;
    return 1;
}

static int encoder_stopped(const crest_otlp_encoder *encoder)
{
    return encoder->out.failed != 0 || encoder->out.lacked;
}

/* Closes the family, if it is open; one without points is taken off. */
static void encoder_close(crest_otlp_encoder *encoder)
{
    if (encoder->open && encoder->family_points == 0)
        encoder->out.used = encoder->family_at;
    else if (encoder->open)
        encoder->format->family_close(encoder);
    encoder->open = 0;
}

/* Hands the body out, if it has points, and begins the next. No family is open. */
static void encoder_flush(crest_otlp_encoder *encoder)
{
    crest_otlp_out *out = &encoder->out;
    if (out->points != 0 && out->failed == 0) {
        crest_otlp_body body = {.points = out->points, .first = out->first, .end = out->end};
        body.bytes = encoder->format->body(encoder, &body.length);
        out->failed = out->write(out->context, &body);
        out->refused = body.length;
        out->delivered += out->failed == 0 ? body.length : 0;
        out->bodies += out->failed == 0;
    }
    out->used = out->head;
    out->points = 0;
    out->first = out->end;
}

static void encoder_open(crest_otlp_encoder *encoder)
{
    crest_otlp_out *out = &encoder->out;
    if (!encoder_room(out, encoder->format->family_bytes(encoder)))
        return;
    encoder->wide = 0;
    encoder->family_at = out->used;
    encoder->family_points = 0;
    encoder->format->family_open(encoder);
    encoder->open = 1;
}

/* Bytes that a point's attributes take at most. */
static inline size_t encoder_attributes(const crest_otlp_encoder *encoder,
                                        const crest_page_row *row)
{
    const crest_page_metric *metric = &encoder->metric;
    size_t bytes = row->plain ? row->bytes : 0;
    if (!row->plain)
        for (unsigned i = metric->constants; i < metric->first.label_count; i++)
            bytes += strlen(row->values[i - metric->constants]);
    return encoder->attributes + bytes * encoder->format->bytes_a_byte;
}

/* Makes room for a point of so many bytes; 0 without memory. */
static inline int encoder_make_room(crest_otlp_encoder *encoder, size_t bytes)
{
    crest_otlp_out *out = &encoder->out;
    if (!encoder->open)
        encoder_open(encoder);
    if (!encoder->open || !encoder_room(out, bytes))
        return 0;
    if (!encoder->wide && out->used - encoder->family_at + bytes > CREST_OTLP_WIDE_BYTES) {
        encoder->wide = 1;
        if (encoder->format->widen != NULL)
            encoder->format->widen(encoder);
    }
    return 1;
}

/* Puts a point, which takes at most so many bytes beside its attributes. */
static void encoder_put(crest_otlp_encoder *encoder, const crest_otlp_point *point, size_t bytes)
{
    crest_otlp_out *out = &encoder->out;
    bytes += encoder_attributes(encoder, point->row) + CREST_OTLP_TAIL_BYTES;
    for (;;) {
        if (!encoder_make_room(encoder, bytes))
            return;
        size_t before = out->used;
        encoder->format->point(encoder, point);
        if (CREST_LIKELY(out->used + CREST_OTLP_TAIL_BYTES <= out->limit) || out->points == 0)
            break;
        out->used = before;
        encoder_close(encoder);
        encoder_flush(encoder);
        if (out->failed != 0)
            return;
    }
    encoder->family_points++;
    out->points++;
}

/* ---- families ---- */

static void encoder_family(crest_otlp_encoder *encoder, crest_otlp_shape shape,
                           const char *qualifier)
{
    const crest_series_view *first = &encoder->metric.first;
    crest_otlp_name_of(&encoder->name, first->name, first->kind, first->unit, qualifier);
    encoder->shape = shape;
    encoder->format->labels(encoder);
    encoder->attributes = encoder->format->attribute_bytes(encoder);
}

static void encoder_set_double(crest_otlp_point *point, double value)
{
    point->is_int = 0;
    /* one NaN of many means "no value" to Prometheus */
    point->as_double = isnan(value) ? (double)NAN : value;
}

static void encoder_set_counter(const crest_otlp_encoder *encoder, crest_otlp_point *point)
{
    uint64_t value = point->row->counter;
    point->is_int = encoder->decimals == 0 && value <= INT64_MAX;
    point->as_int = (int64_t)value;
    if (!point->is_int)
        point->as_double = crest_protobuf_scaled(value, encoder->decimals);
}

static void encoder_set_current(const crest_otlp_encoder *encoder, crest_otlp_point *point)
{
    int64_t value = point->row->current;
    point->is_int = encoder->decimals == 0;
    point->as_int = value;
    if (point->is_int)
        return;
    uint64_t size = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    double scaled = crest_protobuf_scaled(size, encoder->decimals);
    point->as_double = value < 0 ? -scaled : scaled;
}

/* When the series began: its birth, or where the difference begins; never behind its time. */
static uint64_t encoder_start(const crest_otlp_encoder *encoder, const crest_page_row *row)
{
    uint64_t born = row->made_s * ENCODER_NS_PER_S;
    uint64_t since = encoder->delta != NULL ? crest_otlp_delta_since(encoder->delta, row) : 0;
    uint64_t start = born > since ? born : since;
    return start < encoder->time_ns ? start : encoder->time_ns;
}

/* Whether a point says nothing new: of a difference, where it is none. */
static int encoder_unchanged(const crest_otlp_encoder *encoder, const crest_page_row *row,
                             uint64_t grown)
{
    return encoder->options->temporality == CREST_OTLP_DELTA && !encoder->options->stale &&
           row->made_s == 0 && grown == 0;
}

static void encoder_put_number(crest_otlp_encoder *encoder, const crest_page_row *row)
{
    crest_otlp_point point;
    point.row = row;
    point.start_ns = 0;
    switch (encoder->metric.first.kind) {
    case CREST_KIND_COUNTER:
        if (encoder_unchanged(encoder, row, row->counter))
            return;
        point.start_ns = encoder_start(encoder, row);
        encoder_set_counter(encoder, &point);
        break;
    case CREST_KIND_GAUGE:
        encoder_set_double(&point, crest_page_in_base_unit(row->gauge, encoder->family.unit));
        break;
    case CREST_KIND_RANGE_SAMPLER: encoder_set_current(encoder, &point); break;
    case CREST_KIND_NONE:
    case CREST_KIND_HISTOGRAM: /* encoder_put_histogram's */
    case CREST_KIND_TIMER:
    case CREST_KIND_STAGES: /* of declarations only */ return;
    }
    encoder_put(encoder, &point, CREST_OTLP_POINT_BYTES);
}

/* ---- histograms ---- */

static int encoder_native(crest_otlp_encoder *encoder, size_t index)
{
    const crest_page *page = &encoder->page;
    crest_otlp_histograms_of *own = &encoder->histograms;
    if (own->ready == index)
        return 1;
    own->ready = index;
    return page->source->native(page->snapshot, index, own->schema, own->limit, encoder->decimals,
                                &own->native);
}

/* Begins a family of histograms, whose first series this is; returns its shape. */
static crest_otlp_shape encoder_histograms(crest_otlp_encoder *encoder, size_t first)
{
    const crest_otlp_options *options = encoder->options;
    const crest_series_view *series = &encoder->metric.first;
    crest_otlp_histograms_of *own = &encoder->histograms;
    const crest_buckets *buckets = series->buckets;
    own->ready = SIZE_MAX;
    double factor = series->native_factor > 1 ? series->native_factor : options->factor;
    own->schema = crest_native_schema(factor > 1 ? factor : CREST_PAGE_NATIVE_FACTOR_DEFAULT);
    own->limit = options->buckets != 0 ? options->buckets : CREST_PAGE_NATIVE_BUCKETS_DEFAULT;
    int wanted = series->native == CREST_NATIVE_DEFAULT
                     ? options->histograms == CREST_OTLP_EXPONENTIAL
                     : series->native != CREST_NATIVE_OFF;
    if (wanted && encoder_native(encoder, first))
        return CREST_OTLP_SHAPE_EXPONENTIAL;
    if (buckets == NULL)
        buckets = crest_buckets_for_unit(encoder->family.unit, series->kind);
    own->bounds = buckets->bounds;
    own->bound_count = buckets->count < CREST_BUCKETS_MAX ? buckets->count : CREST_BUCKETS_MAX;
    for (unsigned i = 0; i < own->bound_count; i++)
        own->limits[i] = crest_buckets_limit(buckets->bounds[i], encoder->family.unit);
    return CREST_OTLP_SHAPE_HISTOGRAM;
}

/* Bytes of the present histogram's buckets, at most: in an exponential one up to two lie between
 * empty ones, which are there too. */
static size_t encoder_bucket_bytes(const crest_otlp_encoder *encoder)
{
    const crest_otlp_histograms_of *own = &encoder->histograms;
    if (encoder->shape == CREST_OTLP_SHAPE_HISTOGRAM)
        return (own->bound_count + 1) * 64u;
    const crest_native *native = &own->native;
    if (native->used == 0)
        return 0;
    int span = native->bucket[native->used - 1].index - native->bucket[0].index + 1;
    return (size_t)span * 4 + native->used * 24u;
}

static void encoder_put_histogram(crest_otlp_encoder *encoder, const crest_page_row *row,
                                  size_t index)
{
    const crest_page *page = &encoder->page;
    crest_otlp_histograms_of *own = &encoder->histograms;
    crest_otlp_point point;
    uint64_t minimum, maximum;
    int exponential = encoder->shape == CREST_OTLP_SHAPE_EXPONENTIAL;
    page->source->totals(page->snapshot, index, own->limits, exponential ? 0 : own->bound_count,
                         &own->totals);
    if (encoder_unchanged(encoder, row, own->totals.count))
        return;
    if (exponential)
        encoder_native(encoder, index);
    point.row = row;
    point.start_ns = encoder_start(encoder, row);
    point.count = exponential ? own->native.count : own->totals.count;
    point.sum = crest_protobuf_scaled(own->totals.sum, encoder->decimals);
    page->source->extremes(page->snapshot, index, &minimum, &maximum);
    point.minimum = crest_protobuf_scaled(minimum, encoder->decimals);
    point.maximum = crest_protobuf_scaled(maximum, encoder->decimals);
    point.exemplar = crest_page_exemplar_of(&own->exemplar, page, &encoder->metric, index)
                         ? &own->exemplar
                         : NULL;
    encoder_put(encoder, &point,
                CREST_OTLP_POINT_BYTES + sizeof own->exemplar * 2 +
                    encoder_bucket_bytes(encoder));
}

/* ---- families ---- */

/* Puts the metric's own family from series `first` on; returns where the metric ends. */
static size_t encoder_put_main(crest_otlp_encoder *encoder, size_t first)
{
    const crest_page *page = &encoder->page;
    crest_page_row rows[CREST_PAGE_ROWS];
    crest_kind kind = encoder->metric.first.kind;
    int histograms = crest_kind_is_distribution(kind);
    unsigned count;
    crest_page_family_main(&encoder->family, &encoder->metric);
    encoder->decimals = crest_unit_decimals(encoder->family.unit);
    encoder_family(encoder,
                   histograms                   ? encoder_histograms(encoder, first)
                   : kind == CREST_KIND_COUNTER ? CREST_OTLP_SHAPE_SUM
                                                : CREST_OTLP_SHAPE_GAUGE,
                   NULL);
    do {
        count = page->source->rows(page->snapshot, &encoder->metric, first, rows, CREST_PAGE_ROWS);
        for (unsigned i = 0; i < count && !encoder_stopped(encoder); i++) {
            if (histograms)
                encoder_put_histogram(encoder, &rows[i], first + i);
            else
                encoder_put_number(encoder, &rows[i]);
            encoder->out.end = first + i + 1;
        }
        first += count;
    } while (count != 0 && !encoder_stopped(encoder));
    encoder_close(encoder);
    return first;
}

/* Puts what the window says of a series, if it says anything. */
static void encoder_put_window(crest_otlp_encoder *encoder, const crest_window_result *result,
                               const crest_page_row *row, size_t index)
{
    const crest_page *page = &encoder->page;
    int distribution = crest_kind_is_distribution(encoder->metric.first.kind);
    crest_otlp_point point;
    crest_window window;
    double value;
    page->source->window(page->snapshot, index, result->window_s, &window);
    if (!(window.covered_s > 0) || (distribution && result->of_values && window.events == 0))
        return;
    memcpy(&value, (const char *)&window + result->offset, sizeof value);
    if (!distribution || result->of_values)
        value = crest_page_in_base_unit(value, encoder->family.unit);
    point.row = row;
    point.start_ns = 0;
    encoder_set_double(&point, value);
    encoder_put(encoder, &point, CREST_OTLP_POINT_BYTES);
}

static void encoder_put_windows(crest_otlp_encoder *encoder, size_t first, size_t end)
{
    const crest_page *page = &encoder->page;
    crest_window_result results[CREST_WINDOW_RESULTS_MAX];
    crest_page_row rows[CREST_PAGE_ROWS];
    unsigned rows_count, count = crest_window_results(&encoder->metric.first, page->window_s,
                                                      page->window_count, results);
    for (unsigned i = 0; i < count; i++) {
        crest_page_family_window(&encoder->family, &encoder->metric, results[i].qualifier,
                                 results[i].meaning);
        encoder_family(encoder, CREST_OTLP_SHAPE_GAUGE, results[i].qualifier);
        for (size_t at = first; at < end && !encoder_stopped(encoder); at += rows_count) {
            rows_count =
                page->source->rows(page->snapshot, &encoder->metric, at, rows, CREST_PAGE_ROWS);
            for (unsigned k = 0; k < rows_count; k++)
                encoder_put_window(encoder, &results[i], &rows[k], at + k);
        }
        encoder_close(encoder);
    }
}

/* Puts crest_target_info: its labels are constants of a metric of one series. */
static void encoder_put_target(crest_otlp_encoder *encoder)
{
    const crest_otlp_options *options = encoder->options;
    const char *keys[CREST_TARGET_LABELS_MAX], *values[CREST_TARGET_LABELS_MAX];
    crest_page_row row = {.plain = 1};
    crest_otlp_point point = {.row = &row, .is_int = 1, .as_int = 1};
    for (unsigned i = 0; i < options->target_count; i++) {
        keys[i] = options->target[i].key;
        values[i] = options->target[i].value != NULL ? options->target[i].value : "";
    }
    encoder->metric.constants = options->target_count;
    encoder->metric.first = (crest_series_view){.name = CREST_TARGET_INFO,
                                                .description = CREST_TARGET_HELP,
                                                .kind = CREST_KIND_GAUGE,
                                                .label_count = options->target_count,
                                                .label_keys = keys,
                                                .label_values = values};
    crest_page_family_main(&encoder->family, &encoder->metric);
    encoder_family(encoder, CREST_OTLP_SHAPE_GAUGE, NULL);
    encoder_put(encoder, &point, CREST_OTLP_POINT_BYTES);
    encoder_close(encoder);
}

/* ---- all of it ---- */

static void encoder_put_all(crest_otlp_encoder *encoder)
{
    const crest_page *page = &encoder->page;
    if (encoder->options->target != NULL && encoder->options->first == 0)
        encoder_put_target(encoder);
    for (size_t first = encoder->options->first; first < page->size && !encoder_stopped(encoder);) {
        page->source->metric(page->snapshot, first, &encoder->metric);
        encoder->metric.made = 1;
        size_t end = encoder_put_main(encoder, first);
        if (crest_page_wants_windows(page, encoder->metric.first.kind))
            encoder_put_windows(encoder, first, end);
        first = end;
    }
    if (!encoder_stopped(encoder))
        encoder_flush(encoder);
}

static crest_status encoder_result(const crest_otlp_out *out, crest_error *error)
{
    if (out->lacked)
        return crest_error_set(error, CREST_NO_MEMORY,
                               "The metrics were not all encoded for OTLP: there was no memory "
                               "for a body of %zu bytes, after %llu bodies. Nothing recorded is "
                               "lost; write them again.",
                               out->room, (unsigned long long)out->bodies);
    if (out->failed != 0)
        return crest_error_set(error, CREST_IO,
                               "The metrics were not all sent by OTLP: after %llu bodies of %llu "
                               "bytes, the function that takes them returned %d for a body of %zu "
                               "bytes. Look at what it sends to, and write them again.",
                               (unsigned long long)out->bodies, (unsigned long long)out->delivered,
                               out->failed, out->refused);
    return CREST_OK;
}

static void encoder_init(crest_otlp_encoder *encoder, const crest_page_source *source,
                         const crest_snapshot *snapshot, const crest_otlp_options *options)
{
    /* not all of it: most are buckets */
    encoder->own = NULL;
    encoder->open = 0;
    encoder->histograms.native.runs.cut = 0;
    encoder->out = (crest_otlp_out){0};
    encoder->options = options;
    encoder->page_options = (crest_page_options){.windows = options->windows,
                                                 .no_exemplars = options->no_exemplars,
                                                 .native_factor = options->factor,
                                                 .native_buckets = options->buckets};
    encoder->page = (crest_page){.source = source,
                                 .snapshot = snapshot,
                                 .options = &encoder->page_options,
                                 .size = source->size(snapshot)};
    crest_page_choose_windows(&encoder->page);
    encoder->out.limit =
        options->body_bytes != 0 ? options->body_bytes : CREST_OTLP_BODY_BYTES_DEFAULT;
    encoder->out.first = encoder->out.end = options->first;
    encoder->time_ns = source->wall_ns(snapshot);
    if (options->stale)
        encoder->time_ns += ENCODER_NS_PER_MS;
}

crest_status crest_otlp_encode(const crest_otlp_format *format, const crest_page_source *source,
                               const crest_snapshot *snapshot, const crest_otlp_options *options,
                               const crest_otlp_delta *delta, crest_otlp_body_fn *write,
                               void *context, crest_error *error)
{
    crest_otlp_encoder *encoder = crest_alloc_resize(NULL, sizeof *encoder, 1);
    if (encoder == NULL)
        return crest_error_set(error, CREST_NO_MEMORY,
                               "The metrics were not encoded for OTLP: there is no memory to do "
                               "it. Nothing recorded is lost; write them again.");
    encoder_init(encoder, source, snapshot, options);
    encoder->format = format;
    encoder->delta = delta;
    encoder->out.write = write;
    encoder->out.context = context;
    encoder->out.lacked = !encoder->format->begin(encoder);
    if (!encoder->out.lacked && encoder_room(&encoder->out, encoder->out.head)) {
        encoder->out.used = encoder->out.head;
        encoder_put_all(encoder);
    }
    crest_status status = encoder_result(&encoder->out, error);
    if (encoder->own != NULL)
        encoder->format->end(encoder);
    crest_alloc_free(encoder->out.bytes);
    crest_alloc_free(encoder);
    return status;
}
