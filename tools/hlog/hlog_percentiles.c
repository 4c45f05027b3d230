/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HdrHistogram's table of percentiles. See hlog_percentiles.h.
 *
 * Source: HdrHistogram 2.2.2 for Java, AbstractHistogram.outputPercentileDistribution and
 * PercentileIterator.
 */
#include "hlog/hlog_percentiles.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The shortest digits that read back as `value`, as Java's Double.toString has them: "d.ddde+xx" */
static int hlog_shortest(double value, char *text, size_t size)
{
    int digits = 0;
    do
        snprintf(text, size, "%.*e", digits, value);
    while (strtod(text, NULL) != value && ++digits < 17);
    return atoi(strchr(text, 'e') + 1);
}

void hlog_decimal(char text[HLOG_DECIMAL_BYTES], double value, unsigned decimals)
{
    char shortest[40], digits[HLOG_DECIMAL_BYTES] = "0";
    if (!(fabs(value) < 1e300)) {
        snprintf(text, HLOG_DECIMAL_BYTES, "%f", value);
        return;
    }
    int exponent = hlog_shortest(fabs(value), shortest, sizeof shortest);
    size_t used = 1; /* digits[0] is for a carry */
    for (const char *at = shortest; *at != 'e'; at++)
        if (*at >= '0' && *at <= '9')
            digits[used++] = *at;
    for (; exponent < 0; exponent++, used++) { /* zeros before and behind the point */
        memmove(digits + 2, digits + 1, used - 1);
        digits[1] = '0';
    }
    int whole = exponent + 1; /* digits[1 … whole] are before the point */
    int kept = whole + (int)decimals;
    while (used < (size_t)kept + 2)
        digits[used++] = '0';
    if (digits[kept + 1] >= '5') {
        int at = kept;
        while (digits[at] == '9')
            digits[at--] = '0';
        digits[at]++;
    }
    char *to = text;
    if (value < 0)
        *to++ = '-';
    for (int at = digits[0] != '0' ? 0 : 1; at <= whole; at++)
        *to++ = digits[at];
    if (decimals > 0)
        *to++ = '.';
    memcpy(to, digits + whole + 1, decimals);
    to[decimals] = '\0';
}

/* What `%WIDTH.DECIMALSf` makes. */
static void hlog_print_decimal(FILE *to, int width, double value, unsigned decimals)
{
    char text[HLOG_DECIMAL_BYTES];
    hlog_decimal(text, value, decimals);
    fprintf(to, "%*s", width, text);
}

uint64_t hlog_value_at(const crest_distribution *distribution, double q)
{
    uint64_t total = crest_distribution_count(distribution), seen = 0;
    uint64_t wanted = (uint64_t)ceil(q * (double)total);
    crest_bucket bucket = {0, 0, 0};
    for (size_t cursor = 0; crest_distribution_next(distribution, &cursor, &bucket);) {
        seen += bucket.count;
        if (seen >= wanted && seen > 0)
            break;
    }
    return bucket.highest;
}

/* The percentage after this one: ticks become twice as fine each time that the rest is halved. */
static double hlog_next_level(double level, unsigned ticks)
{
    double halves = (double)(int64_t)(log(100.0 / (100.0 - level)) / log(2)) + 1;
    return level + 100.0 / ((double)ticks * (double)(int64_t)pow(2, halves));
}

static void hlog_line(FILE *to, uint64_t value, double level, uint64_t count, double ratio,
                      unsigned digits)
{
    hlog_print_decimal(to, 12, (double)value / ratio, digits);
    fputc(' ', to);
    hlog_print_decimal(to, 2, level / 100.0, 12);
    fprintf(to, " %10llu", (unsigned long long)count);
    if (level != 100.0) {
        fputc(' ', to);
        hlog_print_decimal(to, 14, 1 / (1.0 - level / 100.0), 2);
    }
    fputc('\n', to);
}

static void hlog_lines(const crest_distribution *distribution, unsigned ticks, double ratio,
                       unsigned digits, FILE *to)
{
    double total = (double)crest_distribution_count(distribution), level = 0;
    uint64_t seen = 0;
    crest_bucket bucket;
    for (size_t cursor = 0; crest_distribution_next(distribution, &cursor, &bucket);) {
        seen += bucket.count;
        /* the last record's level and 100 % are lines of their own */
        while (100.0 * (double)seen / total >= level) {
            hlog_line(to, bucket.highest, level, seen, ratio, digits);
            if (seen == crest_distribution_count(distribution)) {
                if (level != 100.0)
                    hlog_line(to, bucket.highest, 100.0, seen, ratio, digits);
                return;
            }
            level = hlog_next_level(level, ticks);
        }
    }
}

/* Mean and standard deviation of the buckets' middles. */
static void hlog_mean(const crest_distribution *distribution, double *mean, double *deviation)
{
    double total = (double)crest_distribution_count(distribution), sum = 0, squares = 0;
    crest_bucket bucket;
    *mean = *deviation = 0;
    if (total == 0)
        return;
    for (size_t cursor = 0; crest_distribution_next(distribution, &cursor, &bucket);)
        sum += (double)(bucket.lowest + (bucket.highest - bucket.lowest + 1) / 2) *
               (double)bucket.count;
    *mean = sum / total;
    for (size_t cursor = 0; crest_distribution_next(distribution, &cursor, &bucket);) {
        double apart =
            (double)(bucket.lowest + (bucket.highest - bucket.lowest + 1) / 2) - *mean;
        squares += apart * apart * (double)bucket.count;
    }
    *deviation = sqrt(squares / total);
}

/* How many powers of two HdrHistogram has for the range, and cells in the lowest. */
static void hlog_buckets(const crest_range *range, unsigned *buckets, uint64_t *cells)
{
    *cells = 2;
    while (*cells < 2 * pow(10, range->digits))
        *cells *= 2;
    *buckets = 1;
    for (double reach = (double)*cells * (double)range->lowest; reach <= (double)range->highest;
         reach *= 2)
        ++*buckets;
}

void hlog_percentiles_print(const crest_distribution *distribution, unsigned ticks, double ratio,
                            FILE *to)
{
    crest_range range;
    double mean, deviation;
    unsigned buckets;
    uint64_t cells;
    crest_distribution_range(distribution, &range);
    fprintf(to, "%12s %14s %10s %14s\n\n", "Value", "Percentile", "TotalCount", "1/(1-Percentile)");
    hlog_lines(distribution, ticks, ratio, range.digits, to);
    hlog_mean(distribution, &mean, &deviation);
    hlog_buckets(&range, &buckets, &cells);
    fputs("#[Mean    = ", to);
    hlog_print_decimal(to, 12, mean / ratio, range.digits);
    fputs(", StdDeviation   = ", to);
    hlog_print_decimal(to, 12, deviation / ratio, range.digits);
    fputs("]\n#[Max     = ", to);
    hlog_print_decimal(to, 12, (double)hlog_value_at(distribution, 1) / ratio, range.digits);
    fprintf(to, ", Total count    = %12llu]\n#[Buckets = %12u, SubBuckets     = %12llu]\n",
            (unsigned long long)crest_distribution_count(distribution), buckets,
            (unsigned long long)cells);
}
