/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What recording costs in memory, by the arenas' own accounts.
 */
#include "base/arena.h"
#include "support/core_fixture.h"

#define COUNTERS 10
/* What a thread may take that touched that many counters. */
#define THREAD_BYTES_MAX (48 * 1024)

static crest_counter *counters[COUNTERS];
static uint64_t thread_bytes;

static uint64_t arena_bytes(void)
{
    return crest_arena_used(CREST_ARENA_META) + crest_arena_used(CREST_ARENA_CELLS);
}

static void *touch_all(void *unused)
{
    uint64_t before = arena_bytes();
    for (unsigned i = 0; i < COUNTERS; i++)
        crest_counter_inc(counters[i]);
    thread_bytes = arena_bytes() - before;
    return unused;
}

static void test_thread(void **state)
{
    (void)state;
    for (unsigned i = 0; i < COUNTERS; i++) {
        char name[32];
        snprintf(name, sizeof name, "test.counter-%u", i);
        counters[i] = fixture_counter(NULL, name);
    }
    /* while this thread holds its record, another cannot adopt it */
    crest_counter_inc(counters[0]);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, touch_all, NULL), 0);
    pthread_join(thread, NULL);
    assert_in_range(thread_bytes, 1, THREAD_BYTES_MAX);
    assert_int_equal(crest_counter_value(counters[0]), 2);
    assert_int_equal(crest_counter_value(counters[COUNTERS - 1]), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_thread)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
