/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each allocation fails in turn under keyed calls, lifetimes and ticks: the status says so, nothing
 * is done by halves, and the next try succeeds as if nothing had been.
 *
 * One thread has nothing for ThreadSanitizer. crest-test: sanitizers=address
 */
#include "base/alloc.h"
#include "base/arena.h"
#include "base/misuse.h"
#include "in_flight/in_flight_entries.h"
#include "support/core_fixture.h"

#include <crest/lifetime.h>
#include <crest/stages.h>

#define MEMORY_SECOND UINT64_C(1000000000)

static const char *const memory_keys[] = {"peer"};

static void memory_fail(unsigned long after)
{
    crest_arena_fail_after(after);
    crest_alloc_fail_after(after);
}

static int memory_shows(crest_registry *registry, const char *name)
{
    crest_series_view view;
    crest_snapshot *snapshot = fixture_snapshot(registry);
    crest_status found = crest_snapshot_find(snapshot, name, NULL, 0, &view);
    crest_snapshot_free(snapshot);
    return found == CREST_OK;
}

/* What is in flight is exported after a first begin that had no memory for it, too. */
static void test_begin(void **state)
{
    (void)state;
    const crest_op op = crest_op_u64(1);
    int refused = 0;
    for (unsigned long n = 1;; n++) {
        crest_registry *registry = fixture_registry(NULL);
        crest_timer *timer = fixture_timer(registry, "t");
        crest_arena_fail_after(n);
        crest_status first = crest_timer_begin(timer, op);
        crest_arena_fail_after(0);
        assert_true(first == CREST_OK || first == CREST_NO_MEMORY);
        assert_int_equal(crest_timer_in_flight(timer).count, first == CREST_OK);
        assert_int_equal(crest_timer_begin(timer, op),
                         first == CREST_OK ? CREST_ALREADY : CREST_OK);
        if (!memory_shows(registry, "t.in-flight"))
            fail_msg("begin %lu: %s, and what is in flight is not shown", n,
                     crest_status_text(first));
        assert_int_equal(crest_timer_end(timer, op, CREST_OUTCOME_OK), CREST_OK);
        assert_int_equal(FIXTURE_READING(registry, "t", "outcome", "ok").count, 1);
        crest_registry_free(registry);
        refused += first == CREST_NO_MEMORY;
        if (first == CREST_OK && n > 40)
            break;
    }
    assert_true(refused > 1);
}

/* Entries in chains, all stripes'. */
static uint64_t memory_entries(void)
{
    const crest_in_flight_table *table = crest_in_flight_table_seen();
    uint64_t used = 0;
    for (unsigned i = 0; i < CREST_IN_FLIGHT_STRIPES; i++)
        used += table->stripe[i].used;
    return used;
}

/* What is refused for lack of memory for its owner leaves its place to others. */
static void test_begin_owned(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    crest_timer *timer = fixture_timer(registry, "t");
    for (uint64_t i = 0; i < 20; i++) {
        crest_op op = crest_op_u64(i);
        assert_int_equal(crest_timer_begin(timer, op), CREST_OK);
        assert_int_equal(crest_timer_end(timer, op, CREST_OUTCOME_OK), CREST_OK);
        uint64_t entries = memory_entries();
        crest_arena_fail_after(1);
        crest_status begun = crest_timer_begin_owned(timer, op, crest_op_u64(1));
        crest_arena_fail_after(0);
        assert_int_equal(begun, CREST_NO_MEMORY);
        assert_int_equal(memory_entries(), entries);
    }
    assert_int_equal(crest_timer_in_flight(timer).count, 0);
    crest_registry_free(registry);
}

