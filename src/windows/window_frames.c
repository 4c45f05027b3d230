/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of growth. See window_frames.h.
 */
#include "windows/window_frames.h"
#include "base/alloc.h"

#include <string.h>

crest_window_frames *crest_window_frames_new(const crest_window_times *times)
{
    crest_window_frames *frames = NULL;
    return crest_alloc(1, sizeof *frames + times->bins * sizeof frames->bin[0]);
}

void crest_window_frames_free(crest_window_frames *frames)
{
    for (unsigned at = 0; at < CREST_FRAMES_SERIES; at++)
        crest_alloc_free(frames->place[at].high);
    crest_alloc_free(frames);
}

void crest_window_frames_open(crest_window_frames *frames, unsigned bin)
{
    memset(&frames->bin[bin], 0, sizeof frames->bin[bin]);
    for (unsigned at = 0; at < CREST_FRAMES_SERIES; at++) {
        crest_window_high *high = frames->place[at].high;
        if (high != NULL)
            high->bin[bin] = high->peak[bin] = 0;
    }
}

void crest_window_frames_clear(crest_window_frames *frames, unsigned at, unsigned bins)
{
    for (unsigned i = 0; i < CREST_WINDOW_READINGS; i++)
        frames->tick[i][at] = 0;
    for (unsigned i = 0; i < bins; i++)
        frames->bin[i].growth[at] = frames->bin[i].peak[at] = frames->bin[i].peak_at[at] = 0;
    crest_alloc_free(frames->place[at].high);
    memset(&frames->place[at], 0, sizeof frames->place[at]);
}

static uint64_t frames_join(uint32_t low, const uint32_t *high)
{
    return low | (uint64_t)(high != NULL ? *high : 0) << 32;
}

static void frames_split(uint64_t value, uint32_t *low, uint32_t *high)
{
    *low = (uint32_t)value;
    if (high != NULL)
        *high = (uint32_t)(value >> 32);
}

static double frames_rate(uint64_t growth, uint64_t ns)
{
    return ns != 0 ? (double)growth / ((double)ns / 1e9) : 0;
}

static uint64_t frames_peak(const crest_window_frames *frames, const crest_window_times *times,
                            unsigned at, unsigned bin, double *rate)
{
    const crest_window_high *high = frames->place[at].high;
    uint64_t peak = frames_join(frames->bin[bin].peak[at], high ? &high->peak[bin] : NULL);
    *rate = frames_rate(peak, times->bin_tick_ns[bin][frames->bin[bin].peak_at[at]]);
    return peak;
}

int crest_window_frames_wide(crest_window_frames *frames, const crest_window_times *times,
                             unsigned at, uint64_t value)
{
    crest_window_place *place = &frames->place[at];
    struct crest_window_bin_rows *rows = times->bins != 0 ? &frames->bin[times->bin] : NULL;
    uint64_t growth = value - place->last;
    if (place->high == NULL)
        place->high = crest_alloc(1, sizeof *place->high);
    crest_window_high *high = place->high;
    uint64_t room = rows != NULL ? UINT32_MAX - rows->growth[at] : UINT32_MAX;
    int whole = high != NULL || growth <= room;
    if (!whole)
        growth = room;
    place->last += growth;
    frames_split(growth, &frames->tick[times->newest][at],
                 high ? &high->tick[times->newest] : NULL);
    if (rows == NULL)
        return whole;
    uint32_t *upper = high ? &high->bin[times->bin] : NULL;
    frames_split(frames_join(rows->growth[at], upper) + growth, &rows->growth[at], upper);
    double before;
    unsigned last = times->bin_ticks[times->bin] - 1;
    frames_peak(frames, times, at, times->bin, &before);
    if (frames_rate(growth, times->bin_tick_ns[times->bin][last]) > before) {
        frames_split(growth, &rows->peak[at], high ? &high->peak[times->bin] : NULL);
        rows->peak_at[at] = (uint8_t)last;
    }
    return whole;
}

int crest_window_frames_result(const crest_window_frames *frames, const crest_window_times *times,
                               unsigned at, const crest_window_span *span, crest_window *result)
{
    const crest_window_place *place = &frames->place[at];
    const crest_window_high *high = place->high;
    uint64_t ns = span->ns;
    if (place->since_ns != 0 && times->elapsed_ns - (place->since_ns - 1) < ns)
        ns = times->elapsed_ns - (place->since_ns - 1);
    if (ns == 0)
        return 0;
    result->covered_s = (double)ns / 1e9;
    for (unsigned back = 0; back < span->count; back++) {
        double rate;
        if (span->window_s > CREST_WINDOW_S) {
            unsigned bin = crest_window_times_bin(times, back);
            result->events +=
                frames_join(frames->bin[bin].growth[at], high ? &high->bin[bin] : NULL);
            frames_peak(frames, times, at, bin, &rate);
        } else {
            unsigned reading = crest_window_times_reading(times, back);
            uint64_t growth =
                frames_join(frames->tick[reading][at], high ? &high->tick[reading] : NULL);
            result->events += growth;
            rate = frames_rate(growth, times->tick_ns[reading]);
        }
        if (rate > result->peak)
            result->peak = rate;
    }
    result->per_second = (double)result->events / result->covered_s;
    return 1;
}
