/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The times of windows: when readings were taken, and which of them each window is made of.
 *
 * A tick is the time between two readings. The ticks of the 1m window are kept one by one. Those of
 * longer windows lie in bins of half a minute, of which the last is unfinished. A window is the
 * fewest newest ticks, or bins, that together are as long as it. So it follows each tick at once,
 * and a longer one covers up to CREST_BIN_S more than its length. Lengths are measured: a late
 * tick counts as long as it was, and a suspension is one long tick in the windows.
 */
#ifndef CREST_WINDOW_TIMES_H
#define CREST_WINDOW_TIMES_H

#include <crest/window.h>

/* Sixty ticks lie between sixty-one readings. */
#define CREST_WINDOW_READINGS 61u
/* Length of a bin; it is also full at so many ticks. */
#define CREST_BIN_S 30u
#define CREST_BIN_TICKS_MAX 64u
/* Bins of the longest window, and the unfinished one. */
#define CREST_BINS_MAX (900u / CREST_BIN_S + 1)

typedef struct crest_window_span {
    unsigned window_s;
    unsigned count; /* the newest ticks (1m window) or bins (the others) that it is made of */
    uint64_t ns;
} crest_window_span;

typedef struct crest_window_times {
    uint64_t time_ns[CREST_WINDOW_READINGS];
    uint64_t tick_ns[CREST_WINDOW_READINGS]; /* before each reading; 0 if the clock went back */
    unsigned newest;                         /* index of the last reading */
    unsigned count;                          /* readings kept */
    uint64_t readings;                       /* readings ever taken */
    uint64_t elapsed_ns;                     /* all ticks together */
    unsigned bins;                           /* room for so many; 0: no window is longer than 1m */
    unsigned bin;                            /* the unfinished one */
    unsigned bin_count;                      /* bins kept, the unfinished one included */
    int bin_opened;                          /* the newest reading opened the bin */
    uint64_t bin_ns[CREST_BINS_MAX];
    unsigned bin_ticks[CREST_BINS_MAX];
    uint64_t bin_tick_ns[CREST_BINS_MAX][CREST_BIN_TICKS_MAX];
    unsigned windows;
    crest_window_span span[CREST_WINDOWS_MAX];
} crest_window_times;

/* For these windows, ascending; the first is CREST_WINDOW_S. */
void crest_window_times_init(crest_window_times *times, const unsigned *window_s, unsigned windows);

/* Adds a reading taken at this time. */
void crest_window_times_add(crest_window_times *times, uint64_t time_ns);

/* The window of so many seconds; NULL if it is not kept. */
const crest_window_span *crest_window_times_span(const crest_window_times *times,
                                                 unsigned window_s);

/* The index of the bin or reading `back` before the newest. */
static inline unsigned crest_window_times_bin(const crest_window_times *times, unsigned back)
{
    return (times->bin + times->bins - back) % times->bins;
}

static inline unsigned crest_window_times_reading(const crest_window_times *times, unsigned back)
{
    return (times->newest + CREST_WINDOW_READINGS - back) % CREST_WINDOW_READINGS;
}

#endif
