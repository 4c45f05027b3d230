/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A page: what Prometheus would scrape, written through a callback in pieces. For a host that has
 * an HTTP server of its own, or a file that a textfile collector reads.
 */
#include <crest/crest.h>
#include <stdio.h>
#include <string.h>

CREST_REGISTRY(shop);
#define CREST_REGISTRY_HERE &shop
CREST_COUNTER_FAMILY(orders, "shop.orders", "Orders taken. \"Quoted\", with a \\.", city);
CREST_TIMER(order_time, "shop.order-time", "Click to confirmation.", .buckets = CREST_BUCKETS_FAST);

static int to_stdout(void *context, const void *bytes, size_t length)
{
    size_t *total = context;
    *total += length;
    return fwrite(bytes, 1, length, stdout) == length ? 0 : -1; /* non-zero stops the page */
}

int main(void)
{
    crest_counter_inc(orders_with("Zürich"));
    crest_counter_add(orders_with("New\nYork"), 2);
    crest_timer_record(&order_time, 1500000, CREST_OUTCOME_OK); /* 1.5 ms */

    size_t total = 0;
    crest_error error;
    if (crest_page_write(&shop, CREST_FORMAT_PROMETHEUS_TEXT, to_stdout, &total, &error) !=
        CREST_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    fprintf(stderr, "%zu bytes of %s\n", total,
            crest_format_content_type(CREST_FORMAT_PROMETHEUS_TEXT));
    return 0;
}
