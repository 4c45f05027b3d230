/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is in flight in a registry that is freed: it leaves its place to others, and no record of it
 * comes late. One thread: to ThreadSanitizer there is nothing to see, and it takes minutes over
 * a full table.
 *
 * crest-test: sanitizers=address
 */
#include "in_flight/in_flight_table.h"
#include "in_flight/in_flight_walks.h"
#include "support/core_fixture.h"

#include <crest/stages.h>
#include <crest/testing.h>

#define FREED_SECOND UINT64_C(1000000000)

/* Refusals in a row after which there is no room anywhere. */
#define FREED_REFUSALS 4096u
#define FREED_AFTERWARDS 1000u

/* Without a deadline nothing makes room. */
static void test_room(void **state)
{
    (void)state;
    crest_registry *first = fixture_registry(NULL);
    crest_timer *timer = fixture_timer(first, "t");
    uint64_t begun = 0;
    for (unsigned refused = 0, i = 0; refused < FREED_REFUSALS; i++) {
        int ok = crest_timer_begin(timer, crest_op_u64(i)) == CREST_OK;
        refused = ok ? 0 : refused + 1;
        begun += (unsigned)ok;
    }
    assert_int_equal(begun, CREST_IN_FLIGHT_MAX / 2);
    assert_int_equal(crest_timer_in_flight(timer).count, begun);
    crest_registry_free(first);
    crest_registry *second = fixture_registry(NULL);
    timer = fixture_timer(second, "t");
    for (unsigned i = 0; i < FREED_AFTERWARDS; i++)
        assert_int_equal(crest_timer_begin(timer, crest_op_u64(i)), CREST_OK);
    crest_registry_free(second);
}

static void test_nothing_late(void **state)
{
    (void)state;
    crest_testing_clock_set(1000 * FREED_SECOND);
    crest_registry *registry = fixture_registry(NULL);
    const crest_metric_options options = {.name = "s", .stages = {"a"}, .deadline_ms = 1000};
    crest_stages *stages = crest_stages_get(registry, &options, NULL);
    for (uint64_t i = 0; i < 100; i++)
        assert_int_equal(crest_stages_begin(stages, crest_op_u64(i)), CREST_OK);
    crest_registry_free(registry);
    crest_testing_mark *mark = crest_testing_mark_take(NULL);
    crest_testing_clock_advance(10 * FREED_SECOND);
    crest_in_flight_sweep();
    crest_error error;
    if (crest_testing_grew(mark, 0, &error, "crest.late-records", NULL) != CREST_OK)
        fail_msg("%s", error.message);
    crest_testing_mark_free(mark);
    crest_testing_clock_real();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_room),
        cmocka_unit_test(test_nothing_late),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
