/* SPDX-License-Identifier: Apache-2.0 */
// crest-test: sanitizers=no timeout=600
/*
 * Work for keyed operations and their stages in profiles, and counters of functions. Under a
 * sanitizer its own frames and handlers stand between.
 */
#define _GNU_SOURCE
#include "support/profile_fixture.h"

#include "metrics/metric_inside.h"
#include "profiling/function_counters.h"
#include "profiling/sample_label.h"

#include <crest/stages.h>

CREST_TIMER(fetch_time, "worked.fetch-time", "Asked for until stored.", .deadline_ms = 30000);
CREST_STAGES(consensus, "worked.consensus", "From proposal on.", .stages = {"voted", "1/3;x", "1"});

static volatile uint64_t sink;

__attribute__((noinline)) static void burn_voting(double seconds)
{
    for (double end = thread_s() + seconds; thread_s() < end;)
        for (int i = 0; i < 20000; i++)
            sink += sink * (uint64_t)i;
}

__attribute__((noinline)) static void burn_third(double seconds)
{
    for (double end = thread_s() + seconds; thread_s() < end;)
        for (int i = 0; i < 20000; i++)
            sink ^= sink * (uint64_t)i;
}

__attribute__((noinline)) static void burn_fetch(double seconds)
{
    for (double end = thread_s() + seconds; thread_s() < end;)
        for (int i = 0; i < 20000; i++)
            sink ^= sink + (uint64_t)i;
}

static int start(void **state)
{
    (void)state;
    return crest_profiler_start(&(crest_profiler_options){.hz = 1000}, NULL) == CREST_OK ? 0 : -1;
}

static int stop(void **state)
{
    (void)state;
    return crest_profiler_stop(NULL) == CREST_OK ? 0 : -1;
}

/* ---- keyed operations and stages ---- */

static void *go_on_elsewhere(void *block)
{
    crest_profile_thread();
    CREST_PROFILE_STAGE(&consensus, *(crest_op *)block, 1);
    burn_third(0.15);
    crest_stages_mark(&consensus, *(crest_op *)block, 1);
    return NULL;
}

/* A block that begins on this thread and goes on on another. */
static void reach_consensus(uint64_t height)
{
    pthread_t thread;
    crest_op block = crest_op_u64(height);
    assert_int_equal(crest_stages_begin(&consensus, block), CREST_OK);
    {
        CREST_PROFILE_STAGE(&consensus, block, 0);
        burn_voting(0.15);
    }
    crest_stages_mark(&consensus, block, 0);
    pthread_create(&thread, NULL, go_on_elsewhere, &block);
    pthread_join(thread, NULL);
    assert_int_equal(crest_stages_end(&consensus, block, CREST_OUTCOME_OK), CREST_OK);
}

static void test_samples_know_the_stage(void **state)
{
    (void)state;
    crest_profile_thread();
    crest_profile *profile = begin(CREST_PROFILE_CPU);
    reach_consensus(7);
    text made = folded(profile);
    double voting = weight(&made, "[worked.consensus];[stage voted];", "burn_voting");
    double third = weight(&made, "[worked.consensus];[stage 1/3:x];", "burn_third");
    assert_true(voting > 0 && third > 0);
    assert_true(weight(&made, "burn_voting", NULL) == voting);
    assert_true(weight(&made, "burn_third", NULL) == third);
    assert_true(weight(&made, "[stage voted]", "burn_third") == 0);
    free(made.bytes);
}

static void test_the_slow_profile_has_all_threads_of_an_operation(void **state)
{
    (void)state;
    crest_profile_thread();
    reach_consensus(8);
    reach_consensus(9);
    text slow = folded(begin(CREST_PROFILE_SLOW));
    assert_true(weight(&slow, "[worked.consensus];[stage voted];", "burn_voting") > 0);
    assert_true(weight(&slow, "[worked.consensus];[stage 1/3:x];", "burn_third") > 0);
    free(slow.bytes);
    /* both parts of one block are one operation, as long as both */
    crest_profile *profile = begin(CREST_PROFILE_SLOW);
    text raw = {calloc(1, 1), 0};
    assert_int_equal(crest_profile_end(profile, NULL), CREST_OK);
    assert_int_equal(crest_profile_write(profile, CREST_PROFILE_PPROF, text_write, &raw, NULL),
                     CREST_OK);
    crest_profile_free(profile);
    assert_non_null(memmem(raw.bytes, raw.used, "\x32\x05stage", 7));
    assert_non_null(memmem(raw.bytes, raw.used, "\x32\x05voted", 7));
    free(raw.bytes);
}

static void test_a_keyed_timer_is_known(void **state)
{
    (void)state;
    crest_op request = crest_op_text("request");
    crest_profile_thread();
    crest_profile *profile = begin(CREST_PROFILE_CPU);
    assert_int_equal(crest_timer_begin(&fetch_time, request), CREST_OK);
    {
        CREST_PROFILE_WORK(&fetch_time, request);
        burn_fetch(0.1);
    }
    crest_timer_end(&fetch_time, request, CREST_OUTCOME_OK);
    {
        crest_profile_scope scope; /* stages out of range are none */
        crest_profile_work(&scope, &consensus.timer, request, 3);
        burn_fetch(0.1);
        crest_profile_leave(&scope);
        crest_profile_work(&scope, &consensus.timer, request, 1000000);
        burn_fetch(0.02);
        crest_profile_leave(&scope);
    }
    text made = folded(profile);
    assert_true(weight(&made, "[worked.fetch-time];", "burn_fetch") > 0);
    assert_true(weight(&made, "[worked.consensus];", "burn_fetch") > 0);
    assert_true(weight(&made, "[stage", NULL) == 0);
    free(made.bytes);
}

