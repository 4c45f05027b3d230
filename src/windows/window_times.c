/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Readings, ticks and bins. See window_times.h.
 */
#include "windows/window_times.h"

#include <string.h>

#define TIMES_SECOND_NS UINT64_C(1000000000)
/* A window may be short of its length by half a tick. Otherwise ticks that are early or late by
 * milliseconds would make it now one tick longer and now one shorter. */
#define TIMES_SLACK_NS (CREST_TICK_MS * UINT64_C(1000000) / 2)
/* Bins likewise, but by so little that all together are not short of the longest window. */
#define TIMES_BIN_SLACK_NS (TIMES_SLACK_NS / 50)

void crest_window_times_init(crest_window_times *times, const unsigned *window_s, unsigned windows)
{
    memset(times, 0, sizeof *times);
    times->windows = windows;
    for (unsigned w = 0; w < windows; w++)
        times->span[w].window_s = window_s[w];
    if (window_s[windows - 1] > CREST_WINDOW_S)
        times->bins = window_s[windows - 1] / CREST_BIN_S + 1;
}

/* The tick goes into the unfinished bin, or begins the next one. */
static void times_add_to_bin(crest_window_times *times, uint64_t tick_ns)
{
    unsigned at = times->bin;
    times->bin_opened = times->bin_count == 0 ||
                        times->bin_ns[at] + TIMES_BIN_SLACK_NS >= CREST_BIN_S * TIMES_SECOND_NS ||
                        times->bin_ticks[at] == CREST_BIN_TICKS_MAX;
    if (times->bin_opened) {
        at = times->bin_count == 0 ? 0 : (at + 1) % times->bins;
        times->bin = at;
        times->bin_ns[at] = times->bin_ticks[at] = 0;
        times->bin_count += times->bin_count < times->bins;
    }
    times->bin_tick_ns[at][times->bin_ticks[at]++] = tick_ns;
    times->bin_ns[at] += tick_ns;
}

static void times_measure(const crest_window_times *times, crest_window_span *span)
{
    int bins = span->window_s > CREST_WINDOW_S;
    unsigned all = bins ? times->bin_count : times->count - 1;
    uint64_t wanted_ns = span->window_s * TIMES_SECOND_NS;
    span->count = 0;
    span->ns = 0;
    while (span->count < all && span->ns + TIMES_SLACK_NS < wanted_ns) {
        span->ns += bins ? times->bin_ns[crest_window_times_bin(times, span->count)]
                         : times->tick_ns[crest_window_times_reading(times, span->count)];
        span->count++;
    }
}

void crest_window_times_add(crest_window_times *times, uint64_t time_ns)
{
    uint64_t before_ns = times->time_ns[times->newest];
    int first = times->count == 0;
    times->readings++;
    times->newest = first ? 0 : (times->newest + 1) % CREST_WINDOW_READINGS;
    times->count += times->count < CREST_WINDOW_READINGS;
    times->time_ns[times->newest] = time_ns;
    uint64_t tick_ns = !first && time_ns > before_ns ? time_ns - before_ns : 0;
    times->tick_ns[times->newest] = tick_ns;
    times->elapsed_ns += tick_ns;
    times->bin_opened = 0;
    if (times->bins != 0 && !first)
        times_add_to_bin(times, tick_ns);
    for (unsigned w = 0; w < times->windows; w++)
        times_measure(times, &times->span[w]);
}

const crest_window_span *crest_window_times_span(const crest_window_times *times, unsigned window_s)
{
    for (unsigned w = 0; w < times->windows; w++)
        if (times->span[w].window_s == window_s)
            return &times->span[w];
    return NULL;
}
