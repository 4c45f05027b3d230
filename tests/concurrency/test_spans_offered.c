/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Far more spans than tracing keeps: two threads offer them as fast as they can, millions in all.
 * Each timer counts all of its records, each span has one fate, and tracing takes no more memory
 * than it was given, from its start on.
 */
#include "support/span_fixture.h"

#include <unistd.h>

#define THREADS 2u
#define SPANS FIXTURE_TIMES(UINT64_C(2000000))
#define MEMORY_MAX (16u << 20)

CREST_TIMER(offered_time, "offered.time", "An operation.");
CREST_SPAN_KEY(number_key, "number");
CREST_SPAN_KEY(peer_key, "peer");

static crest_status discard(crest_span_exporter *self, const crest_span_batch *batch,
                            crest_error *error)
{
    (void)error;
    *(size_t *)self->state += batch->count;
    return CREST_OK;
}

static void *offer(void *thread)
{
    uint64_t first = (uint64_t)(uintptr_t)thread * SPANS;
    for (uint64_t i = 0; i < SPANS; i++) {
        crest_op op = crest_op_u64x2(0x0ffe4ed, first + i);
        crest_span_timing timing;
        crest_timer_start_under(&offered_time, op, NULL, &timing);
        crest_span_set_i64(&timing, &number_key, (int64_t)i);
        crest_span_set_text(&timing, &peer_key, "10.0.0.7:40400", 14);
        crest_span_end(&timing, op, CREST_OUTCOME_OK);
    }
    return NULL;
}

static uint64_t resident(void)
{
    unsigned long long all, here = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%llu %llu", &all, &here), 2);
    fclose(file);
    return (uint64_t)here * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void test_millions(void **state)
{
    (void)state;
    size_t taken = 0;
    crest_span_exporter exporter = {.name = "discard", .take = discard, .state = &taken};
    pthread_t threads[THREADS];
    crest_timer_record(&offered_time, 7, CREST_OUTCOME_OK);
    uint64_t before = resident();
    assert_int_equal(
        crest_spans_set(&(crest_spans_settings){.spans = "offered.*", .sample = 1}, NULL),
        CREST_OK);
    assert_int_equal(crest_span_exporter_add(&exporter), CREST_OK);
    for (uintptr_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, offer, (void *)i), 0);
    for (unsigned i = 0; i < THREADS; i++)
        fixture_join(threads[i], NULL);
    uint64_t more = resident() - before;
    assert_int_equal(crest_spans_flush(1), CREST_OK);
    crest_span_totals totals = crest_spans_totals();
    assert_int_equal(totals.offered, THREADS * SPANS);
    assert_int_equal(totals.kept, taken);
    assert_true(taken != 0);
    spans_assert_whole();
    if (!FIXTURE_SANITIZED)
        assert_in_range(more, 0, MEMORY_MAX);
    crest_testing_reading reading;
    assert_int_equal(crest_testing_read(NULL, NULL, &reading, NULL, "offered.time", "outcome", "ok",
                                        (char *)NULL),
                     CREST_OK);
    assert_int_equal(reading.count, THREADS * SPANS + 1);
    spans_end();
    crest_span_exporter_remove(&exporter);
    print_message("%zu of %llu spans kept, %llu KiB more\n", taken,
                  (unsigned long long)totals.offered, (unsigned long long)more / 1024);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_millions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
