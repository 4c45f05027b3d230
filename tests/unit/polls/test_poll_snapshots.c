/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crest_poll_every with CREST_POLL_EACH_SNAPSHOT: called for each snapshot of the registry that its
 * options name, and for no other, which then shows what the callback recorded.
 */
#include "support/core_fixture.h"
#include "support/poll_fixture.h"

typedef struct poll_reading {
    crest_gauge *gauge;
    uint64_t source, calls;
} poll_reading;

static void poll_read_source(void *context)
{
    poll_reading *reading = context;
    crest_gauge_set(reading->gauge, (double)poll_get(uint64_t, &reading->source));
    poll_set(reading->calls, reading->calls + 1);
}

static const crest_poll_options each = {.interval_ms = CREST_POLL_EACH_SNAPSHOT,
                                        .budget_ms = CREST_POLL_BUDGET_MS_MAX};

static void test_shows_what_stands(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL), *other = fixture_registry(NULL);
    poll_reading reading = {.gauge = fixture_gauge(registry, "polled.source")};
    crest_poll_options options = each;
    options.registry = registry;
    crest_status status;
    crest_poll *poll = crest_poll_every("source", poll_read_source, &reading, &options, &status);
    assert_non_null(poll);
    assert_int_equal(status, CREST_OK);
    poll_sleep_ms(30);
    assert_int_equal(poll_state(poll).calls, 0); /* nobody has asked */
    for (uint64_t i = 1; i <= 50; i++) {
        poll_set(reading.source, 7 * i);
        uint64_t before = poll_state(poll).calls, start_ms = poll_now_ms();
        double shown;
        do { /* a busy machine may need more than one */
            crest_snapshot *snapshot = fixture_snapshot(registry);
            shown = fixture_series(snapshot, "polled.source", NULL).gauge;
            crest_snapshot_free(snapshot);
        } while (shown != (double)(7 * i) && poll_now_ms() - start_ms < POLL_PATIENCE_MS);
        assert_true(shown == (double)(7 * i));
        assert_true(poll_wait_calls(poll, before + 1));
    }
    /* the call of a snapshot that gave up waiting for it may still be under way */
    while (poll_state(poll).running)
        poll_sleep_ms(1);
    uint64_t calls = poll_state(poll).calls;
    for (unsigned i = 0; i < 20; i++) {
        crest_snapshot_free(fixture_snapshot(other));
        crest_snapshot_free(fixture_snapshot(NULL));
    }
    assert_int_equal(poll_state(poll).calls, calls);
    assert_int_equal(crest_poll_stop(poll), CREST_OK);
    crest_snapshot_free(fixture_snapshot(registry));
    assert_int_equal(reading.calls, calls);
    crest_registry_free(other);
    crest_registry_free(registry);
}

static void test_default_registry(void **state)
{
    (void)state;
    poll_reading reading = {.gauge = fixture_gauge(NULL, "polled.default")};
    crest_poll *poll = crest_poll_every("default", poll_read_source, &reading, &each, NULL);
    assert_non_null(poll);
    for (uint64_t start_ms = poll_now_ms(); poll_state(poll).calls == 0;) {
        assert_true(poll_now_ms() - start_ms < POLL_PATIENCE_MS);
        crest_snapshot_free(fixture_snapshot(NULL));
    }
    assert_int_equal(crest_poll_stop(poll), CREST_OK);
}

static void test_freed_registry(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    poll_reading reading = {.gauge = fixture_gauge(NULL, "polled.freed")};
    crest_poll_options options = each;
    crest_status status;
    options.registry = registry;
    crest_poll *poll = crest_poll_every("freed", poll_read_source, &reading, &options, NULL);
    assert_non_null(poll);
    crest_registry_free(registry);
    crest_snapshot_free(fixture_snapshot(NULL));
    assert_int_equal(poll_state(poll).calls, 0);
    assert_int_equal(crest_poll_stop(poll), CREST_OK);
    /* others have no use for it: it is an interval that is too long */
    crest_gauge *gauge = fixture_gauge(NULL, "polled.gauge");
    crest_histogram *histogram = fixture_histogram(NULL, "polled.histogram");
    options.registry = NULL;
    assert_null(crest_gauge_poll(gauge, (crest_gauge_poll_fn *)(uintptr_t)poll_read_source, NULL,
                                 &options, &status));
    assert_int_equal(status, CREST_INVALID_ARGUMENT);
    assert_null(crest_histogram_poll(histogram, (crest_value_poll_fn *)(uintptr_t)poll_read_source,
                                     NULL, &options, &status));
    assert_int_equal(status, CREST_INVALID_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shows_what_stands),
        cmocka_unit_test(test_default_registry),
        cmocka_unit_test(test_freed_registry),
    };
    fixture_watchdog(170);
    return cmocka_run_group_tests_name("poll_snapshots", tests, NULL, NULL);
}
