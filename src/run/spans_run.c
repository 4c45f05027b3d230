/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading the options of spans. See spans_run.h.
 */
#include "run/spans_run.h"
#include "spans/span_instance.h"

#include <stdlib.h>
#include <string.h>

/* The least and the most memory of spans. */
#define SPANS_RUN_BUFFER_MIN (UINT64_C(1) << 20)
#define SPANS_RUN_BUFFER_MAX (UINT64_C(1) << 30)
#define SPANS_RUN_FACTOR_MAX 1000.0

static crest_status spans_run_refuse(const crest_options *options, const char *key,
                                     const char *what, crest_error *error)
{
    return crest_error_set(error, CREST_INVALID_OPTIONS, "%s=%.100s %s is not %s", key,
                           crest_option(options, key), crest_option_origin(options, key), what);
}

/* A whole number from 1 to `most`; 0 when it is none. */
static uint64_t spans_run_number(const char *text, size_t length, uint64_t most)
{
    uint64_t value = 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9' || value > most)
            return 0;
        value = 10 * value + (uint64_t)(text[i] - '0');
    }
    return value <= most ? value : 0;
}

static crest_status spans_run_count(const crest_options *options, const char *key, uint32_t most,
                                    const char *what, uint32_t *value, crest_error *error)
{
    const char *text = crest_option(options, key);
    if (text == NULL)
        return CREST_OK;
    *value = (uint32_t)spans_run_number(text, strlen(text), most);
    return *value != 0 ? CREST_OK : spans_run_refuse(options, key, what, error);
}

/* A share of operations; an option's 0 is none, a setting's 0 the default. */
static crest_status spans_run_sample(const crest_options *options, crest_spans_settings *settings,
                                     crest_error *error)
{
    double share = 0;
    crest_status status = crest_option_fraction(options, "spans.sample", &share, error);
    if (status == CREST_OK && crest_option(options, "spans.sample") != NULL)
        settings->sample = share > 0 ? share : -1;
    return status;
}

/* off, a bare number of times the percentile, or a duration with a unit. */
static crest_status spans_run_slow(const crest_options *options, crest_spans_settings *settings,
                                   crest_error *error)
{
    const char *key = "spans.slow", *text = crest_option(options, key);
    if (text == NULL)
        return CREST_OK;
    size_t digits = strspn(text, "0123456789"), length = digits;
    if (text[length] == '.')
        length += 1 + strspn(text + length + 1, "0123456789");
    uint64_t slow_ms = 0;
    if (strcmp(text, "off") == 0) {
        settings->slow_factor = -1;
        return CREST_OK;
    }
    if (length > 0 && length < 9 && text[length] == '\0') {
        double factor = (double)spans_run_number(text, digits, 1000), part = 0.1;
        for (size_t i = digits + 1; i < length; i++, part /= 10)
            factor += part * (text[i] - '0');
        settings->slow_factor = factor;
        if (factor >= 1 && factor <= SPANS_RUN_FACTOR_MAX)
            return CREST_OK;
    } else if (crest_option_duration_ms(options, key, &slow_ms, NULL) == CREST_OK && slow_ms > 0) {
        settings->slow_ns = slow_ms * UINT64_C(1000000);
        return CREST_OK;
    }
    return spans_run_refuse(options, key,
                            "a bound: write off, how many times the 99th percentile, from 1 to "
                            "1000, or a duration as 500ms",
                            error);
}

static crest_status spans_run_buffer(const crest_options *options, crest_spans_settings *settings,
                                     crest_error *error)
{
    return crest_option_bytes(options, "spans.buffer", SPANS_RUN_BUFFER_MIN, SPANS_RUN_BUFFER_MAX,
                              "a size: write 1MiB to 1GiB, as 8MiB", &settings->buffer_bytes,
                              error);
}

crest_status crest_spans_options_read(const crest_options *options, crest_spans_settings *settings,
                                      crest_error *error)
{
    memset(settings, 0, sizeof *settings);
    const char *spans = crest_option(options, "spans");
    if (spans != NULL && strlen(spans) >= CREST_SPANS_GLOBS_BYTES)
        return crest_error_set(error, CREST_INVALID_OPTIONS,
                               "spans=… %s has more than %u bytes; write patterns, as casper.*",
                               crest_option_origin(options, "spans"), CREST_SPANS_GLOBS_BYTES - 1);
    crest_status status = spans_run_sample(options, settings, error);
    if (status == CREST_OK)
        status = spans_run_slow(options, settings, error);
    if (status == CREST_OK)
        status = spans_run_count(options, "spans.rate", 1000000,
                                 "a number of spans a second, from 1 to 1000000", &settings->rate,
                                 error);
    if (status == CREST_OK)
        status = spans_run_count(options, "spans.per-op", CREST_SPANS_PER_OP_MAX,
                                 "a number of spans of an operation, from 1 to 4096",
                                 &settings->per_op, error);
    if (status == CREST_OK)
        status = spans_run_buffer(options, settings, error);
    if (spans != NULL && strcmp(spans, "off") != 0)
        settings->spans = spans;
    return status;
}

crest_status crest_spans_start(const crest_spans_settings *settings, const char *instance,
                               crest_error *error)
{
    crest_span_instance_set(instance);
    return settings->spans != NULL ? crest_spans_set(settings, error) : CREST_OK;
}
