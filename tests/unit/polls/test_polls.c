/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Polls: what becomes of the values of each kind, what registering and stopping answer. When and
 * where callbacks are called is in test_poller.c.
 */
#include "base/alloc.h"
#include "support/core_fixture.h"
#include "base/misuse.h"
#include "support/poll_fixture.h"

#include <crest/testing.h>
#include <signal.h>

CREST_REGISTRY(polled_metrics);
#define CREST_REGISTRY_HERE &polled_metrics
CREST_GAUGE_FAMILY(depth, "queue.depth", "Waiting.", queue);
CREST_GAUGE(declared, "queue.declared", "Waiting.");

/* So long that no call on a busy machine is over it. */
static const crest_poll_options patient = {.budget_ms = CREST_POLL_BUDGET_MS_MAX};

/* A snapshot that shows what the poll gives now. On a busy machine one may give up before the call,
 * so it is another one, taken once the call is over. */
static crest_snapshot *polls_look(crest_registry *registry, const crest_poll *poll)
{
    crest_poll_state before = poll_state(poll);
    uint64_t start_ms = poll_now_ms();
    do {
        assert_true(poll_now_ms() - start_ms < POLL_PATIENCE_MS);
        crest_snapshot_free(fixture_snapshot(registry));
    } while (poll_state(poll).calls <= before.calls + (before.running != 0));
    return fixture_snapshot(registry);
}

static double polls_double(void *context)
{
    return poll_get(double, context);
}

static uint64_t polls_u64(void *context)
{
    return poll_get(uint64_t, context);
}

static int64_t polls_i64(void *context)
{
    return poll_get(int64_t, context);
}

static void polls_nothing(void *context)
{
    (void)context;
}

typedef struct polls_counted {
    int64_t value;
    uint64_t calls;
} polls_counted;

static int64_t polls_count(void *context)
{
    polls_counted *counted = context;
    counted->calls++;
    return counted->value;
}

static void test_gauge_values(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    crest_gauge *gauge = fixture_gauge(registry, "g");
    double value = 2.5;
    crest_status status = CREST_IO;
    crest_poll *poll = crest_gauge_poll(gauge, polls_double, &value, &patient, &status);
    assert_non_null(poll);
    assert_int_equal(status, CREST_OK);
    const double values[] = {2.5, -1e300, 0, INFINITY, -INFINITY, 3};
    for (size_t i = 0; i < LENGTH(values); i++) {
        poll_set(value, values[i]);
        crest_snapshot *snapshot = polls_look(registry, poll);
        assert_true(fixture_series(snapshot, "g", NULL).gauge == values[i]);
        crest_snapshot_free(snapshot);
    }
    uint64_t refused = crest_misuse_value(CREST_MISUSE_NOT_A_NUMBER);
    poll_set(value, NAN);
    crest_snapshot_free(polls_look(registry, poll));
    assert_true(crest_gauge_value(gauge) == 3);
    assert_true(crest_misuse_value(CREST_MISUSE_NOT_A_NUMBER) > refused);
    assert_int_equal(crest_poll_stop(poll), CREST_OK);
    poll_set(value, 9);
    crest_snapshot_free(fixture_snapshot(registry));
    assert_true(crest_gauge_value(gauge) == 3);
    crest_registry_free(registry);
}

