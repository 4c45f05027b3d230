/* SPDX-License-Identifier: Apache-2.0 */
/*
 * That a slot is not used again before it was looked at often enough, however far the clock goes
 * at once; and that snapshots taken before stay as they are.
 */
#include "metrics/metric_inside.h"
#include "metrics/slots.h"
#include "registry/growth.h"
#include "snapshot/directory.h"
#include "support/core_fixture.h"

#include <crest/lane.h>
#include <crest/lifetime.h>
#include <crest/testing.h>

#define REST_SECOND UINT64_C(1000000000)

CREST_COUNTER_FAMILY(rest_sent, "rest.sent", "Sent.", peer);
CREST_COUNTER_FAMILY(rest_again, "rest.again", "Sent again and again.", peer);
CREST_COUNTER_FAMILY(rest_received, "rest.received", "Received.", peer);

static void rest_after(uint64_t seconds)
{
    crest_testing_clock_advance(seconds * REST_SECOND);
    assert_int_equal(crest_testing_tick(NULL), CREST_OK);
}

/* Released, exported once more, and gone from snapshots. */
static void quarantine_until_gone(crest_counter *sent, const char *name)
{
    assert_int_equal(crest_counter_release(sent), CREST_OK);
    rest_after(1);
    crest_testing_clock_advance(1000000);
    crest_snapshot_free(fixture_snapshot(NULL));
    rest_after(CREST_LINGER_S);
    rest_after(1);
    crest_testing_reading reading;
    assert_int_equal(crest_testing_read(NULL, NULL, &reading, NULL, name, NULL), CREST_NOT_FOUND);
}

static void test_looks(void **state)
{
    (void)state;
    crest_counter *sent = rest_sent_with("looks");
    crest_counter_inc(sent);
    rest_after(1);
    quarantine_until_gone(sent, "rest.sent");
    uint64_t free_before = crest_slots_free();
    rest_after(10 * CREST_QUARANTINE_S);
    assert_int_equal(crest_slots_free(), free_before);
    for (unsigned i = 0; i < CREST_QUARANTINE_LOOKS + 2; i++)
        rest_after(1);
    assert_int_equal(crest_slots_free(), free_before + 1);
}

CREST_COUNTER_FAMILY(rest_minute, "rest.minute", "Rests.", peer);

/* A minute is what every document says, whatever the constant is. */
static void test_a_minute(void **state)
{
    (void)state;
    crest_counter *counter = rest_minute_with("a");
    crest_counter_inc(counter);
    rest_after(1);
    quarantine_until_gone(counter, "rest.minute");
    uint64_t free_before = crest_slots_free();
    for (unsigned i = 0; i < 58; i++)
        rest_after(1);
    assert_int_equal(crest_slots_free(), free_before);
    for (unsigned i = 0; i < 4; i++)
        rest_after(1);
    assert_int_equal(crest_slots_free(), free_before + 1);
}

/* What was recorded in the very moment of a snapshot may not be in it, so that it is exported once
 * more. */
static void test_same_moment(void **state)
{
    (void)state;
    crest_counter *counter = rest_minute_with("c");
    rest_after(1);
    assert_int_equal(crest_counter_release(counter), CREST_OK);
    rest_after(1);
    crest_snapshot_free(fixture_snapshot(NULL));
    for (unsigned i = 0; i < 3; i++)
        rest_after(CREST_LINGER_S);
    assert_int_equal(FIXTURE_READING(NULL, "rest.minute", "peer", "c").counter, 0);
    for (unsigned i = 0; i < 3; i++)
        rest_after(CREST_LINGER_S);
    crest_testing_reading reading;
    assert_int_equal(
        crest_testing_read(NULL, NULL, &reading, NULL, "rest.minute", "peer", "c", NULL),
        CREST_NOT_FOUND);
    rest_after(CREST_QUARANTINE_S);
    for (unsigned i = 0; i < CREST_QUARANTINE_LOOKS + 2; i++)
        rest_after(1);
}

/* What reads values by a list that has the series may take longer than that. */
static void test_a_slow_reader(void **state)
{
    (void)state;
    crest_counter *counter = rest_minute_with("b");
    crest_counter_inc(counter);
    rest_after(1);
    crest_directory *read = crest_directory_of(crest_registry_state_of(NULL));
    assert_non_null(read);
    quarantine_until_gone(counter, "rest.minute");
    uint64_t free_before = crest_slots_free();
    for (unsigned i = 0; i < 10; i++)
        rest_after(CREST_QUARANTINE_S);
    assert_int_equal(crest_slots_free(), free_before);
    crest_directory_read(read);
    crest_directory_drop(read);
    rest_after(1);
    assert_int_equal(crest_slots_free(), free_before + 1);
}

static int rest_discard(void *context, const void *bytes, size_t length)
{
    (void)context, (void)bytes, (void)length;
    return 0;
}

