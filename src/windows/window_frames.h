/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames: how much each windowed series grew in each tick and bin, and how fast its fastest tick
 * of each bin was.
 *
 * Stored by time: one row of 256 bytes is the growth of all 64 series of a block in one tick. So a
 * tick writes a few rows and nothing else. Growth is kept in 32 bits. A series that once grows by
 * more in a tick or a bin gets the upper halves beside it. Without memory for them, the rest
 * counts with the next tick.
 */
#ifndef CREST_WINDOW_FRAMES_H
#define CREST_WINDOW_FRAMES_H

#include "metrics/metric_inside.h"
#include "windows/window_times.h"

#define CREST_FRAMES_SERIES 64u

/* The upper halves. */
typedef struct crest_window_high {
    uint32_t tick[CREST_WINDOW_READINGS];
    uint32_t bin[CREST_BINS_MAX];
    uint32_t peak[CREST_BINS_MAX];
} crest_window_high;

/* A windowed series; `series` is NULL in a free place. */
typedef struct crest_window_place {
    crest_series *series;
    uint64_t last;     /* its count at the last reading */
    uint64_t since_ns; /* it is known from then on (crest_window_times.elapsed_ns, plus 1); 0: from
                          its beginning on */
    void *more;        /* a distribution's and a range sampler's own part, or NULL */
    crest_window_high *high; /* or NULL */
} crest_window_place;

/* The series of one block, and its rows. */
typedef struct crest_window_frames {
    crest_window_place place[CREST_FRAMES_SERIES];
    uint32_t tick[CREST_WINDOW_READINGS][CREST_FRAMES_SERIES];
    struct crest_window_bin_rows {
        uint32_t growth[CREST_FRAMES_SERIES];
        uint32_t peak[CREST_FRAMES_SERIES];   /* growth of the tick that was the fastest */
        uint8_t peak_at[CREST_FRAMES_SERIES]; /* and which of the bin's ticks that was */
    } bin[];                                  /* as many as the times have */
} crest_window_frames;

/* A block without series; NULL without memory. */
crest_window_frames *crest_window_frames_new(const crest_window_times *times);
void crest_window_frames_free(crest_window_frames *frames);

/* The reading opened a bin: zeroes its rows. */
void crest_window_frames_open(crest_window_frames *frames, unsigned bin);

/* Empties a place, for another series. */
void crest_window_frames_clear(crest_window_frames *frames, unsigned at, unsigned bins);

/* Takes the series' count at the newest reading. 0 if memory lacked: not all of it is taken yet. */
int crest_window_frames_wide(crest_window_frames *frames, const crest_window_times *times,
                             unsigned at, uint64_t value);

/* The same; inline because it is nearly all of a tick's work. `rate`: 1 over the tick's seconds, or
 * 0; `peaks`: the rates of the unfinished bin's ticks. */
static inline int crest_window_frames_take(crest_window_frames *frames,
                                           const crest_window_times *times, unsigned at,
                                           uint64_t value, const double *rates)
{
    crest_window_place *place = &frames->place[at];
    uint64_t growth = value - place->last;
    uint32_t *tick = &frames->tick[times->newest][at];
    if (growth == 0 && place->high == NULL) {
        *tick = 0;
        return 1;
    }
    struct crest_window_bin_rows *rows = &frames->bin[times->bin];
    if (place->high != NULL || growth > UINT32_MAX ||
        (times->bins != 0 && growth > UINT32_MAX - rows->growth[at]))
        return crest_window_frames_wide(frames, times, at, value);
    place->last = value;
    *tick = (uint32_t)growth;
    if (times->bins == 0)
        return 1;
    unsigned last = times->bin_ticks[times->bin] - 1;
    rows->growth[at] += (uint32_t)growth;
    if ((double)growth * rates[last] > (double)rows->peak[at] * rates[rows->peak_at[at]]) {
        rows->peak[at] = (uint32_t)growth;
        rows->peak_at[at] = (uint8_t)last;
    }
    return 1;
}

/* Fills covered_s, events, per_second and peak of the window; 0 if none of it is covered. */
int crest_window_frames_result(const crest_window_frames *frames, const crest_window_times *times,
                               unsigned at, const crest_window_span *span, crest_window *result);

#endif
