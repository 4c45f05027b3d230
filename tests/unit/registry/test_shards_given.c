/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Histograms and timers that come and go, each with more values than a thread keeps without a
 * shard, in many powers of two: all that their threads had of them serves the next ones.
 */
#include "base/arena.h"
#include "support/core_fixture.h"
#include "registry/growth.h"

#include <crest/lifetime.h>
#include <crest/testing.h>

#define GIVEN_SECOND UINT64_C(1000000000)
/* enough to use up two pages by what 32 bytes a round are lost */
#define GIVEN_ROUNDS 300u
#define GIVEN_SETTLED 4u
#define GIVEN_POWERS 30u

CREST_HISTOGRAM_FAMILY(given_size, "given.size", "Sizes.", peer);
CREST_TIMER_FAMILY(given_ping, "given.ping", "Pings.", peer);
CREST_HISTOGRAM_FAMILY(given_few, "given.few", "A few.", peer);
CREST_GAUGE_FAMILY(given_level, "given.level", "A level.", peer);
CREST_COUNTER_FAMILY(given_back, "given.back", "Comes back.", peer);

static char given_peer[16];

static void *given_record(void *unused)
{
    crest_histogram *size = given_size_with(given_peer), *few = given_few_with(given_peer);
    crest_timer *ping = given_ping_with(given_peer);
    for (unsigned i = 0; i < GIVEN_POWERS; i++) {
        crest_histogram_record(size, INT64_C(1) << i);
        crest_timer_record(ping, INT64_C(1) << i, CREST_OUTCOME_OK);
    }
    crest_histogram_record(few, 3);
    crest_gauge_set(given_level_with(given_peer), 7);
    return unused;
}

static void given_after(uint64_t seconds)
{
    crest_testing_clock_advance(seconds * GIVEN_SECOND);
    assert_int_equal(crest_testing_tick(NULL), CREST_OK);
}

/* From another thread at the same time as from this one, which keeps its cells. */
static void test_memory_is_used_again(void **state)
{
    (void)state;
    uint64_t used = 0;
    crest_testing_clock_set(1000 * GIVEN_SECOND);
    given_after(1);
    for (unsigned round = 0; round < GIVEN_ROUNDS; round++) {
        snprintf(given_peer, sizeof given_peer, "peer-%u", round);
        pthread_t thread;
        given_record(NULL);
        assert_int_equal(pthread_create(&thread, NULL, given_record, NULL), 0);
        pthread_join(thread, NULL);
        crest_testing_reading size = FIXTURE_READING(NULL, "given.size", "peer", given_peer);
        assert_int_equal(size.count, 2 * GIVEN_POWERS);
        assert_int_equal(size.sum, 2 * ((UINT64_C(1) << GIVEN_POWERS) - 1));
        assert_int_equal(FIXTURE_READING(NULL, "given.few", "peer", given_peer).count, 2);
        assert_int_equal(crest_retire(NULL, "peer", given_peer), 4);
        given_after(1);
        crest_testing_clock_advance(1000000);
        crest_snapshot_free(fixture_snapshot(NULL));
        given_after(CREST_LINGER_S + 1);
        for (unsigned i = 0; i < CREST_QUARANTINE_LOOKS + 2; i++)
            given_after(CREST_QUARANTINE_S);
        if (round == GIVEN_SETTLED)
            used = crest_arena_used(CREST_ARENA_CELLS);
    }
    assert_int_equal(crest_arena_used(CREST_ARENA_CELLS), used);
    crest_testing_clock_real();
}

/* So does what a series is waited for with that is released and comes back. */
static void test_waits_are_used_again(void **state)
{
    (void)state;
    uint64_t used = 0;
    crest_testing_clock_set(1000 * GIVEN_SECOND);
    crest_counter *back = given_back_with("a");
    for (unsigned round = 0; round < 20; round++) {
        crest_counter_inc(back);
        given_after(1);
        assert_int_equal(crest_counter_release(back), CREST_OK);
        given_after(1);
        crest_counter_inc(back);
        given_after(1);
        if (round == GIVEN_SETTLED)
            used = crest_arena_used(CREST_ARENA_META);
    }
    assert_int_equal(crest_counter_value(back), 2 * 20);
    assert_int_equal(crest_arena_used(CREST_ARENA_META), used);
    crest_testing_clock_real();
}

/* A maximum and a minimum go with the shard that had them. */
static void test_nothing_is_inherited(void **state)
{
    (void)state;
    crest_histogram *size = given_size_with("after");
    for (unsigned i = 0; i < 6; i++)
        crest_histogram_record(size, 1000 + i);
    crest_testing_reading reading = FIXTURE_READING(NULL, "given.size", "peer", "after");
    assert_int_equal(reading.count, 6);
    assert_int_equal(reading.minimum, 1000);
    assert_int_equal(reading.maximum, 1005);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory_is_used_again),
        cmocka_unit_test(test_waits_are_used_again),
        cmocka_unit_test(test_nothing_is_inherited),
    };
    return cmocka_run_group_tests_name("shards given back", tests, NULL, NULL);
}
