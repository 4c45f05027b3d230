/* SPDX-License-Identifier: Apache-2.0 */
/*
 * <crest/page.h> from the outside: a real registry, through a snapshot, onto a page. What pages
 * look like in detail is in test_exposition.c.
 */
#include "base/alloc.h"

#include <crest/crest.h>
#include <crest/testing.h>

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char wanted_page[] = "# HELP shop_basket_size_bytes Baskets. [shop.basket-size]\n"
                                  "# TYPE shop_basket_size_bytes histogram\n"
                                  "shop_basket_size_bytes_bucket{le=\"100.0\"} 1\n"
                                  "shop_basket_size_bytes_bucket{le=\"1000.0\"} 2\n"
                                  "shop_basket_size_bytes_bucket{le=\"+Inf\"} 3\n"
                                  "shop_basket_size_bytes_sum 101100\n"
                                  "shop_basket_size_bytes_count 3\n"
                                  "# HELP shop_orders_total Orders, \\\\ and all. [shop.orders]\n"
                                  "# TYPE shop_orders_total counter\n"
                                  "shop_orders_total 3\n"
                                  "# HELP shop_tills Tills open. [shop.tills]\n"
                                  "# TYPE shop_tills gauge\n"
                                  "shop_tills -1.5\n";

static int page_setup(void **state)
{
    static const double bounds[] = {100, 1000};
    static const crest_buckets buckets = {bounds, 2};
    const crest_registry_options named = {.prefix = "shop"};
    crest_registry *registry = crest_registry_new(&named);
    assert_non_null(registry);
    crest_metric_options options = {.name = "orders", .description = "Orders, \\ and all."};
    crest_status status;
    crest_counter_add(crest_counter_get(registry, &options, &status), 3);
    assert_int_equal(status, CREST_OK);
    options = (crest_metric_options){.name = "tills", .description = "Tills open."};
    crest_gauge_set(crest_gauge_get(registry, &options, &status), -1.5);
    assert_int_equal(status, CREST_OK);
    options = (crest_metric_options){
        .name = "basket-size", .description = "Baskets.", .unit = CREST_BYTES, .buckets = &buckets};
    crest_histogram *baskets = crest_histogram_get(registry, &options, &status);
    assert_int_equal(status, CREST_OK);
    crest_histogram_record(baskets, 100);
    crest_histogram_record(baskets, 1000);
    crest_histogram_record(baskets, 100000);
    *state = registry;
    return 0;
}

static int page_teardown(void **state)
{
    crest_registry_free(*state);
    return 0;
}

typedef struct page_text {
    char text[4096];
    size_t length;
} page_text;

static int page_append(void *context, const void *bytes, size_t length)
{
    page_text *page = context;
    assert_in_range(page->length + length, 1, sizeof page->text - 1);
    memcpy(page->text + page->length, bytes, length);
    page->length += length;
    page->text[page->length] = '\0';
    return 0;
}

static void test_registry_to_page(void **state)
{
    page_text page = {.length = 0};
    crest_error error;
    assert_int_equal(
        crest_page_write(*state, CREST_FORMAT_PROMETHEUS_TEXT, page_append, &page, &error),
        CREST_OK);
    assert_string_equal(page.text, wanted_page);
}

static void test_snapshot_to_page(void **state)
{
    crest_snapshot *snapshot = crest_snapshot_take(*state);
    assert_non_null(snapshot);
    const crest_page_label target[] = {{"service", "shop"}};
    const crest_page_options options = {.windows = 1, .target = target, .target_count = 1};
    page_text page = {.length = 0};
    assert_int_equal(crest_snapshot_write(snapshot, CREST_FORMAT_PROMETHEUS_TEXT, &options,
                                          page_append, &page, NULL),
                     CREST_OK);
    /* nobody watches this registry's windows, so only the target is new */
    static const char target_line[] = "\ncrest_target_info{service=\"shop\"} 1\n# HELP shop_basket";
    assert_non_null(strstr(page.text, target_line));
    assert_non_null(strstr(page.text, wanted_page));
    assert_null(strstr(page.text, "1m"));

    crest_error error;
    page.length = 0;
    assert_int_equal(
        crest_snapshot_write(snapshot, (crest_format)7, NULL, page_append, &page, &error),
        CREST_INVALID_ARGUMENT);
    assert_string_equal(error.message, "The page was not written: there is no format 7.");
    assert_int_equal(page.length, 0);
    crest_snapshot_free(snapshot);
}

