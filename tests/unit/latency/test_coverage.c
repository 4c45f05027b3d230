/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Coverage: the k-th smallest time, whatever the order of acknowledgements; deadlines; and what is
 * ignored.
 */
#include "support/core_fixture.h"
#include "support/random_numbers.h"

#include <crest/coverage.h>
#include <crest/testing.h>

CREST_REGISTRY(coverage_metrics);
#define CREST_REGISTRY_HERE &coverage_metrics
CREST_TIMER(coverage_time, "casper.block-coverage-time", "Until 99 % have it.",
            .range = CREST_RANGE_FINE);

#define COVERAGE_NOW UINT64_C(1000000000000)
#define COVERAGE_WALL UINT64_C(1700000000000000000)
#define COVERAGE_MS UINT64_C(1000000)

static crest_testing_mark *coverage_mark;

static int coverage_setup(void **state)
{
    (void)state;
    crest_testing_clock_set(COVERAGE_NOW);
    crest_testing_clock_set_wall(COVERAGE_WALL);
    coverage_mark = crest_testing_mark_take(&coverage_metrics);
    return 0;
}

static int coverage_teardown(void **state)
{
    (void)state;
    crest_testing_mark_free(coverage_mark);
    crest_testing_clock_real();
    return 0;
}

static crest_coverage *coverage_new(crest_coverage_options options)
{
    crest_error error;
    crest_coverage *coverage = crest_coverage_new(&coverage_time, &options, &error);
    if (coverage == NULL)
        fail_msg("%s", error.message);
    return coverage;
}

/* What the timer got since the test began. */
static crest_testing_reading coverage_recorded(const char *outcome)
{
    crest_testing_reading reading;
    crest_error error;
    if (crest_testing_read(NULL, coverage_mark, &reading, &error, "casper.block-coverage-time",
                           "outcome", outcome, NULL) != CREST_OK)
        memset(&reading, 0, sizeof reading); /* timeout and cancelled appear when first hit */
    return reading;
}

static uint64_t coverage_random(uint64_t *seed)
{
    *seed = random_step(*seed);
    return *seed >> 33;
}