/* Stages are released as a whole or not at all. */
static void test_release_stages(void **state)
{
    (void)state;
    unsigned refused = 0;
    for (unsigned long n = 1;; n++) {
        crest_registry *registry = fixture_registry(NULL);
        crest_metric_options options = {.name = "s", .stages = {"a", "b"}};
        crest_stages_family family =
            crest_stages_family_new(registry, &options, memory_keys, 1, NULL);
        const char *value = "v";
        crest_stages *stages = crest_stages_family_get(&family, &value, 1);
        assert_int_equal(crest_stages_begin(stages, crest_op_u64(1)), CREST_OK);
        crest_arena_fail_after(n);
        crest_status released = crest_stages_release(stages);
        crest_arena_fail_after(0);
        if (released == CREST_NO_MEMORY) {
            refused++;
            assert_int_not_equal(stages->timer.outcome[CREST_OUTCOME_OK].handle.slot, 0);
            assert_int_equal(crest_stages_release(stages), CREST_OK);
        } else {
            assert_int_equal(released, CREST_OK);
        }
        assert_int_equal(stages->timer.outcome[CREST_OUTCOME_OK].handle.slot, 0);
        crest_registry_free(registry);
        if (released == CREST_OK)
            break;
    }
    assert_true(refused > 1);
}

static void memory_pass(crest_registry *registry, unsigned seconds)
{
    for (unsigned i = 0; i < seconds; i++) {
        crest_testing_clock_advance(MEMORY_SECOND);
        assert_int_equal(crest_testing_tick(registry), CREST_OK);
        crest_snapshot_free(fixture_snapshot(registry));
    }
}

static crest_stages *memory_stages(crest_registry *registry, int labelled, crest_status *status)
{
    const char *value = "v";
    crest_metric_options options = {.name = "s", .stages = {"a", "b"}, .deadline_ms = 1000};
    if (!labelled)
        return crest_stages_get(registry, &options, status);
    crest_stages_family family =
        crest_stages_family_new(registry, &options, memory_keys, 1, status);
    return crest_stages_family_get(&family, &value, 1);
}

/* Stages that had no memory at their first try are made whole by the next one. */
static void memory_register_stages(int labelled)
{
    const crest_op op = crest_op_u64(1);
    crest_status begun = CREST_NO_MEMORY;
    unsigned long n = 0;
    while (begun != CREST_OK) {
        crest_status made;
        crest_registry *registry = fixture_registry("p");
        crest_arena_fail_after(++n);
        crest_stages *stages = memory_stages(registry, labelled, &made);
        begun = crest_stages_begin(stages, op);
        crest_arena_fail_after(0);
        assert_true(made == CREST_OK || made == CREST_NO_MEMORY);
        /* a family that is none names no reason */
        assert_true(begun == CREST_OK || begun == CREST_NO_MEMORY ||
                    (labelled && made != CREST_OK && begun == CREST_INVALID_ARGUMENT));
        stages = memory_stages(registry, labelled, &made);
        assert_int_equal(made, CREST_OK);
        assert_int_equal(crest_stages_begin(stages, op),
                         begun == CREST_OK ? CREST_ALREADY : CREST_OK);
        assert_int_equal(crest_stages_mark(stages, op, 1), CREST_OK);
        assert_int_equal(crest_stages_end(stages, op, CREST_OUTCOME_OK), CREST_OK);
        assert_int_equal(FIXTURE_READING(registry, "p.s", "outcome", "ok").count, 1);
        assert_int_equal(FIXTURE_READING(registry, "p.s.stage", "stage", "b").count, 1);
        assert_int_equal(FIXTURE_READING(registry, "p.s.since-start", "stage", "a").count, 0);
        assert_true(memory_shows(registry, "p.s.in-flight"));
        crest_registry_free(registry);
        assert_true(n < 300);
    }
    assert_true(n > 20);
}

static void test_register_stages(void **state)
{
    (void)state;
    memory_register_stages(0);
    memory_register_stages(1);
}

