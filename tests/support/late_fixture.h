/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Series that are released, so that their slots and memory are free, and others that take these:
 * for what late writers do. Asserts nothing, because it also runs in children of the test.
 */
#ifndef CREST_TESTS_LATE_FIXTURE_H
#define CREST_TESTS_LATE_FIXTURE_H

#include "metrics/slots.h"
#include "registry/growth.h"
#include "support/core_fixture.h"

#include <crest/testing.h>

#define LATE_SECOND UINT64_C(1000000000)
#define LATE_SERIES_MAX 40

CREST_GAUGE_FAMILY(late_level, "late.level", "", peer);
CREST_RANGE_SAMPLER_FAMILY(late_queue, "late.queue", "", peer);
CREST_HISTOGRAM_FAMILY(late_size, "late.size", "", peer);
CREST_TIMER_FAMILY(late_time, "late.time", "", peer);
/* as many bytes a block as the table of a thread has, and fewer values than a beginning has bits */
static const crest_range late_range_fine = {1, 1 << 20, 3}, late_range_narrow = {1, 3, 2};
CREST_HISTOGRAM_FAMILY_OPTIONS(late_fine, "late.fine", "", (.range = &late_range_fine), peer);
CREST_HISTOGRAM_FAMILY_OPTIONS(late_narrow, "late.narrow", "", (.range = &late_range_narrow), peer);

static void late_after(unsigned seconds)
{
    for (unsigned i = 0; i < seconds; i++) {
        crest_testing_clock_advance(LATE_SECOND);
        crest_testing_tick(NULL);
        crest_snapshot_free(crest_snapshot_take(NULL));
    }
}

/* Releases all series of that peer until their slots are free; returns how many are. */
static uint64_t late_gone(const char *peer)
{
    uint64_t free_slots = crest_slots_free();
    crest_retire(NULL, "peer", peer);
    late_after(1);
    crest_testing_clock_advance(CREST_LINGER_S * LATE_SECOND);
    late_after(2);
    crest_testing_clock_advance(CREST_QUARANTINE_S * LATE_SECOND);
    late_after(CREST_QUARANTINE_LOOKS + 3);
    return crest_slots_free() - free_slots;
}

static const char *late_peer(char *text, const char *what, unsigned number)
{
    snprintf(text, 32, "%s-%u", what, number);
    return text;
}

static void *late_thread(void *histogram)
{
    for (int i = 0; i < 10; i++)
        crest_histogram_record(histogram, 1000 + i);
    return NULL;
}

/* Makes new series of all kinds, and new threads, which take what is free. */
static void late_make(const char *round, unsigned series)
{
    for (unsigned i = 0; i < series; i++) {
        char peer[32];
        late_peer(peer, round, i);
        crest_histogram *size = late_size_with(peer), *fine = late_fine_with(peer);
        crest_histogram *narrow = late_narrow_with(peer);
        crest_timer *time = late_time_with(peer);
        crest_gauge_set(late_level_with(peer), i);
        crest_range_sampler_set(late_queue_with(peer), (int64_t)i);
        for (int k = 0; k < 10; k++) {
            crest_histogram_record(size, 100 * (k + 1));
            crest_histogram_record(fine, 100 * (k + 1));
            crest_histogram_record(narrow, k % 4);
            crest_timer_record(time, 100 * (k + 1), CREST_OUTCOME_OK);
        }
        pthread_t thread;
        if (pthread_create(&thread, NULL, late_thread, i % 2 ? size : fine) == 0)
            pthread_join(thread, NULL);
    }
}

/* The record of a late writer may be one more or less. */
static int late_is_right(const crest_snapshot *snapshot, const char *name, const char *peer,
                         uint64_t wanted)
{
    crest_series_view view;
    if (crest_snapshot_find(snapshot, name, &peer, 1, &view) != CREST_OK)
        return 0;
    uint64_t count = crest_distribution_count(view.distribution);
    return count + 1 >= wanted && count <= wanted + 1;
}

/* Counts the series that are wrong. */
static unsigned late_check(const char *round, unsigned series)
{
    crest_snapshot *snapshot = crest_snapshot_take(NULL);
    unsigned wrong = snapshot == NULL;
    for (unsigned i = 0; i < series && snapshot != NULL; i++) {
        char peer[32];
        late_peer(peer, round, i);
        wrong += crest_gauge_value(late_level_with(peer)) != i;
        wrong += crest_range_sampler_value(late_queue_with(peer)) != (int64_t)i;
        wrong += !late_is_right(snapshot, "late.size", peer, 10 + 10 * (i % 2));
        wrong += !late_is_right(snapshot, "late.fine", peer, 20 - 10 * (i % 2));
        wrong += !late_is_right(snapshot, "late.narrow", peer, 10);
    }
    crest_snapshot_free(snapshot);
    return wrong;
}

static unsigned late_round(const char *round, unsigned series)
{
    late_make(round, series);
    return late_check(round, series);
}

#endif