static int coverage_compare(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

/* Against a sort of all times; acknowledgements in an order that has nothing to do with them. */
static void test_kth_smallest(void **state)
{
    (void)state;
    uint64_t seed = 7, sum = 0, rounds = 0;
    const double fractions[] = {0.01, 0.07, 0.5, 0.99, 1};
    for (unsigned nodes = 1; nodes <= 101; nodes++) {
        for (size_t f = 0; f < 5; f++) {
            crest_coverage *coverage =
                coverage_new((crest_coverage_options){.nodes = nodes, .fraction = fractions[f]});
            uint64_t times[101], sorted[101];
            unsigned order[101];
            crest_op op = crest_op_u64x2(nodes, f);
            assert_int_equal(crest_coverage_begin(coverage, op, COVERAGE_WALL), CREST_OK);
            for (unsigned i = 0; i < nodes; i++) {
                unsigned j = (unsigned)(coverage_random(&seed) % (i + 1));
                times[i] = sorted[i] = coverage_random(&seed) % 1000;
                order[i] = order[j];
                order[j] = i;
            }
            for (unsigned i = 0; i < nodes; i++)
                assert_int_equal(
                    crest_coverage_add(coverage, &op, order[i], COVERAGE_WALL + times[order[i]]),
                    CREST_OK);
            qsort(sorted, nodes, sizeof *sorted, coverage_compare);
            /* ceil(percent * nodes / 100) in integers */
            unsigned percent = (unsigned)(fractions[f] * 100 + 0.5);
            sum += sorted[(percent * nodes + 99) / 100 - 1];
            rounds++;
            assert_int_equal(coverage_recorded("ok").count, rounds);
            assert_int_equal(coverage_recorded("ok").sum, sum);
            crest_coverage_free(coverage);
        }
    }
}

/* Enough have it, but one that had it earlier says so later: within the time it is heard. */
static void test_settling(void **state)
{
    (void)state;
    crest_coverage_state now;
    crest_coverage *coverage =
        coverage_new((crest_coverage_options){.nodes = 4, .fraction = 0.5, .settle_ms = 100});
    crest_op op = crest_op_u64(1), other = crest_op_u64(2);
    crest_coverage_begin(coverage, op, COVERAGE_WALL);
    crest_coverage_begin(coverage, other, COVERAGE_WALL);
    crest_coverage_add_after(coverage, &op, 3, 900);
    crest_coverage_add_after(coverage, &op, 1, 500);
    crest_coverage_add_after(coverage, &other, 3, 900);
    crest_coverage_add_after(coverage, &other, 1, 500);
    crest_testing_clock_advance(99 * COVERAGE_MS);
    assert_int_equal(crest_coverage_add_after(coverage, &op, 0, 300), CREST_OK);
    assert_int_equal(coverage_recorded("ok").count, 0);
    crest_testing_clock_advance(1 * COVERAGE_MS);
    assert_int_equal(crest_coverage_add_after(coverage, &other, 0, 300), CREST_TIMED_OUT);
    assert_int_equal(crest_coverage_add_after(coverage, &other, 2, 950), CREST_TIMED_OUT);
    assert_int_equal(crest_coverage_add_after(coverage, &other, 2, 950), CREST_ALREADY);
    assert_int_equal(coverage_recorded("ok").count, 2);
    assert_int_equal(coverage_recorded("ok").sum, 500 + 900);
    crest_coverage_read(coverage, &now);
    assert_int_equal(now.covered, 2);
    assert_int_equal(now.decisive, 1);
    assert_int_equal(now.late, 1);
    assert_int_equal(now.repeated, 1);
    assert_int_equal(now.in_flight, 0);
    crest_coverage_free(coverage);
}

static void test_deadline(void **state)
{
    (void)state;
    crest_coverage *coverage =
        coverage_new((crest_coverage_options){.nodes = 3, .deadline_ms = 1000, .in_flight = 2});
    crest_coverage_state now;
    crest_op first = crest_op_u64(1), second = crest_op_u64(2), third = crest_op_u64(3);
    assert_int_equal(crest_coverage_begin(coverage, first, COVERAGE_WALL), CREST_OK);
    assert_int_equal(crest_coverage_begin(coverage, first, COVERAGE_WALL), CREST_ALREADY);
    assert_int_equal(crest_coverage_begin(coverage, second, COVERAGE_WALL), CREST_OK);
    assert_int_equal(crest_coverage_begin(coverage, third, COVERAGE_WALL), CREST_LIMIT);
    assert_int_equal(crest_coverage_begin(coverage, crest_op_none(), COVERAGE_WALL),
                     CREST_INVALID_ARGUMENT);
    for (unsigned node = 0; node < 2; node++)
        assert_int_equal(crest_coverage_add_after(coverage, &first, node, -5), CREST_OK);
    assert_int_equal(crest_coverage_add_after(coverage, &first, 1, 5), CREST_ALREADY);
    assert_int_equal(crest_coverage_add_after(coverage, &first, 3, 5), CREST_INVALID_ARGUMENT);
    assert_int_equal(crest_coverage_add_after(coverage, &third, 0, 5), CREST_NOT_FOUND);
    assert_int_equal(crest_coverage_cancel(coverage, &second), CREST_OK);
    assert_int_equal(crest_coverage_cancel(coverage, &second), CREST_NOT_FOUND);
    crest_testing_clock_advance(1000 * COVERAGE_MS);
    crest_coverage_read(coverage, &now);
    assert_int_equal(now.needed, 3);
    assert_int_equal(now.timed_out, 1);
    assert_int_equal(now.cancelled, 1);
    assert_int_equal(now.unknown, 2);
    assert_int_equal(coverage_recorded("ok").count, 0);
    assert_int_equal(coverage_recorded("timeout").count, 1);
    assert_int_equal(coverage_recorded("timeout").sum, 1000 * COVERAGE_MS);
    assert_int_equal(coverage_recorded("cancelled").count, 1);
    assert_int_equal(crest_coverage_add_after(coverage, &first, 2, 5), CREST_TIMED_OUT);
    /* what is over gives its place, and may begin again */
    assert_int_equal(crest_coverage_begin(coverage, third, COVERAGE_WALL), CREST_OK);
    assert_int_equal(crest_coverage_begin(coverage, second, COVERAGE_WALL), CREST_OK);
    crest_coverage_free(coverage);
    assert_int_equal(coverage_recorded("cancelled").count, 3);
}

static void test_options(void **state)
{
    (void)state;
    const crest_coverage_options bad[] = {
        {.nodes = 0},
        {.nodes = CREST_COVERAGE_NODES_MAX + 1},
        {.nodes = 1, .fraction = -0.1},
        {.nodes = 1, .fraction = 1.01},
        {.nodes = 1, .fraction = __builtin_nan("")},
        {.nodes = 1, .deadline_ms = CREST_COVERAGE_MS_MAX + 1},
        {.nodes = 1, .settle_ms = CREST_COVERAGE_MS_MAX + 1},
        {.nodes = 1, .in_flight = CREST_COVERAGE_IN_FLIGHT_MAX + 1},
    };
    crest_error error;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_null(crest_coverage_new(&coverage_time, &bad[i], &error));
        assert_int_equal(error.status, CREST_INVALID_ARGUMENT);
    }
    assert_null(crest_coverage_new(&coverage_time, NULL, NULL));
    assert_null(crest_coverage_new(NULL, &(crest_coverage_options){.nodes = 1}, NULL));
    crest_coverage_free(NULL);
}

