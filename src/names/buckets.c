/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bucket presets and the arithmetic of bounds. See buckets.h.
 */
#include "names/buckets.h"
#include "names/names.h"

#include <math.h>
#include <stdio.h>

/* Steps of 1, 2.5 and 5: a bucket is at most 2.5 times as wide as its predecessor. */
static const double buckets_fast[] = {
    10e-6, 25e-6, 50e-6, 100e-6, 250e-6, 500e-6, 1e-3, 2.5e-3,
    5e-3,  10e-3, 25e-3, 50e-3,  100e-3, 250e-3, 0.5,  1,
};

/* The bounds that the Prometheus client libraries share. */
static const double buckets_default[] = {
    0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
};

/* As people count: parts of a second, of a minute, of an hour. */
static const double buckets_slow[] = {
    0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800, 3600,
};

/* Powers of two: sizes cluster there. */
static const double buckets_bytes[] = {
    512,    1024,   2048,   4096,    8192,    16384,   32768,   65536,
    131072, 262144, 524288, 1048576, 2097152, 4194304, 8388608, 16777216,
};

/* Closer at the ends: readers ask about nearly empty and nearly full. */
static const double buckets_ratio[] = {
    0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95,
};

/* Steps of 1, 2 and 5: counts are whole numbers. */
static const double buckets_magnitudes[] = {
    1,    2,    5,     10,    20,    50,     100,    200,    500,     1000,
    2000, 5000, 10000, 20000, 50000, 100000, 200000, 500000, 1000000,
};

#define BUCKETS_OF(bounds)                                                                         \
    {                                                                                              \
        bounds, (unsigned)(sizeof(bounds) / sizeof(bounds)[0])                                     \
    }

const crest_buckets crest_buckets_fast = BUCKETS_OF(buckets_fast);
const crest_buckets crest_buckets_default = BUCKETS_OF(buckets_default);
const crest_buckets crest_buckets_slow = BUCKETS_OF(buckets_slow);
const crest_buckets crest_buckets_bytes = BUCKETS_OF(buckets_bytes);
const crest_buckets crest_buckets_ratio = BUCKETS_OF(buckets_ratio);
const crest_buckets crest_buckets_magnitudes = BUCKETS_OF(buckets_magnitudes);

const crest_buckets *crest_buckets_for_unit(crest_unit unit, crest_kind kind)
{
    switch (crest_unit_of(kind, unit)) {
    case CREST_NONE: return &crest_buckets_magnitudes;
    case CREST_BYTES: return &crest_buckets_bytes;
    case CREST_NANOSECONDS:
    case CREST_MICROSECONDS:
    case CREST_MILLISECONDS: return &crest_buckets_default;
    /* Values are integers: whole seconds would lie above most of the default's bounds. */
    case CREST_SECONDS: return &crest_buckets_slow;
    case CREST_RATIO: return &crest_buckets_ratio;
    }
    return &crest_buckets_magnitudes;
}

crest_status crest_buckets_check(const crest_buckets *buckets, char *why, size_t size)
{
    const crest_status bad = CREST_INVALID_ARGUMENT;
    char nothing[1];
    if (why == NULL || size == 0) {
        why = nothing;
        size = sizeof nothing;
    }
    why[0] = '\0';
    if (buckets == NULL || buckets->bounds == NULL || buckets->count == 0) {
        snprintf(why, size, "there are no bucket bounds");
        return bad;
    }
    if (buckets->count > CREST_BUCKETS_MAX) {
        snprintf(why, size, "there are %u bucket bounds; %u is the limit, +Inf not counted",
                 buckets->count, CREST_BUCKETS_MAX);
        return bad;
    }
    for (unsigned i = 0; i < buckets->count; i++) {
        double bound = buckets->bounds[i];
        const char *what = NULL;
        if (!isfinite(bound))
            what = "is not a finite number (+Inf is implied)";
        else if (signbit(bound))
            what = "is negative";
        else if (i > 0 && bound <= buckets->bounds[i - 1])
            what = "is not above the one before it";
        if (what != NULL) {
            snprintf(why, size, "bucket bound %u of %u %s", i + 1, buckets->count, what);
            return bad;
        }
    }
    return CREST_OK;
}

uint64_t crest_buckets_limit(double bound, crest_unit unit)
{
    static const double scale[] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9};
    double product = bound * scale[crest_unit_decimals(unit)];
    if (!(product > 0))
        return 0;
    if (product >= 0x1p64)
        return UINT64_MAX;
    /* Without libm, which the library does not link: a product of 2^53 or more has no fraction. */
    uint64_t whole = (uint64_t)product;
    double fraction = product - (double)whole;
    if (fraction > 0.5 && 1 - fraction <= product * CREST_BUCKETS_SLACK)
        whole++;
    return whole;
}
