/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slowest_note.h: what is noted, what is left of it in a window, against the list of all that was
 * recorded; and that the maxima of windows are exact.
 */
#include "base/alloc.h"
#include "base/arena.h"
#include "clock/clock_inside.h"
#include "metrics/slowest_note.h"
#include "support/core_fixture.h"
#include "support/random_numbers.h"
#include "windows/windows.h"

#define SECOND UINT64_C(1000000000)

typedef struct watched {
    crest_registry *registry;
    crest_windows *windows;
    uint64_t now_ns;
} watched;

static void watched_tick(watched *w)
{
    w->now_ns += SECOND;
    crest_clock_fake(w->now_ns);
    crest_snapshot *snapshot = crest_snapshot_read_notes(w->registry->state);
    assert_non_null(snapshot);
    assert_int_equal(crest_windows_tick(w->windows, snapshot), 0);
}

static void watched_begin(watched *w)
{
    w->registry = fixture_registry(NULL);
    w->windows = crest_windows_new();
    w->now_ns = 1000 * SECOND;
    assert_non_null(w->windows);
}

static void watched_end(watched *w)
{
    crest_clock_fake(0);
    crest_windows_free(w->windows);
    crest_registry_free(w->registry);
}

static crest_window watched_window(const watched *w, const crest_handle *handle)
{
    crest_window window;
    crest_windows_result(w->windows, handle->series, CREST_WINDOW_S, &window);
    return window;
}

/* Ends a timing of this duration, as an operation of that id would. */
static void took(crest_timer *timer, uint64_t ns, uint64_t id, crest_outcome outcome)
{
    crest_op op = crest_op_u64(id);
    crest_timing timing = {timer, crest_now() - ns, op};
    fixture_equal(crest_timing_end(&timing, op, outcome), CREST_OK);
}

static void assert_slowest(const crest_window *window, uint64_t ns, uint64_t id)
{
    if (window->maximum != (double)ns)
        fail_msg("%.17g instead of %llu", window->maximum, (unsigned long long)ns);
    crest_op op = id ? crest_op_u64(id) : crest_op_none();
    if (!crest_op_equal(&window->slowest, &op))
        fail_msg("operation %llu instead of %llu", (unsigned long long)window->slowest.word[0],
                 (unsigned long long)id);
}

static void test_one(void **state)
{
    (void)state;
    watched w;
    watched_begin(&w);
    crest_timer *timer = fixture_timer(w.registry, "t");
    const crest_handle *ok = &timer->outcome[CREST_OUTCOME_OK].handle;
    crest_clock_fake(w.now_ns);
    took(timer, 9000000, 1, CREST_OUTCOME_OK); /* before the first reading: of no window */
    watched_tick(&w);
    crest_window window;
    for (int tick = 1; tick <= 130; tick++) {
        took(timer, 1000, 2, CREST_OUTCOME_OK);
        if (tick == 3) {
            took(timer, 123457, 3, CREST_OUTCOME_OK);
            took(timer, 123456, 4, CREST_OUTCOME_OK);
            took(timer, 123457, 5, CREST_OUTCOME_OK); /* not slower than the first */
            took(timer, 7654321, 6, CREST_OUTCOME_ERROR);
        }
        if (tick == 10)
            crest_timer_record(timer, 55555, CREST_OUTCOME_OK); /* of nobody */
        watched_tick(&w);
        window = watched_window(&w, ok);
        if (tick < 3)
            assert_slowest(&window, 1000, 2);
        else if (tick < 63)
            assert_slowest(&window, 123457, 3);
        else if (tick < 70)
            assert_slowest(&window, 55555, 0);
        else
            assert_slowest(&window, 1000, 2);
        window = watched_window(&w, &timer->outcome[CREST_OUTCOME_ERROR].handle);
        if (tick >= 3 && tick < 63)
            assert_slowest(&window, 7654321, 6);
        else
            assert_slowest(&window, 0, 0);
    }
    /* one that appears in the middle, with all kinds of identity */
    crest_op op = crest_op_text("block 0x12");
    crest_timing timing = {timer, crest_now() - 42, op};
    crest_timing_end(&timing, op, CREST_OUTCOME_CANCELLED);
    watched_tick(&w);
    window = watched_window(&w, &timer->outcome[CREST_OUTCOME_CANCELLED].handle);
    assert_true(crest_op_equal(&window.slowest, &op));
    assert_true(window.maximum == 42);
    watched_end(&w);
}