/* Stages that were released and are wanted again come back with all that belongs to them. */
static void test_stages_return(void **state)
{
    (void)state;
    const crest_op op = crest_op_u64(1);
    crest_testing_clock_set(MEMORY_SECOND);
    for (unsigned gone = 0; gone < 2; gone++) {
        crest_status status = CREST_NO_MEMORY;
        crest_registry *registry = fixture_registry("p");
        crest_stages *stages = memory_stages(registry, 1, &status);
        assert_int_equal(crest_stages_begin(stages, op), CREST_OK);
        assert_int_equal(crest_stages_mark(stages, op, 0), CREST_OK);
        assert_int_equal(crest_stages_end(stages, op, CREST_OUTCOME_OK), CREST_OK);
        assert_int_equal(crest_stages_release(stages), CREST_OK);
        memory_pass(registry, gone ? 130 : 5);
        unsigned long n = 0;
        while (stages->timer.handle.slot == 0) {
            crest_arena_fail_after(++n);
            memory_stages(registry, 1, &status);
            crest_arena_fail_after(0);
            assert_true(n < 100);
        }
        memory_pass(registry, 130);
        assert_int_equal(FIXTURE_READING(registry, "p.s", "outcome", "ok").count, !gone);
        assert_int_equal(FIXTURE_READING(registry, "p.s.stage", "stage", "a").count, !gone);
        assert_int_equal(FIXTURE_READING(registry, "p.s.stage", "stage", "b").count, 0);
        assert_int_equal(FIXTURE_READING(registry, "p.s.since-start", "stage", "a").count, !gone);
        assert_int_equal(crest_ticker_detach(registry), CREST_OK);
        crest_registry_free(registry);
    }
    crest_testing_clock_real();
}

/* One series of a family through what becomes of it: shown, released, brought back, gone, back,
 * retired, made anew; `what` of it without memory, and then again with. */
enum { MEMORY_RELEASE, MEMORY_REVIVE, MEMORY_RETURN, MEMORY_RETIRE, MEMORY_STEPS };

static void memory_life(int what, unsigned long n)
{
    const char *value = "v";
    crest_registry *registry = fixture_registry(NULL);
    crest_metric_options options = {.name = "f"};
    crest_timer_family family = crest_timer_family_new(registry, &options, memory_keys, 1, NULL);
    crest_timer *timer = crest_timer_family_get(&family, &value, 1);
    crest_timer_record(timer, 5, CREST_OUTCOME_OK);
    uint64_t count = 1;
    if (what != MEMORY_RELEASE && what != MEMORY_RETIRE)
        assert_int_equal(crest_timer_release(timer), CREST_OK);
    if (what == MEMORY_RETURN) {
        memory_pass(registry, 130);
        count = 0;
    }
    memory_fail(n);
    if (what == MEMORY_RELEASE) {
        crest_status status = crest_timer_release(timer);
        assert_true(status == CREST_OK || status == CREST_NO_MEMORY);
    } else if (what == MEMORY_RETIRE) {
        assert_int_equal(crest_retire(registry, "peer", "v"), 1);
        count = 0;
    }
    crest_timer *again = crest_timer_family_get(&family, &value, 1);
    assert_non_null(again);
    crest_snapshot_free(crest_snapshot_take(registry));
    crest_testing_tick(registry);
    memory_fail(0);
    again = crest_timer_family_get(&family, &value, 1);
    assert_int_not_equal(again->handle.slot, 0);
    assert_true(what == MEMORY_RETIRE ? again != timer : again == timer);
    crest_timer_record(again, 7, CREST_OUTCOME_OK);
    crest_timer_record(again, 7, CREST_OUTCOME_CANCELLED);
    assert_int_equal(FIXTURE_READING(registry, "f", "peer", "v", "outcome", "ok").count, count + 1);
    assert_int_equal(FIXTURE_READING(registry, "f", "peer", "v", "outcome", "error").count, 0);
    assert_int_equal(FIXTURE_READING(registry, "f", "peer", "v", "outcome", "cancelled").count, 1);
    memory_pass(registry, 3);
    assert_int_equal(FIXTURE_READING(registry, "f", "peer", "v", "outcome", "ok").count, count + 1);
    assert_int_equal(crest_ticker_detach(registry), CREST_OK);
    crest_registry_free(registry);
}

static void test_lives(void **state)
{
    (void)state;
    crest_testing_clock_set(MEMORY_SECOND);
    for (int what = 0; what < MEMORY_STEPS; what++)
        for (unsigned long n = 1; n <= 16; n++)
            memory_life(what, n);
    crest_testing_clock_real();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_register_stages), cmocka_unit_test(test_release_stages),
        cmocka_unit_test(test_begin_owned),     cmocka_unit_test(test_begin),
        cmocka_unit_test(test_stages_return),   cmocka_unit_test(test_lives),
    };
    return cmocka_run_group_tests_name("keyed memory", tests, NULL, NULL);
}
