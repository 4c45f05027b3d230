/* SPDX-License-Identifier: Apache-2.0 */
/*
 * alloc.h: zeroed, refusing products that overflow, failing as told.
 */
#include "base/alloc.h"
#include "support/core_fixture.h"

static void test_alloc(void **state)
{
    (void)state;
    static const char zeros[1000];
    char *block = crest_alloc(10, 100);
    assert_non_null(block);
    assert_memory_equal(block, zeros, sizeof zeros);
    memset(block, 'x', sizeof zeros);
    char *larger = crest_alloc_resize(block, 200, 100);
    assert_non_null(larger);
    assert_int_equal(larger[999], 'x');
    crest_alloc_free(larger);
    crest_alloc_free(NULL);
    /* volatile: the compiler knows as well that these cannot be had */
    volatile size_t huge = SIZE_MAX, half = SIZE_MAX / 2 + 2;
    assert_null(crest_alloc_resize(NULL, half, 2));
    assert_null(crest_alloc_resize(NULL, huge, huge));
    void *none = crest_alloc(0, 0);
    assert_non_null(none);
    void *still = crest_alloc_resize(none, 0, 8);
    assert_non_null(still);
    crest_alloc_free(still);
}

static void test_text(void **state)
{
    (void)state;
    char text[] = "text";
    char *copy = crest_alloc_text(text);
    text[0] = '?';
    assert_string_equal(copy, "text");
    crest_alloc_free(copy);
    assert_null(crest_alloc_text(NULL));
}

static void test_failing(void **state)
{
    (void)state;
    crest_alloc_fail_after(2);
    void *first = crest_alloc(1, 1);
    assert_non_null(first);
    assert_null(crest_alloc(1, 1));
    assert_null(crest_alloc_resize(first, 2, 2)); /* and leaves it as it was */
    assert_null(crest_alloc_text("text"));
    crest_alloc_fail_after(0);
    void *again = crest_alloc_text("text");
    assert_non_null(again);
    crest_alloc_free(again);
    crest_alloc_free(first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_alloc),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_failing),
    };
    return cmocka_run_group_tests_name("alloc", tests, NULL, NULL);
}
