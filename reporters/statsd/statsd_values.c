/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Distributions as StatsD lines. See statsd_line.h.
 *
 * The etsy server adds 1/rate to the count of a timer, but keeps the value of a line once, whatever
 * its rate: its quantiles are those of the lines. So the records, in order, are cut into stretches
 * of nearly the same length, a line each, with a value from the middle of its stretch. A Datadog
 * agent weighs each value by 1/rate. There a bucket's count is taken apart into powers of two, and
 * all buckets with the same power share lines; rates of powers of two are exact in any format.
 */
#include "common/decimal.h"
#include "common/series_figures.h"
#include "statsd/statsd_line.h"

#include <string.h>

/* The state of one walk over a distribution. */
typedef struct statsd_values {
    const crest_statsd_form *form;
    const crest_series_view *series;
    crest_statsd_identity *identity;
    const crest_distribution *grown;
    crest_statsd_line_fn *put;
    void *context;
    const char *type;
    uint64_t count, min, max, mean;
} statsd_values;

/* ---- values ---- */

/* A value in the unit of the type: of times milliseconds (ms) or seconds (d, h). */
static size_t statsd_value_text(const statsd_values *values, uint64_t value,
                                char text[CREST_DECIMAL_BYTES])
{
    unsigned decimals = crest_series_decimals(values->series);
    if (values->form->dialect == CREST_STATSD_DATADOG)
        return crest_decimal_scaled(text, value, decimals);
    if (decimals != 0)
        return crest_decimal_scaled(text, value, decimals - 3);
    size_t length = crest_decimal_scaled(text, value, 0);
    if (values->series->unit == CREST_SECONDS && value != 0) {
        memcpy(text + length, "000", 4);
        length += 3;
    }
    return length;
}

static uint64_t statsd_clamp(uint64_t value, uint64_t lowest, uint64_t highest)
{
    return value < lowest ? lowest : value > highest ? highest : value;
}

/* The middle of a bucket, within the extremes and the mean where these narrow it, with as few
 * digits as the bucket allows. */
static uint64_t statsd_value_of(const statsd_values *values, const crest_bucket *bucket)
{
    uint64_t lowest = bucket->lowest > values->min ? bucket->lowest : values->min;
    uint64_t highest = bucket->highest < values->max ? bucket->highest : values->max;
    if (lowest >= highest)
        return statsd_clamp(lowest, bucket->lowest, bucket->highest);
    uint64_t middle = lowest + (highest - lowest) / 2;
    if (bucket->count == values->count)
        return statsd_clamp(values->mean, lowest, highest);
    uint64_t best = middle;
    for (uint64_t step = 10; step / 2 <= highest - lowest; step *= 10) {
        uint64_t rounded = middle / step * step;
        if (middle - rounded >= step / 2)
            rounded += step;
        if (rounded < lowest || rounded > highest)
            break;
        best = rounded;
    }
    return best;
}

/* ---- etsy: stretches of the ordered records ---- */

static int statsd_put_sample(statsd_values *values, uint64_t value, uint64_t weight, uint64_t done)
{
    char number[CREST_DECIMAL_BYTES];
    size_t length = statsd_value_text(values, value, number);
    crest_statsd_text text;
    crest_statsd_begin(&text, values->identity);
    crest_statsd_put_name(&text, "");
    crest_statsd_put(&text, ":", 1);
    crest_statsd_put(&text, number, length);
    crest_statsd_put_type(&text, values->type, weight);
    return crest_statsd_end(&text, done, values->put, values->context);
}

static int statsd_put_stretches(statsd_values *values)
{
    uint64_t lines = values->form->no_rates ? 0 : values->form->samples, done = 0, seen = 0;
    size_t cursor = 0;
    crest_bucket bucket = {0, 0, 0};
    if (lines == 0 || lines > values->count)
        lines = values->count;
    while (done < values->count) {
        uint64_t left = values->count - done;
        /* the nearest whole number, without a sum that could overflow */
        uint64_t weight = left / lines + (left % lines >= lines - left % lines);
        weight = crest_decimal_weight(weight);
        uint64_t middle = done + (weight - 1) / 2;
        while (middle >= seen && crest_distribution_next(values->grown, &cursor, &bucket))
            seen += bucket.count;
        uint64_t value = statsd_value_of(values, &bucket);
        if (done == 0)
            value = values->min;
        done += weight;
        if (done == values->count)
            value = values->max;
        if (lines > 1)
            lines--;
        int stopped = statsd_put_sample(values, value, weight, done);
        if (stopped)
            return stopped;
    }
    return 0;
}

/* ---- datadog: powers of two ---- */

/* The line that is being filled with values of one weight. */
typedef struct statsd_packed {
    crest_statsd_text text;
    unsigned filled; /* values in it */
    size_t tail;     /* bytes that end it */
    uint64_t weight, done;
} statsd_packed;

static int statsd_packed_end(statsd_values *values, statsd_packed *packed)
{
    if (packed->filled == 0)
        return 0;
    packed->filled = 0;
    crest_statsd_put_type(&packed->text, values->type, packed->weight);
    return crest_statsd_end(&packed->text, packed->done, values->put, values->context);
}

