/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The library as C++ code uses it: declarations, families, registries, names, tokens; and recording
 * in destructors of thread_local and static objects.
 */
#include <crest/by_name.h>
#include <crest/crest.h>
#include <crest/testing.h>

#include <csetjmp>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

extern "C" {
#include <cmocka.h>
}

CREST_COUNTER(events, "cc.events", "A counter.");
CREST_COUNTER(bytes, "cc.received", "A counter of bytes.", .unit = CREST_BYTES);
CREST_GAUGE(level, "cc.level", "A gauge.");
CREST_RANGE_SAMPLER(waiting, "cc.waiting", "A range sampler.", .unit = CREST_BYTES);
CREST_RANGE_SAMPLER_FAMILY(links, "cc.links", "A family.", peer);
CREST_HISTOGRAM(sizes, "cc.size", "A histogram.", .unit = CREST_BYTES);
CREST_TIMER(waits, "cc.wait-time", "A timer.", .buckets = CREST_BUCKETS_FAST);
CREST_STAGES(consensus, "cc.consensus", "Stages.", .stages = {"0", "1/3", "1"},
             .deadline_ms = 60000);
CREST_STAGES_FAMILY(replay, "cc.replay", "A family.", (.stages = {"begun", "done"}), peer);
CREST_COUNTER_FAMILY(sent, "cc.sent", "A family.", kind, peer);
CREST_TIMER_FAMILY_OPTIONS(pings, "cc.ping-time", "A family.", (.buckets = CREST_BUCKETS_SLOW),
                           peer);

CREST_REGISTRY(apart, .prefix = "apart", .labels = {{"library", "apart"}, {"x", "y"}});
namespace embedded
{
#define CREST_REGISTRY_HERE &apart
CREST_COUNTER(events, "events", "Of another registry, in a namespace.");
#undef CREST_REGISTRY_HERE
} // namespace embedded

namespace rchain
{
CREST_SOURCE("cc.rchain");
template <typename text> static void count(text name)
{
    crest_increment_counter(name);
}
static void count_literal()
{
    auto twice = [] { crest_increment_counter_by("literal", 2); };
    twice();
}
} // namespace rchain

/* Records when its thread, or the program, is torn down. */
struct at_end {
    crest_counter *counter;
    ~at_end() { crest_counter_inc(counter); }
};

CREST_COUNTER(ended, "cc.ended", "By destructors.");

static uint64_t value_of(const char *name, std::vector<const char *> values = {},
                         crest_registry *registry = nullptr)
{
    crest_snapshot *snapshot = crest_snapshot_take(registry);
    crest_series_view view;
    assert_non_null(snapshot);
    assert_int_equal(crest_snapshot_find(snapshot, name, values.data(),
                                         static_cast<unsigned>(values.size()), &view),
                     CREST_OK);
    uint64_t value = view.counter;
    if (view.kind == CREST_KIND_RANGE_SAMPLER)
        value = static_cast<uint64_t>(view.current);
    if (view.distribution != nullptr)
        value = crest_distribution_sum(view.distribution);
    crest_snapshot_free(snapshot);
    return value;
}

static void test_recording(void **)
{
    crest_counter_inc(&events);
    crest_counter_add(&bytes, 1 << 20);
    crest_gauge_set(&level, -2.5);
    crest_range_sampler_set(&waiting, 40);
    crest_range_sampler_add(&waiting, -50);
    crest_range_sampler_add(links_with("a"), 6);
    crest_increment_sampler("cc.by-name-too", 7);
    crest_sample("cc.by-name-too");
    crest_histogram_record_n(&sizes, 100, 3);
    crest_op op = crest_op_text("block");
    crest_timing timing = crest_timer_start(&waits, op);
    assert_int_equal(crest_timing_stop(&timing, crest_op_text("other")), CREST_MISMATCH);
    assert_int_equal(crest_timing_end(&timing, op, CREST_OUTCOME_ERROR), CREST_OK);
    crest_timer_record(&waits, 500, CREST_OUTCOME_TIMEOUT);
    assert_int_equal(crest_timer_begin(&waits, op), CREST_OK);
    assert_int_equal(crest_timer_end(&waits, op, CREST_OUTCOME_CANCELLED), CREST_OK);
    assert_int_equal(crest_stages_begin(&consensus, op), CREST_OK);
    assert_int_equal(crest_stages_mark(&consensus, op, 2), CREST_OK);
    assert_int_equal(crest_stages_end(&consensus, op, CREST_OUTCOME_OK), CREST_OK);
    assert_int_equal(crest_stages_end(replay_with("a"), op, CREST_OUTCOME_OK), CREST_NOT_FOUND);
    std::string peer = "10.0.0." + std::to_string(7);
    crest_counter_add(sent_with("ping", peer.c_str()), 2);
    crest_timer_record(pings_with(peer.c_str()), 40, CREST_OUTCOME_OK);
    for (int i = 0; i < 3; i++)
        crest_increment_counter("cc.by-name");
    crest_increment_counter(("cc.by-" + std::string("name")).c_str());

    assert_int_equal(value_of("cc.events"), 1);
    assert_int_equal(value_of("cc.received"), 1 << 20);
    assert_true(crest_gauge_value(&level) == -2.5);
    assert_int_equal(crest_range_sampler_value(&waiting), -10);
    assert_true(value_of("cc.waiting") == uint64_t(-10));
    assert_int_equal(value_of("cc.links", {"a"}), 6);
    assert_int_equal(value_of("cc.by-name-too"), 7);
    assert_int_equal(value_of("cc.size"), 300);
    assert_int_equal(value_of("cc.wait-time", {"timeout"}), 500);
    assert_int_equal(value_of("cc.sent", {"ping", "10.0.0.7"}), 2);
    assert_int_equal(value_of("cc.ping-time", {"10.0.0.7", "ok"}), 40);
    assert_int_equal(value_of("cc.by-name"), 4);
}

