/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Formats: the answer to a client, by its Accept header (content negotiation). For a
 * host whose own HTTP server has /metrics; here three headers stand for three requests.
 */
#include <crest/crest.h>
#include <stdio.h>

CREST_REGISTRY(bakery);
#define CREST_REGISTRY_HERE &bakery
CREST_COUNTER(flour, "bakery.flour-used", "Flour, \"type 550\".", .unit = CREST_BYTES);
CREST_GAUGE(oven, "bakery.oven-fill", "How full the oven is.", .unit = CREST_RATIO);

static int to_stdout(void *unused, const void *bytes, size_t length)
{
    (void)unused;
    return fwrite(bytes, 1, length, stdout) == length ? 0 : -1;
}

static int answer(const char *who, const char *accept, const crest_page_options *options)
{
    const char *content_type;
    crest_error error;
    crest_format format = crest_format_negotiate(accept, &content_type);
    printf("== %s\nContent-Type: %s\n\n", who, content_type);
    crest_snapshot *snapshot = crest_snapshot_take(&bakery);
    crest_status status = crest_snapshot_write(snapshot, format, options, to_stdout, NULL, &error);
    crest_snapshot_free(snapshot);
    if (status != CREST_OK)
        fprintf(stderr, "%s\n", error.message);
    return status != CREST_OK;
}

int main(void)
{
    crest_counter_add(&flour, 2500);
    crest_gauge_set(&oven, 0.75);
    /* what a request's name[] asked for */
    const char *const names[] = {"bakery_oven_fill_ratio"};
    const crest_page_options only_the_oven = {.names = names, .name_count = 1};
    return answer("Prometheus",
                  "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,"
                  "text/plain;version=0.0.4;q=0.3,*/*;q=0.2",
                  NULL) +
           answer("curl", "*/*", NULL) + answer("curl, for the oven", "*/*", &only_the_oven);
}
