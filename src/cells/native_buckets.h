/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Native histograms: the exponential buckets of Prometheus and OpenTelemetry, made from cells that
 * come one by one. It knows no distributions, so that a test of pages can give any; native_cells.h
 * does.
 *
 *     crest_native_begin(&native, schema, 160, 9, 0);
 *     crest_native_add(&native, 512, 515, 12);       for each cell, upwards
 *     ...native.bucket[0] to [native.used - 1], native.zero_count, native.schema...
 *
 * Bucket i of schema s holds the values above 2^((i-1)/2^s) and up to 2^(i/2^s), in the base unit.
 * A cell counts, whole, in the bucket that its middle lies in: which one that is depends on the
 * cell and the schema only, so that the buckets of a series never shrink. Where there are more
 * buckets than may be, two become one, which is the next coarser schema, until they are few
 * enough; none is cut off.
 *
 * Sources: prometheus.io/docs/specs/native_histograms; OpenTelemetry's data model, exponential
 * histograms.
 */
#ifndef CREST_NATIVE_BUCKETS_H
#define CREST_NATIVE_BUCKETS_H

#include "cells/layouts.h"

#define CREST_NATIVE_SCHEMA_MIN (-4)
#define CREST_NATIVE_SCHEMA_MAX 8
/* Buckets of a histogram: with fewer than the least the coarsest schema might not do. */
#define CREST_NATIVE_BUCKETS_MIN 10u
#define CREST_NATIVE_BUCKETS_MAX 500u
/* The threshold of zeros where nothing but 0 is one, as Prometheus' own clients have it: 2^-128. */
#define CREST_NATIVE_THRESHOLD_LEAST 0x1p-128

typedef struct crest_native_bucket {
    int index;
    uint64_t count;
} crest_native_bucket;

/* Blocks of a layout that are cut, and runs of a block: those of a power of two, which the finest
 * schema that is kept cuts into 16, and one that began before. */
#define CREST_NATIVE_BLOCKS 64u
#define CREST_NATIVE_RUNS 18u
#define CREST_NATIVE_RUNS_SCHEMA_MAX 4

/* Cells of a block up to this one, which lie in one bucket. */
typedef struct crest_native_run {
    uint32_t end; /* from the block's first cell on */
    int index;
} crest_native_run;

/* What cells of a layout make of its blocks, cut when one is first asked for. */
typedef struct crest_native_runs {
    crest_layout layout;
    int schema;
    double divisor;
    uint64_t cut; /* a bit for each block */
    crest_native_run run[CREST_NATIVE_BLOCKS][CREST_NATIVE_RUNS];
} crest_native_runs;

typedef struct crest_native {
    int schema;
    unsigned limit;        /* buckets at most */
    double divisor;        /* of recorded values, for those in the base unit */
    double zero_threshold; /* the largest value that counts as 0 */
    uint64_t zero_count;
    uint64_t count; /* of all buckets and zeros */
    uint64_t upper; /* the largest recorded value of the last bucket */
    unsigned used;
    crest_native_bucket bucket[CREST_NATIVE_BUCKETS_MAX + 1];
    crest_native_runs
        runs; /* native_cells.c's; kept from one to the next, zeroed before the first */
} crest_native;

/* The coarsest schema whose buckets grow by at most `factor` each, as far as there is one. */
int crest_native_schema(double factor);

/* The bucket of a value above 0, and its upper bound. */
int crest_native_index(double value, int schema);
double crest_native_bound(int index, int schema);

/* Begins an empty one of at most `limit` buckets, CREST_NATIVE_BUCKETS_MIN to _MAX, of values with
 * so many `decimals` of the base unit; what counts as zero are the values up to `zero`. */
void crest_native_begin(crest_native *native, int schema, unsigned limit, unsigned decimals,
                        uint64_t zero);

/* Adds `count` values, more than none, to the bucket `index` of schema `schema`, which is that of
 * the beginning; it is the last one, or comes after it. */
void crest_native_add_bucket(crest_native *native, int schema, int index, uint64_t count);

/* The largest recorded value of a bucket, as the values' middles are compared. */
uint64_t crest_native_upper(int index, int schema, double divisor);

/* Adds `count` values of the cell from `lowest` to `highest`, which come ascending. */
void crest_native_add(crest_native *native, uint64_t lowest, uint64_t highest, uint64_t count);

#endif
