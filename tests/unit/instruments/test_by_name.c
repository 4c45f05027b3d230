/* SPDX-License-Identifier: Apache-2.0 */
/*
 * <crest/by_name.h>: literal names, names at run time, and what must not be mixed up.
 */
#include "base/arena.h"
#include "support/core_fixture.h"
#include "base/misuse.h"

#include <crest/by_name.h>

#ifdef __clang__
#pragma clang diagnostic ignored "-Wstring-plus-int" /* a name may be the end of a literal */
#endif

/* Two names through one function that is inlined: two metrics. */
static inline __attribute__((always_inline)) void count_as(const char *name)
{
    crest_increment_counter(name);
}

#define COUNT_LITERAL(name) crest_increment_counter(name)

static void test_each_kind(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        crest_increment_counter("literal.events");
        crest_increment_counter_by("literal.events", 10);
        crest_set_gauge("literal.level", 5);
        crest_increment_gauge("literal.level", 2);
        crest_decrement_gauge("literal.level", 3.5);
        crest_record("literal.size", 100);
        crest_record_n("literal.size", 200, 2);
        crest_timing timing = crest_timer_start_by_name("literal.wait-time", crest_op_u64(1));
        assert_int_equal(crest_timing_stop(&timing, crest_op_u64(1)), CREST_OK);
    }
    crest_snapshot *snapshot = fixture_snapshot(NULL);
    assert_int_equal(fixture_series(snapshot, "literal.events", NULL).counter, 33);
    assert_true(fixture_series(snapshot, "literal.level", NULL).gauge == 3.5);
    const crest_distribution *sizes = fixture_series(snapshot, "literal.size", NULL).distribution;
    assert_int_equal(crest_distribution_count(sizes), 9);
    assert_int_equal(crest_distribution_sum(sizes), 1500);
    assert_int_equal(
        crest_distribution_count(fixture_series(snapshot, "literal.wait-time", "ok").distribution),
        3);
    crest_snapshot_free(snapshot);
}

static void test_keyed(void **state)
{
    (void)state;
    crest_op op = crest_op_text("a block"), other = crest_op_text("another");
    for (int i = 0; i < 3; i++) {
        assert_int_equal(crest_timer_begin_by_name("keyed.fetch-time", op), CREST_OK);
        assert_int_equal(crest_timer_begin_by_name("keyed.fetch-time", op), CREST_ALREADY);
        assert_int_equal(crest_timer_end_by_name("keyed.fetch-time", other, CREST_OUTCOME_OK),
                         CREST_NOT_FOUND);
        const char *name = "keyed.fetch-time"; /* the same operation by another site */
        assert_int_equal(crest_timer_end_by_name(name, op, CREST_OUTCOME_ERROR), CREST_OK);
        assert_int_equal(crest_timer_end_by_name(name, op, CREST_OUTCOME_ERROR), CREST_NOT_FOUND);
    }
    crest_source *source = crest_source_get("keyed");
    assert_int_equal(crest_timer_begin_by_name_in(source, "fetch-time", op), CREST_OK);
    assert_int_equal(crest_timer_end_by_name_in(source, "fetch-time", op, CREST_OUTCOME_ERROR),
                     CREST_OK);
    crest_snapshot *snapshot = fixture_snapshot(NULL);
    crest_series_view view = fixture_series(snapshot, "keyed.fetch-time", "error");
    assert_int_equal(crest_distribution_count(view.distribution), 4);
    crest_snapshot_free(snapshot);
    crest_increment_counter("keyed.events");
    assert_int_equal(crest_timer_begin_by_name("keyed.events", op), CREST_TYPE_CLASH);
    assert_int_equal(crest_timer_end_by_name("keyed.events", op, CREST_OUTCOME_OK),
                     CREST_TYPE_CLASH);
}

static void test_names_at_run_time(void **state)
{
    (void)state;
    char name[] = "run.time-a";
    for (int i = 0; i < 26; i++) {
        name[sizeof name - 2] = (char)('a' + i);
        for (int times = 0; times <= i; times++)
            crest_increment_counter(name);
    }
    for (int i = 0; i < 26; i++) {
        name[sizeof name - 2] = (char)('a' + i);
        assert_int_equal(crest_counter_value(crest_counter_by_name(name)), i + 1);
    }
    static const char *const constant = "run.constant";
    crest_increment_counter(constant);
    crest_increment_counter(constant);
    assert_int_equal(crest_counter_value(crest_counter_by_name("run.constant")), 2);
}

static void test_names_are_not_mixed(void **state)
{
    (void)state;
    for (int i = 0; i < 5; i++) {
        count_as("mixed.a");
        count_as("mixed.b");
        COUNT_LITERAL("mixed.c");
        COUNT_LITERAL("mixed.d");
        /* begins like a literal and is none */
        crest_increment_counter("xmixed.e" + (i >= 0));
        for (int other = 0; other < 2; other++)
            crest_increment_counter("mixed.f\0mixed.g" + other * 8);
    }
    static const char *const names[] = {"mixed.a", "mixed.b", "mixed.c", "mixed.d",
                                        "mixed.e", "mixed.f", "mixed.g"};
    for (size_t i = 0; i < LENGTH(names); i++)
        if (crest_counter_value(crest_counter_by_name(names[i])) != 5)
            fail_msg("%s: %llu", names[i],
                     (unsigned long long)crest_counter_value(crest_counter_by_name(names[i])));
}

