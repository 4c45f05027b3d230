/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pages in text 0.0.4 and OpenMetrics. See exposition.h.
 *
 * A metric becomes several families (X_total, X_rate1m and so on). The lines of a family must stand
 * together, so the encoder walks the series of a metric once for each of its families.
 */
#include "page/exposition.h"
#include "page/page_protobuf.h"
#include "page/page_values.h"

_Static_assert(CREST_BUFFER_BYTES == CREST_PAGE_PIECE_BYTES, "pieces are as page.h promises");
_Static_assert(CREST_PAGE_NATIVE_BUCKETS_MIN == CREST_NATIVE_BUCKETS_MIN &&
                   CREST_PAGE_NATIVE_BUCKETS_MAX == CREST_NATIVE_BUCKETS_MAX,
               "native histograms are as page.h promises");

#define EXPOSITION_TARGET_HELP " " CREST_TARGET_HELP "\n"

static void exposition_put_target(const crest_page *page)
{
    const crest_page_options *options = page->options;
    if (!crest_page_wants_either(page, CREST_TARGET_INFO, CREST_TARGET_FAMILY))
        return;
    if (page->openmetrics)
        crest_buffer_put_text(
            page->out, "# TYPE " CREST_TARGET_FAMILY " info\n"
                       "# HELP " CREST_TARGET_FAMILY EXPOSITION_TARGET_HELP CREST_TARGET_INFO);
    else
        crest_buffer_put_text(page->out, "# HELP " CREST_TARGET_INFO EXPOSITION_TARGET_HELP
                                         "# TYPE " CREST_TARGET_INFO " gauge\n" CREST_TARGET_INFO);
    for (unsigned i = 0; i < options->target_count; i++) {
        const crest_page_label *label = &options->target[i];
        crest_buffer_put_text(page->out, i == 0 ? "{" : "");
        crest_page_put_label(page->out, label->key, label->value != NULL ? label->value : "",
                             i == 0);
    }
    crest_buffer_put_text(page->out, options->target_count != 0 ? "} 1\n" : " 1\n");
}

/* The target stands where its name sorts. */
static void exposition_put_page(const crest_page *page)
{
    int target_left = page->options->target != NULL;
    crest_page_metric metric;
    crest_page_bounds bounds;
    bounds.count = CREST_PAGE_NO_BOUNDS;
    metric.made = page->openmetrics && page->options->created;
    for (size_t first = 0; first < page->size && page->out->failed == 0;) {
        page->source->metric(page->snapshot, first, &metric);
        if (target_left && strcmp(metric.first.exported, CREST_TARGET_INFO) > 0) {
            exposition_put_target(page);
            target_left = 0;
        }
        size_t end = crest_page_put_metric(page, &metric, first, &bounds);
        if (crest_page_wants_windows(page, metric.first.kind))
            crest_page_put_windows(page, &metric, first, end);
        first = end;
    }
    if (target_left)
        exposition_put_target(page);
    if (page->openmetrics)
        crest_buffer_put_text(page->out, "# EOF\n");
}

static crest_status exposition_check_target(const crest_page_options *options, crest_error *error)
{
    if (options->target == NULL)
        return CREST_OK;
    if (options->target_count > CREST_TARGET_LABELS_MAX)
        return crest_error_set(error, CREST_INVALID_ARGUMENT,
                               "The page was not written: the target has %u labels; %u is the "
                               "limit.",
                               options->target_count, CREST_TARGET_LABELS_MAX);
    for (unsigned i = 0; i < options->target_count; i++) {
        const char *key = options->target[i].key;
        char why[CREST_NAMES_WHY_BYTES];
        if (crest_label_key_syntax(key, why, sizeof why) != CREST_OK)
            return crest_error_set(error, CREST_INVALID_ARGUMENT,
                                   "The page was not written: label %u of the target is not "
                                   "valid: %s.",
                                   i + 1, why);
        for (unsigned other = 0; other < i; other++)
            if (strcmp(options->target[other].key, key) == 0)
                return crest_error_set(error, CREST_INVALID_ARGUMENT,
                                       "The page was not written: the target has label %s twice.",
                                       key);
    }
    return CREST_OK;
}

static int exposition_native_is_valid(const crest_page_options *options)
{
    return (options->native_factor == 0 || options->native_factor > 1) &&
           (options->native_buckets == 0 ||
            (options->native_buckets >= CREST_PAGE_NATIVE_BUCKETS_MIN &&
             options->native_buckets <= CREST_PAGE_NATIVE_BUCKETS_MAX));
}

static crest_status exposition_check(const crest_snapshot *snapshot,
                                     const crest_page_options *options, crest_write_fn *write,
                                     crest_error *error)
{
    if (snapshot == NULL || write == NULL)
        return crest_error_set(error, CREST_INVALID_ARGUMENT,
                               "The page was not written: there is no %s.",
                               snapshot == NULL ? "snapshot" : "function to write it with");
    if (options->name_count > CREST_PAGE_NAMES_MAX)
        return crest_error_set(error, CREST_INVALID_ARGUMENT,
                               "The page was not written: it is to have only %u names; %u is the "
                               "limit.",
                               options->name_count, CREST_PAGE_NAMES_MAX);
    if (options->name_count != 0 && options->names == NULL)
        return crest_error_set(error, CREST_INVALID_ARGUMENT,
                               "The page was not written: it is to have only %u names, and there "
                               "are none.",
                               options->name_count);
    if (!exposition_native_is_valid(options))
        return crest_error_set(error, CREST_INVALID_ARGUMENT,
                               "The page was not written: native histograms are to grow by %g a "
                               "bucket and to have up to %u; above 1, and %u to %u, is possible.",
                               options->native_factor, options->native_buckets,
                               CREST_PAGE_NATIVE_BUCKETS_MIN, CREST_PAGE_NATIVE_BUCKETS_MAX);
    return exposition_check_target(options, error);
}

crest_status crest_exposition_write(const crest_page_source *source, const crest_snapshot *snapshot,
                                    crest_format format, const crest_page_options *options,
                                    crest_write_fn *write, void *context, crest_error *error)
{
    static const crest_page_options nothing_special;
    if (options == NULL)
        options = &nothing_special;
    crest_status status = exposition_check(snapshot, options, write, error);
    if (status != CREST_OK)
        return status;
    crest_buffer out;
    if (!crest_buffer_init(&out, write, context))
        return crest_error_set(error, CREST_NO_MEMORY,
                               "The page was not written: there is no memory for a buffer of %u "
                               "bytes. Nothing recorded is lost; write it again.",
                               CREST_BUFFER_BYTES);
    crest_page page = {.source = source,
                       .snapshot = snapshot,
                       .options = options,
                       .out = &out,
                       .size = source->size(snapshot),
                       .openmetrics = format == CREST_FORMAT_OPENMETRICS};
    crest_page_choose_windows(&page);
    int complete = 1;
    if (format == CREST_FORMAT_PROMETHEUS_PROTOBUF)
        complete = crest_page_put_protobuf(&page);
    else
        exposition_put_page(&page);
    if (!complete)
        status = crest_error_set(error, CREST_NO_MEMORY,
                                 "The page was not written: there is no memory to encode "
                                 "protobuf. Nothing recorded is lost; write it again.");
    else if (!crest_buffer_flush(&out))
        status = crest_error_set(error, CREST_IO,
                                 "The page is incomplete: it was being written, and after %llu "
                                 "bytes the write function returned %d for a piece of %zu bytes. "
                                 "Look at what it writes to, and write the page again.",
                                 (unsigned long long)out.delivered, out.failed, out.refused);
    crest_buffer_fini(&out);
    return status;
}