static void test_registries(void **)
{
    crest_counter_add(&embedded::events, 3);
    assert_int_equal(value_of("apart.events", {}, &apart), 3);
    assert_int_equal(value_of("apart.events", {"apart", "y"}, &apart), 3);
    crest_registry_options options;
    options.prefix = "heap";
    crest_registry *registry = crest_registry_new(&options);
    crest_metric_options metric;
    metric.name = "found";
    crest_status status;
    crest_counter *counter = crest_counter_get(registry, &metric, &status);
    assert_int_equal(status, CREST_OK);
    crest_counter_inc(counter);
    assert_int_equal(value_of("heap.found", {}, registry), 1);
    crest_registry_free(registry);
}

/* Destructors of thread_local objects come before the library's, or after: both count. */
static void test_thread_local(void **)
{
    constexpr int threads = 100;
    uint64_t before = crest_counter_value(&ended);
    for (int i = 0; i < threads; i++)
        std::thread([i] {
            if (i % 2)
                crest_counter_inc(&ended);
            static thread_local at_end last{&ended};
            last.counter = &ended;
        }).join();
    assert_int_equal(crest_counter_value(&ended) - before, threads + threads / 2);
}

/* Destroyed after main: must not crash. */
static at_end at_exit_object{&events};

/* A namespace's source is that of the calls in it. */
static void test_sources(void **state)
{
    (void)state;
    rchain::count("events");
    rchain::count(std::string("events").c_str());
    rchain::count_literal();
    crest_increment_counter("cc.plain");
    assert_int_equal(value_of("cc.rchain.events"), 2);
    assert_int_equal(value_of("cc.rchain.literal"), 2);
    assert_int_equal(value_of("cc.plain"), 1);
}

/* A callback is a lambda without captures; an overrun on a busy machine only delays its value. */
static void test_polls(void **)
{
    double held = 12.5;
    crest_poll_options options = {.name = "cc.held", .budget_ms = CREST_POLL_BUDGET_MS_MAX};
    crest_poll *poll = crest_gauge_poll(
        &level, [](void *context) { return *static_cast<double *>(context); }, &held, &options,
        nullptr);
    assert_non_null(poll);
    crest_testing_reading reading;
    do {
        assert_int_equal(crest_testing_read(nullptr, nullptr, &reading, nullptr, "cc.level",
                                            static_cast<char *>(nullptr)),
                         CREST_OK);
    } while (reading.gauge != held);
    assert_int_equal(crest_poll_stop(poll), CREST_OK);
    crest_error error;
    assert_int_equal(crest_testing_read(nullptr, nullptr, &reading, &error, "cc.Level", nullptr),
                     CREST_NOT_FOUND);
    assert_string_equal(error.message, "there is no metric cc.Level; close to it: cc.level");
}

int main()
{
    const CMUnitTest tests[] = {
        cmocka_unit_test(test_sources),      cmocka_unit_test(test_recording),
        cmocka_unit_test(test_polls),        cmocka_unit_test(test_registries),
        cmocka_unit_test(test_thread_local),
    };
    return cmocka_run_group_tests_name("cplusplus", tests, nullptr, nullptr);
}
