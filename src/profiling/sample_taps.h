/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Continuous readers of CPU samples: each gets every sample once, whatever profiles are taken
 * beside it. All calls are under the profiler's lock.
 *
 *     crest_tap_open(&tap, run)               from now on; the profiler's run
 *     crest_taps_collect()                    before tables are turned over
 *     crest_tap_take(&tap, &rows, modules)    what came since the last one; the rows are freed by
 *     crest_rows_free(&rows)                  the caller
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
    crest_samples_mark *mark; /* NULL: closed */
    crest_rows rows;          /* values: samples alone */
    uint64_t since_unix_ns, since_ns;
    uint64_t lost; /* samples without room or memory; only grows */
} crest_tap;

/* 0 without memory. Open already: does nothing. What it had when it was closed stays until it is
 * taken. */
int crest_tap_open(crest_tap *tap);
/* Frees what it has. */
void crest_tap_close(crest_tap *tap);

/* Collects what has come for all open taps. */
void crest_taps_collect(void);

/* What came since the last take or the open, and when that was; also of one that has ended. */
void crest_tap_take(crest_tap *tap, crest_rows *rows, uint64_t *since_unix_ns, uint64_t *lasted_ns);

/* The store goes: what has come stays to be taken. */
void crest_taps_end(void);
/* In the child of a fork: nothing has come. */
void crest_taps_forked(void);

#endif