/* Processors' clocks differ, and who begins may have looked at the time before another began: what
 * seems to lie ahead has not lasted an eternity. */
static void test_ahead(void **state)
{
    (void)state;
    crest_coverage_state now;
    crest_coverage *coverage =
        coverage_new((crest_coverage_options){.nodes = 3, .fraction = 0.5, .settle_ms = 100});
    crest_op early = crest_op_u64(1), enough = crest_op_u64(2);
    crest_coverage_begin(coverage, early, COVERAGE_WALL);
    crest_coverage_begin(coverage, enough, COVERAGE_WALL);
    crest_coverage_add_after(coverage, &enough, 0, 500);
    crest_coverage_add_after(coverage, &enough, 1, 500);
    crest_testing_clock_set(COVERAGE_NOW - 1);
    crest_coverage_begin(coverage, crest_op_u64(3), COVERAGE_WALL);
    crest_coverage_read(coverage, &now);
    assert_int_equal(now.timed_out, 0);
    assert_int_equal(now.covered, 0);
    assert_int_equal(now.in_flight, 3);
    assert_int_equal(crest_coverage_cancel(coverage, &early), CREST_OK);
    assert_int_equal(coverage_recorded("cancelled").count, 1);
    assert_int_equal(coverage_recorded("cancelled").sum, 0);
    crest_coverage_free(coverage);
}

/* What was covered in time counts, though nobody could know at the deadline that it would stay so;
 * and what is given up after it was covered. */
static void test_covered_unsettled(void **state)
{
    (void)state;
    crest_coverage_state now;
    for (int cancelled = 0; cancelled < 2; cancelled++) {
        crest_coverage *coverage = coverage_new((crest_coverage_options){
            .nodes = 4, .fraction = 0.5, .deadline_ms = 1000, .settle_ms = 10000});
        crest_op op = crest_op_u64(1);
        uint64_t before = coverage_recorded("ok").count, sum = coverage_recorded("ok").sum;
        crest_coverage_begin(coverage, op, COVERAGE_WALL);
        crest_coverage_add_after(coverage, &op, 0, 700);
        crest_testing_clock_advance(900 * COVERAGE_MS);
        crest_coverage_add_after(coverage, &op, 3, 500);
        crest_coverage_read(coverage, &now);
        assert_true(now.in_flight == 1 && now.covered == 0);
        if (cancelled)
            assert_int_equal(crest_coverage_cancel(coverage, &op), CREST_OK);
        else
            crest_testing_clock_advance(100 * COVERAGE_MS);
        crest_coverage_read(coverage, &now);
        assert_true(now.in_flight == 0 && now.covered == 1);
        assert_true(now.timed_out == 0 && now.cancelled == 0);
        assert_int_equal(coverage_recorded("ok").count, before + 1);
        assert_int_equal(coverage_recorded("ok").sum, sum + 700);
        crest_coverage_free(coverage);
    }
}