static void test_content_type(void **state)
{
    (void)state;
    assert_string_equal(crest_format_content_type(CREST_FORMAT_PROMETHEUS_TEXT),
                        "text/plain; version=0.0.4; charset=utf-8");
    assert_null(crest_format_content_type((crest_format)7));
}

static void test_to_stream(void **state)
{
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    assert_non_null(stream);
    assert_int_equal(crest_prometheus_write(*state, stream), 0);
    assert_int_equal(length, sizeof wanted_page - 1); /* flushed, before it is closed */
    assert_string_equal(text, wanted_page);
    fclose(stream);
    free(text);
}

static void test_to_full_disk(void **state)
{
    FILE *stream = fopen("/dev/full", "w");
    if (stream == NULL) {
        print_message("skipped: there is no /dev/full on this system\n");
        skip();
    }
    errno = 0;
    assert_int_equal(crest_prometheus_write(*state, stream), -1);
    assert_int_equal(errno, ENOSPC);
    setvbuf(stream, NULL, _IONBF, 0);
    errno = 0;
    assert_int_equal(crest_prometheus_write(*state, stream), -1);
    assert_int_equal(errno, ENOSPC);
    fclose(stream);
    errno = 0;
    assert_int_equal(crest_prometheus_write(*state, NULL), -1);
    assert_int_equal(errno, EINVAL);
}

/* Whichever allocation fails, it says so, leaks nothing, and the next page is complete. */
static void test_no_memory(void **state)
{
    unsigned failures = 0;
    for (unsigned long after = 1; after < 1000; after++) {
        page_text page = {.length = 0};
        crest_error error = {CREST_OK, ""};
        crest_alloc_fail_after(after);
        crest_status status =
            crest_page_write(*state, CREST_FORMAT_PROMETHEUS_TEXT, page_append, &page, &error);
        crest_alloc_fail_after(0);
        if (status == CREST_OK) {
            assert_string_equal(page.text, wanted_page);
            break;
        }
        assert_int_equal(status, CREST_NO_MEMORY);
        assert_int_equal(error.status, CREST_NO_MEMORY);
        /* once the page has begun, only of histograms */
        if (page.length != 0)
            assert_non_null(strstr(error.message, "histograms in it are empty"));
        else
            assert_non_null(strstr(error.message, "The page was not written"));
        failures++;
    }
    assert_in_range(failures, 2, 999);

    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    crest_alloc_fail_after(1);
    errno = 0;
    int result = crest_prometheus_write(*state, stream);
    int why = errno;
    crest_alloc_fail_after(0);
    assert_int_equal(result, -1);
    assert_int_equal(why, ENOMEM);
    fclose(stream);
    free(text);
}

#define PAGE_TEST(function) cmocka_unit_test_setup_teardown(function, page_setup, page_teardown)

/* Without being asked for more than a page: a timer's slowest operation, of observed registries. */
static void test_exemplar(void **state)
{
    page_text page = {.length = 0}, text = {.length = 0};
    crest_error error;
    crest_status status;
    const crest_metric_options options = {.name = "work-time"};
    crest_timer *timer = crest_timer_get(*state, &options, &status);
    assert_int_equal(status, CREST_OK);
    assert_int_equal(crest_testing_tick(*state), CREST_OK);
    for (uint64_t i = 1; i <= 3; i++) {
        crest_timing timing = crest_timer_start(timer, crest_op_u64(i));
        crest_testing_clock_advance(i == 2 ? 8300000 : 1000000);
        assert_int_equal(crest_timing_stop(&timing, crest_op_u64(i)), CREST_OK);
    }
    crest_testing_clock_advance(1000000000);
    assert_int_equal(crest_testing_tick(*state), CREST_OK);
    assert_int_equal(crest_page_write(*state, CREST_FORMAT_OPENMETRICS, page_append, &page, &error),
                     CREST_OK);
    assert_int_equal(
        crest_page_write(*state, CREST_FORMAT_PROMETHEUS_TEXT, page_append, &text, &error),
        CREST_OK);
    crest_testing_clock_real();
    assert_non_null(strstr(page.text, "shop_work_time_seconds_bucket{outcome=\"ok\",le=\"0.01\"} 3 "
                                      "# {operation=\"2\"} 0.0083\n"));
    assert_null(strstr(page.text, "1m"));
    assert_null(strstr(text.text, "operation"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PAGE_TEST(test_registry_to_page), PAGE_TEST(test_snapshot_to_page),
        PAGE_TEST(test_content_type),     PAGE_TEST(test_to_stream),
        PAGE_TEST(test_to_full_disk),     PAGE_TEST(test_no_memory),
        PAGE_TEST(test_exemplar),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
