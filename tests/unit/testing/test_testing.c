/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What users' tests read: values by name and labels, growth since a mark, and the messages of what
 * is not there.
 */
#include "base/alloc.h"
#include "support/core_fixture.h"

#include <crest/testing.h>

CREST_REGISTRY(testing_metrics);
#define CREST_REGISTRY_HERE &testing_metrics
CREST_COUNTER_FAMILY(messages, "comm.messages", "Messages.", kind, peer);
CREST_COUNTER(events, "comm.events", "Events.");
CREST_GAUGE(peers, "comm.peers", "Peers.");
CREST_HISTOGRAM(sizes, "comm.message-size", "Sizes.", .unit = CREST_BYTES);
CREST_TIMER(ping, "comm.ping-time", "Pings.");

static crest_registry *const here = &testing_metrics;

static void test_values(void **state)
{
    (void)state;
    crest_error error;
    crest_testing_reading reading;
    crest_counter_add(messages_with("ping", "a"), 3);
    crest_counter_add(messages_with("pong", "a"), 5);
    crest_gauge_set(&peers, -1.5);
    crest_histogram_record_n(&sizes, 100, 9);
    crest_histogram_record(&sizes, 7);
    crest_timer_record(&ping, 70, CREST_OUTCOME_ERROR);

    assert_int_equal(crest_testing_read(here, NULL, &reading, &error, "comm.messages", "kind",
                                        "ping", "peer", "a", NULL),
                     CREST_OK);
    assert_int_equal(reading.kind, CREST_KIND_COUNTER);
    assert_int_equal(reading.counter, 3);
    assert_int_equal(crest_testing_read(here, NULL, &reading, NULL, "comm.messages", "peer", "a",
                                        "kind", "pong", NULL),
                     CREST_OK);
    assert_int_equal(reading.counter, 5);
    /* a label that is not named may have any value, as long as one series is meant */
    assert_int_equal(
        crest_testing_read(here, NULL, &reading, NULL, "comm.messages", "kind", "pong", NULL),
        CREST_OK);
    assert_int_equal(reading.counter, 5);
    assert_int_equal(crest_testing_read(here, NULL, &reading, NULL, "comm.peers", NULL), CREST_OK);
    assert_true(reading.gauge == -1.5);
    assert_int_equal(crest_testing_read(here, NULL, &reading, NULL, "comm.message-size", NULL),
                     CREST_OK);
    assert_int_equal(reading.count, 10);
    assert_int_equal(reading.sum, 907);
    assert_int_equal(reading.minimum, 7);
    assert_int_equal(reading.maximum, 100);
    assert_int_equal(reading.counter, 0);
    assert_int_equal(
        crest_testing_read(here, NULL, &reading, NULL, "comm.ping-time", "outcome", "error", NULL),
        CREST_OK);
    assert_int_equal(reading.kind, CREST_KIND_TIMER);
    assert_int_equal(reading.count, 1);
    assert_int_equal(reading.sum, 70);
}

static void test_growth(void **state)
{
    (void)state;
    crest_error error;
    crest_testing_reading reading;
    crest_testing_mark *mark = crest_testing_mark_take(here);
    assert_non_null(mark);
    crest_counter_add(&events, 4);
    crest_counter_add(messages_with("new", "after the mark"), 2);
    crest_timer_record(&ping, 10, CREST_OUTCOME_ERROR);
    crest_timer_record(&ping, 10, CREST_OUTCOME_CANCELLED);
    assert_int_equal(crest_testing_grew(mark, 4, &error, "comm.events", NULL), CREST_OK);
    assert_int_equal(crest_testing_grew(mark, 2, &error, "comm.messages", "kind", "new", NULL),
                     CREST_OK);
    assert_int_equal(
        crest_testing_grew(mark, 1, &error, "comm.ping-time", "outcome", "error", NULL), CREST_OK);
    assert_int_equal(
        crest_testing_grew(mark, 1, &error, "comm.ping-time", "outcome", "cancelled", NULL),
        CREST_OK);
    assert_int_equal(crest_testing_grew(mark, 0, &error, "comm.message-size", NULL), CREST_OK);
    assert_int_equal(crest_testing_grew(mark, 3, &error, "comm.events", NULL), CREST_MISMATCH);
    assert_string_equal(error.message, "comm.events grew by 4, not by 3");
    assert_int_equal(crest_testing_grew(mark, 1, &error, "comm.messages", "kind", "ping", NULL),
                     CREST_MISMATCH);
    assert_string_equal(error.message, "comm.messages{kind=\"ping\"} grew by 0, not by 1");
    assert_int_equal(crest_testing_grew(mark, 0, &error, "comm.peers", NULL), CREST_TYPE_CLASH);
    assert_int_equal(crest_testing_grew(NULL, 0, &error, "comm.events", NULL),
                     CREST_INVALID_ARGUMENT);
    assert_int_equal(
        crest_testing_read(NULL, mark, &reading, NULL, "comm.ping-time", "outcome", "error", NULL),
        CREST_OK);
    assert_int_equal(reading.count, 1);
    assert_int_equal(reading.sum, 10);
    crest_testing_mark_free(mark);
    crest_testing_mark_free(NULL);
}

