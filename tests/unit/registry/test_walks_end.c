/* SPDX-License-Identifier: Apache-2.0 */
/*
 * That each walk over a distribution comes to its end with all records, whatever the counts: past
 * 2^53 a fraction of all records no longer tells neighbours apart.
 */
#include "support/core_fixture.h"

/* More steps than any of these walks takes. */
#define WALKS_STEPS_MAX 100000u

static void walks_check(const crest_distribution *d, unsigned ticks)
{
    crest_distribution_cursor cursor = {0};
    unsigned steps = 0;
    uint64_t counted = 0, to = 0;
    double before = -1;
    while (crest_distribution_next_percentile(d, ticks, &cursor)) {
        assert_true(++steps < WALKS_STEPS_MAX);
        assert_true(cursor.quantile > before);
        before = cursor.quantile;
        counted += cursor.count;
        to = cursor.count_to;
    }
    assert_true(before >= 1);
    assert_int_equal(cursor.highest, crest_distribution_max(d));
    assert_int_equal(counted, crest_distribution_count(d));
    assert_int_equal(to, crest_distribution_count(d));
}

static void test_percentiles_of_very_many(void **state)
{
    (void)state;
    static const uint64_t many[] = {UINT64_C(1) << 20, UINT64_C(1) << 50, UINT64_C(1) << 53,
                                    UINT64_C(1) << 60, INT64_MAX};
    static const unsigned ticks[] = {1, 2, 3, 5, 100};
    for (size_t i = 0; i < LENGTH(many); i++) {
        crest_distribution *d = crest_distribution_new(NULL);
        assert_non_null(d);
        assert_int_equal(crest_distribution_record(d, 1, many[i]), CREST_OK);
        assert_int_equal(crest_distribution_record(d, 1000, 1), CREST_OK);
        for (size_t t = 0; t < LENGTH(ticks); t++)
            walks_check(d, ticks[t]);
        assert_int_equal(crest_distribution_record(d, 2, many[i]), CREST_OK);
        assert_int_equal(crest_distribution_record(d, 2000, 1), CREST_OK);
        for (size_t t = 0; t < LENGTH(ticks); t++)
            walks_check(d, ticks[t]);
        crest_distribution_free(d);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_percentiles_of_very_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