static void test_counts(void **state)
{
    (void)state;
    static const struct {
        uint64_t count, total, from_now;
        uint64_t resets;
    } cases[] = {
        {100, 100, 0, 0},                  /* the first: as it is, or where to begin */
        {100, 100, 0, 0},                  /* nothing new */
        {130, 130, 30, 0},                 /* growth */
        {CREST_POLL_NO_COUNT, 130, 30, 0}, /* nothing to tell */
        {131, 131, 31, 0},                 /* */
        {7, 138, 38, 1},                   /* it began again */
        {0, 138, 38, 2},                   /* and again, without a count yet */
        {5, 143, 43, 2},                   /* */
        {UINT64_MAX - 1, 143, 43, 2},      /* no growth that a counter takes */
        {6, 144, 44, 2},                   /* so the one before still counts */
        {(uint64_t)INT64_MAX, (uint64_t)INT64_MAX + 138, (uint64_t)INT64_MAX + 38, 2},
        {0, (uint64_t)INT64_MAX + 138, (uint64_t)INT64_MAX + 38, 3},
    };
    crest_registry *registry = fixture_registry(NULL);
    crest_counter *all = fixture_counter(registry, "all");
    crest_counter *later = fixture_counter(registry, "later");
    crest_testing_mark *mark = crest_testing_mark_take(NULL);
    uint64_t limits = crest_misuse_value(CREST_MISUSE_LIMIT), count = 100;
    crest_poll *all_poll = crest_counter_poll(all, polls_u64, &count, &patient, NULL);
    crest_poll_options options = patient;
    options.name = "later things";
    options.from_now = 1;
    crest_poll *later_poll = crest_counter_poll(later, polls_u64, &count, &options, NULL);
    for (size_t i = 0; i < LENGTH(cases); i++) {
        poll_set(count, cases[i].count);
        /* the later poll is called after the other */
        crest_snapshot *snapshot = polls_look(registry, later_poll);
        assert_int_equal(fixture_series(snapshot, "all", NULL).counter, cases[i].total);
        assert_int_equal(fixture_series(snapshot, "later", NULL).counter, cases[i].from_now);
        crest_snapshot_free(snapshot);
        assert_int_equal(poll_state(all_poll).resets, cases[i].resets);
        assert_int_equal(poll_state(later_poll).resets, cases[i].resets);
    }
    assert_true(crest_misuse_value(CREST_MISUSE_LIMIT) >= limits + 2);
    crest_error error;
    if (crest_testing_grew(mark, 3, &error, "crest.poll-resets", "poll", "all", NULL) != CREST_OK ||
        crest_testing_grew(mark, 3, &error, "crest.poll-resets", "poll", "later things", NULL) !=
            CREST_OK ||
        crest_testing_grew(mark, 0, &error, "crest.poll-overruns", "poll", "all", NULL) != CREST_OK)
        fail_msg("%s", error.message);
    crest_testing_mark_free(mark);
    crest_poll_stop(all_poll);
    crest_poll_stop(later_poll);
    crest_registry_free(registry);
}

/* The first count of one that begins now is fetched without a snapshot. */
static void test_from_now_begins_soon(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    crest_counter *counter = fixture_counter(registry, "c");
    uint64_t count = 1000;
    crest_poll_options options = {.from_now = 1};
    crest_poll *poll = crest_counter_poll(counter, polls_u64, &count, &options, NULL);
    assert_true(poll_wait_calls(poll, 1));
    crest_poll_stop(poll);
    assert_int_equal(crest_counter_value(counter), 0);
    crest_registry_free(registry);
}

static void test_intervals(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    crest_histogram *histogram = fixture_histogram(registry, "h");
    crest_range_sampler *sampler = fixture_range_sampler(registry, "r");
    crest_gauge *gauge = fixture_gauge(registry, "g");
    int64_t value = 7;
    double number = 4;
    polls_counted counted = {.value = 7};
    crest_poll_options often = {.interval_ms = 10};
    crest_poll *polls[] = {
        crest_histogram_poll(histogram, polls_count, &counted, &often, NULL),
        crest_range_sampler_poll(sampler, polls_i64, &value, &often, NULL),
        crest_gauge_poll(gauge, polls_double, &number, &often, NULL),
        crest_poll_every("nothing", polls_nothing, NULL, &often, NULL),
    };
    for (size_t i = 0; i < LENGTH(polls); i++) {
        assert_non_null(polls[i]);
        assert_true(poll_wait_calls(polls[i], 5)); /* without any snapshot */
    }
    for (size_t i = 1; i < LENGTH(polls); i++)
        crest_poll_stop(polls[i]);
    assert_int_equal(crest_range_sampler_value(sampler), 7);
    assert_true(crest_gauge_value(gauge) == 4);
    crest_poll_stop(polls[0]);
    crest_testing_reading reading = FIXTURE_READING(registry, "h");
    assert_int_equal(reading.count, counted.calls);
    assert_int_equal(reading.sum, 7 * counted.calls);
    crest_registry_free(registry);
}

/* What a value's callback has nothing to say about changes nothing; bad values are misuse. */
static void test_no_values(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    crest_histogram *histogram = fixture_histogram(registry, "h");
    crest_range_sampler *sampler = fixture_range_sampler(registry, "r");
    crest_range_sampler_set(sampler, 5);
    int64_t nothing = CREST_POLL_NO_VALUE, negative = -3;
    crest_poll_options often = {.interval_ms = 10};
    crest_poll *polls[] = {
        crest_histogram_poll(histogram, polls_i64, &nothing, &often, NULL),
        crest_range_sampler_poll(sampler, polls_i64, &nothing, &often, NULL),
    };
    for (size_t i = 0; i < LENGTH(polls); i++) {
        assert_true(poll_wait_calls(polls[i], 2));
        crest_poll_stop(polls[i]);
    }
    assert_int_equal(crest_range_sampler_value(sampler), 5);
    uint64_t misuse = crest_misuse_value(CREST_MISUSE_NEGATIVE);
    crest_poll *poll = crest_histogram_poll(histogram, polls_i64, &negative, &often, NULL);
    assert_true(poll_wait_calls(poll, 1));
    crest_poll_stop(poll);
    assert_true(crest_misuse_value(CREST_MISUSE_NEGATIVE) > misuse);
    crest_testing_reading reading = FIXTURE_READING(registry, "h");
    assert_int_equal(reading.count, 0);
    crest_registry_free(registry);
}