/* What comes when it is over: with a time that would have changed the result, or without. */
static void test_after_the_end(void **state)
{
    (void)state;
    crest_coverage_state now;
    crest_coverage *coverage =
        coverage_new((crest_coverage_options){.nodes = 6, .fraction = 0.5, .settle_ms = 100});
    crest_op op = crest_op_u64(1);
    crest_coverage_begin(coverage, op, COVERAGE_WALL);
    for (unsigned node = 0; node < 3; node++)
        crest_coverage_add_after(coverage, &op, node, 500);
    crest_testing_clock_advance(100 * COVERAGE_MS);
    assert_int_equal(crest_coverage_add_after(coverage, &op, 3, 500), CREST_TIMED_OUT);
    assert_int_equal(crest_coverage_add_after(coverage, &op, 4, 499), CREST_TIMED_OUT);
    assert_int_equal(crest_coverage_add_after(coverage, &op, 5, 501), CREST_TIMED_OUT);
    assert_int_equal(crest_coverage_add_after(coverage, &op, 5, 1), CREST_ALREADY);
    crest_coverage_read(coverage, &now);
    assert_true(now.late == 2 && now.decisive == 1 && now.repeated == 1 && now.unknown == 0);
    crest_coverage_free(coverage);
}

/* A place is taken over from what has been over for the longest, and nothing of that is left. */
static void test_places(void **state)
{
    (void)state;
    crest_coverage *coverage = coverage_new(
        (crest_coverage_options){.nodes = 4, .fraction = 0.5, .settle_ms = 100, .in_flight = 2});
    crest_op first = crest_op_u64(1), second = crest_op_u64(2), third = crest_op_u64(3);
    crest_coverage_begin(coverage, second, COVERAGE_WALL);
    crest_testing_clock_advance(COVERAGE_MS);
    crest_coverage_begin(coverage, first, COVERAGE_WALL);
    for (unsigned node = 2; node < 4; node++) {
        crest_coverage_add_after(coverage, &first, node, 5);
        crest_coverage_add_after(coverage, &second, node, 5);
    }
    crest_testing_clock_advance(100 * COVERAGE_MS);
    assert_int_equal(crest_coverage_begin(coverage, third, COVERAGE_WALL), CREST_OK);
    assert_int_equal(crest_coverage_add_after(coverage, &first, 0, 9), CREST_TIMED_OUT);
    assert_int_equal(crest_coverage_add_after(coverage, &second, 0, 9), CREST_NOT_FOUND);
    for (unsigned node = 0; node < 4; node++)
        assert_int_equal(crest_coverage_add_after(coverage, &third, node, 9), CREST_OK);
    crest_coverage_free(coverage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_kth_smallest, coverage_setup, coverage_teardown),
        cmocka_unit_test_setup_teardown(test_settling, coverage_setup, coverage_teardown),
        cmocka_unit_test_setup_teardown(test_covered_unsettled, coverage_setup, coverage_teardown),
        cmocka_unit_test_setup_teardown(test_after_the_end, coverage_setup, coverage_teardown),
        cmocka_unit_test_setup_teardown(test_places, coverage_setup, coverage_teardown),
        cmocka_unit_test_setup_teardown(test_deadline, coverage_setup, coverage_teardown),
        cmocka_unit_test_setup_teardown(test_ahead, coverage_setup, coverage_teardown),
        cmocka_unit_test(test_options),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