/* Random durations in random ticks, against the list of them; timers, histograms, every range. */
static void test_random(void **state)
{
    (void)state;
    enum { TICKS = 300, MOST = 20 };
    static uint64_t slowest[TICKS], whose[TICKS], largest[TICKS];
    watched w;
    watched_begin(&w);
    static const crest_range *const ranges[] = {NULL, CREST_RANGE_LOOSE, CREST_RANGE_NONE};
    crest_timer *timer[LENGTH(ranges)];
    crest_histogram *histogram[LENGTH(ranges)];
    for (size_t r = 0; r < LENGTH(ranges); r++) {
        char name[32];
        snprintf(name, sizeof name, "t%zu", r);
        crest_metric_options options = {.name = name, .range = ranges[r]};
        timer[r] = crest_timer_get(w.registry, &options, NULL);
        name[0] = 'h';
        histogram[r] = crest_histogram_get(w.registry, &options, NULL);
    }
    watched_tick(&w);
    uint64_t random = 88172645463325252u, id = 1;
    for (int tick = 0; tick < TICKS; tick++) {
        random = random_step(random);
        int times = (int)(random >> 40) % MOST;
        slowest[tick] = whose[tick] = largest[tick] = 0;
        for (int i = 0; i < times; i++, id++) {
            random = random_step(random);
            uint64_t ns = (random >> 24) >> (random >> 20 & 31);
            for (size_t r = 0; r < LENGTH(ranges); r++) {
                took(timer[r], ns, id, CREST_OUTCOME_OK);
                crest_histogram_record(histogram[r], (int64_t)ns);
            }
            if (ns > slowest[tick])
                slowest[tick] = ns, whose[tick] = id;
        }
        watched_tick(&w);
        int of = tick; /* the newest of the largest */
        for (int i = tick; i >= 0 && i > tick - 60; i--)
            if (slowest[i] > slowest[of])
                of = i;
        for (size_t r = 0; r < LENGTH(ranges); r++) {
            crest_window window = watched_window(&w, &timer[r]->outcome[0].handle);
            assert_slowest(&window, slowest[of], whose[of]);
            window = watched_window(&w, &histogram[r]->handle);
            assert_slowest(&window, slowest[of], 0);
        }
    }
    watched_end(&w);
}

/* A thread without memory for its own shard is noted too. */
static void *without_memory(void *argument)
{
    crest_timer *timer = argument;
    crest_arena_fail_after(1);
    took(timer, 777, 7, CREST_OUTCOME_OK);
    took(timer, 776, 8, CREST_OUTCOME_OK);
    crest_arena_fail_after(0);
    return NULL;
}

static void test_without_memory(void **state)
{
    (void)state;
    watched w;
    watched_begin(&w);
    crest_timer *timer = fixture_timer(w.registry, "t");
    watched_tick(&w);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, without_memory, timer), 0);
    fixture_join(thread, NULL);
    watched_tick(&w);
    crest_window window = watched_window(&w, &timer->outcome[0].handle);
    assert_slowest(&window, 777, 7);
    assert_int_equal(window.events, 2);
    watched_end(&w);
}

