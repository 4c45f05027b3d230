/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rates by series. See console_history.h.
 *
 * Each report builds its own table from the previous report's, so that series that are gone need no
 * search.
 */
#include "console/console_history.h"

#include <stdlib.h>
#include <string.h>

#define CONSOLE_HISTORY_BASIS UINT64_C(0xcbf29ce484222325)
#define CONSOLE_HISTORY_PRIME UINT64_C(0x100000001b3)

uint64_t crest_console_history_key(uint64_t key, const char *text)
{
    key = key != 0 ? key : CONSOLE_HISTORY_BASIS;
    /* the NUL too: "ab","c" is not "a","bc" */
    for (size_t i = 0, length = strlen(text); i <= length; i++)
        key = (key ^ (unsigned char)text[i]) * CONSOLE_HISTORY_PRIME;
    return key;
}

static void console_history_free(crest_console_trends *trends)
{
    free(trends->trends);
    free(trends->places);
    memset(trends, 0, sizeof *trends);
}

/* The place of a key, or the free one where it would be. */
static uint32_t *console_history_place(const crest_console_trends *trends, uint64_t key)
{
    size_t at = (size_t)(key ^ key >> 32) & trends->mask;
    while (trends->places[at] != 0 && trends->trends[trends->places[at] - 1].key != key)
        at = (at + 1) & trends->mask;
    return &trends->places[at];
}

void crest_console_history_begin(crest_console_history *history, uint64_t time_ns, size_t series)
{
    crest_console_trends *now = &history->now;
    console_history_free(now);
    history->now_ns = time_ns;
    size_t size = series < CREST_CONSOLE_TREND_SERIES_MAX ? series : CREST_CONSOLE_TREND_SERIES_MAX;
    size_t places = 16;
    while (places < 2 * size)
        places *= 2;
    now->trends = calloc(size + 1, sizeof *now->trends);
    now->places = calloc(places, sizeof *now->places);
    now->size = size;
    now->mask = places - 1;
    if (now->trends == NULL || now->places == NULL)
        console_history_free(now);
}

/* The rate since the last report; negative: it is not known. */
static float console_history_rate(const crest_console_history *history,
                                  const crest_console_trend *before, uint64_t value)
{
    if (history->now_ns <= history->last_ns || value < before->value)
        return -1;
    return (float)((double)(value - before->value) * 1e9 /
                   (double)(history->now_ns - history->last_ns));
}

unsigned crest_console_history_add(crest_console_history *history, uint64_t key, uint64_t value,
                                   const float **points)
{
    crest_console_trends *now = &history->now;
    *points = NULL;
    if (now->used == now->size)
        return 0;
    uint32_t *place = console_history_place(now, key);
    if (*place != 0)
        return 0;
    crest_console_trend *trend = &now->trends[now->used++];
    *place = (uint32_t)now->used;
    const crest_console_trends *last = &history->last;
    uint32_t before = last->used != 0 ? *console_history_place(last, key) : 0;
    if (before != 0) {
        *trend = last->trends[before - 1];
        float rate = console_history_rate(history, trend, value);
        if (rate >= 0 && trend->count == CREST_CONSOLE_POINTS)
            memmove(trend->points, trend->points + 1, --trend->count * sizeof *trend->points);
        if (rate >= 0)
            trend->points[trend->count++] = rate;
    }
    trend->key = key;
    trend->value = value;
    *points = trend->points;
    return trend->count;
}

void crest_console_history_end(crest_console_history *history)
{
    console_history_free(&history->last);
    history->last = history->now;
    history->last_ns = history->now_ns;
    memset(&history->now, 0, sizeof history->now);
}

void crest_console_history_fini(crest_console_history *history)
{
    console_history_free(&history->last);
    console_history_free(&history->now);
}
