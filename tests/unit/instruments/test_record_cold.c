/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rare ways of the cold path: cells that another thread left nearly full, counts that do not fit,
 * handles that are dead, and records made while another thread forks, which go where no lock is
 * needed.
 */
#include "base/arena.h"
#include "support/core_fixture.h"
#include "base/lock.h"
#include "base/misuse.h"

#include <crest/lifetime.h>
#include <crest/testing.h>
#include <crest/window.h>

#define COLD_SECOND UINT64_C(1000000000)

static void *cold_add(void *counter)
{
    crest_counter_add(counter, INT64_MAX);
    return NULL;
}

/* Each thread takes over the cells of the one before, and its first addition finds them. */
static void test_full_by_threads(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    crest_counter *counter = fixture_counter(registry, "c");
    uint64_t full = crest_misuse_value(CREST_MISUSE_FULL);
    for (unsigned i = 0; i < 3; i++) {
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, cold_add, counter), 0);
        pthread_join(thread, NULL);
    }
    assert_true(crest_counter_value(counter) == UINT64_MAX);
    assert_int_equal(crest_misuse_value(CREST_MISUSE_FULL), full + 1);
    crest_registry_free(registry);
}

/* A cell counts to 2^63; what would be more is refused whole. */
static void test_cell_is_full(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    crest_histogram *histogram = fixture_histogram(registry, "h");
    uint64_t limit = crest_misuse_value(CREST_MISUSE_LIMIT);
    crest_histogram_record_n(histogram, 0, UINT64_C(1) << 62);
    crest_histogram_record_n(histogram, 0, UINT64_C(1) << 62);
    assert_int_equal(crest_misuse_value(CREST_MISUSE_LIMIT), limit);
    crest_histogram_record_n(histogram, 0, UINT64_C(1) << 62);
    assert_int_equal(crest_misuse_value(CREST_MISUSE_LIMIT), limit + 1);
    assert_true(FIXTURE_READING(registry, "h").count == UINT64_C(1) << 63);
    crest_registry_free(registry);
}

CREST_HISTOGRAM_FAMILY(cold_size, "cold.size", "Sizes.", peer);

/* Each record through a retired handle is late, whatever its value; of no records none is. */
static void test_dead_handle(void **state)
{
    (void)state;
    crest_histogram *size = cold_size_with("a");
    assert_int_equal(crest_retire(NULL, "peer", "a"), 1);
    uint64_t negative = crest_misuse_value(CREST_MISUSE_NEGATIVE);
    crest_testing_mark *mark = crest_testing_mark_take(NULL);
    crest_histogram_record(size, -5);
    crest_histogram_record_n(size, 5, 0);
    crest_histogram_record_n(size, 5, 3);
    crest_testing_reading late;
    assert_int_equal(crest_testing_read(NULL, mark, &late, NULL, "crest.late-records", NULL),
                     CREST_OK);
    assert_int_equal(late.counter, 1 + 3);
    assert_int_equal(crest_misuse_value(CREST_MISUSE_NEGATIVE), negative);
    crest_testing_mark_free(mark);
}

CREST_COUNTER(cold_count, "cold.kind", "A counter.");
CREST_HISTOGRAM(cold_kind, "cold.kind", "The same name for another kind.");

/* Nothing is misuse when it is recorded no times. */
static void test_nothing_by_a_wrong_handle(void **state)
{
    (void)state;
    crest_counter_inc(&cold_count);
    crest_histogram_record(&cold_kind, 5);
    uint64_t clash = crest_misuse_value(CREST_MISUSE_TYPE_CLASH);
    assert_true(clash != 0);
    crest_histogram_record_n(&cold_kind, 5, 0);
    assert_int_equal(crest_misuse_value(CREST_MISUSE_TYPE_CLASH), clash);
    crest_histogram_record_n(&cold_kind, 5, 3);
    assert_true(crest_misuse_value(CREST_MISUSE_TYPE_CLASH) > clash);
}

static void *cold_without_memory(void *histogram)
{
    crest_arena_fail_after(1);
    crest_histogram_record(histogram, 6145);
    crest_histogram_record(histogram, 300);
    crest_arena_fail_after(0);
    return NULL;
}

