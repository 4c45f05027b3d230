/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that come and go: nothing of what they counted is lost, and what they leave behind is no
 * more than threads ever were alive at once. Recording goes on in a thread's last destructors.
 */
#include "base/arena.h"
#include "cells/cells.h"
#include "support/core_fixture.h"
#include "support/owned_records.h"

#include <limits.h>

#define WATCHDOG_S 170
#define SHORT_THREADS 10000
#define AT_ONCE 8

CREST_COUNTER(finished, "test.finished", "Threads that ran.");
CREST_COUNTER(destroyed, "test.destroyed", "Recorded by destructors.");
CREST_HISTOGRAM(numbers, "test.number", "The threads' numbers.");
CREST_TIMER(lives, "test.life-time", "A record each.");
CREST_GAUGE(level, "test.level", "One more each.");
CREST_RANGE_SAMPLER(alive, "test.alive", "Threads now.");
CREST_COUNTER_FAMILY(by_kind, "test.by-kind", "By kind.", kind);

static void *short_run(void *number)
{
    crest_range_sampler_add(&alive, 1);
    crest_gauge_add(&level, 1);
    crest_counter_inc(&finished);
    crest_counter_inc(by_kind_with((uintptr_t)number % 2 ? "odd" : "even"));
    crest_histogram_record(&numbers, (int64_t)(uintptr_t)number % 300);
    crest_timer_record(&lives, (int64_t)(uintptr_t)number, CREST_OUTCOME_OK);
    crest_range_sampler_add(&alive, -1);
    return NULL;
}

static pthread_barrier_t all_at_once;

/* One of as many as there ever are at once, all of them now: with each block that a short one may
 * need, so that memory grows no more, however many of these the machine runs at the same time. */
static void *first_run(void *unused)
{
    pthread_barrier_wait(&all_at_once);
    crest_range_sampler_add(&alive, 0);
    crest_gauge_add(&level, 0);
    crest_counter_add(&finished, 0);
    for (uint64_t power = 1; power < SHORT_THREADS; power *= 2) {
        crest_histogram_record(&numbers, (int64_t)(power < 300 ? power : 0));
        crest_timer_record(&lives, (int64_t)power, CREST_OUTCOME_OK);
    }
    pthread_barrier_wait(&all_at_once);
    return unused;
}

static void run_wave(uintptr_t from)
{
    pthread_t threads[AT_ONCE];
    for (uintptr_t i = 0; i < AT_ONCE; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, short_run, (void *)(from + i)), 0);
    for (uintptr_t i = 0; i < AT_ONCE; i++)
        pthread_join(threads[i], NULL);
}

static void run_first_wave(void)
{
    pthread_t threads[AT_ONCE];
    assert_int_equal(pthread_barrier_init(&all_at_once, NULL, AT_ONCE), 0);
    for (int i = 0; i < AT_ONCE; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, first_run, NULL), 0);
    for (int i = 0; i < AT_ONCE; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&all_at_once);
}

static uint64_t arena_bytes(void)
{
    return crest_arena_used(CREST_ARENA_META) + crest_arena_used(CREST_ARENA_CELLS);
}

