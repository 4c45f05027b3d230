/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When reports are due: the grid, the jitter on it, the points left out, and the backoff.
 */
#include "reporting/report_schedule.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define S UINT64_C(1000000000)
#define START (1000 * S)

/* One moment on both clocks; where alignment is not tested, the wall clock stands. */
static crest_pace_time at(uint64_t now_ns)
{
    return (crest_pace_time){now_ns, 0};
}

static uint64_t next(crest_pace *pace, uint64_t now_ns)
{
    crest_pace_next(pace, at(now_ns));
    return pace->due_ns;
}

static uint64_t retry(crest_pace *pace, uint64_t now_ns, uint64_t failures)
{
    crest_pace_retry(pace, at(now_ns), failures);
    return pace->due_ns;
}

static void test_first(void **state)
{
    (void)state;
    crest_pace pace;
    crest_pace_init(&pace, NULL, at(START), 1);
    assert_int_equal(pace.interval_ns, 60 * S);
    crest_schedule schedule = {.interval_ms = 10000};
    uint64_t least = UINT64_MAX, most = 0, sum = 0;
    for (uint64_t seed = 0; seed < 1000; seed++) {
        crest_pace_init(&pace, &schedule, at(START), seed);
        uint64_t after = pace.due_ns - START;
        least = after < least ? after : least;
        most = after > most ? after : most;
        sum += after;
    }
    /* over the whole interval, evenly */
    assert_true(least < 200000000 && most < 10 * S && most > 10 * S - 200000000);
    assert_in_range(sum / 1000, 4700000000, 5300000000);
    schedule.jitter = -1;
    crest_pace_init(&pace, &schedule, at(START), 1);
    assert_int_equal(pace.due_ns, START + 10 * S);
}

static void test_grid(void **state)
{
    (void)state;
    crest_schedule schedule = {.interval_ms = 10000, .jitter = -1};
    crest_pace pace;
    crest_pace_init(&pace, &schedule, at(START), 1);
    uint64_t slot = pace.due_ns;
    /* a report takes time, but the grid stays where it is */
    for (unsigned i = 0; i < 100; i++) {
        assert_int_equal(next(&pace, slot + 3 * S), slot + 10 * S);
        slot += 10 * S;
    }
    /* points that passed meanwhile are left out */
    assert_int_equal(next(&pace, slot + 10 * S), slot + 20 * S);
    slot += 20 * S;
    assert_int_equal(next(&pace, slot + 35 * S), slot + 40 * S);
    slot += 40 * S;
    assert_int_equal(next(&pace, slot + 9999999999), slot + 10 * S);
}

