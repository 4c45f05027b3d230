/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Snapshots as OTLP. See <crest/otlp.h>.
 */
#include <crest/otlp.h>

#include "base/uncancelled.h"
#include "otlp/otlp_encoder.h"
#include "otlp/otlp_protobuf.h"

static crest_status otlp_check_attributes(const crest_otlp_options *options, crest_error *error)
{
    unsigned count = options->attribute_count;
    if (count > CREST_OTLP_ATTRIBUTES_MAX || (count != 0 && options->attributes == NULL))
        return crest_error_set(error, CREST_INVALID_ARGUMENT,
                               "The metrics were not encoded for OTLP: the resource is to have %u "
                               "attributes%s; %u is the limit.",
                               count, options->attributes == NULL ? ", and there are none" : "",
                               CREST_OTLP_ATTRIBUTES_MAX);
    for (unsigned i = 0; i < count; i++) {
        const char *key = options->attributes[i].key;
        if (key == NULL || key[0] == '\0')
            return crest_error_set(error, CREST_INVALID_ARGUMENT,
                                   "The metrics were not encoded for OTLP: attribute %u of the "
                                   "resource has no key.",
                                   i + 1);
        for (unsigned other = 0; other < i; other++)
            if (strcmp(options->attributes[other].key, key) == 0)
                return crest_error_set(error, CREST_INVALID_ARGUMENT,
                                       "The metrics were not encoded for OTLP: the resource has "
                                       "attribute %s twice.",
                                       key);
    }
    return CREST_OK;
}

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
    return status == CREST_OK ? otlp_check_attributes(options, error) : status;
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
    return crest_otlp_encode(&crest_otlp_format_protobuf, &crest_page_source_snapshot, snapshot,
                             options, 0, write, context, error);
}

const char *crest_otlp_content_type(crest_otlp_encoding encoding)
{
    switch (encoding) {
    case CREST_OTLP_PROTOBUF: return "application/x-protobuf";
    case CREST_OTLP_JSON: return "application/json";
    }
    return NULL;
}
