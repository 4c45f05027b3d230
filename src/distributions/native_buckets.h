/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Native histograms: the exponential buckets of Prometheus and OpenTelemetry, made from cells given
 * one by one. It knows no distributions, so that a test of pages can make up any; native_cells.h
 * does.
 *
 *     crest_native_begin(&native, schema, 160, 9, 0);
 *     crest_native_add(&native, 512, 515, 12);       for each cell, upwards
 *     ...native.bucket[0] to [native.used - 1], native.zero_count, native.schema...
 *
 * Bucket i of schema s holds the values above 2^((i-1)/2^s) and up to 2^(i/2^s), in the base unit.
 * A cell counts, whole, in the bucket of its middle. That depends on the cell and the schema only,
 * so the buckets of a series never shrink. While there are more buckets than allowed, pairs of them
 * merge, which is the next coarser schema; no bucket is cut off.
 *
 * Sources: prometheus.io/docs/specs/native_histograms; OpenTelemetry's data model, exponential
 * histograms.
 */
#ifndef CREST_NATIVE_BUCKETS_H
#define CREST_NATIVE_BUCKETS_H

#include "cells/layouts.h"

#define CREST_NATIVE_SCHEMA_MIN (-4)
#define CREST_NATIVE_SCHEMA_MAX 8
/* Bounds of a histogram's bucket limit: with fewer than MIN the coarsest schema might not fit. */
#define CREST_NATIVE_BUCKETS_MIN 10u
#define CREST_NATIVE_BUCKETS_MAX 500u
/* The zero threshold where only 0 counts as zero, as in Prometheus' own clients: 2^-128. */
#define CREST_NATIVE_THRESHOLD_LEAST 0x1p-128

typedef struct crest_native_bucket {
    int index;
    uint64_t count;
} crest_native_bucket;

/* Blocks of a layout that are cut into runs, and runs of a block: the finest schema kept cuts a
 * power of two into 16, and one run began before. */
#define CREST_NATIVE_BLOCKS 64u
#define CREST_NATIVE_RUNS 18u
#define CREST_NATIVE_RUNS_SCHEMA_MAX 4

/* A run: the cells of a block up to this one that lie in one bucket. */
typedef struct crest_native_run {
    uint32_t end; /* the cell behind its last, from the block's first */
    int index;
} crest_native_run;

/* The runs of a layout's blocks; a block is cut when it is first asked for. */
typedef struct crest_native_runs {
    crest_layout layout;
    int schema;
    double divisor;
    uint64_t cut; /* blocks cut so far, a bit each */
    crest_native_run run[CREST_NATIVE_BLOCKS][CREST_NATIVE_RUNS];
} crest_native_runs;

typedef struct crest_native {
    int schema;
    unsigned limit;        /* the most buckets */
    double divisor;        /* recorded values are divided by it to give the base unit */
    double zero_threshold; /* the largest value that counts as zero */
    uint64_t zero_count;
    uint64_t count; /* all buckets and zeros */
    uint64_t upper; /* the largest recorded value of the last bucket */
    unsigned used;
    crest_native_bucket bucket[CREST_NATIVE_BUCKETS_MAX + 1];
    crest_native_runs
        runs; /* native_cells.c's cache; zeroed before the first histogram, kept between them */
} crest_native;

/* The coarsest schema whose buckets grow by at most `factor` each, or the finest there is. */
int crest_native_schema(double factor);

/* The bucket of a value above 0, and its upper bound. */
int crest_native_index(double value, int schema);
double crest_native_bound(int index, int schema);

/* Begins an empty histogram of at most `limit` buckets, CREST_NATIVE_BUCKETS_MIN to _MAX. Its
 * values have so many `decimals` of the base unit; values up to `zero` count as zeros. */
void crest_native_begin(crest_native *native, int schema, unsigned limit, unsigned decimals,
                        uint64_t zero);

/* Adds `count` values, at least one, to bucket `index`. `schema` is the schema it began with.
 * Indices come ascending; the last may repeat. */
void crest_native_add_bucket(crest_native *native, int schema, int index, uint64_t count);

/* The largest recorded value of a bucket, by the same comparison as cells' middles. */
uint64_t crest_native_upper(int index, int schema, double divisor);

/* Adds the `count` values of the cell from `lowest` to `highest`; cells come ascending. */
void crest_native_add(crest_native *native, uint64_t lowest, uint64_t highest, uint64_t count);

#endif