static void test_jitter(void **state)
{
    (void)state;
    for (double jitter = 0; jitter <= 1; jitter += 0.25) {
        crest_schedule schedule = {.interval_ms = 10000, .jitter = jitter};
        crest_pace pace;
        crest_pace_init(&pace, &schedule, at(START), 7);
        uint64_t first = pace.due_ns, due = first, most = 0;
        uint64_t part = (uint64_t)((jitter > 0 ? jitter : 0.1) * 10e9);
        for (unsigned i = 1; i <= 1000; i++) {
            due = next(&pace, due);
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
    crest_pace_init(&exact, &schedule, at(START), 1);
    crest_pace_init(&moved, NULL, at(START), 1);
    for (uint64_t i = 0; i < sizeof backoff_s / sizeof *backoff_s; i++) {
        assert_int_equal(retry(&exact, START, i + 1), START + backoff_s[i] * S);
        for (unsigned k = 0; k < 100; k++)
            assert_in_range(retry(&moved, START, i + 1), START + backoff_s[i] * S / 2,
                            START + backoff_s[i] * S);
    }
    assert_int_equal(retry(&exact, START, UINT64_MAX), START + 60 * S);
    schedule.interval_ms = 250;
    crest_pace_init(&exact, &schedule, at(START), 1);
    assert_int_equal(retry(&exact, START, 1), START + S / 4);
}

/* A server that asked to be left alone is, and no longer than it asked. */
static void test_retry_not_before(void **state)
{
    (void)state;
    crest_schedule schedule = {.jitter = -1};
    crest_pace pace;
    crest_pace_init(&pace, &schedule, at(START), 1);
    assert_int_equal(retry(&pace, START, 1), START + S);
    crest_pace_not_before(&pace, START + S / 2);
    assert_int_equal(pace.due_ns, START + S);
    crest_pace_not_before(&pace, START + 90 * S);
    assert_int_equal(pace.due_ns, START + 90 * S);
    assert_int_equal(next(&pace, START + 90 * S), START + 120 * S);
}

/* A report that somebody asked for before its time fails: the grid stays where it is. */
static void test_retry_of_an_early_one(void **state)
{
    (void)state;
    crest_schedule schedule = {.jitter = -1};
    crest_pace pace;
    crest_pace_init(&pace, &schedule, at(START), 1);
    assert_int_equal(retry(&pace, START + S, 1), START + 2 * S);
    assert_int_equal(retry(&pace, START + 2 * S, 2), START + 4 * S);
    assert_int_equal(next(&pace, START + 4 * S), START + 60 * S);
    assert_int_equal(next(&pace, START + 60 * S), START + 120 * S);
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

/* On both clocks, the wall clock `ahead` of the other. */
static crest_pace_time both(uint64_t now_ns, uint64_t ahead_ns)
{
    return (crest_pace_time){now_ns, now_ns + ahead_ns};
}

static void test_aligned(void **state)
{
    (void)state;
    crest_schedule schedule = {.interval_ms = 60000, .jitter = -1, .align = 1};
    crest_pace pace;
    const uint64_t ahead = 1700000000 * S + 123;
    crest_pace_init(&pace, &schedule, both(START, ahead), 1);
    /* the first report too; then one a minute, whatever each takes */
    assert_int_equal((pace.due_ns + ahead) % (60 * S), 0);
    assert_in_range(pace.due_ns, START + 1, START + 60 * S);
    uint64_t slot = pace.due_ns;
    for (unsigned i = 1; i <= 100; i++) {
        crest_pace_next(&pace, both(pace.due_ns + i % 59 * S, ahead));
        assert_int_equal(pace.due_ns, slot + i * 60 * S);
    }
    crest_pace_next(&pace, both(pace.due_ns + 130 * S, ahead));
    assert_int_equal(pace.due_ns, slot + 103 * 60 * S);
    /* with jitter, it is moved behind the point by up to that part */
    schedule.jitter = 0.25;
    crest_pace_init(&pace, &schedule, both(START, ahead), 1);
    uint64_t most = 0;
    for (unsigned i = 0; i < 1000; i++) {
        uint64_t moved = (pace.due_ns + ahead) % (60 * S);
        assert_true(moved <= 15 * S);
        most = moved > most ? moved : most;
        crest_pace_next(&pace, both(pace.due_ns, ahead));
    }
    assert_true(most > 13 * S);
}

static void test_clock_steps(void **state)
{
    (void)state;
    crest_schedule schedule = {.interval_ms = 60000, .jitter = -1, .align = 1};
    crest_pace pace;
    uint64_t ahead = 1700000000 * S;
    crest_pace_init(&pace, &schedule, both(START, ahead), 1);
    uint64_t slot = pace.due_ns;
    /* slewed: the same point, where the wall clock has it now */
    ahead += S / 10;
    crest_pace_realign(&pace, both(START + S, ahead));
    assert_int_equal(pace.due_ns, slot - S / 10);
    ahead -= S / 2;
    crest_pace_realign(&pace, both(START + S, ahead));
    assert_int_equal(pace.due_ns, slot + 4 * S / 10);
    /* slewed over the point: it is due now, and not left out */
    crest_pace slewed = pace;
    uint64_t before = slewed.due_ns - S / 10;
    crest_pace_realign(&slewed, both(before, ahead + S / 5));
    assert_int_equal(slewed.due_ns, before - S / 10);
    /* set, to and fro, by an hour and by a year: the next multiple that comes */
    static const int64_t steps_s[] = {3600, -3600, 31536000, -31536000, 7, -7, 61, -61};
    for (size_t i = 0; i < sizeof steps_s / sizeof *steps_s; i++) {
        uint64_t now = START + (2 + i) * S;
        ahead += (uint64_t)steps_s[i] * S;
        crest_pace_realign(&pace, both(now, ahead));
        assert_int_equal((pace.due_ns + ahead) % (60 * S), 0);
        assert_in_range(pace.due_ns, now + 1, now + 60 * S);
    }
    /* while it is being tried again: the retry stays, and the point after it is the next one */
    crest_pace_retry(&pace, both(pace.due_ns, ahead), 1);
    uint64_t again = pace.due_ns;
    ahead -= 1000 * S;
    crest_pace_realign(&pace, both(again - S / 2, ahead));
    assert_int_equal(pace.due_ns, again);
    crest_pace_next(&pace, both(again, ahead));
    assert_int_equal((pace.due_ns + ahead) % (60 * S), 0);
    assert_in_range(pace.due_ns, again + 1, again + 60 * S);
    /* set while a report was under way: no multiple is left out but those that passed */
    crest_pace_init(&pace, &schedule, both(START, ahead), 1);
    again = pace.due_ns + S;
    ahead += 3607 * S;
    crest_pace_next(&pace, both(again, ahead));
    assert_int_equal((pace.due_ns + ahead) % (60 * S), 0);
    assert_in_range(pace.due_ns, again + 1, again + 60 * S);
    /* one that is not aligned does not care */
    schedule.align = 0;
    crest_pace_init(&pace, &schedule, both(START, ahead), 1);
    crest_pace_realign(&pace, both(START + 1, ahead + 3600 * S));
    assert_int_equal(pace.due_ns, START + 60 * S);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_first),
        cmocka_unit_test(test_grid),
        cmocka_unit_test(test_jitter),
        cmocka_unit_test(test_retry),
        cmocka_unit_test(test_check),
        cmocka_unit_test(test_aligned),
        cmocka_unit_test(test_clock_steps),
        cmocka_unit_test(test_retry_of_an_early_one),
        cmocka_unit_test(test_retry_not_before),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
