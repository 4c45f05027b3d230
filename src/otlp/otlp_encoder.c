/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The walk over a snapshot for OTLP. See otlp_encoder.h.
 */
#include "otlp/otlp_encoder.h"
#include "base/alloc.h"
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
    if (encoder->open || !encoder_room(out, encoder->format->family_bytes(encoder)))
        return;
    encoder->family_at = out->used;
    encoder->family_points = 0;
    encoder->format->family_open(encoder);
    encoder->open = 1;
}

/* Puts a point, which takes at most so many bytes beside its attributes. */
static void encoder_put(crest_otlp_encoder *encoder, const crest_otlp_point *point, size_t bytes)
{
    crest_otlp_out *out = &encoder->out;
    bytes += encoder->format->attribute_bytes(encoder, point->row) + CREST_OTLP_TAIL_BYTES;
    for (;;) {
        encoder_open(encoder);
        if (!encoder->open || !encoder_room(out, bytes))
            return;
        size_t before = out->used;
        encoder->format->point(encoder, point);
        if (out->used + CREST_OTLP_TAIL_BYTES <= out->limit || out->points == 0)
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
    uint64_t start = born > encoder->since_ns ? born : encoder->since_ns;
    return start < encoder->time_ns ? start : encoder->time_ns;
}

static void encoder_put_number(crest_otlp_encoder *encoder, const crest_page_row *row)
{
    crest_otlp_point point;
    point.row = row;
    point.start_ns = 0;
    switch (encoder->metric.first.kind) {
    case CREST_KIND_COUNTER:
        point.start_ns = encoder_start(encoder, row);
        encoder_set_counter(encoder, &point);
        break;
    case CREST_KIND_GAUGE:
        encoder_set_double(&point, crest_page_in_base_unit(row->gauge, encoder->family.unit));
        break;
    case CREST_KIND_RANGE_SAMPLER: encoder_set_current(encoder, &point); break;
    case CREST_KIND_NONE:
    case CREST_KIND_HISTOGRAM:
    case CREST_KIND_TIMER:
    case CREST_KIND_STAGES: /* of declarations only */ return;
    }
    encoder_put(encoder, &point, CREST_OTLP_POINT_BYTES);
}

/* Puts the metric's own family from series `first` on; returns where the metric ends. */
static size_t encoder_put_main(crest_otlp_encoder *encoder, size_t first)
{
    const crest_page *page = &encoder->page;
    crest_page_row rows[CREST_PAGE_ROWS];
    crest_kind kind = encoder->metric.first.kind;
    unsigned count;
    crest_page_family_main(&encoder->family, &encoder->metric);
    encoder->decimals = crest_unit_decimals(encoder->family.unit);
    encoder_family(
        encoder, kind == CREST_KIND_COUNTER ? CREST_OTLP_SHAPE_SUM : CREST_OTLP_SHAPE_GAUGE, NULL);
    do {
        count = page->source->rows(page->snapshot, &encoder->metric, first, rows, CREST_PAGE_ROWS);
        for (unsigned i = 0; i < count; i++) {
            encoder_put_number(encoder, &rows[i]);
            encoder->out.end = first + i + 1;
        }
        first += count;
    } while (count != 0 && !encoder_stopped(encoder));
    encoder_close(encoder);
    return first;
}

/* ---- all of it ---- */

static void encoder_put_all(crest_otlp_encoder *encoder)
{
    const crest_page *page = &encoder->page;
    for (size_t first = encoder->options->first; first < page->size && !encoder_stopped(encoder);) {
        page->source->metric(page->snapshot, first, &encoder->metric);
        encoder->metric.made = 1;
        first = encoder_put_main(encoder, first);
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
    memset(encoder, 0, sizeof *encoder);
    encoder->options = options;
    encoder->page_options = (crest_page_options){.windows = options->windows,
                                                 .no_exemplars = options->no_exemplars,
                                                 .native_factor = options->factor,
                                                 .native_buckets = options->buckets};
    encoder->page = (crest_page){.source = source,
                                 .snapshot = snapshot,
                                 .options = &encoder->page_options,
                                 .size = source->size(snapshot)};
    encoder->out.limit =
        options->body_bytes != 0 ? options->body_bytes : CREST_OTLP_BODY_BYTES_DEFAULT;
    encoder->out.first = encoder->out.end = options->first;
    encoder->time_ns = source->wall_ns(snapshot);
    if (options->stale)
        encoder->time_ns += ENCODER_NS_PER_MS;
}

crest_status crest_otlp_encode(const crest_otlp_format *format, const crest_page_source *source,
                               const crest_snapshot *snapshot, const crest_otlp_options *options,
                               uint64_t since_ns, crest_otlp_body_fn *write, void *context,
                               crest_error *error)
{
    crest_otlp_encoder *encoder = crest_alloc_resize(NULL, sizeof *encoder, 1);
    if (encoder == NULL)
        return crest_error_set(error, CREST_NO_MEMORY,
                               "The metrics were not encoded for OTLP: there is no memory to do "
                               "it. Nothing recorded is lost; write them again.");
    encoder_init(encoder, source, snapshot, options);
    encoder->format = format;
    encoder->since_ns = since_ns;
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
