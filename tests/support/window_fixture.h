/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What tests of windows share: a registry with windows of its own, read at times that the test
 * chooses, and looking at one window. Tests nothing itself.
 */
#ifndef CREST_TESTS_WINDOW_FIXTURE_H
#define CREST_TESTS_WINDOW_FIXTURE_H

#include "clock/clock_inside.h"
#include "registry/growth.h"
#include "support/core_fixture.h"
#include "windows/windows.h"

#define SECOND UINT64_C(1000000000)

typedef struct bench {
    crest_registry *registry;
    crest_windows *windows;
    uint64_t now_ns;
} bench;

__attribute__((unused)) static void bench_begin(bench *b)
{
    b->registry = fixture_registry(NULL);
    b->windows = crest_windows_new();
    b->now_ns = 1000 * SECOND;
    crest_clock_fake(b->now_ns);
    assert_non_null(b->windows);
}

__attribute__((unused)) static void bench_end(bench *b)
{
    crest_clock_fake(0);
    crest_windows_free(b->windows);
    crest_registry_free(b->registry);
    assert_int_equal(crest_windows_places(), 0);
    assert_int_equal(crest_windows_refused(), 0);
}

/* Lets time pass. */
__attribute__((unused)) static void bench_after(bench *b, double seconds)
{
    b->now_ns += (uint64_t)(seconds * 1e9);
    crest_clock_fake(b->now_ns);
}

/* Takes a reading for the windows; not 0 where memory lacked. */
__attribute__((unused)) static int bench_read(bench *b)
{
    crest_snapshot *snapshot = crest_snapshot_read_notes(b->registry->state);
    assert_non_null(snapshot);
    return crest_windows_tick(b->windows, snapshot);
}

/* Lets time pass and takes a reading. */
__attribute__((unused)) static void bench_tick(bench *b, double seconds)
{
    bench_after(b, seconds);
    assert_int_equal(bench_read(b), 0);
}

/* Does what a ticker does besides, second by second. A snapshot is delivered each second, for
 * series that wait for exports. */
__attribute__((unused)) static void bench_live(bench *b, unsigned seconds)
{
    for (unsigned i = 0; i < seconds; i++) {
        bench_after(b, 1);
        crest_growth_tick();
        crest_snapshot_free(fixture_snapshot(b->registry));
        crest_growth_delivered(b->registry->state);
        assert_int_equal(bench_read(b), 0);
    }
}

__attribute__((unused)) static crest_window bench_window(const bench *b, const crest_handle *handle,
                                                         unsigned window_s)
{
    crest_window window;
    crest_windows_result(b->windows, handle->series, window_s, &window);
    return window;
}

/* Makes the counter family with one label, "peer". */
__attribute__((unused)) static crest_counter_family bench_family(bench *b, const char *name)
{
    static const char *const keys[] = {"peer"};
    const crest_metric_options options = {.name = name};
    return crest_counter_family_new(b->registry, &options, keys, 1, NULL);
}

__attribute__((unused)) static crest_counter *bench_peer(crest_counter_family *family,
                                                         const char *peer)
{
    crest_counter *counter = crest_counter_family_get(family, &peer, 1);
    assert_non_null(counter);
    return counter;
}

#endif