static void test_handles(void **state)
{
    (void)state;
    double value = 6;
    crest_poll *child = crest_gauge_poll(depth_with("in"), polls_double, &value, &patient, NULL);
    crest_poll *declared_poll = crest_gauge_poll(&declared, polls_double, &value, &patient, NULL);
    crest_snapshot *snapshot = polls_look(&polled_metrics, declared_poll);
    assert_true(fixture_series(snapshot, "queue.depth", "in").gauge == 6);
    assert_true(fixture_series(snapshot, "queue.declared", NULL).gauge == 6);
    crest_snapshot_free(snapshot);
    /* another registry's snapshot is none of theirs */
    uint64_t calls = poll_state(child).calls;
    crest_registry *other = fixture_registry(NULL);
    fixture_counter(other, "c");
    crest_snapshot_free(fixture_snapshot(other));
    assert_int_equal(poll_state(child).calls, calls);
    crest_registry_free(other);
    crest_poll_stop(child);
    crest_poll_stop(declared_poll);
}

static void test_refused(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    crest_gauge *gauge = fixture_gauge(registry, "g");
    double value = 1;
    const crest_poll_options bad[] = {
        {.interval_ms = CREST_POLL_INTERVAL_MS_MIN - 1},
        {.interval_ms = CREST_POLL_INTERVAL_MS_MAX + 1},
        {.budget_ms = CREST_POLL_BUDGET_MS_MAX + 1},
    };
    crest_status status;
    for (size_t i = 0; i < LENGTH(bad); i++) {
        status = CREST_OK;
        assert_null(crest_gauge_poll(gauge, polls_double, &value, &bad[i], &status));
        assert_int_equal(status, CREST_INVALID_ARGUMENT);
        assert_null(crest_gauge_poll(gauge, polls_double, &value, &bad[i], NULL));
    }
    assert_null(crest_gauge_poll(gauge, NULL, &value, NULL, &status));
    assert_int_equal(status, CREST_INVALID_ARGUMENT);
    assert_null(crest_gauge_poll(NULL, polls_double, &value, NULL, &status));
    assert_int_equal(status, CREST_INVALID_ARGUMENT);
    assert_null(crest_poll_every(NULL, polls_nothing, NULL, NULL, &status));
    assert_int_equal(status, CREST_INVALID_ARGUMENT);
    assert_null(crest_poll_every("x", NULL, NULL, NULL, &status));
    assert_int_equal(status, CREST_INVALID_ARGUMENT);
    /* a handle that records nowhere says why */
    crest_metric_options wrong = {.name = "not a name"};
    crest_gauge *nowhere = crest_gauge_get(registry, &wrong, NULL);
    assert_null(crest_gauge_poll(nowhere, polls_double, &value, NULL, &status));
    assert_int_equal(status, CREST_INVALID_NAME);
    crest_poll_state numbers = {.calls = 1};
    assert_int_equal(crest_poll_read(NULL, &numbers), CREST_NOT_FOUND);
    assert_int_equal(numbers.calls, 0);
    crest_registry_free(registry);
}

static void test_names(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry("pre");
    char name[2 * CREST_POLL_NAME_BYTES_MAX];
    memset(name, 'n', sizeof name);
    name[sizeof name - 1] = '\0';
    double value = 1;
    crest_poll_options options = {.name = name};
    crest_testing_mark *mark = crest_testing_mark_take(NULL);
    crest_gauge *gauge = fixture_gauge(registry, "g");
    crest_poll *polls[] = {crest_gauge_poll(gauge, polls_double, &value, NULL, NULL),
                           crest_gauge_poll(gauge, polls_double, &value, &options, NULL)};
    name[CREST_POLL_NAME_BYTES_MAX] = '\0';
    const char *const expected[] = {"pre.g", name};
    for (size_t i = 0; i < LENGTH(polls); i++) {
        crest_error error;
        if (crest_testing_grew(mark, 0, &error, "crest.poll-overruns", "poll", expected[i], NULL) !=
            CREST_OK)
            fail_msg("%s", error.message);
        crest_poll_stop(polls[i]);
    }
    crest_testing_mark_free(mark);
    crest_registry_free(registry);
}

