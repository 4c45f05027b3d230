/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Readings, ticks and slots. See window_times.h.
 */
#include "windows/window_times.h"

#include <string.h>

#define TIMES_SECOND_NS UINT64_C(1000000000)
/* A window may be short of its length by half a tick. Otherwise ticks that are early or late by
 * milliseconds would make it now one tick longer and now one shorter. */
#define TIMES_SLACK_NS (CREST_TICK_MS * UINT64_C(1000000) / 2)
/* Slots likewise, but by so little that all together are not short of the longest window. */
#define TIMES_SLOT_SLACK_NS (TIMES_SLACK_NS / 50)

void crest_window_times_init(crest_window_times *times, const unsigned *window_s, unsigned windows)
{
    memset(times, 0, sizeof *times);
    times->windows = windows;
    for (unsigned w = 0; w < windows; w++)
        times->span[w].window_s = window_s[w];
    if (window_s[windows - 1] > CREST_WINDOW_S)
        times->slots = window_s[windows - 1] / CREST_SLOT_S + 1;
}

/* The tick goes into the unfinished slot, or begins the next one. */
static void times_add_to_slot(crest_window_times *times, uint64_t tick_ns)
{
    unsigned at = times->slot;
    times->slot_opened =
        times->slot_count == 0 ||
        times->slot_ns[at] + TIMES_SLOT_SLACK_NS >= CREST_SLOT_S * TIMES_SECOND_NS ||
        times->slot_ticks[at] == CREST_SLOT_TICKS_MAX;
    if (times->slot_opened) {
        at = times->slot_count == 0 ? 0 : (at + 1) % times->slots;
        times->slot = at;
        times->slot_ns[at] = times->slot_ticks[at] = 0;
        times->slot_count += times->slot_count < times->slots;
    }
    times->slot_tick_ns[at][times->slot_ticks[at]++] = tick_ns;
    times->slot_ns[at] += tick_ns;
}

static void times_measure(const crest_window_times *times, crest_window_span *span)
{
    int slots = span->window_s > CREST_WINDOW_S;
    unsigned all = slots ? times->slot_count : times->count - 1;
    uint64_t wanted_ns = span->window_s * TIMES_SECOND_NS;
    span->count = 0;
    span->ns = 0;
    while (span->count < all && span->ns + TIMES_SLACK_NS < wanted_ns) {
        span->ns += slots ? times->slot_ns[crest_window_times_slot(times, span->count)]
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
    times->slot_opened = 0;
    if (times->slots != 0 && !first)
        times_add_to_slot(times, tick_ns);
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
