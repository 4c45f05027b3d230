/* SPDX-License-Identifier: Apache-2.0 */
/*
 * <crest/stages.h>: marks in and out of order, twice, never, late; what is exported; and which
 * declarations are refused.
 */
#include "base/misuse.h"
#include "clock/clock_inside.h"
#include "in_flight/in_flight_table.h"
#include "in_flight/in_flight_walks.h"
#include "support/core_fixture.h"

#define MS UINT64_C(1000000)
#define START_NS (UINT64_C(1000) * 1000 * MS)

CREST_STAGES(consensus, "test.consensus", "From proposal on.", .stages = {"0", "1/3", "1"},
             .deadline_ms = 60000);
CREST_STAGES_DECLARE(shared_stages);
CREST_STAGES_DEFINE(shared_stages, "test.shared", "In a header.", .stages = {"a", "b"});
CREST_STAGES_FAMILY(replay, "test.replay", "Replay of a block.",
                    (.stages = {"start", "done"}, .deadline_ms = 1000), peer);

static crest_stages *stages_of(crest_registry *registry, const char *name)
{
    crest_metric_options options = {.name = name, .stages = {"a", "b", "c"}, .deadline_ms = 100};
    crest_status status;
    crest_stages *stages = crest_stages_get(registry, &options, &status);
    assert_int_equal(status, CREST_OK);
    return stages;
}

/* Count and sum of one series of a snapshot. */
static void stages_are(crest_registry *registry, const char *name, const char *value,
                       uint64_t count, uint64_t sum)
{
    crest_snapshot *snapshot = fixture_snapshot(registry);
    crest_series_view view = fixture_series(snapshot, name, value);
    assert_int_equal(crest_distribution_count(view.distribution), count);
    assert_int_equal(crest_distribution_sum(view.distribution), sum);
    crest_snapshot_free(snapshot);
}

static void stages_mark_at(crest_stages *stages, crest_op op, unsigned index, uint64_t ns)
{
    crest_clock_fake(START_NS + ns);
    assert_int_equal(crest_stages_mark(stages, op, index), CREST_OK);
}

static void test_in_order(void **state)
{
    (void)state;
    crest_op block = crest_op_hex("00ff10");
    crest_clock_fake(START_NS);
    stages_are(NULL, "test.consensus.stage", "1/3", 0, 0); /* exists as zero */
    stages_are(NULL, "test.consensus.since-start", "1", 0, 0);
    assert_int_equal(crest_stages_begin(&consensus, block), CREST_OK);
    assert_int_equal(crest_stages_begin(&consensus, block), CREST_ALREADY);
    stages_mark_at(&consensus, block, 0, 10);
    stages_mark_at(&consensus, block, 1, 30);
    crest_in_flight_op op;
    assert_int_equal(crest_stages_oldest(&consensus, &op, 1), 1);
    assert_int_equal(op.stage, 1);
    assert_int_equal(op.age_ns, 30);
    assert_true(crest_op_equal(&op.op, &block));
    stages_mark_at(&consensus, block, 2, 70);
    crest_clock_fake(START_NS + 100);
    assert_int_equal(crest_stages_end(&consensus, block, CREST_OUTCOME_OK), CREST_OK);
    assert_int_equal(crest_stages_in_flight(&consensus).count, 0);
    crest_clock_fake(0);
    stages_are(NULL, "test.consensus", "ok", 1, 100);
    stages_are(NULL, "test.consensus.stage", "0", 1, 10);
    stages_are(NULL, "test.consensus.stage", "1/3", 1, 20);
    stages_are(NULL, "test.consensus.stage", "1", 1, 40);
    stages_are(NULL, "test.consensus.since-start", "0", 1, 10);
    stages_are(NULL, "test.consensus.since-start", "1/3", 1, 30);
    stages_are(NULL, "test.consensus.since-start", "1", 1, 70);
}

