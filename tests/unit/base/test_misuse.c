/* SPDX-License-Identifier: Apache-2.0 */
/*
 * misuse.h: every cause is a series from load on, counted each time, and told once.
 */
#include "base/misuse.h"
#include "support/core_fixture.h"

/* Declared wrongly on purpose: what constructors refuse is counted before there is a log. */
CREST_COUNTER(misnamed, "Not a name!", "Refused at load.");

#define LABEL_OF(name, label, text) label,
static const char *const labels[] = {CREST_MISUSE_TABLE(LABEL_OF)};

static uint64_t exported(int cause)
{
    crest_snapshot *snapshot = fixture_snapshot(NULL);
    uint64_t value = fixture_series(snapshot, "crest.misuse", labels[cause]).counter;
    crest_snapshot_free(snapshot);
    return value;
}

typedef struct told {
    unsigned times;
    char last[CREST_ERROR_BYTES];
} told;

static void tell(crest_log_level level, const char *message, void *context)
{
    told *t = context;
    t->times += level == CREST_LOG_WARNING;
    snprintf(t->last, sizeof t->last, "%s", message);
}

/* The first of each cause waits until somebody listens. */
static void test_told_once(void **state)
{
    (void)state;
    told t = {0, ""};
    assert_int_equal(exported(CREST_MISUSE_NAME), 1);
    crest_misuse_tell();
    crest_log_to(tell, &t);
    assert_int_equal(t.times, 0); /* never from the call */
    crest_misuse_tell();
    assert_int_equal(t.times, 1);
    assert_non_null(strstr(t.last, "Not a name!"));
    assert_non_null(strstr(t.last, "crest_misuse_total{cause=\"invalid-name\"}"));
    crest_counter_inc(&misnamed);
    crest_misuse_tell();
    assert_int_equal(t.times, 1);
    assert_int_equal(exported(CREST_MISUSE_NAME), 2);
    crest_log_to(NULL, NULL);
}

/* One cause does not take the room of the others, nor does one case come twice. */
static void test_bounded(void **state)
{
    (void)state;
    told t = {0, ""};
    char what[32];
    crest_log_to(tell, &t);
    crest_misuse_explain(CREST_MISUSE_PROBE, "explained", "for a reason");
    crest_misuse_tell();
    assert_int_equal(t.times, 1);
    assert_non_null(strstr(t.last, "(first seen on 'explained'): for a reason. Told once"));
    uint64_t before = crest_misuse_value(CREST_MISUSE_PROBE);
    crest_misuse_count(CREST_MISUSE_PROBE, "explained");
    crest_misuse_tell();
    assert_int_equal(t.times, 1);
    for (int i = 0; i < 100; i++) {
        snprintf(what, sizeof what, "case %d", i % 50);
        crest_misuse_count(CREST_MISUSE_PROBE, what);
    }
    crest_misuse_tell();
    assert_int_equal(t.times, CREST_MISUSE_CASES);
    assert_int_equal(crest_misuse_value(CREST_MISUSE_PROBE), before + 101);
    crest_log_to(NULL, NULL);
}

static void test_each_cause(void **state)
{
    (void)state;
    told t = {0, ""};
    static char longest[1000];
    memset(longest, 'w', sizeof longest - 1);
    for (int cause = 0; cause < CREST_MISUSE_COUNT; cause++) {
        uint64_t before = crest_misuse_value((crest_misuse)cause);
        crest_misuse_count((crest_misuse)cause, cause % 2 ? NULL : longest);
        crest_misuse_count((crest_misuse)cause, cause % 2 ? NULL : longest);
        assert_int_equal(crest_misuse_value((crest_misuse)cause), before + 2);
        assert_int_equal(exported(cause), before + 2);
    }
    crest_log_to(tell, &t);
    crest_misuse_tell();
    crest_misuse_tell();
    assert_int_equal(t.times, CREST_MISUSE_COUNT - 1); /* a probe's cases are full, see above */
    crest_log_to(NULL, NULL);
}

static void test_of_status(void **state)
{
    (void)state;
    static const struct {
        crest_status status;
        crest_misuse cause;
    } pairs[] = {
        {CREST_INVALID_LABEL, CREST_MISUSE_LABEL},     {CREST_TYPE_CLASH, CREST_MISUSE_TYPE_CLASH},
        {CREST_NAME_CLASH, CREST_MISUSE_NAME_CLASH},   {CREST_LIMIT, CREST_MISUSE_LIMIT},
        {CREST_NO_MEMORY, CREST_MISUSE_NO_MEMORY},     {CREST_ABI_MISMATCH, CREST_MISUSE_ABI},
        {CREST_NOT_FOUND, CREST_MISUSE_LATE},          {CREST_MISMATCH, CREST_MISUSE_MISMATCH},
        {CREST_NOT_RUNNING, CREST_MISUSE_NOT_RUNNING}, {CREST_NEGATIVE, CREST_MISUSE_NEGATIVE},
        {CREST_INVALID_OPTIONS, CREST_MISUSE_OPTIONS}, {CREST_INVALID_NAME, CREST_MISUSE_NAME},
        {CREST_INVALID_TEXT, CREST_MISUSE_TEXT},
    };
    for (size_t i = 0; i < LENGTH(pairs); i++)
        assert_int_equal(crest_misuse_of(pairs[i].status), pairs[i].cause);
}

static void *count_misuse(void *unused)
{
    for (int i = 0; i < 10000; i++)
        crest_misuse_count((crest_misuse)(i % CREST_MISUSE_COUNT), "at once");
    return unused;
}

static void test_counted_at_once(void **state)
{
    (void)state;
    uint64_t before = 0, after = 0;
    for (int cause = 0; cause < CREST_MISUSE_COUNT; cause++)
        before += crest_misuse_value((crest_misuse)cause);
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, count_misuse, NULL), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    for (int cause = 0; cause < CREST_MISUSE_COUNT; cause++)
        after += crest_misuse_value((crest_misuse)cause);
    assert_int_equal(after - before, 40000);
}

/* By a value of the family's label, or by a handle of it: the counts go on, and stay exported. */
static void test_lasts(void **state)
{
    (void)state;
    crest_metric_options options = {.name = "crest.misuse"};
    crest_label label = {"cause", "limit"};
    crest_status status;
    crest_counter *limit = crest_counter_labelled(NULL, &options, &label, 1, &status);
    uint64_t before = crest_misuse_value(CREST_MISUSE_LIMIT);
    if (status == CREST_OK)
        assert_int_equal(crest_counter_release(limit), CREST_INVALID_ARGUMENT);
    assert_int_equal(crest_retire(NULL, "cause", "limit"), 0);
    crest_misuse_count(CREST_MISUSE_LIMIT, NULL);
    assert_int_equal(crest_misuse_value(CREST_MISUSE_LIMIT), before + 1);
    assert_int_equal(exported(CREST_MISUSE_LIMIT), before + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_told_once), cmocka_unit_test(test_bounded),
        cmocka_unit_test(test_each_cause), cmocka_unit_test(test_of_status),
        cmocka_unit_test(test_counted_at_once), cmocka_unit_test(test_lasts),
    };
    return cmocka_run_group_tests_name("misuse", tests, NULL, NULL);
}
