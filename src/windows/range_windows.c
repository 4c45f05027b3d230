/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ticks of range samplers. See range_windows.h.
 *
 * The area under the value between two readings is the difference of value * time - moment. The
 * readings have its low 64 bits. The area lies within extremes times time, and the numbers with
 * these low bits are 2^64 apart. So it is the number nearest to the middle, as long as the swing
 * times the length of the tick stays below 2^64. How high the value stands does not matter.
 */
#include "windows/range_windows.h"
#include "base/alloc.h"
#include "base/atomic.h"

crest_range_ring *crest_range_ring_new(const crest_range_cell *cell, int new)
{
    crest_range_ring *ring = crest_alloc(1, sizeof *ring);
    if (ring == NULL)
        return NULL;
    for (unsigned i = 0; i < CREST_WINDOW_READINGS; i++) {
        ring->minimum[i] = INT64_MAX;
        ring->maximum[i] = INT64_MIN;
    }
    ring->begun = new && cell->born != 0 && crest_atomic_load(&cell->rotated) == 0;
    ring->last.time = cell->born;
    return ring;
}

void crest_range_ring_free(crest_range_ring *ring)
{
    if (ring != NULL)
        crest_alloc_free(ring->bins);
    crest_alloc_free(ring);
}

int crest_range_ring_bins(crest_range_ring *ring, const crest_window_times *times)
{
    if (times->bins == 0)
        return 1;
    ring->bins = crest_alloc(times->bins, sizeof *ring->bins);
    for (unsigned i = 0; ring->bins != NULL && i < times->bins; i++)
        ring->bins[i] = (crest_range_bin){.minimum = INT64_MAX, .maximum = INT64_MIN};
    return ring->bins != NULL;
}

static void range_merge(crest_range_bin *into, const crest_range_bin *from)
{
    into->area += from->area;
    into->time += from->time;
    into->minimum = from->minimum < into->minimum ? from->minimum : into->minimum;
    into->maximum = from->maximum > into->maximum ? from->maximum : into->maximum;
}

static crest_range_bin range_tick(const crest_range_ring *ring, unsigned at)
{
    return (crest_range_bin){ring->area[at], ring->minimum[at], ring->maximum[at], ring->time[at]};
}

void crest_range_ring_add(crest_range_ring *ring, const crest_window_times *times)
{
    if (ring->bins == NULL || times->bin_count == 0)
        return;
    crest_range_bin *bin = &ring->bins[times->bin];
    if (times->bin_opened)
        *bin = (crest_range_bin){.minimum = INT64_MAX, .maximum = INT64_MIN};
    crest_range_bin tick = range_tick(ring, times->newest);
    range_merge(bin, &tick);
}

/* Negative for 2^63 and more. */
static int64_t range_signed(uint64_t bits)
{
    return (int64_t)bits;
}

static int range_area(const crest_range_reading *from, const crest_range_reading *to, uint64_t time,
                      crest_range_area *area)
{
    uint64_t low = ((uint64_t)to->value * to->time - to->moment) -
                   ((uint64_t)from->value * from->time - from->moment);
    crest_range_area swing = (crest_range_area)to->maximum - to->minimum;
    crest_range_area middle =
        ((crest_range_area)to->maximum + to->minimum) * (crest_range_area)time / 2;
    int known = swing == 0 || time <= (uint64_t)((((crest_range_area)1 << 64) - 1) / swing);
    *area = known ? middle + range_signed(low - (uint64_t)middle) : middle;
    /* a clock that was set back, as by tests: there is no area over no time */
    if (time == 0)
        *area = 0;
    return known;
}

int crest_range_ring_take(crest_range_ring *ring, crest_range_cell *cell, unsigned at)
{
    int known = 1;
    crest_range_reading reading;
    crest_range_rotate(cell, &reading);
    ring->minimum[at] = INT64_MAX;
    ring->maximum[at] = INT64_MIN;
    ring->time[at] = 0;
    ring->area[at] = 0;
    if (ring->begun) {
        ring->minimum[at] = reading.minimum;
        ring->maximum[at] = reading.maximum;
        ring->time[at] = reading.time > ring->last.time ? reading.time - ring->last.time : 0;
        known = range_area(&ring->last, &reading, ring->time[at], &ring->area[at]);
    }
    ring->last = reading;
    ring->begun = 1;
    return known;
}

static int range_result(const crest_range_ring *ring, const crest_range_bin *all,
                        crest_window *result)
{
    if (all->minimum > all->maximum)
        return 0;
    result->minimum = (double)all->minimum;
    result->maximum = (double)all->maximum;
    result->average =
        all->time != 0 ? (double)all->area / (double)all->time : (double)ring->last.value;
    /* An interrupted update: between its steps, it is in the area before it is in the extremes.
     * Before its steps, it is in the area of a time when it was not made yet. */
    if (result->average < result->minimum)
        result->average = result->minimum;
    if (result->average > result->maximum)
        result->average = result->maximum;
    return 1;
}

int crest_range_ring_result(const crest_range_ring *ring, unsigned newest, unsigned count,
                            crest_window *result)
{
    crest_range_bin all = {.minimum = INT64_MAX, .maximum = INT64_MIN};
    for (unsigned i = 0; i < count; i++) {
        crest_range_bin tick =
            range_tick(ring, (newest + CREST_WINDOW_READINGS - i) % CREST_WINDOW_READINGS);
        range_merge(&all, &tick);
    }
    return range_result(ring, &all, result);
}

int crest_range_ring_window(const crest_range_ring *ring, const crest_window_times *times,
                            const crest_window_span *span, crest_window *result)
{
    if (span->window_s == CREST_WINDOW_S)
        return crest_range_ring_result(ring, times->newest, span->count, result);
    crest_range_bin all = {.minimum = INT64_MAX, .maximum = INT64_MIN};
    for (unsigned back = 0; back < span->count; back++)
        range_merge(&all, &ring->bins[crest_window_times_bin(times, back)]);
    return range_result(ring, &all, result);
}
