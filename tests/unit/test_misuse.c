/* SPDX-License-Identifier: Apache-2.0 */
/*
 * misuse.h: the log is told once of each cause, and of what; counting is tested with the calls that
 * are misused.
 */
#include "core_fixture.h"
#include "misuse.h"

static char told[16384];

static void keep(crest_log_level level, const char *message, void *context)
{
    (void)context;
    assert_int_equal(level, CREST_LOG_WARNING);
    strncat(told, message, sizeof told - strlen(told) - 2);
    strcat(told, "\n");
}

static const char *tell(void)
{
    told[0] = '\0';
    crest_log_to(keep, NULL);
    crest_misuse_tell();
    crest_log_to(NULL, NULL);
    return told;
}

static void assert_told(const char *text, const char *part)
{
    if (strstr(text, part) == NULL)
        fail_msg("\"%s\" is not in \"%s\"", part, text);
}

/* The first end of a timing that is refused names the timer, where it is known. */
static void test_timings_name_their_timer(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    crest_timer *timer = fixture_timer(registry, "t.wait-time");
    crest_op op = crest_op_u64(1);
    crest_timing timing = crest_timer_start(timer, op);
    crest_timing_stop(&timing, crest_op_u64(2));
    crest_timing_end(&timing, op, CREST_OUTCOME_COUNT);
    assert_int_equal(crest_timing_stop(&timing, op), CREST_OK);
    crest_timing_stop(&timing, op);
    const char *text = tell();
    assert_told(text,
                "a timing was ended for another operation (first seen on 't.wait-time'). "
                "Told once; crest_misuse_total{cause=\"timing-mismatch\"} counts them all.\n");
    assert_told(text, "an outcome that there is not (first seen on 't.wait-time'). ");
    assert_told(text, "a timing was ended twice or never started. Told once; ");
    assert_string_equal(tell(), "");
    crest_registry_free(registry);
}

/* Settings that cannot be are not blamed on the name. */
static void test_settings_are_not_names(void **state)
{
    (void)state;
    const double falling[] = {2, 1};
    const crest_buckets buckets = {falling, 2};
    crest_metric_options options[] = {
        {.name = "s.unit", .unit = (crest_unit)77},
        {.name = "s.buckets", .buckets = &buckets},
    };
    uint64_t names = crest_misuse_value(CREST_MISUSE_NAME);
    uint64_t settings = crest_misuse_value(CREST_MISUSE_ARGUMENT);
    for (unsigned i = 0; i < LENGTH(options); i++) {
        crest_status status;
        crest_histogram_get(NULL, &options[i], &status);
        assert_int_equal(status, CREST_INVALID_ARGUMENT);
    }
    assert_int_equal(crest_misuse_value(CREST_MISUSE_NAME), names);
    assert_int_equal(crest_misuse_value(CREST_MISUSE_ARGUMENT), settings + 2);
    assert_told(tell(), "buckets or a description that cannot be (first seen on 's.unit'). ");
}

/* A name may come from anywhere: it must not make up lines of a log. */
static void test_hostile_names(void **state)
{
    (void)state;
    crest_metric_options options = {.name = "evil\n\x1b[31mERROR \xc2\x9b \xff"};
    crest_status status;
    crest_counter_get(NULL, &options, &status);
    assert_int_equal(status, CREST_INVALID_NAME);
    const char *text = tell();
    assert_told(text, "a name that is not valid (first seen on 'evil");
    assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
    assert_null(strchr(text, '\x1b'));
    assert_null(strstr(text, "\xc2\x9b"));
    assert_null(strchr(text, '\xff'));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_timings_name_their_timer),
        cmocka_unit_test(test_settings_are_not_names),
        cmocka_unit_test(test_hostile_names),
    };
    return cmocka_run_group_tests_name("misuse", tests, NULL, NULL);
}