/* Of this process now, in bytes. */
static uint64_t resident_bytes(void)
{
    unsigned long long pages = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%llu %llu", &pages, &resident), 2);
    fclose(file);
    return resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void test_ten_thousand_threads(void **state)
{
    (void)state;
    uint64_t records = crest_cells_table_count(), bytes = 0, resident = 0;
    uint64_t sum = 0, times = 0, first = 0;
    run_first_wave();
    for (uint64_t power = 1; power < SHORT_THREADS; power *= 2) {
        first += AT_ONCE;
        sum += AT_ONCE * (power < 300 ? power : 0), times += AT_ONCE * power;
    }
    for (uintptr_t i = 0; i < SHORT_THREADS; i += AT_ONCE) {
        run_wave(i);
        if (i == 100 * AT_ONCE) /* every record has every block, and the system its stacks */
            bytes = arena_bytes(), resident = resident_bytes();
    }
    for (uint64_t i = 0; i < SHORT_THREADS; i++)
        sum += i % 300, times += i;
    assert_int_equal(crest_counter_value(&finished), SHORT_THREADS);
    assert_int_equal(crest_counter_value(by_kind_with("odd")), SHORT_THREADS / 2);
    assert_int_equal(crest_counter_value(by_kind_with("even")), SHORT_THREADS / 2);
    crest_snapshot *snapshot = fixture_snapshot(NULL);
    assert_true(fixture_series(snapshot, "test.level", NULL).gauge == SHORT_THREADS);
    assert_int_equal(fixture_series(snapshot, "test.alive", NULL).current, 0);
    const crest_distribution *values = fixture_series(snapshot, "test.number", NULL).distribution;
    assert_int_equal(crest_distribution_count(values), first + SHORT_THREADS);
    assert_int_equal(crest_distribution_sum(values), sum);
    assert_int_equal(crest_distribution_min(values), 0);
    assert_int_equal(crest_distribution_max(values), 299);
    values = fixture_series(snapshot, "test.life-time", "ok").distribution;
    assert_int_equal(crest_distribution_count(values), first + SHORT_THREADS);
    assert_int_equal(crest_distribution_sum(values), times);
    crest_snapshot_free(snapshot);
    assert_true(crest_cells_table_count() <= records + AT_ONCE);
    assert_int_equal(arena_bytes(), bytes);
    /* a sanitizer remembers what has been */
    assert_true(FIXTURE_SANITIZED || resident_bytes() < resident + 1024 * 1024);
}

/* ---- destructors ---- */

static pthread_key_t last_key;

typedef struct last {
    unsigned rounds; /* how often the destructor has itself called again, which POSIX bounds */
    unsigned first;  /* records before the end */
} last;

/* As often as the system lets it, so that some of these come after the library's destructor. */
static void last_record(void *argument)
{
    last *l = argument;
    crest_counter_inc(&destroyed);
    crest_histogram_record(&numbers, 1000);
    crest_timer_record(&lives, 7, CREST_OUTCOME_CANCELLED);
    if (l->rounds-- > 1)
        pthread_setspecific(last_key, l);
}

static void *last_run(void *argument)
{
    last *l = argument;
    for (unsigned i = 0; i < l->first; i++)
        crest_counter_inc(&destroyed);
    pthread_setspecific(last_key, l);
    return NULL;
}

static void test_destructors(void **state)
{
    (void)state;
    crest_snapshot *before = fixture_snapshot(NULL);
    uint64_t count =
        crest_distribution_count(fixture_series(before, "test.number", NULL).distribution);
    crest_snapshot_free(before);
    uint64_t wanted = 0, rounds = 0;
    assert_int_equal(pthread_key_create(&last_key, last_record), 0);
    for (unsigned i = 0; i < 400; i++) {
        last l = {1 + i % 3, i / 3 % 2};
        rounds += l.rounds;
        wanted += l.rounds + l.first;
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, last_run, &l), 0);
        pthread_join(thread, NULL);
    }
    assert_int_equal(crest_counter_value(&destroyed), wanted);
    crest_snapshot *snapshot = fixture_snapshot(NULL);
    const crest_distribution *values = fixture_series(snapshot, "test.number", NULL).distribution;
    assert_int_equal(crest_distribution_count(values) - count, rounds);
    assert_int_equal(crest_distribution_max(values), 1000);
    values = fixture_series(snapshot, "test.life-time", "cancelled").distribution;
    assert_int_equal(crest_distribution_count(values), rounds);
    assert_int_equal(crest_distribution_sum(values), 7 * rounds);
    crest_snapshot_free(snapshot);
    assert_true(crest_cells_table_count() <= 2 * AT_ONCE);
}

/* A thread that recorded before its end has given its cells on once and for all: what it records in
 * the last round of destructors goes to what threads share. */
static void test_end_is_the_end(void **state)
{
    (void)state;
#ifdef CREST_THREAD_SANITIZER
    print_message("ThreadSanitizer ends with a thread before its last destructors\n");
    skip();
#endif
    unsigned owned = owned_records();
    uint64_t count = crest_counter_value(&destroyed);
    last l = {PTHREAD_DESTRUCTOR_ITERATIONS, 1};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, last_run, &l), 0);
    pthread_join(thread, NULL);
    assert_int_equal(owned_records(), owned);
    assert_int_equal(crest_counter_value(&destroyed), count + 1 + PTHREAD_DESTRUCTOR_ITERATIONS);
}