/* A page is such a reader until it is written; of a registry that nobody reads after it, too. */
static void test_after_a_page(void **state)
{
    (void)state;
    static const char *const keys[] = {"peer"};
    const char *value = "p";
    crest_registry *registry = fixture_registry("own");
    crest_metric_options options = {.name = "c"};
    crest_counter_family family = crest_counter_family_new(registry, &options, keys, 1, NULL);
    crest_counter *counter = crest_counter_family_get(&family, &value, 1);
    crest_counter_inc(counter);
    rest_after(1);
    assert_int_equal(crest_counter_release(counter), CREST_OK);
    rest_after(1);
    crest_testing_clock_advance(1000000);
    assert_int_equal(
        crest_page_write(registry, CREST_FORMAT_PROMETHEUS_TEXT, rest_discard, NULL, NULL),
        CREST_OK);
    uint64_t free_before = crest_slots_free();
    rest_after(CREST_LINGER_S);
    for (unsigned i = 0; i < CREST_QUARANTINE_S + CREST_QUARANTINE_LOOKS + 2; i++)
        rest_after(1);
    assert_int_equal(crest_slots_free(), free_before + 1);
    crest_registry_free(registry);
}

/* A snapshot goes on showing what it read, whoever has the slot by then. */
static void test_held_snapshot(void **state)
{
    (void)state;
    static const char *const values[] = {"held"};
    crest_counter *sent = rest_sent_with(values[0]);
    crest_counter_add(sent, 5);
    rest_after(1);
    crest_snapshot *held = fixture_snapshot(NULL);
    uint64_t free_before = crest_slots_free();
    quarantine_until_gone(sent, "rest.sent");
    for (unsigned i = 0; i < 10; i++)
        rest_after(CREST_QUARANTINE_S);
    assert_int_equal(crest_slots_free(), free_before + 1);
    while (crest_slots_free() != 0) {
        char peer[32];
        snprintf(peer, sizeof peer, "next%u", (unsigned)crest_slots_free());
        crest_counter_add(rest_sent_with(peer), 70);
    }
    crest_series_view view;
    assert_int_equal(crest_snapshot_find(held, "rest.sent", values, 1, &view), CREST_OK);
    assert_int_equal(view.counter, 5);
    assert_string_equal(view.label_values[0], "held");
    crest_snapshot_free(held);
}

/* More lives than a byte can tell apart: none is taken for an earlier one, by a reporter that keeps
 * what it has sent by life. */
#define LIVES 300
static void test_every_life_is_another(void **state)
{
    (void)state;
    static const char *const values[] = {"again"};
    static uint64_t lives[LIVES];
    for (unsigned n = 0; n < LIVES; n++) {
        crest_counter *sent = rest_again_with(values[0]);
        /* fewer each time, so that a life taken for the one before would have gone back */
        crest_counter_add(sent, LIVES - n);
        rest_after(1);
        crest_snapshot *now = fixture_snapshot(NULL);
        crest_series_view view;
        assert_int_equal(crest_snapshot_find(now, "rest.again", values, 1, &view), CREST_OK);
        assert_int_equal(view.counter, LIVES - n);
        lives[n] = view.life;
        for (unsigned i = 0; i < n; i++)
            assert_true(lives[i] != lives[n]);
        crest_snapshot_free(now);
        quarantine_until_gone(sent, "rest.again");
        rest_after(CREST_QUARANTINE_S);
        for (unsigned i = 0; i < CREST_QUARANTINE_LOOKS + 2; i++)
            rest_after(1);
    }
}

/* Last, for it stays so: a runtime stops threads for longer than a system does. */
static void test_runtime(void **state)
{
    (void)state;
    assert_int_not_equal(crest_lanes_make(1), 0);
    crest_counter *received = rest_received_with("runtime");
    crest_counter_inc(received);
    rest_after(1);
    quarantine_until_gone(received, "rest.received");
    uint64_t free_before = crest_slots_free();
    rest_after(CREST_QUARANTINE_RUNTIME_S - CREST_QUARANTINE_LOOKS - 10);
    for (unsigned i = 0; i < CREST_QUARANTINE_LOOKS + 2; i++)
        rest_after(1);
    assert_int_equal(crest_slots_free(), free_before);
    for (unsigned i = 0; i < 10; i++)
        rest_after(1);
    assert_int_equal(crest_slots_free(), free_before + 1);
}

int main(void)
{
    crest_testing_clock_set(1000 * REST_SECOND);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_looks),         cmocka_unit_test(test_a_minute),
        cmocka_unit_test(test_a_slow_reader), cmocka_unit_test(test_same_moment),
        cmocka_unit_test(test_held_snapshot), cmocka_unit_test(test_every_life_is_another),
        cmocka_unit_test(test_after_a_page),  cmocka_unit_test(test_runtime),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
