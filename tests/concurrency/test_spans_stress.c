/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Spans under load: threads that record, start and end span timings, are born and end; tracing that
 * is set anew, flushed and read meanwhile. In the end each offered span has exactly one fate, and
 * each timer has counted all of its records. And forks: a child has no spans of its parent's.
 */
#include "support/span_fixture.h"

#include <sys/wait.h>

#define THREADS 4u
#define ROUNDS 20u
#define RECORDS (FIXTURE_SANITIZED ? 400u : 4000u)

CREST_TIMER(stress_root, "stress.root", "A root.");
CREST_TIMER(stress_child, "stress.child", "A child.");
CREST_SPAN_KEY(stress_key, "number");
CREST_SPAN_KEY(stress_text, "text");

static uint64_t stress_next, stress_stop;

static void one_operation(uint64_t number)
{
    crest_op op = crest_op_u64x2(number, 77);
    crest_span_timing root, child;
    crest_timer_start_under(&stress_root, op, NULL, &root);
    crest_span_context context = crest_span_timing_context(&root);
    crest_timer_start_under(&stress_child, op, &context, &child);
    crest_span_set_i64(&child, &stress_key, (int64_t)(number << 33));
    crest_span_set_text(&child, &stress_text, "some text of more than one slot, and then some more",
                        (size_t)number % 50);
    crest_span_end(&child, op, CREST_OUTCOME_OK);
    crest_timer_record_op(&stress_child, (int64_t)(1 + number % 1000), CREST_OUTCOME_OK, &op);
    crest_span_end(&root, op, number % 97 == 0 ? CREST_OUTCOME_ERROR : CREST_OUTCOME_OK);
}

static void *recorder(void *unused)
{
    (void)unused;
    for (unsigned i = 0; i < RECORDS; i++)
        one_operation(__atomic_add_fetch(&stress_next, 1, __ATOMIC_RELAXED));
    return NULL;
}

static void *meddler(void *unused)
{
    (void)unused;
    for (unsigned i = 0; !__atomic_load_n(&stress_stop, __ATOMIC_ACQUIRE); i++) {
        crest_spans_settings settings = {.spans = "stress.*", .rate = 100000};
        settings.sample = i % 3 == 0 ? 1 : 0.1;
        settings.per_op = i % 2 == 0 ? 2 : 512;
        fixture_equal(crest_spans_set(&settings, NULL), CREST_OK);
        crest_spans_flush(i % 4 == 0);
        crest_span_totals totals = crest_spans_totals();
        fixture_holds(totals.offered >= totals.dropped_full);
    }
    return NULL;
}

/* The count of a timer's outcome. */
static uint64_t counted(const char *name, const char *outcome)
{
    crest_testing_reading reading;
    if (crest_testing_read(NULL, NULL, &reading, NULL, name, "outcome", outcome, (char *)NULL) !=
        CREST_OK)
        return 0;
    return reading.count;
}

static void test_all_counted(void **state)
{
    (void)state;
    spans_begin(&(crest_spans_settings){.spans = "stress.*", .buffer_bytes = 4 << 20});
    pthread_t meddling;
    assert_int_equal(pthread_create(&meddling, NULL, meddler, NULL), 0);
    for (unsigned round = 0; round < ROUNDS; round++) {
        pthread_t threads[THREADS];
        for (unsigned i = 0; i < THREADS; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, recorder, NULL), 0);
        for (unsigned i = 0; i < THREADS; i++)
            fixture_join(threads[i], NULL);
    }
    __atomic_store_n(&stress_stop, 1, __ATOMIC_RELEASE);
    fixture_join(meddling, NULL);
    assert_int_equal(crest_spans_flush(1), CREST_OK);
    const uint64_t operations = (uint64_t)THREADS * ROUNDS * RECORDS;
    assert_int_equal(stress_next, operations);
    assert_int_equal(crest_spans_totals().offered, 3 * operations);
    spans_assert_whole();
    assert_int_equal(counted("stress.child", "ok"), 2 * operations);
    assert_int_equal(counted("stress.root", "ok") + counted("stress.root", "error"), operations);
    spans_end();
}

static void test_forked(void **state)
{
    (void)state;
#ifdef CREST_THREAD_SANITIZER
    print_message("skipped test_forked: ThreadSanitizer lets a child start no thread\n");
    skip();
#endif
    spans_begin(&(crest_spans_settings){.spans = "stress.*", .sample = 1});
    one_operation(UINT64_C(1) << 40);
    pid_t child = fork();
    if (child == 0) {
        crest_span_totals totals = crest_spans_totals();
        int good = totals.offered == 0 && crest_spans_flush(1) == CREST_NOT_RUNNING;
        one_operation(2);
        good = good && crest_spans_totals().offered == 0;
        /* it may trace by itself */
        crest_spans_settings settings = {.spans = "stress.*", .sample = 1};
        good = good && crest_spans_set(&settings, NULL) == CREST_OK;
        good = good && crest_span_exporter_add(&spans_exporter) == CREST_OK;
        spans_count = 0;
        one_operation(3);
        good = good && crest_spans_flush(1) == CREST_OK && spans_count == 3;
        totals = crest_spans_totals();
        _exit(good && totals.offered == 3 && totals.kept == 3 ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    crest_spans_flush(1);
    assert_int_equal(spans_count, 3);
    spans_assert_whole();
    spans_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_counted),
        cmocka_unit_test(test_forked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