static void test_a_label_holds_both(void **state)
{
    (void)state;
    const struct crest_metric *metric = (const struct crest_metric *)0x7ffffffffff8;
    uint64_t label = crest_sample_label(metric, CREST_STAGES_MAX);
    assert_ptr_equal(crest_sample_label_metric(label), metric);
    assert_int_equal(crest_sample_label_stage(label), CREST_STAGES_MAX);
    assert_int_equal(crest_sample_label(NULL, 3), 0);
}

/* ---- counters of functions ---- */

static crest_metric_options cpu_options = {.name = "crest.profile-cpu", .unit = CREST_NANOSECONDS};

static uint64_t counted(const char *function, const char *timer, const char *kind)
{
    static const char *const keys[] = {"function", "timer", "kind"};
    const char *values[] = {function, timer, kind};
    crest_counter_family family = crest_counter_family_new(NULL, &cpu_options, keys, 3, NULL);
    return crest_counter_value(crest_counter_family_get(&family, values, 3));
}

/* Rows whose code is at addresses of no module, but for one. */
static void add_rows(unsigned first, unsigned count, uint64_t samples, uint64_t period_ns)
{
    crest_rows rows = {.row = NULL};
    for (unsigned i = 0; i < count; i++) {
        uint64_t frames[] = {(uint64_t)(uintptr_t)burn_voting + 4, 64u * (first + i),
                             (uint64_t)(uintptr_t)burn_voting + 4};
        crest_rows_add(&rows, frames, i % 2 ? 3 : 1, &(crest_row){.value = {samples, 0}});
    }
    crest_rows_modules(&rows, crest_modules_now());
    crest_function_counters_add(&rows, period_ns);
    crest_rows_free(&rows);
}

static void test_counters_add_up_and_never_go_down(void **state)
{
    (void)state;
    assert_true(crest_function_counters_make(2));
    uint64_t other = counted("other", "none", "self");
    add_rows(1, 1, 1, 10); /* too few samples for a place */
    assert_int_equal(counted("burn_voting", "none", "self"), 0);
    assert_int_equal(counted("other", "none", "self"), other + 10);
    crest_function_counters_rest();
    for (int i = 0; i < 2; i++, crest_function_counters_rest())
        add_rows(1, 1, 4, 10); /* too few for either run */
    assert_int_equal(counted("burn_voting", "none", "self"), 0);
    other += 80;
    add_rows(1, 4, 100, 10);
    assert_int_equal(counted("burn_voting", "none", "self"), 4000);
    crest_function_counters_rest(); /* it keeps its counter */
    /* a function that is in a stack twice is counted once */
    assert_int_equal(counted("burn_voting", "none", "total"), 4000);
    assert_int_equal(counted("[unknown]", "none", "total"), 2000);
    assert_int_equal(counted("other", "none", "self"), other + 10);
    for (int i = 0; i < 30; i++)
        add_rows(1, 1, 0, 10); /* it rests, and keeps its place */
    assert_int_equal(counted("burn_voting", "none", "self"), 4000);
}

static void test_a_running_profiler_counts(void **state)
{
    (void)state;
    assert_int_equal(crest_profiler_stop(NULL), CREST_OK);
    assert_int_equal(
        crest_profiler_start(&(crest_profiler_options){.hz = 1000, .counters = 51}, NULL),
        CREST_INVALID_ARGUMENT);
    assert_int_equal(
        crest_profiler_start(&(crest_profiler_options){.hz = 1000, .counters = 50}, NULL),
        CREST_OK);
    crest_profile_thread();
    uint64_t third = counted("burn_third", "worked.consensus", "self");
    for (int i = 0; i < 100 && counted("burn_third", "worked.consensus", "self") == third; i++)
        reach_consensus(100 + (uint64_t)i);
    uint64_t known = counted("burn_third", "worked.consensus", "self");
    assert_true(known > third);
    assert_true(counted("go_on_elsewhere", "worked.consensus", "total") >= known - third);
    assert_int_equal(crest_profiler_stop(NULL), CREST_OK); /* which counts what is left */
    assert_true(counted("burn_third", "worked.consensus", "self") >= known);
    assert_int_equal(crest_profiler_start(NULL, NULL), CREST_OK);
}

int main(void)
{
    alarm(580); /* a watchdog: what hangs ends with SIGALRM */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_samples_know_the_stage, start, stop),
        cmocka_unit_test_setup_teardown(test_the_slow_profile_has_all_threads_of_an_operation,
                                        start, stop),
        cmocka_unit_test_setup_teardown(test_a_keyed_timer_is_known, start, stop),
        cmocka_unit_test(test_a_label_holds_both),
        cmocka_unit_test_setup_teardown(test_counters_add_up_and_never_go_down, start, stop),
        cmocka_unit_test_setup_teardown(test_a_running_profiler_counts, start, stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
