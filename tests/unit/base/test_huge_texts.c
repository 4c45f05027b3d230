/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Texts of a hundred thousand bytes wherever a text is taken: refused or cut, at once.
 */
#include "support/core_fixture.h"

#include <crest/by_name.h>
#include <crest/testing.h>

#define HUGE_BYTES 100000u

static char huge[HUGE_BYTES + 1];

static double huge_poll(void *context)
{
    (void)context;
    return 1;
}

static void test_names(void **state)
{
    (void)state;
    crest_testing_mark *mark = crest_testing_mark_take(NULL);
    crest_increment_counter(huge);
    crest_increment_counter_in(crest_source_get(huge), "counted");
    crest_increment_counter_in(crest_source_get("rchain.comm"), huge);
    crest_status status;
    crest_metric_options options = {.name = huge};
    crest_counter_get(NULL, &options, &status);
    assert_int_equal(status, CREST_INVALID_NAME);
    crest_error error;
    crest_testing_reading reading;
    assert_int_equal(crest_testing_read(NULL, mark, &reading, &error, "crest.misuse", "cause",
                                        "invalid-name", NULL),
                     CREST_OK);
    assert_true(reading.counter >= 5);
    crest_testing_mark_free(mark);
}

/* A test that asks for such a metric is told that there is none, not kept waiting. */
static void test_readings(void **state)
{
    (void)state;
    crest_testing_reading reading;
    crest_error error;
    assert_int_equal(crest_testing_read(NULL, NULL, &reading, &error, huge, NULL), CREST_NOT_FOUND);
    assert_int_equal(
        crest_testing_read(NULL, NULL, &reading, &error, "crest.misuse", huge, huge, NULL),
        CREST_NOT_FOUND);
    assert_int_equal(
        crest_testing_read(NULL, NULL, &reading, &error, "crest.misuse", "cause", huge, NULL),
        CREST_NOT_FOUND);
}

static void test_polls(void **state)
{
    (void)state;
    crest_gauge *gauge = fixture_gauge(NULL, "polled");
    crest_poll_options options = {.name = huge};
    crest_poll *poll = crest_gauge_poll(gauge, huge_poll, NULL, &options, NULL);
    assert_non_null(poll);
    assert_int_equal(crest_poll_stop(poll), CREST_OK);
}

int main(void)
{
    memset(huge, 'x', HUGE_BYTES);
    fixture_watchdog(170);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_readings),
        cmocka_unit_test(test_polls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
