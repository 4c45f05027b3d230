/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crest-test: timeout=240
 *
 * Several scrapers read the endpoint at once while threads record, come and go. What has to hold:
 * of no series does a scraper ever see less than it saw before, a distribution's parts belong
 * together, and when recording has stopped every scraper sees exactly what was recorded.
 */
#include <crest/crest.h>
#include <crest/prometheus.h>

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <time.h>

#include <cmocka.h>

#include "support/http_get.h"
#include "support/random_numbers.h"
#include "support/thread_asserts.h"

#define SCRAPERS 4
#define RECORDERS 3
#define KINDS 40
#define DURATION_MS 2500

CREST_COUNTER_FAMILY(counted, "stress.counted", "By kind.", kind);
CREST_HISTOGRAM(sizes, "stress.sizes", "Recorded beside them.");

static int stopping;
static uint64_t recorded[KINDS], sizes_recorded;

static int stress_over(void)
{
    return __atomic_load_n(&stopping, __ATOMIC_ACQUIRE);
}

/* In rounds, each by a thread of its own, so that records of threads are taken over. */
static void *stress_record(void *seed)
{
    uint64_t random = (uintptr_t)seed;
    char text[16];
    for (int i = 0; i < 5000; i++) {
        unsigned draw = (unsigned)random_next(&random);
        unsigned kind = draw >> 16 & 0xffff, amount = 1 + (draw >> 8 & 7);
        kind %= KINDS;
        snprintf(text, sizeof text, "k%u", kind);
        crest_counter_add(counted_with(text), amount);
        crest_histogram_record(&sizes, amount);
        __atomic_fetch_add(&recorded[kind], amount, __ATOMIC_RELAXED);
        __atomic_fetch_add(&sizes_recorded, 1, __ATOMIC_RELAXED);
    }
    return NULL;
}

static void *stress_recorders(void *seed)
{
    for (uintptr_t round = (uintptr_t)seed; !stress_over(); round += RECORDERS) {
        pthread_t one;
        fixture_equal(pthread_create(&one, NULL, stress_record, (void *)round), 0);
        fixture_join(one, NULL);
    }
    return NULL;
}

typedef struct stress_scraper {
    unsigned port;
    const char *headers;
    uint64_t last[KINDS], sizes;
    unsigned pages, fell, torn, failed;
} stress_scraper;

static uint64_t stress_value(const char *page, const char *name)
{
    const char *at = strstr(page, name);
    return at != NULL ? strtoull(at + strlen(name), NULL, 10) : 0;
}

static void stress_look(stress_scraper *scraper)
{
    size_t length;
    char name[64];
    char *page = http_get(scraper->port, "/metrics", scraper->headers, &length);
    if (page == NULL) {
        scraper->failed++;
        return;
    }
    for (unsigned kind = 0; kind < KINDS; kind++) {
        snprintf(name, sizeof name, "\nstress_counted_total{kind=\"k%u\"} ", kind);
        uint64_t value = stress_value(page, name);
        scraper->fell += value < scraper->last[kind];
        scraper->last[kind] = value;
    }
    uint64_t count = stress_value(page, "\nstress_sizes_count ");
    scraper->fell += count < scraper->sizes;
    scraper->sizes = count;
    scraper->torn += count != stress_value(page, "\nstress_sizes_bucket{le=\"+Inf\"} ");
    scraper->pages++;
    free(page);
}

static void *stress_scrape(void *argument)
{
    stress_scraper *scraper = argument;
    do
        stress_look(scraper);
    while (!stress_over());
    return NULL;
}

static void scrapers_never_see_less(void **state)
{
    (void)state;
    static const char *const headers[SCRAPERS] = {"", "Accept: application/openmetrics-text\r\n",
                                                  "X-Prometheus-Scrape-Timeout-Seconds: 15\r\n",
                                                  "Accept: text/plain;version=0.0.4\r\n"};
    crest_error error = {0};
    crest_reporter *scrape = crest_prometheus_new(
        &(crest_prometheus_options){.listen = "0", .concurrency = SCRAPERS + 1}, &error);
    assert_non_null(scrape);
    assert_int_equal(crest_reporter_attach(NULL, scrape, NULL, &error), CREST_OK);
    stress_scraper scrapers[SCRAPERS];
    pthread_t scraping[SCRAPERS], recording[RECORDERS];
    for (uintptr_t i = 0; i < RECORDERS; i++)
        assert_int_equal(pthread_create(&recording[i], NULL, stress_recorders, (void *)i), 0);
    for (unsigned i = 0; i < SCRAPERS; i++) {
        scrapers[i] =
            (stress_scraper){crest_prometheus_port(scrape), headers[i], {0}, 0, 0, 0, 0, 0};
        assert_int_equal(pthread_create(&scraping[i], NULL, stress_scrape, &scrapers[i]), 0);
    }
    nanosleep(&(struct timespec){DURATION_MS / 1000, DURATION_MS % 1000 * 1000000L}, NULL);
    __atomic_store_n(&stopping, 1, __ATOMIC_RELEASE);
    for (unsigned i = 0; i < RECORDERS; i++)
        fixture_join(recording[i], NULL);
    for (unsigned i = 0; i < SCRAPERS; i++) {
        fixture_join(scraping[i], NULL);
        unsigned pages = scrapers[i].pages;
        stress_look(&scrapers[i]);
        assert_true(pages > 0);
        assert_int_equal(scrapers[i].failed, 0);
        assert_int_equal(scrapers[i].fell, 0);
        assert_int_equal(scrapers[i].torn, 0);
        assert_int_equal(scrapers[i].sizes, sizes_recorded);
        for (unsigned kind = 0; kind < KINDS; kind++)
            assert_int_equal(scrapers[i].last[kind], recorded[kind]);
    }
    assert_int_equal(crest_reporter_detach(scrape, 60000, &error), CREST_OK);
    crest_reporter_free(scrape);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(scrapers_never_see_less)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
