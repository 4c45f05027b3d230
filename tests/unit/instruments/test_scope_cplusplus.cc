/* SPDX-License-Identifier: Apache-2.0 */
/*
 * <crest/scope.h> in C++: a block that an exception leaves is timed as an error, unless it said
 * something worse than ok itself; one that runs while another exception flies is not.
 */
#include <crest/crest.h>

#include <csetjmp>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>

extern "C" {
#include <cmocka.h>
}

CREST_TIMER(thrown_time, "cc.thrown-time", "Blocks that may throw.");

static uint64_t thrown_count(const char *outcome)
{
    crest_snapshot *snapshot = crest_snapshot_take(nullptr);
    crest_series_view view;
    crest_snapshot_find(snapshot, "cc.thrown-time", &outcome, 1, &view);
    uint64_t count = crest_distribution_count(view.distribution);
    crest_snapshot_free(snapshot);
    return count;
}

enum how { RETURN, THROW, THROW_CANCELLED, CATCH_INSIDE };

static int throwing(how what, bool says)
{
    crest_outcome outcome = CREST_OUTCOME_OK;
    CREST_TIME_SCOPE(&thrown_time, crest_op_u64(what), says ? &outcome : nullptr);
    if (what == THROW_CANCELLED)
        outcome = CREST_OUTCOME_CANCELLED;
    if (what == THROW || what == THROW_CANCELLED)
        throw std::runtime_error("thrown");
    if (what == CATCH_INSIDE) {
        try {
            throw std::runtime_error("inside");
        } catch (const std::runtime_error &) {
        }
    }
    return 1;
}

static int caught(how what, bool says)
{
    try {
        return throwing(what, says);
    } catch (const std::runtime_error &) {
        return 0;
    }
}

static void test_exceptions(void **)
{
    assert_int_equal(caught(RETURN, true), 1);
    assert_int_equal(caught(CATCH_INSIDE, true), 1);
    assert_int_equal(caught(RETURN, false), 1);
    assert_int_equal(thrown_count("ok"), 3);
    assert_int_equal(thrown_count("error"), 0);
    assert_int_equal(caught(THROW, true), 0);
    assert_int_equal(caught(THROW, false), 0);
    assert_int_equal(thrown_count("error"), 2);
    assert_int_equal(caught(THROW_CANCELLED, true), 0);
    assert_int_equal(thrown_count("cancelled"), 1);
    assert_int_equal(thrown_count("ok"), 3);
}

/* Its destructor runs while an exception flies, but no exception leaves its block. */
struct cleans_up {
    ~cleans_up() { caught(RETURN, true); }
};

static void test_during_another(void **)
{
    uint64_t fine = thrown_count("ok"), errors = thrown_count("error");
    try {
        cleans_up object;
        throw std::runtime_error("flies");
    } catch (const std::runtime_error &) {
    }
    assert_int_equal(thrown_count("ok"), fine + 1);
    assert_int_equal(thrown_count("error"), errors);
}

static void test_two_and_nested(void **)
{
    uint64_t fine = thrown_count("ok"), errors = thrown_count("error");
    try {
        CREST_TIME_SCOPE(&thrown_time, crest_op_u64(1), nullptr);
        CREST_TIME_SCOPE(&thrown_time, crest_op_u64(2), nullptr);
        for (int i = 0; i < 3; i++) {
            CREST_TIME_SCOPE(&thrown_time, crest_op_u64(3), nullptr);
            if (i == 1)
                continue;
            if (i == 2)
                throw std::runtime_error("from inside");
        }
    } catch (const std::runtime_error &) {
    }
    assert_int_equal(thrown_count("ok"), fine + 2);
    assert_int_equal(thrown_count("error"), errors + 3);
}

int main()
{
    const CMUnitTest tests[] = {
        cmocka_unit_test(test_exceptions),
        cmocka_unit_test(test_during_another),
        cmocka_unit_test(test_two_and_nested),
    };
    return cmocka_run_group_tests_name("scope_cplusplus", tests, nullptr, nullptr);
}