static void statsd_packed_begin(statsd_values *values, statsd_packed *packed)
{
    char rate[CREST_DECIMAL_BYTES];
    crest_statsd_begin(&packed->text, values->identity);
    crest_statsd_put_name(&packed->text, "");
    packed->tail = 1 + strlen(values->type) + values->identity->tags_length;
    if (packed->weight > 1)
        packed->tail += 2 + crest_decimal_rate(rate, packed->weight);
}

static int statsd_packed_add(statsd_values *values, statsd_packed *packed, uint64_t value)
{
    char number[CREST_DECIMAL_BYTES];
    size_t length = statsd_value_text(values, value, number);
    int stopped = 0;
    if (packed->filled > 0 &&
        (values->form->unpacked ||
         packed->text.length + 1 + length + packed->tail > values->form->line_bytes_max))
        stopped = statsd_packed_end(values, packed);
    if (packed->filled == 0)
        statsd_packed_begin(values, packed);
    crest_statsd_put(&packed->text, ":", 1);
    crest_statsd_put(&packed->text, number, length);
    packed->filled++;
    packed->done += packed->weight;
    return stopped;
}

/* A bucket's value with this power: its largest record if it has the last one, and its smallest if
 * it has the first one; the rarest powers say so. */
static uint64_t statsd_power_value(const statsd_values *values, const crest_bucket *bucket,
                                   uint64_t power)
{
    uint64_t rarest = bucket->count & (0 - bucket->count);
    uint64_t others = bucket->count & (bucket->count - 1);
    int first = bucket->lowest <= values->min && values->min <= bucket->highest;
    int last = bucket->lowest <= values->max && values->max <= bucket->highest;
    if (last && power == rarest)
        return values->max;
    if (first && power == (last ? others & (0 - others) : rarest))
        return values->min;
    return statsd_value_of(values, bucket);
}

static int statsd_put_powers(statsd_values *values)
{
    statsd_packed packed = {.done = 0};
    int stopped = 0;
    for (unsigned bit = 64; bit-- > 0 && !stopped;) {
        size_t cursor = 0;
        crest_bucket bucket;
        packed.weight = UINT64_C(1) << bit;
        if (packed.weight > values->count)
            continue;
        while (!stopped && crest_distribution_next(values->grown, &cursor, &bucket))
            if (bucket.count & packed.weight)
                stopped = statsd_packed_add(values, &packed,
                                            statsd_power_value(values, &bucket, packed.weight));
        if (!stopped)
            stopped = statsd_packed_end(values, &packed);
    }
    return stopped;
}

/* ---- both ---- */

/* A server that weighs values by their rates needs one a bucket; the same without rates cannot. */
static int statsd_by_powers(const crest_statsd_form *form)
{
    return form->dialect == CREST_STATSD_DATADOG && !form->no_rates;
}

int crest_statsd_put_distribution(const crest_statsd_form *form, const crest_series_view *series,
                                  crest_statsd_identity *identity, const crest_distribution *grown,
                                  crest_statsd_line_fn *put, void *context)
{
    statsd_values values = {.form = form,
                            .series = series,
                            .identity = identity,
                            .grown = grown,
                            .put = put,
                            .context = context,
                            .type = form->dialect == CREST_STATSD_ETSY ? "ms"
                                    : form->host_histograms            ? "h"
                                                                       : "d",
                            .count = crest_distribution_count(grown),
                            .min = crest_distribution_min(grown),
                            .max = crest_distribution_max(grown)};
    if (values.count == 0)
        return 0;
    values.mean = crest_distribution_sum(grown) / values.count;
    return statsd_by_powers(form) ? statsd_put_powers(&values) : statsd_put_stretches(&values);
}

/* At most `left` of the bucket's records, or the power's, into `to`; its highest value, so that
 * later lines are never taken for a new extreme. */
static crest_status statsd_say(const crest_bucket *bucket, uint64_t records, uint64_t max,
                               uint64_t *left, crest_distribution *to)
{
    if (records > *left)
        records = *left;
    *left -= records;
    uint64_t value = bucket->highest < max ? bucket->highest : max;
    if (value < bucket->lowest)
        value = bucket->lowest;
    /* times * value must be less than 2^64, whatever the bucket */
    uint64_t most = value != 0 ? UINT64_MAX / value : UINT64_MAX;
    while (records > 0) {
        uint64_t part = records < most ? records : most;
        crest_status status = crest_distribution_record(to, (int64_t)value, part);
        if (status != CREST_OK)
            return status;
        records -= part;
    }
    return CREST_OK;
}

crest_status crest_statsd_said(const crest_statsd_form *form, const crest_distribution *grown,
                               uint64_t done, crest_distribution *to)
{
    crest_status status = CREST_OK;
    uint64_t max = crest_distribution_max(grown);
    unsigned rounds = statsd_by_powers(form) ? 64 : 1;
    for (unsigned round = rounds; round-- > 0 && done > 0 && status == CREST_OK;) {
        size_t cursor = 0;
        crest_bucket bucket;
        while (done > 0 && status == CREST_OK && crest_distribution_next(grown, &cursor, &bucket)) {
            uint64_t power = UINT64_C(1) << round;
            uint64_t records = rounds == 1 ? bucket.count : bucket.count & power;
            if (records != 0)
                status = statsd_say(&bucket, records, max, &done, to);
        }
    }
    return status;
}
