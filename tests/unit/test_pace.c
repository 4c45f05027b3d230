/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When reports are due: the grid, the jitter on it, the points left out, and the backoff.
 */
#include "pace.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define S UINT64_C(1000000000)
#define START (1000 * S)

static void test_first(void **state)
{
    (void)state;
    crest_pace pace;
    crest_pace_init(&pace, NULL, START, 1);
    assert_int_equal(pace.interval_ns, 60 * S);
    crest_schedule schedule = {.interval_ms = 10000};
    uint64_t least = UINT64_MAX, most = 0, sum = 0;
    for (uint64_t seed = 0; seed < 1000; seed++) {
        crest_pace_init(&pace, &schedule, START, seed);
        uint64_t after = crest_pace_first(&pace) - START;
        least = after < least ? after : least;
        most = after > most ? after : most;
        sum += after;
    }
    /* over the whole interval, evenly */
    assert_true(least < 200000000 && most < 10 * S && most > 10 * S - 200000000);
    assert_in_range(sum / 1000, 4700000000, 5300000000);
    schedule.jitter = -1;
    crest_pace_init(&pace, &schedule, START, 1);
    assert_int_equal(crest_pace_first(&pace), START + 10 * S);
}

static void test_grid(void **state)
{
    (void)state;
    crest_schedule schedule = {.interval_ms = 10000, .jitter = -1};
    crest_pace pace;
    crest_pace_init(&pace, &schedule, START, 1);
    uint64_t slot = crest_pace_first(&pace);
    /* a report takes time, but the grid stays where it is */
    for (unsigned i = 0; i < 100; i++) {
        uint64_t next = crest_pace_next(&pace, slot + 3 * S);
        assert_int_equal(next, slot + 10 * S);
        slot = next;
    }
    /* points that passed meanwhile are left out */
    assert_int_equal(crest_pace_next(&pace, slot + 10 * S), slot + 20 * S);
    slot += 20 * S;
    assert_int_equal(crest_pace_next(&pace, slot + 35 * S), slot + 40 * S);
    slot += 40 * S;
    assert_int_equal(crest_pace_next(&pace, slot + 9999999999), slot + 10 * S);
}

static void test_jitter(void **state)
{
    (void)state;
    for (double jitter = 0; jitter <= 1; jitter += 0.25) {
        crest_schedule schedule = {.interval_ms = 10000, .jitter = jitter};
        crest_pace pace;
        crest_pace_init(&pace, &schedule, START, 7);
        uint64_t first = crest_pace_first(&pace), due = first, most = 0;
        uint64_t part = (uint64_t)((jitter > 0 ? jitter : 0.1) * 10e9);
        for (unsigned i = 1; i <= 1000; i++) {
            due = crest_pace_next(&pace, due);
            uint64_t moved = due - (first + i * 10 * S);
            assert_true(moved <= part);
            most = moved > most ? moved : most;
        }
        assert_true(most > part * 9 / 10);
    }
}

static void test_retry(void **state)
{
    static const uint64_t backoff_s[] = {1, 2, 4, 8, 16, 32, 60, 60, 60};
    (void)state;
    crest_schedule schedule = {.jitter = -1};
    crest_pace exact, moved;
    crest_pace_init(&exact, &schedule, START, 1);
    crest_pace_init(&moved, NULL, START, 1);
    for (uint64_t i = 0; i < sizeof backoff_s / sizeof *backoff_s; i++) {
        assert_int_equal(crest_pace_retry(&exact, START, i + 1), START + backoff_s[i] * S);
        for (unsigned k = 0; k < 100; k++)
            assert_in_range(crest_pace_retry(&moved, START, i + 1), START + backoff_s[i] * S / 2,
                            START + backoff_s[i] * S);
    }
    assert_int_equal(crest_pace_retry(&exact, START, UINT64_MAX), START + 60 * S);
    schedule.interval_ms = 250;
    crest_pace_init(&exact, &schedule, START, 1);
    assert_int_equal(crest_pace_retry(&exact, START, 1), START + S / 4);
}

static void test_check(void **state)
{
    (void)state;
    static const struct {
        crest_schedule schedule;
        const char *part; /* NULL: it is good */
    } cases[] = {
        {{.interval_ms = 0}, NULL},
        {{.interval_ms = CREST_INTERVAL_MS_MIN}, NULL},
        {{.interval_ms = CREST_INTERVAL_MS_MAX, .jitter = 1}, NULL},
        {{.jitter = -7}, NULL},
        {{.interval_ms = 99}, "an interval of 99 ms is not possible: it is 100 to 86400000 ms"},
        {{.interval_ms = 86400001}, "an interval of 86400001 ms"},
        {{.jitter = 1.01}, "at most 1"},
        {{.jitter = NAN}, "at most 1"},
        {{.timeout_ms = UINT64_MAX}, "a timeout of 18446744073709551615 ms is not possible"},
    };
    assert_int_equal(crest_pace_check(NULL, NULL), CREST_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        crest_error error = {CREST_OK, ""};
        crest_status status = crest_pace_check(&cases[i].schedule, &error);
        assert_int_equal(status, cases[i].part == NULL ? CREST_OK : CREST_INVALID_ARGUMENT);
        if (cases[i].part != NULL)
            assert_non_null(strstr(error.message, cases[i].part));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_first), cmocka_unit_test(test_grid),  cmocka_unit_test(test_jitter),
        cmocka_unit_test(test_retry), cmocka_unit_test(test_check),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