static void test_out_of_order(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    crest_stages *stages = stages_of(registry, "s");
    uint64_t again = crest_misuse_value(CREST_MISUSE_STAGE_AGAIN);
    uint64_t unknown = crest_misuse_value(CREST_MISUSE_STAGE);
    crest_op op = crest_op_u64(1);
    crest_clock_fake(START_NS);
    assert_int_equal(crest_stages_begin(stages, op), CREST_OK);
    stages_mark_at(stages, op, 2, 50);
    stages_mark_at(stages, op, 0, 80); /* late: the mark before it in time is c's */
    crest_clock_fake(START_NS + 85);
    assert_int_equal(crest_stages_mark(stages, op, 2), CREST_ALREADY);
    assert_int_equal(crest_stages_mark(stages, op, 3), CREST_INVALID_ARGUMENT);
    assert_int_equal(crest_stages_mark(stages, op, UINT_MAX), CREST_INVALID_ARGUMENT);
    crest_clock_fake(START_NS + 90); /* b is never marked */
    assert_int_equal(crest_stages_end(stages, op, CREST_OUTCOME_ERROR), CREST_OK);
    assert_int_equal(crest_stages_mark(stages, op, 1), CREST_NOT_FOUND);
    stages_are(registry, "s.stage", "c", 1, 50);
    stages_are(registry, "s.stage", "a", 1, 30);
    stages_are(registry, "s.stage", "b", 0, 0);
    stages_are(registry, "s.since-start", "c", 1, 50);
    stages_are(registry, "s.since-start", "a", 1, 80);
    stages_are(registry, "s", "error", 1, 90);
    assert_int_equal(crest_misuse_value(CREST_MISUSE_STAGE_AGAIN), again + 1);
    assert_int_equal(crest_misuse_value(CREST_MISUSE_STAGE), unknown + 2);
    /* a clock that steps back between two marks gives no negative gap */
    crest_clock_fake(START_NS + 100);
    assert_int_equal(crest_stages_begin(stages, op), CREST_OK);
    stages_mark_at(stages, op, 0, 140);
    stages_mark_at(stages, op, 1, 130);
    stages_are(registry, "s.stage", "b", 1, 0);
    stages_are(registry, "s.since-start", "b", 1, 40);
    crest_clock_fake(0);
    crest_registry_free(registry);
}

static void test_deadline(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    crest_stages *stages = stages_of(registry, "s");
    crest_op op = crest_op_u64(1), other = crest_op_u64(2);
    crest_clock_fake(START_NS);
    /* after a restart nothing is known of what began before */
    assert_int_equal(crest_stages_mark(stages, op, 0), CREST_NOT_FOUND);
    assert_int_equal(crest_stages_end(stages, op, CREST_OUTCOME_OK), CREST_NOT_FOUND);
    assert_int_equal(crest_stages_begin(stages, op), CREST_OK);
    assert_int_equal(crest_stages_begin(stages, other), CREST_OK);
    stages_mark_at(stages, op, 0, 10 * MS);
    crest_clock_fake(START_NS + 100 * MS);
    assert_int_equal(crest_stages_mark(stages, op, 1), CREST_TIMED_OUT);
    assert_int_equal(crest_stages_mark(stages, op, 1), CREST_TIMED_OUT);
    assert_int_equal(crest_stages_end(stages, op, CREST_OUTCOME_OK), CREST_TIMED_OUT);
    crest_in_flight_sweep();
    assert_int_equal(crest_stages_end(stages, other, CREST_OUTCOME_OK), CREST_TIMED_OUT);
    stages_are(registry, "s", "timeout", 2, 200 * MS);
    stages_are(registry, "s", "ok", 0, 0);
    stages_are(registry, "s.stage", "a", 1, 10 * MS);
    stages_are(registry, "s.stage", "b", 0, 0);
    crest_clock_fake(0);
    crest_registry_free(registry);
}

static void test_family(void **state)
{
    (void)state;
    crest_op op = crest_op_text("block");
    const char *a[] = {"a", "done"}, *b[] = {"b", "done"};
    crest_series_view view;
    assert_int_equal(crest_stages_begin(replay_with("a"), op), CREST_OK);
    assert_int_equal(crest_stages_mark(replay_with("b"), op, 1), CREST_NOT_FOUND);
    assert_int_equal(crest_stages_mark(replay_with("a"), op, 1), CREST_OK);
    crest_snapshot *snapshot = fixture_snapshot(NULL);
    assert_int_equal(crest_snapshot_find(snapshot, "test.replay.stage", a, 2, &view), CREST_OK);
    assert_int_equal(crest_distribution_count(view.distribution), 1);
    assert_string_equal(view.label_keys[1], "stage");
    assert_int_equal(crest_snapshot_find(snapshot, "test.replay.since-start", b, 2, &view),
                     CREST_OK);
    assert_int_equal(crest_distribution_count(view.distribution), 0);
    crest_snapshot_free(snapshot);
    assert_int_equal(crest_stages_end(replay_with("a"), op, CREST_OUTCOME_OK), CREST_OK);
}