/* Threads whose first record comes in the last round of destructors, after which the system calls
 * none: their records are found by whoever needs one when they no longer exist. */
static pthread_key_t latest_key;

static void latest_record(void *round)
{
    if ((uintptr_t)round < PTHREAD_DESTRUCTOR_ITERATIONS)
        pthread_setspecific(latest_key, (void *)((uintptr_t)round + 1));
    else
        last_record(&(last){1, 0});
}

static void *latest_run(void *unused)
{
    pthread_setspecific(latest_key, (void *)1);
    return unused;
}

static void test_first_records_in_last_destructors(void **state)
{
    (void)state;
#ifdef CREST_THREAD_SANITIZER
    print_message("ThreadSanitizer ends with a thread before its last destructors\n");
    skip();
#endif
    enum { THREADS = 1000 };
    uint64_t records = crest_cells_table_count(), count = crest_counter_value(&destroyed);
    assert_int_equal(pthread_key_create(&latest_key, latest_record), 0);
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, latest_run, NULL), 0);
        pthread_join(thread, NULL);
    }
    assert_int_equal(crest_counter_value(&destroyed), count + THREADS);
    /* one that was joined may still be on its way out of the system */
    assert_true(crest_cells_table_count() <= records + AT_ONCE);
}

/* Destructors that go on recording after the thread's record was handed on, to threads that record
 * into it at the same time. */
#define LAST_TIMES FIXTURE_TIMES(20000)

CREST_COUNTER(shared_last, "test.shared-last", "By threads that end and by those that follow.");

static void busy_record(void *round)
{
    for (int i = 0; i < LAST_TIMES; i++)
        crest_counter_inc(&shared_last);
    if ((uintptr_t)round < 3)
        pthread_setspecific(last_key, (void *)((uintptr_t)round + 1));
}

static void *busy_run(void *unused)
{
    pthread_setspecific(last_key, (void *)1);
    for (int i = 0; i < LAST_TIMES; i++)
        crest_counter_inc(&shared_last);
    return unused;
}

static void test_destructors_beside_successors(void **state)
{
    (void)state;
    enum { WAVES = 10 };
    pthread_key_delete(last_key);
    assert_int_equal(pthread_key_create(&last_key, busy_record), 0);
    for (int wave = 0; wave < WAVES; wave++) {
        pthread_t threads[AT_ONCE];
        for (int i = 0; i < AT_ONCE; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, busy_run, NULL), 0);
        for (int i = 0; i < AT_ONCE; i++)
            pthread_join(threads[i], NULL);
    }
    assert_int_equal(crest_counter_value(&shared_last), WAVES * AT_ONCE * 4 * LAST_TIMES);
}

/* Threads that end while others begin and all of them are read. */
static void *spawn_run(void *unused)
{
    for (int i = 0; i < FIXTURE_TIMES(1000); i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, short_run, (void *)(uintptr_t)1) != 0)
            return NULL;
        pthread_join(thread, NULL);
    }
    return unused;
}

static void test_adoption_while_read(void **state)
{
    (void)state;
    uint64_t before = crest_counter_value(&finished), seen = before;
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, spawn_run, threads), 0);
    for (int i = 0; i < FIXTURE_TIMES(20000); i++) {
        uint64_t now = crest_counter_value(&finished);
        assert_true(now >= seen && now <= before + 3 * FIXTURE_TIMES(1000));
        seen = now;
    }
    for (int i = 0; i < 3; i++) {
        void *all;
        pthread_join(threads[i], &all);
        assert_non_null(all);
    }
    assert_int_equal(crest_counter_value(&finished), before + 3 * FIXTURE_TIMES(1000));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ten_thousand_threads),
        cmocka_unit_test(test_destructors),
        cmocka_unit_test(test_end_is_the_end),
        cmocka_unit_test(test_first_records_in_last_destructors),
        cmocka_unit_test(test_destructors_beside_successors),
        cmocka_unit_test(test_adoption_while_read),
    };
    fixture_watchdog(WATCHDOG_S);
    return cmocka_run_group_tests_name("threads", tests, NULL, NULL);
}