static void test_quantile(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    crest_histogram *histogram = fixture_histogram(registry, "h");
    crest_error error;
    uint64_t value;
    assert_int_equal(crest_testing_quantile(registry, NULL, 0.5, &value, &error, "h", NULL),
                     CREST_OK);
    assert_int_equal(value, 0);
    crest_histogram_record_n(histogram, 3, 1000);
    crest_testing_mark *mark = crest_testing_mark_take(registry);
    assert_int_equal(crest_testing_quantile(registry, mark, 0.5, &value, &error, "h", NULL),
                     CREST_OK);
    assert_int_equal(value, 0);
    for (int i = 1; i <= 100; i++)
        crest_histogram_record(histogram, i);
    const struct {
        double q;
        uint64_t all, since;
    } cases[] = {{0, 1, 1}, {0.5, 3, 50}, {0.51, 3, 51}, {0.99, 89, 99}, {1, 100, 100}};
    for (size_t i = 0; i < LENGTH(cases); i++) {
        assert_int_equal(
            crest_testing_quantile(registry, NULL, cases[i].q, &value, &error, "h", NULL),
            CREST_OK);
        assert_int_equal(value, cases[i].all);
        assert_int_equal(crest_testing_quantile(NULL, mark, cases[i].q, &value, &error, "h", NULL),
                         CREST_OK);
        assert_int_equal(value, cases[i].since);
    }
    crest_testing_reading reading;
    assert_int_equal(crest_testing_read(NULL, mark, &reading, &error, "h", NULL), CREST_OK);
    assert_int_equal(reading.count, 100);
    assert_int_equal(reading.sum, 5050);
    assert_int_equal(reading.minimum, 1);
    assert_int_equal(reading.maximum, 100);
    assert_int_equal(crest_testing_quantile(registry, NULL, 1.1, &value, &error, "h", NULL),
                     CREST_INVALID_ARGUMENT);
    assert_int_equal(crest_testing_quantile(registry, NULL, NAN, &value, &error, "h", NULL),
                     CREST_INVALID_ARGUMENT);
    assert_int_equal(crest_testing_quantile(here, NULL, 0.5, &value, &error, "comm.events", NULL),
                     CREST_TYPE_CLASH);
    crest_testing_mark_free(mark);
    crest_registry_free(registry);
}