/* What a thread without memory records counts in the middle of its power of two; if it lies there,
 * the maximum of its window is exact. */
static void test_maximum_without_memory(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    crest_testing_clock_set(1000 * COLD_SECOND);
    crest_histogram *histogram = fixture_histogram(registry, "h");
    crest_histogram_record(histogram, 8000); /* of all time, but not of the window */
    for (unsigned i = 0; i < 70; i++) {
        assert_int_equal(crest_testing_tick(registry), CREST_OK);
        crest_testing_clock_advance(COLD_SECOND);
    }
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, cold_without_memory, histogram), 0);
    pthread_join(thread, NULL);
    for (unsigned i = 0; i < 3; i++) {
        crest_testing_clock_advance(COLD_SECOND);
        assert_int_equal(crest_testing_tick(registry), CREST_OK);
        crest_window window = crest_histogram_window(histogram, 60);
        assert_int_equal(window.events, 2);
        assert_true(window.maximum == 6145);
    }
    assert_int_equal(crest_ticker_detach(registry), CREST_OK);
    crest_registry_free(registry);
    crest_testing_clock_real();
}

/* A thread that forks, and takes as long over it as it is told to. */
static uint32_t cold_forking;

static void *cold_fork(void *unused)
{
    crest_lock_saved saved;
    crest_lock_fork_before(&saved);
    __atomic_store_n(&cold_forking, 1, __ATOMIC_RELEASE);
    while (__atomic_load_n(&cold_forking, __ATOMIC_ACQUIRE) != 0)
        usleep(100);
    crest_lock_fork_parent(&saved);
    return unused;
}

static void cold_fork_begin(pthread_t *thread)
{
    assert_int_equal(pthread_create(thread, NULL, cold_fork, NULL), 0);
    while (__atomic_load_n(&cold_forking, __ATOMIC_ACQUIRE) != 1)
        usleep(100);
}

static void cold_fork_end(pthread_t thread)
{
    __atomic_store_n(&cold_forking, 0, __ATOMIC_RELEASE);
    pthread_join(thread, NULL);
}

static void test_during_a_fork(void **state)
{
    (void)state;
    enum { SMALLER = 100003, LARGER = 200000 };
    const uint64_t times = CREST_RECORD_TIMES_INLINE_MAX * 2;
    crest_registry *registry = fixture_registry(NULL);
    crest_testing_clock_set(1000 * COLD_SECOND);
    crest_histogram *histogram = fixture_histogram(registry, "h");
    assert_int_equal(crest_testing_tick(registry), CREST_OK);
    for (unsigned i = 0; i < 6; i++)
        crest_histogram_record(histogram, LARGER - i);
    crest_histogram_record(histogram, SMALLER);
    for (unsigned i = 0; i < 70; i++) {
        crest_testing_clock_advance(COLD_SECOND);
        assert_int_equal(crest_testing_tick(registry), CREST_OK);
    }
    uint64_t limit = crest_misuse_value(CREST_MISUSE_LIMIT);
    pthread_t thread;
    cold_fork_begin(&thread);
    crest_histogram_record_n(histogram, SMALLER, times);
    /* more than a sum can tell */
    crest_histogram_record_n(histogram, LARGER, UINT64_C(1) << 50);
    cold_fork_end(thread);
    assert_int_equal(crest_misuse_value(CREST_MISUSE_LIMIT), limit + 1);
    assert_int_equal(FIXTURE_READING(registry, "h").count, 7 + times);
    crest_testing_clock_advance(COLD_SECOND);
    assert_int_equal(crest_testing_tick(registry), CREST_OK);
    crest_window window = crest_histogram_window(histogram, 60);
    assert_true(window.maximum == SMALLER);
    assert_int_equal(crest_ticker_detach(registry), CREST_OK);
    crest_registry_free(registry);
    crest_testing_clock_real();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_full_by_threads),
        cmocka_unit_test(test_cell_is_full),
        cmocka_unit_test(test_dead_handle),
        cmocka_unit_test(test_nothing_by_a_wrong_handle),
        cmocka_unit_test(test_maximum_without_memory),
        cmocka_unit_test(test_during_a_fork),
    };
    return cmocka_run_group_tests_name("cold records", tests, NULL, NULL);
}
