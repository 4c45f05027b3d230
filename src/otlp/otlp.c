/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Snapshots as OTLP. See <crest/otlp.h>.
 */
#include <crest/otlp.h>

#include "base/uncancelled.h"
#include "otlp/otlp_delta.h"
#include "otlp/otlp_encoder.h"
#include "otlp/otlp_json.h"
#include "otlp/otlp_protobuf.h"

/* Checks the attributes of the resource, or the labels of crest_target_info. */
static crest_status otlp_check_labels(const char *what, const crest_page_label *labels,
                                      unsigned count, crest_error *error)
{
    if (count > CREST_OTLP_ATTRIBUTES_MAX || (count != 0 && labels == NULL))
        return crest_error_set(error, CREST_INVALID_ARGUMENT,
                               "The metrics were not encoded for OTLP: the %s is to have %u "
                               "attributes%s; %u is the limit.",
                               what, count, labels == NULL ? ", and there are none" : "",
                               CREST_OTLP_ATTRIBUTES_MAX);
    for (unsigned i = 0; i < count; i++) {
        const char *key = labels[i].key;
        if (key == NULL || key[0] == '\0')
            return crest_error_set(error, CREST_INVALID_ARGUMENT,
                                   "The metrics were not encoded for OTLP: attribute %u of the "
                                   "%s has no key.",
                                   i + 1, what);
        for (unsigned other = 0; other < i; other++)
            if (strcmp(labels[other].key, key) == 0)
                return crest_error_set(error, CREST_INVALID_ARGUMENT,
                                       "The metrics were not encoded for OTLP: the %s has "
                                       "attribute %s twice.",
                                       what, key);
    }
    return CREST_OK;
}

_Static_assert(CREST_OTLP_ATTRIBUTES_MAX == CREST_TARGET_LABELS_MAX, "a target's labels fit");

static crest_status otlp_check_numbers(const crest_otlp_options *options, crest_error *error)
{
    size_t body = options->body_bytes;
    if (body != 0 && (body < CREST_OTLP_BODY_BYTES_MIN || body > CREST_OTLP_BODY_BYTES_MAX))
        return crest_error_set(error, CREST_INVALID_ARGUMENT,
                               "The metrics were not encoded for OTLP: bodies are to have %zu "
                               "bytes at most; %u to %u is possible.",
                               body, CREST_OTLP_BODY_BYTES_MIN, CREST_OTLP_BODY_BYTES_MAX);
    if ((options->factor != 0 && !(options->factor > 1)) ||
        (options->buckets != 0 && (options->buckets < CREST_PAGE_NATIVE_BUCKETS_MIN ||
                                   options->buckets > CREST_PAGE_NATIVE_BUCKETS_MAX)))
        return crest_error_set(error, CREST_INVALID_ARGUMENT,
                               "The metrics were not encoded for OTLP: exponential histograms are "
                               "to grow by %g a bucket and to have up to %u; above 1, and %u to "
                               "%u, is possible.",
                               options->factor, options->buckets, CREST_PAGE_NATIVE_BUCKETS_MIN,
                               CREST_PAGE_NATIVE_BUCKETS_MAX);
    return CREST_OK;
}

static crest_status otlp_check(const crest_snapshot *snapshot, const crest_otlp_options *options,
                               crest_otlp_body_fn *write, crest_error *error)
{
    if (snapshot == NULL || write == NULL)
        return crest_error_set(error, CREST_INVALID_ARGUMENT,
                               "The metrics were not encoded for OTLP: there is no %s.",
                               snapshot == NULL ? "snapshot" : "function to take the bodies");
    if (crest_otlp_content_type(options->encoding) == NULL ||
        (unsigned)options->temporality > CREST_OTLP_DELTA ||
        (unsigned)options->histograms > CREST_OTLP_EXPLICIT)
        return crest_error_set(error, CREST_INVALID_ARGUMENT,
                               "The metrics were not encoded for OTLP: there is no encoding %d, "
                               "temporality %d or kind of histograms %d.",
                               (int)options->encoding, (int)options->temporality,
                               (int)options->histograms);
    crest_status status = otlp_check_numbers(options, error);
    if (status == CREST_OK)
        status =
            otlp_check_labels("resource", options->attributes, options->attribute_count, error);
    if (status == CREST_OK)
        status = otlp_check_labels("target", options->target, options->target_count, error);
    return status;
}

/* The caller's function, for a difference. */
typedef struct otlp_difference {
    crest_otlp_delta delta;
    crest_otlp_body_fn *write;
    void *context;
} otlp_difference;

/* A body after a lack of memory would be wrong. */
static int otlp_difference_body(void *context, const crest_otlp_body *body)
{
    otlp_difference *difference = context;
    return difference->delta.lacked ? -1 : difference->write(difference->context, body);
}

static crest_status otlp_write_difference(const crest_otlp_format *format,
                                          const crest_snapshot *snapshot,
                                          const crest_otlp_options *options,
                                          crest_otlp_body_fn *write, void *context,
                                          crest_error *error)
{
    otlp_difference difference = {.write = write, .context = context};
    crest_otlp_delta_init(&difference.delta, snapshot, options);
    crest_status status = crest_otlp_encode(
        format, &crest_otlp_source_delta, (const crest_snapshot *)&difference.delta, options,
        &difference.delta, otlp_difference_body, &difference, error);
    if (difference.delta.lacked)
        status = crest_error_set(error, CREST_NO_MEMORY,
                                 "The metrics were not all encoded for OTLP: there was no memory "
                                 "for what a histogram has grown by. Nothing recorded is lost; "
                                 "write them again.");
    crest_otlp_delta_fini(&difference.delta);
    return status;
}

crest_status crest_otlp_write(const crest_snapshot *snapshot, const crest_otlp_options *options,
                              crest_otlp_body_fn *write, void *context, crest_error *error)
{
    static const crest_otlp_options nothing_special;
    CREST_UNCANCELLED;
    if (options == NULL)
        options = &nothing_special;
    crest_status status = otlp_check(snapshot, options, write, error);
    if (status != CREST_OK)
        return status;
    const crest_otlp_format *format = options->encoding == CREST_OTLP_JSON
                                          ? &crest_otlp_format_json
                                          : &crest_otlp_format_protobuf;
    if (options->temporality == CREST_OTLP_DELTA)
        return otlp_write_difference(format, snapshot, options, write, context, error);
    return crest_otlp_encode(format, &crest_page_source_snapshot, snapshot, options, NULL, write,
                             context, error);
}

const char *crest_otlp_content_type(crest_otlp_encoding encoding)
{
    switch (encoding) {
    case CREST_OTLP_PROTOBUF: return "application/x-protobuf";
    case CREST_OTLP_JSON: return "application/json";
    }
    return NULL;
}
