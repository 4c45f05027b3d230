/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Continuous readers of CPU samples: each gets every sample once, whatever profiles are taken
 * beside it. All calls are under the profiler's lock.
 *
 *     crest_tap_open(&tap)                    once; then each run of the profiler, from its first
 *                                             sample to its last
 *     crest_taps_begin(period_ns)             the store is there, and nothing is sampled yet
 *     crest_taps_collect()                    before tables are turned over
 *     crest_tap_take(&tap, &rows, ...)        what came since the last one; the rows are freed by
 *     crest_rows_free(&rows)                  the caller
 *     crest_taps_end()                        nothing is sampled any more, and the store goes
 *     crest_tap_close(&tap)
 */
#ifndef CREST_PROFILING_SAMPLE_TAPS_H
#define CREST_PROFILING_SAMPLE_TAPS_H

#include "profiling/profile_rows.h"
#include "profiling/sample_store.h"

/* Rows that wait for a reader; what comes beyond them is lost. */
#define CREST_TAP_ROWS_MAX 32768u

typedef struct crest_tap {
    struct crest_tap *next;
    int open;
    crest_samples_mark *mark; /* what it has taken of the store; NULL while there is none */
    crest_rows rows;          /* values: samples, and their ns */
    uint64_t period_ns;       /* of a sample, when the mark was made last */
    uint64_t since_unix_ns, since_ns;
    uint64_t lost; /* samples without room or memory; only grows */
} crest_tap;

/* Open already: does nothing. 0 without memory for a mark: its next take, or the next begin, tries
 * again. */
int crest_tap_open(crest_tap *tap);
/* Frees what it has. */
void crest_tap_close(crest_tap *tap);

/* A run of the profiler begins: what is sampled from now on is for all open taps. */
void crest_taps_begin(uint64_t period_ns);

/* Collects what has come for all open taps. */
void crest_taps_collect(void);

/* What came since the last take, or since the run began, and when that was; also of one that has
 * ended. 0 as crest_tap_open. */
int crest_tap_take(crest_tap *tap, crest_rows *rows, uint64_t *since_unix_ns, uint64_t *lasted_ns);

/* The store goes: what has come stays to be taken. */
void crest_taps_end(void);
/* In the child of a fork: nothing has come. */
void crest_taps_forked(void);

#endif
