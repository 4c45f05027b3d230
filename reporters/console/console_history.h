/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the console remembers from report to report: the last rates of each series, for its trend.
 * Bounded: CREST_CONSOLE_TREND_SERIES_MAX series of CREST_CONSOLE_POINTS rates. Knows neither
 * snapshots nor terminals.
 *
 *     crest_console_history_begin(history, time_ns, series);
 *     count = crest_console_history_add(history, key, value, &points);      for each series
 *     crest_console_history_end(history);
 */
#ifndef CREST_REPORTERS_CONSOLE_HISTORY_H
#define CREST_REPORTERS_CONSOLE_HISTORY_H

#include <crest/console.h>

typedef struct crest_console_trend {
    uint64_t key;
    uint64_t value; /* cumulative, at the last report */
    unsigned count;
    float points[CREST_CONSOLE_POINTS]; /* per second, the oldest first */
} crest_console_trend;

/* The trends of one report, and where each is found by its key. */
typedef struct crest_console_trends {
    crest_console_trend *trends;
    uint32_t *places; /* index plus one; 0: free */
    size_t used, size, mask;
} crest_console_trends;

/* Zeroed before its first begin. */
typedef struct crest_console_history {
    crest_console_trends last, now;
    uint64_t last_ns, now_ns; /* 0: none yet */
} crest_console_history;

/* A report of so many series at most. Without memory it has no trends. */
void crest_console_history_begin(crest_console_history *history, uint64_t time_ns, size_t series);

/* Adds what a series has counted so far, and gives its rates, borrowed until the next end. Returns
 * how many there are. */
unsigned crest_console_history_add(crest_console_history *history, uint64_t key, uint64_t value,
                                   const float **points);

/* Forgets the series that were not added. */
void crest_console_history_end(crest_console_history *history);
void crest_console_history_fini(crest_console_history *history);

/* Continues a key with a text; start with 0. Source: FNV-1a, 64 bits. */
uint64_t crest_console_history_key(uint64_t key, const char *text);

#endif