static void test_messages(void **state)
{
    (void)state;
    const struct {
        const char *name, *key, *value;
        crest_status status;
        const char *message;
    } cases[] = {
        {"comm.event", NULL, NULL, CREST_NOT_FOUND,
         "there is no metric comm.event; close to it: comm.events, comm.peers"},
        {"Comm.Messages", NULL, NULL, CREST_NOT_FOUND,
         "there is no metric Comm.Messages; close to it: comm.messages, comm.message-size"},
        {"ping-time", NULL, NULL, CREST_NOT_FOUND,
         "there is no metric ping-time; close to it: comm.ping-time"},
        {"rspace.something-else", NULL, NULL, CREST_NOT_FOUND,
         "there is no metric rspace.something-else, nor one with a name like it (8 series)"},
        {"comm.ping-time", "outcome", "timeout", CREST_NOT_FOUND,
         "there is no comm.ping-time{outcome=\"timeout\"}; there are: "
         "comm.ping-time{outcome=\"ok\"}, comm.ping-time{outcome=\"error\"}"},
        {"comm.events", "kind", "ping", CREST_NOT_FOUND,
         "there is no comm.events{kind=\"ping\"}; there are: comm.events"},
        {"comm.ping-time", NULL, NULL, CREST_MISMATCH,
         "comm.ping-time may be one of 2 series: comm.ping-time{outcome=\"ok\"}, "
         "comm.ping-time{outcome=\"error\"}"},
        {"comm.events", "kind", NULL, CREST_INVALID_ARGUMENT,
         "comm.events: the label kind was given no value"},
        {NULL, NULL, NULL, CREST_INVALID_ARGUMENT, "a metric's name is missing"},
    };
    crest_registry *registry = fixture_registry(NULL);
    fixture_counter(registry, "comm.events");
    fixture_gauge(registry, "comm.peers");
    fixture_timer(registry, "comm.ping-time");
    fixture_counter(registry, "comm.messages");
    fixture_histogram(registry, "comm.message-size");
    fixture_gauge(registry, "a");
    fixture_gauge(registry, "b");
    for (size_t i = 0; i < LENGTH(cases); i++) {
        crest_error error;
        crest_testing_reading reading = {.counter = 7};
        assert_int_equal(crest_testing_read(registry, NULL, &reading, &error, cases[i].name,
                                            cases[i].key, cases[i].value, NULL),
                         cases[i].status);
        assert_string_equal(error.message, cases[i].message);
        assert_int_equal(reading.counter, 0);
        assert_int_equal(crest_testing_read(registry, NULL, &reading, NULL, cases[i].name,
                                            cases[i].key, cases[i].value, NULL),
                         cases[i].status);
    }
    crest_registry_free(registry);
}

/* Names, values and lists longer than a message holds are cut, and too many labels refused. */
static void test_bounds(void **state)
{
    (void)state;
    char name[1000];
    memset(name, 'x', sizeof name);
    name[sizeof name - 1] = '\0';
    crest_error error;
    crest_testing_reading reading;
    assert_int_equal(crest_testing_read(here, NULL, &reading, &error, name, "k", name, NULL),
                     CREST_NOT_FOUND);
    assert_int_equal(strlen(error.message), CREST_ERROR_BYTES - 1);
    for (int i = 0; i < 20; i++) {
        name[999 - i] = '\0';
        (void)messages_with("many", name);
    }
    assert_int_equal(
        crest_testing_read(here, NULL, &reading, &error, "comm.messages", "kind", "many", NULL),
        CREST_MISMATCH);
    assert_int_equal(crest_testing_read(here, NULL, &reading, &error, "comm.events", "1", "", "2",
                                        "", "3", "", "4", "", "5", "", "6", "", "7", "", "8", "",
                                        "9", "", "10", "", "11", "", "12", "", "13", "", "14", "",
                                        "15", "", "16", "", "17", "", NULL),
                     CREST_INVALID_ARGUMENT);
    assert_string_equal(error.message, "comm.events: more than 16 labels");
}

/* Whichever allocation fails: it is a status, and nothing leaks. */
static void test_no_memory(void **state)
{
    (void)state;
    unsigned long failed = 0, marks = 0;
    crest_status status = CREST_NO_MEMORY;
    for (unsigned long i = 1; status != CREST_OK && i < 1000; i++) {
        crest_testing_reading reading;
        crest_error error;
        crest_alloc_fail_after(i);
        crest_testing_mark *mark = crest_testing_mark_take(here);
        status = crest_testing_read(here, mark, &reading, &error, "comm.message-size", NULL);
        crest_alloc_fail_after(0);
        marks += mark != NULL;
        crest_testing_mark_free(mark);
        if (status != CREST_OK) {
            assert_int_equal(status, CREST_NO_MEMORY);
            assert_int_equal(error.status, CREST_NO_MEMORY);
            failed++;
        }
    }
    assert_int_equal(status, CREST_OK);
    assert_true(failed > 3 && marks > 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),   cmocka_unit_test(test_growth),
        cmocka_unit_test(test_quantile), cmocka_unit_test(test_messages),
        cmocka_unit_test(test_bounds),   cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests_name("testing", tests, NULL, NULL);
}