/* The functions behind the macros, as callers from other languages see them. */
static void test_functions(void **state)
{
    (void)state;
    void (*count)(const char *) = crest_increment_counter;
    void (*set)(const char *, double) = crest_set_gauge;
    void (*record)(const char *, int64_t, uint64_t) = crest_record_n;
    count("function.events");
    count("function.events");
    set("function.level", 4);
    record("function.size", 3, 3);
    assert_int_equal(crest_counter_value(crest_counter_by_name("function.events")), 2);
    assert_true(crest_gauge_value(crest_gauge_by_name("function.level")) == 4);
}

static void test_refused(void **state)
{
    (void)state;
    crest_increment_counter("refused.events");
    uint64_t types = crest_misuse_value(CREST_MISUSE_TYPE_CLASH);
    uint64_t names = crest_misuse_value(CREST_MISUSE_NAME);
    crest_set_gauge("refused.events", 1);
    crest_record("refused.events", 1);
    assert_true(crest_misuse_value(CREST_MISUSE_TYPE_CLASH) >= types + 2);
    crest_increment_counter(NULL);
    crest_increment_counter("");
    crest_increment_counter("not a name");
    assert_true(crest_misuse_value(CREST_MISUSE_NAME) >= names + 3);
    types = crest_misuse_value(CREST_MISUSE_TYPE_CLASH);
    crest_timing timing = crest_timer_start_by_name("refused.events", crest_op_u64(1));
    assert_int_equal(crest_timing_stop(&timing, crest_op_u64(1)), CREST_TYPE_CLASH);
    assert_true(crest_misuse_value(CREST_MISUSE_TYPE_CLASH) > types);
    assert_int_equal(crest_timing_stop(&timing, crest_op_u64(1)), CREST_NOT_RUNNING);
    timing = crest_timer_start_by_name("not a name", crest_op_u64(1));
    assert_int_equal(crest_timing_stop(&timing, crest_op_u64(1)), CREST_INVALID_NAME);
    assert_int_equal(crest_counter_value(crest_counter_by_name("refused.events")), 1);
}

/* A call site that could not be served tries again. */
static void test_served_later(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {

        crest_arena_fail_after(i == 0);
        for (int times = 0; times < 5; times++)
            crest_increment_counter("later.events");
        crest_arena_fail_after(0);
    }
    assert_int_equal(crest_counter_value(crest_counter_by_name("later.events")), 5);
}

#define CREATORS 4

static void *create(void *unused)
{
    for (int i = 0; i < 300; i++) {
        char name[32];
        snprintf(name, sizeof name, "created.m%d", i);
        crest_increment_counter(name);
        crest_increment_counter("created.literal");
    }
    return unused;
}

static void test_created_at_once(void **state)
{
    (void)state;
    pthread_t threads[CREATORS];
    for (int i = 0; i < CREATORS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, create, NULL), 0);
    for (int i = 0; i < CREATORS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < 300; i++) {
        char name[32];
        snprintf(name, sizeof name, "created.m%d", i);
        assert_int_equal(crest_counter_value(crest_counter_by_name(name)), CREATORS);
    }
    assert_int_equal(crest_counter_value(crest_counter_by_name("created.literal")), 300 * CREATORS);
}

static void test_limit(void **state)
{
    (void)state;
    uint64_t limit = crest_misuse_value(CREST_MISUSE_LIMIT);
    char name[32];
    unsigned made = 0;
    for (unsigned i = 0; i < CREST_BY_NAME_MAX + 10; i++) {
        snprintf(name, sizeof name, "limit.m%u", i);
        made += crest_counter_by_name(name)->handle.slot != 0;
    }
    assert_true(made < CREST_BY_NAME_MAX && made > CREST_BY_NAME_MAX - 500);
    assert_int_equal(crest_misuse_value(CREST_MISUSE_LIMIT), limit + CREST_BY_NAME_MAX + 10 - made);
    crest_increment_counter("limit.m0"); /* what is there still works */
    assert_int_equal(crest_counter_value(crest_counter_by_name("limit.m0")), 1);
    crest_increment_counter("limit.beyond");
    assert_int_equal(crest_counter_value(crest_counter_by_name("limit.beyond")), 0);
    fixture_counter(NULL, "limit.by-handle"); /* the limit is that of names alone */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_kind),
        cmocka_unit_test(test_keyed),
        cmocka_unit_test(test_names_at_run_time),
        cmocka_unit_test(test_names_are_not_mixed),
        cmocka_unit_test(test_functions),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_served_later),
        cmocka_unit_test(test_created_at_once),
        cmocka_unit_test(test_limit),
    };
    return cmocka_run_group_tests_name("by_name", tests, NULL, NULL);
}
