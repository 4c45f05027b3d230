/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options that somebody else carries out: crest_start lets them pass once their name is known, and
 * who knows it reads them as crest_start would.
 */
#define _GNU_SOURCE
#include "base/alloc.h"
#include "support/core_fixture.h"
#include "run/options.h"

static int names_setup(void **state)
{
    (void)state;
    return unsetenv("CREST_OPTS");
}

/* First of all: the names that the other tests add are known for good. */
static void test_unknown(void **state)
{
    (void)state;
    crest_error error;
    assert_int_equal(crest_start("runtime=on", &error), CREST_INVALID_OPTIONS);
    assert_non_null(strstr(error.message, "there is no option \"runtime\""));
}

static void test_pass(void **state)
{
    (void)state;
    crest_error error;
    assert_int_equal(crest_option_name_add("runtime"), CREST_OK);
    assert_int_equal(crest_option_name_add("runtime"), CREST_OK);
    setenv("CREST_OPTS", "runtime.b-c.d=2", 1);
    assert_int_equal(crest_start("windows=off,runtime=on,runtime.a=1", &error), CREST_OK);
    assert_int_equal(crest_stop(1000, &error), CREST_OK);
    static const struct {
        const char *options, *part;
    } cases[] = {
        {"runtimes=on", "Did you mean \"runtime\"?"},
        {"runtime@lan=on", "only reporters can be several"},
        {"runtime.=1", "there is no option \"runtime.\""},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        assert_int_equal(crest_start(cases[i].options, &error), CREST_INVALID_OPTIONS);
        if (strstr(error.message, cases[i].part) == NULL)
            fail_msg("\"%s\" is not in: %s", cases[i].part, error.message);
    }
}

static void test_read(void **state)
{
    (void)state;
    crest_options *options;
    crest_error error;
    assert_int_equal(crest_options_read(NULL, &options, &error), CREST_OK);
    assert_null(crest_option(options, "service"));
    crest_options_free(options);
    setenv("CREST_OPTS", "runtime.a=env, instance='${PID}, x'", 1);
    assert_int_equal(
        crest_options_read("runtime=on,runtime.a=code,instance=i,nobody.knows=1", &options, NULL),
        CREST_OK);
    assert_string_equal(crest_option(options, "runtime"), "on");
    assert_string_equal(crest_option_origin(options, "runtime"),
                        "in the string given to crest_start");
    assert_string_equal(crest_option(options, "runtime.a"), "env");
    assert_string_equal(crest_option_origin(options, "runtime.a"), "in CREST_OPTS");
    assert_string_equal(crest_option(options, "nobody.knows"), "1");
    char instance[32];
    snprintf(instance, sizeof instance, "%ld, x", (long)getpid());
    assert_string_equal(crest_option(options, "instance"), instance);
    crest_options_free(options);
    crest_options_free(NULL);
    setenv("CREST_OPTS", "instance='x", 1);
    assert_int_equal(crest_options_read("runtime=on", &options, &error), CREST_INVALID_OPTIONS);
    assert_null(options);
    assert_non_null(strstr(error.message, "in CREST_OPTS"));
}

static void test_no_memory(void **state)
{
    (void)state;
    unsigned long fail = 1;
    crest_options *options;
    for (crest_status status = CREST_NO_MEMORY; status != CREST_OK && fail < 100; fail++) {
        crest_error error;
        crest_alloc_fail_after(fail);
        status = crest_options_read("a=1,b=2", &options, &error);
        crest_alloc_fail_after(0);
        if (status == CREST_OK)
            crest_options_free(options);
        else
            assert_int_equal(status, CREST_NO_MEMORY);
        assert_true(status == CREST_OK || options == NULL);
    }
    assert_in_range(fail, 5, 99);
}

/* Last: it leaves no room. */
static void test_names(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "", "Big", "a.b", "a b", "a@b", "a_b", "pushgateway", "123456789012345678901234567890123"};
    assert_int_equal(crest_option_name_add(NULL), CREST_INVALID_ARGUMENT);
    for (size_t i = 0; i < LENGTH(bad); i++)
        assert_int_equal(crest_option_name_add(bad[i]), CREST_INVALID_ARGUMENT);
    assert_int_equal(crest_option_name_add("12345678901234567890123456789012"), CREST_OK);
    unsigned added = 2;
    for (char name[] = "other-a"; crest_option_name_add(name) == CREST_OK; name[6]++)
        assert_true(++added <= CREST_OPTION_NAMES_MAX);
    assert_int_equal(added, CREST_OPTION_NAMES_MAX);
    assert_int_equal(crest_option_name_add("one-more"), CREST_LIMIT);
    assert_int_equal(crest_option_name_add("runtime"), CREST_OK);
    const char *keys[2 * CREST_OPTION_NAMES_MAX];
    assert_int_equal(crest_option_name_keys(keys), 2 * CREST_OPTION_NAMES_MAX);
    assert_string_equal(keys[0], "runtime");
    assert_string_equal(keys[1], "runtime.");
    crest_error error;
    assert_int_equal(crest_start("windows=off,other-a=1,other-b.c=2", &error), CREST_OK);
    assert_int_equal(crest_stop(1000, &error), CREST_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_unknown, names_setup),
        cmocka_unit_test_setup(test_pass, names_setup),
        cmocka_unit_test_setup(test_read, names_setup),
        cmocka_unit_test_setup(test_no_memory, names_setup),
        cmocka_unit_test_setup(test_names, names_setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