static void test_page(void **state)
{
    (void)state;
    char *text = NULL;
    size_t size = 0;
    FILE *page = open_memstream(&text, &size);
    assert_int_equal(crest_prometheus_write(NULL, page), 0);
    fclose(page);
    static const char *const expected[] = {
        "\n# TYPE test_consensus_stage_seconds histogram\n",
        "\ntest_consensus_stage_seconds_bucket{stage=\"1/3\",le=\"",
        "\n# TYPE test_consensus_since_start_seconds histogram\n",
        "\ntest_consensus_seconds_count{outcome=\"ok\"} ",
        "\ntest_consensus_in_flight 0\n",
        "\ntest_consensus_oldest_seconds 0\n",
        "\ntest_replay_since_start_seconds_count{peer=\"a\",stage=\"done\"} ",
    };
    for (size_t i = 0; i < LENGTH(expected); i++)
        if (strstr(text, expected[i]) == NULL)
            fail_msg("the page has no %s:\n%s", expected[i], text);
    free(text);
}

static void test_refused(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    const struct {
        crest_metric_options options;
        crest_status status;
    } cases[] = {
        {{.name = "none"}, CREST_INVALID_ARGUMENT},
        {{.name = "twice", .stages = {"a", "b", "a"}}, CREST_INVALID_ARGUMENT},
        {{.name = "empty", .stages = {"a", ""}}, CREST_INVALID_ARGUMENT},
        {{.name = "hole", .stages = {"a", NULL, "b"}}, CREST_INVALID_ARGUMENT},
        {{.name = "bytes", .stages = {"\xff"}}, CREST_INVALID_ARGUMENT},
        {{.name = "many",
          .stages = {"1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14",
                     "15", "16", "17"}},
         CREST_INVALID_ARGUMENT},
        {{.name = "fine",
          .stages = {"1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14",
                     "15", "16"}},
         CREST_OK},
        {{.name = "fine", .stages = {"1", "2"}}, CREST_TYPE_CLASH},
        {{.name = "taken", .stages = {"a"}}, CREST_NAME_CLASH},
        {{.name = "timed", .stages = {"a"}}, CREST_TYPE_CLASH},
    };
    fixture_histogram(registry, "taken.stage");
    fixture_timer(registry, "timed");
    for (size_t i = 0; i < LENGTH(cases); i++) {
        crest_status status;
        crest_stages *stages = crest_stages_get(registry, &cases[i].options, &status);
        assert_int_equal(status, cases[i].status);
        assert_int_equal(crest_stages_begin(stages, crest_op_u64(i)),
                         status == CREST_NAME_CLASH || status == CREST_TYPE_CLASH ||
                                 status == CREST_INVALID_ARGUMENT
                             ? status
                             : CREST_OK);
    }
    crest_status status;
    crest_metric_options timer = {.name = "timer", .stages = {"a"}};
    crest_timer_get(registry, &timer, &status);
    assert_int_equal(status, CREST_INVALID_ARGUMENT);
    crest_metric_options fine = {.name = "fine"};
    crest_timer_get(registry, &fine, &status);
    assert_int_equal(status, CREST_TYPE_CLASH);
    fine.name = "fine.stage";
    crest_histogram_get(registry, &fine, &status);
    assert_int_equal(status, CREST_NAME_CLASH);
    const char *keys[] = {"stage"};
    crest_metric_options labelled = {.name = "labelled", .stages = {"a"}};
    crest_stages_family_new(registry, &labelled, keys, 1, &status);
    assert_int_equal(status, CREST_INVALID_LABEL);
    crest_registry_free(registry);
}

static void test_declared_twice(void **state)
{
    (void)state;
    crest_op op = crest_op_u64(3);
    crest_metric_options options = {.name = "test.shared", .stages = {"a", "b"}};
    crest_status status;
    crest_stages *found = crest_stages_get(NULL, &options, &status);
    assert_int_equal(status, CREST_OK);
    assert_int_equal(crest_stages_begin(&shared_stages, op), CREST_OK);
    assert_int_equal(crest_stages_mark(found, op, 0), CREST_OK);
    assert_int_equal(crest_stages_end(found, op, CREST_OUTCOME_CANCELLED), CREST_OK);
    assert_int_equal(crest_stages_end(&shared_stages, op, CREST_OUTCOME_OK), CREST_NOT_FOUND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_in_order),       cmocka_unit_test(test_out_of_order),
        cmocka_unit_test(test_deadline),       cmocka_unit_test(test_family),
        cmocka_unit_test(test_page),           cmocka_unit_test(test_refused),
        cmocka_unit_test(test_declared_twice),
    };
    return cmocka_run_group_tests_name("stages", tests, NULL, NULL);
}