/* What remains of a window against the plain list, also when a place could not be had. */
static void test_remaining(void **state)
{
    (void)state;
    enum { PUSHES = 2000 };
    static uint64_t value[PUSHES];
    crest_slowest slowest = {0};
    uint64_t random = 42;
    for (int i = 0; i < PUSHES; i++) {
        random = random_step(random);
        /* falling, rising, and random stretches */
        value[i] = i % 400 < 100   ? 1000u - (unsigned)i % 400u
                   : i % 400 < 200 ? (unsigned)i % 400u
                                   : random >> 33 & 63;
        crest_note note = {.value = value[i], .op = crest_op_u64((uint64_t)i)};
        assert_true(crest_slowest_push(&slowest, (unsigned)i % CREST_WINDOW_READINGS, &note));
        assert_true(slowest.count <= CREST_WINDOW_READINGS && slowest.room <= 64);
        int of = i;
        for (int j = i; j >= 0 && j > i - 60; j--)
            if (value[j] > value[of])
                of = j;
        if (value[of] == 0)
            continue;
        crest_op op = crest_slowest_of(&slowest, (unsigned)of % CREST_WINDOW_READINGS, value[of]);
        if (op.kind != CREST_OP_U64 || op.word[0] != (uint64_t)of)
            fail_msg("push %d: %llu instead of %d", i, (unsigned long long)op.word[0], of);
    }
    crest_slowest_fini(&slowest);
    crest_note note = {.value = 5, .op = crest_op_u64(5)};
    crest_alloc_fail_after(1);
    assert_false(crest_slowest_push(&slowest, 0, &note));
    crest_alloc_fail_after(0);
    assert_int_equal(crest_slowest_of(&slowest, 0, 5).kind, CREST_OP_NONE);
    assert_true(crest_slowest_push(&slowest, 1, &note));
    assert_int_equal(crest_slowest_of(&slowest, 1, 5).word[0], 5);
    assert_int_equal(crest_slowest_of(&slowest, 1, 6).kind, CREST_OP_NONE);
    crest_slowest_fini(&slowest);
}

/* A record between the taking of notes and the reading of counts, and one that is noted before its
 * count: in the window at once, and exact one tick later at the latest. */
static void test_between(void **state)
{
    (void)state;
    watched w;
    watched_begin(&w);
    crest_timer *timer = fixture_timer(w.registry, "t");
    crest_series *series = timer->outcome[0].handle.series;
    watched_tick(&w);
    took(timer, 9999999, 1, CREST_OUTCOME_OK);
    watched_tick(&w);
    took(timer, 1234567, 2, CREST_OUTCOME_OK);
    for (int tick = 0; tick < 60; tick++)
        watched_tick(&w);
    crest_window window = watched_window(&w, &timer->outcome[0].handle);
    assert_slowest(&window, 1234567, 2);
    watched_tick(&w);
    /* counted, but not noted yet */
    took(timer, 7654321, 3, CREST_OUTCOME_OK);
    crest_note note;
    crest_slowest_take(series, &note);
    assert_int_equal(note.value, 7654321);
    watched_tick(&w);
    window = watched_window(&w, &timer->outcome[0].handle);
    assert_true(window.maximum >= 7654321 && window.maximum <= 7654321 * 1.01);
    assert_int_equal(window.slowest.kind, CREST_OP_NONE);
    /* noted, but not counted yet */
    crest_op op = crest_op_u64(4);
    crest_slowest_note(series, 8000000, &op);
    crest_slowest_note_unlocked(series, 7999999);
    watched_tick(&w);
    window = watched_window(&w, &timer->outcome[0].handle);
    assert_slowest(&window, 8000000, 4);
    took(timer, 8000000, 4, CREST_OUTCOME_OK);
    crest_slowest_take(series, &note);
    for (int tick = 0; tick < 60; tick++) {
        watched_tick(&w);
        window = watched_window(&w, &timer->outcome[0].handle);
        assert_slowest(&window, 8000000, 4);
    }
    /* counted, and noted one tick later: not for long either */
    took(timer, 6000000, 5, CREST_OUTCOME_OK);
    crest_slowest_take(series, &note);
    watched_tick(&w);
    crest_slowest_note(series, note.value, &note.op);
    crest_slowest_note_unlocked(series, note.value);
    watched_tick(&w);
    for (int tick = 0; tick < 59; tick++) {
        window = watched_window(&w, &timer->outcome[0].handle);
        assert_slowest(&window, 6000000, 5);
        watched_tick(&w);
    }
    took(timer, 1, 6, CREST_OUTCOME_OK);
    watched_tick(&w);
    window = watched_window(&w, &timer->outcome[0].handle);
    assert_slowest(&window, 1, 6);
    watched_end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one),
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_without_memory),
        cmocka_unit_test(test_remaining),
        cmocka_unit_test(test_between),
    };
    return cmocka_run_group_tests_name("slowest", tests, NULL, NULL);
}