static void test_limit(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    crest_gauge *gauge = fixture_gauge(registry, "g");
    static crest_poll *polls[CREST_POLLS_MAX];
    double value = 1;
    crest_status status;
    for (size_t i = 0; i < CREST_POLLS_MAX; i++)
        assert_non_null(polls[i] = crest_gauge_poll(gauge, polls_double, &value, NULL, NULL));
    assert_null(crest_gauge_poll(gauge, polls_double, &value, NULL, &status));
    assert_int_equal(status, CREST_LIMIT);
    crest_snapshot_free(polls_look(registry, polls[CREST_POLLS_MAX - 1]));
    crest_poll_stop(polls[0]);
    polls[0] = crest_gauge_poll(gauge, polls_double, &value, NULL, &status);
    assert_int_equal(status, CREST_OK);
    for (size_t i = 0; i < CREST_POLLS_MAX; i++)
        assert_int_equal(crest_poll_stop(polls[i]), CREST_OK);
    crest_registry_free(registry);
}

static void test_memory(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    crest_gauge *gauge = fixture_gauge(registry, "g");
    double value = 1;
    crest_poll *poll = NULL;
    for (unsigned long i = 1; poll == NULL && i < 10; i++) {
        crest_status status;
        crest_alloc_fail_after(i);
        poll = crest_gauge_poll(gauge, polls_double, &value, NULL, &status);
        crest_alloc_fail_after(0);
        assert_int_equal(status, poll ? CREST_OK : CREST_NO_MEMORY);
        assert_true(poll == NULL || i > 1);
    }
    assert_int_equal(crest_poll_stop(poll), CREST_OK);
    crest_registry_free(registry);
}

static void polls_look_round(void *context)
{
    sigset_t blocked;
    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    int open = 0;
    for (int number = 1; number <= SIGRTMAX; number++) {
        int kept_by_libc =
            number == SIGKILL || number == SIGSTOP || (number > SIGSYS && number < SIGRTMIN);
        open += !kept_by_libc && sigismember(&blocked, number) == 0;
    }
    *(int *)context = open;
}

/* The thread comes with the first poll and goes with the last. */
static void test_thread(void **state)
{
    (void)state;
    assert_true(poll_wait_threads(0));
    int open = -1;
    crest_poll_options often = {.interval_ms = 10};
    crest_poll *first = crest_poll_every("first", polls_look_round, &open, &often, NULL);
    crest_poll *second = crest_poll_every("second", polls_nothing, NULL, &often, NULL);
    assert_true(poll_wait_calls(first, 1));
    assert_int_equal(poll_threads(), 1);
    assert_int_equal(crest_poll_stop(first), CREST_OK);
    assert_int_equal(open, 0);
    assert_true(poll_wait_calls(second, poll_state(second).calls + 2));
    assert_int_equal(crest_poll_stop(second), CREST_OK);
    assert_true(poll_wait_threads(0));
    assert_int_equal(crest_poll_stop(second), CREST_NOT_FOUND);
    assert_int_equal(crest_poll_stop(NULL), CREST_OK);
}

/* Freeing a registry ends the calls; the polls still need to be stopped. */
static void test_registry_freed(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL), *other = fixture_registry(NULL);
    crest_gauge *gauge = fixture_gauge(registry, "g");
    double value = 1;
    crest_poll_options often = {.interval_ms = 10};
    crest_poll *polls[] = {
        crest_gauge_poll(gauge, polls_double, &value, NULL, NULL),
        crest_gauge_poll(gauge, polls_double, &value, &often, NULL),
        crest_gauge_poll(fixture_gauge(other, "g"), polls_double, &value, &often, NULL),
    };
    assert_true(poll_wait_calls(polls[1], 1));
    crest_registry_free(registry);
    while (poll_state(polls[1]).running)
        poll_sleep_ms(1);
    uint64_t calls[] = {poll_state(polls[0]).calls, poll_state(polls[1]).calls,
                        poll_state(polls[2]).calls};
    assert_true(poll_wait_calls(polls[2], calls[2] + 3));
    assert_int_equal(poll_state(polls[0]).calls, calls[0]);
    assert_int_equal(poll_state(polls[1]).calls, calls[1]);
    for (size_t i = 0; i < LENGTH(polls); i++)
        assert_int_equal(crest_poll_stop(polls[i]), CREST_OK);
    crest_registry_free(other);
    assert_true(poll_wait_threads(0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gauge_values),
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_from_now_begins_soon),
        cmocka_unit_test(test_intervals),
        cmocka_unit_test(test_no_values),
        cmocka_unit_test(test_handles),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_limit),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_thread),
        cmocka_unit_test(test_registry_freed),
    };
    fixture_watchdog(170);
    return cmocka_run_group_tests_name("polls", tests, NULL, NULL);
}
