/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a metric may have of the table of operations in flight: no more than is free. So no metric
 * keeps another one from beginning operations, however many of its own it never ends.
 *
 * One thread: to ThreadSanitizer there is nothing to see, and it takes minutes over a full table.
 *
 * crest-test: sanitizers=address
 */
#include "in_flight/in_flight_table.h"
#include "support/core_fixture.h"

#include <crest/lifetime.h>

/* An even spread of ids over the parts of the table would be exact; this is how far it is not. */
#define SHARE_ABOUT(expected) ((expected) - (expected) / 16)

#define SHARE_PEERS 128u

CREST_TIMER_FAMILY(leaking, "share.leaking", "Begun, never ended.", peer);

static uint64_t share_refused(const char *metric)
{
    crest_testing_reading reading;
    if (crest_testing_read(NULL, NULL, &reading, NULL, "crest.in-flight-refused", "timer", metric,
                           NULL) != CREST_OK)
        return 0;
    return reading.counter;
}

/* Begins so many operations, or those of them that are not in flight; returns how many it could. */
static uint64_t share_begin(crest_timer *timer, uint64_t count)
{
    uint64_t begun = 0;
    for (uint64_t i = 0; i < count; i++) {
        crest_status status = crest_timer_begin(timer, crest_op_u64(i));
        assert_true(status == CREST_OK || status == CREST_LIMIT || status == CREST_ALREADY);
        begun += status == CREST_OK;
    }
    return begun;
}

static void test_half(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry("share");
    crest_timer *first = fixture_timer(registry, "first"), *next = fixture_timer(registry, "next");
    uint64_t begun = share_begin(first, 2 * CREST_IN_FLIGHT_MAX);
    assert_int_equal(begun, CREST_IN_FLIGHT_MAX / 2);
    assert_int_equal(share_refused("share.first"), 2 * CREST_IN_FLIGHT_MAX - begun);
    /* of the half that is left it is half again, the first of them without a refusal */
    assert_int_equal(share_begin(next, 8192), 8192);
    begun = 8192 + share_begin(next, 2 * CREST_IN_FLIGHT_MAX);
    assert_in_range(begun, SHARE_ABOUT(CREST_IN_FLIGHT_MAX / 4), CREST_IN_FLIGHT_MAX / 4);
    /* what the first ends is not its own again while the other one has so much */
    for (uint64_t i = 0; i < CREST_IN_FLIGHT_MAX; i++)
        crest_timer_end(first, crest_op_u64(i), CREST_OUTCOME_OK);
    uint64_t left = crest_timer_in_flight(first).count;
    begun = left + share_begin(first, CREST_IN_FLIGHT_MAX);
    assert_in_range(begun, SHARE_ABOUT(CREST_IN_FLIGHT_MAX * 3 / 8), CREST_IN_FLIGHT_MAX * 3 / 8);
    crest_registry_free(registry);
}

/* The series of a family are one metric. */
static void test_family(void **state)
{
    (void)state;
    char peer[16];
    uint64_t begun = 0;
    crest_registry *registry = fixture_registry("share");
    for (unsigned i = 0; i < SHARE_PEERS; i++) {
        snprintf(peer, sizeof peer, "peer-%u", i);
        begun += share_begin(leaking_with(peer), 2 * CREST_IN_FLIGHT_MAX / SHARE_PEERS);
    }
    assert_int_equal(begun, CREST_IN_FLIGHT_MAX / 2);
    assert_int_equal(share_refused("share.leaking"), CREST_IN_FLIGHT_MAX * 2 - begun);
    assert_int_equal(share_begin(fixture_timer(registry, "after"), 8192), 8192);
    assert_int_equal(share_refused("share.after"), 0);
    crest_registry_free(registry);
    for (unsigned i = 0; i < SHARE_PEERS; i++) {
        snprintf(peer, sizeof peer, "peer-%u", i);
        crest_retire(NULL, "peer", peer);
    }
}

/* One leak after the other: each leaves half of what it found. */
static void test_many_leaks(void **state)
{
    (void)state;
    char name[16];
    crest_registry *registry = fixture_registry("share");
    for (unsigned i = 0; i < 6; i++) {
        snprintf(name, sizeof name, "leak-%u", i);
        share_begin(fixture_timer(registry, name), CREST_IN_FLIGHT_MAX);
    }
    assert_int_equal(share_begin(fixture_timer(registry, "late"), 256), 256);
    crest_registry_free(registry);
}

/* More metrics than there are shares, all at once and one registry after the other. */
static void test_many_metrics(void **state)
{
    (void)state;
    char name[24];
    for (unsigned round = 0; round < 3; round++) {
        crest_registry *registry = fixture_registry("share");
        for (unsigned i = 0; i < 2 * CREST_IN_FLIGHT_SHARES; i++) {
            snprintf(name, sizeof name, "metric-%u", i);
            crest_timer *timer = fixture_timer(registry, name);
            assert_int_equal(share_begin(timer, 16), 16);
            assert_int_equal(crest_timer_in_flight(timer).count, 16);
        }
        crest_registry_free(registry);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_half),
        cmocka_unit_test(test_family),
        cmocka_unit_test(test_many_leaks),
        cmocka_unit_test(test_many_metrics),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
