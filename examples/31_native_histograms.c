/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Native histograms: the same timer on a text page, and as the protobuf that a Prometheus asks for
 * with scrape_native_histograms: one series to it, whatever the number of buckets. A node that is
 * scraped by crest_start("prometheus=27378") answers both of itself; here they are counted.
 */
#include <crest/crest.h>
#include <stdio.h>

CREST_REGISTRY(bakery);
#define CREST_REGISTRY_HERE &bakery
CREST_TIMER_FAMILY(baking, "bakery.baking-time", "From dough to bread.", oven);

static int add_length(void *bytes, const void *piece, size_t length)
{
    (void)piece;
    *(size_t *)bytes += length;
    return 0;
}

/* Bytes of a page; 0 and a message when it was not written. */
static size_t page_bytes(const crest_snapshot *snapshot, crest_format format, int native)
{
    const crest_page_options options = {.native = native};
    size_t bytes = 0;
    crest_error error;
    if (crest_snapshot_write(snapshot, format, &options, add_length, &bytes, &error) == CREST_OK)
        return bytes;
    fprintf(stderr, "%s\n", error.message);
    return 0;
}

int main(void)
{
    static const char accept[] = "application/vnd.google.protobuf;encoding=delimited;"
                                 "proto=io.prometheus.client.MetricFamily,*/*;q=0.1";
    const char *content_type;
    crest_format format = crest_format_negotiate(accept, &content_type);
    printf("Content-Type: %s\n", content_type);

    char oven[24];
    for (int i = 0; i < 50; i++) {
        snprintf(oven, sizeof oven, "oven-%d", i);
        for (int64_t minutes = 20; minutes < 60; minutes++)
            crest_timer_record(baking_with(oven), minutes * 60000000000, CREST_OUTCOME_OK);
    }
    crest_snapshot *snapshot = crest_snapshot_take(&bakery);
    size_t text = page_bytes(snapshot, CREST_FORMAT_PROMETHEUS_TEXT, 0);
    size_t both = page_bytes(snapshot, format, CREST_PAGE_NATIVE_ON);
    size_t only = page_bytes(snapshot, format, CREST_PAGE_NATIVE_ONLY);
    crest_snapshot_free(snapshot);
    printf("with classic and native buckets less than a third of the text page: %s\n",
           both * 3 < text ? "yes" : "no");
    printf("with native ones only less than a fifth: %s\n", only * 5 < text ? "yes" : "no");
    return 0;
}
