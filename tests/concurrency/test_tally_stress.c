/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pages of histograms that threads are recording into: the sum of a series never covers a record
 * that its count lacks, the count only grows and is that of the last bucket, and in the end all of
 * it is there.
 */
#include "base/atomic.h"
#include "support/page_lines_apart.h"

enum { STRESS_WRITERS = 3, STRESS_RECORDS = 10000000 };
enum { STRESS_HISTOGRAMS = 7, STRESS_VALUE = 100000 };

static crest_registry *stress_registry;
static crest_histogram *stress_histograms[STRESS_HISTOGRAMS];
static uint64_t stress_left = STRESS_WRITERS;

static void *stress_write(void *unused)
{
    for (unsigned n = 0; n < FIXTURE_TIMES(STRESS_RECORDS); n++)
        crest_histogram_record(stress_histograms[n % STRESS_HISTOGRAMS], STRESS_VALUE);
    crest_atomic_add(&stress_left, (uint64_t)-1);
    return unused;
}

/* The number behind what a line begins with, and then with a histogram's number, from there on. */
static uint64_t stress_number(const char **text, unsigned histogram, const char *rest)
{
    char start[64];
    snprintf(start, sizeof start, "\nstress_h%u_%s ", histogram, rest);
    *text = strstr(*text, start);
    assert_non_null(*text);
    *text += strlen(start);
    return strtoull(*text, NULL, 10);
}

/* Returns how many records there are. */
static uint64_t stress_look(uint64_t counts[STRESS_HISTOGRAMS])
{
    page_gathered page = {.length = 0};
    uint64_t all = 0;
    assert_int_equal(
        crest_page_write(stress_registry, CREST_FORMAT_PROMETHEUS_TEXT, page_gather, &page, NULL),
        CREST_OK);
    page_assert_lines_apart(page.text);
    const char *text = page.text;
    for (unsigned i = 0; i < STRESS_HISTOGRAMS; i++) {
        uint64_t below = stress_number(&text, i, "bucket{le=\"100000.0\"}");
        uint64_t last = stress_number(&text, i, "bucket{le=\"+Inf\"}");
        uint64_t sum = stress_number(&text, i, "sum"), count = stress_number(&text, i, "count");
        assert_int_equal(below, count);
        assert_int_equal(last, count);
        assert_true(sum % STRESS_VALUE == 0 && sum / STRESS_VALUE <= count);
        assert_true(count >= counts[i]);
        counts[i] = count;
        all += count;
    }
    free(page.text);
    return all;
}

static void test_pages_meanwhile(void **state)
{
    (void)state;
    static const double bounds[] = {1, 50000, 100000};
    const crest_buckets buckets = {bounds, LENGTH(bounds)};
    stress_registry = fixture_registry("stress");
    for (unsigned i = 0; i < STRESS_HISTOGRAMS; i++) {
        char name[16];
        snprintf(name, sizeof name, "h%u", i);
        crest_metric_options options = {.name = name, .buckets = &buckets};
        stress_histograms[i] = crest_histogram_get(stress_registry, &options, NULL);
    }
    pthread_t threads[STRESS_WRITERS];
    uint64_t counts[STRESS_HISTOGRAMS] = {0};
    for (unsigned i = 0; i < STRESS_WRITERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, stress_write, NULL), 0);
    while (crest_atomic_load(&stress_left) != 0)
        stress_look(counts);
    for (unsigned i = 0; i < STRESS_WRITERS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(stress_look(counts), STRESS_WRITERS * FIXTURE_TIMES(STRESS_RECORDS));
    for (unsigned i = 0; i < STRESS_HISTOGRAMS; i++)
        assert_in_range(counts[i], 1, STRESS_WRITERS * STRESS_RECORDS);
    crest_registry_free(stress_registry);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_pages_meanwhile)};
    return cmocka_run_group_tests_name("pages of histograms meanwhile", tests, NULL, NULL);
}
