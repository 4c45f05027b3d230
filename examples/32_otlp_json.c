/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OTLP: a snapshot in OpenTelemetry's protocol, as JSON on standard output. With
 * CREST_OTLP_PROTOBUF it is the body that a program posts to http://HOST:4318/v1/metrics, where
 * Prometheus, a Collector or another backend takes it. So:
 *
 *     ./32_otlp_json | curl --json @- http://127.0.0.1:4318/v1/metrics
 */
#include <crest/crest.h>
#include <stdio.h>

CREST_REGISTRY(bakery);
#define CREST_REGISTRY_HERE &bakery
CREST_COUNTER_FAMILY(loaves, "bakery.loaves", "Loaves sold.", kind);
CREST_GAUGE(heat, "bakery.heat", "Of the oven, as a part of the most.", .unit = CREST_RATIO);
CREST_TIMER(baking, "bakery.batch-time", "From dough to bread.");

/* Takes a body; there are more than one only where they would be longer than body_bytes. */
static int print_body(void *context, const crest_otlp_body *body)
{
    (void)context;
    return fwrite(body->bytes, 1, body->length, stdout) == body->length && putchar('\n') != EOF
               ? 0
               : -1;
}

int main(void)
{
    static const crest_page_label attributes[] = {{"service.name", "bakery"},
                                                  {"service.instance.id", "high-street"}};
    const crest_otlp_options options = {
        .encoding = CREST_OTLP_JSON, .attributes = attributes, .attribute_count = 2};
    crest_error error;
    crest_counter_add(loaves_with("rye"), 12);
    crest_counter_add(loaves_with("wheat"), 30);
    crest_gauge_set(&heat, 0.75);
    for (int64_t minutes = 20; minutes < 60; minutes += 10)
        crest_timer_record(&baking, minutes * 60000000000, CREST_OUTCOME_OK);

    crest_snapshot *snapshot = crest_snapshot_take(&bakery);
    crest_status status = crest_otlp_write(snapshot, &options, print_body, NULL, &error);
    crest_snapshot_free(snapshot);
    if (status != CREST_OK)
        fprintf(stderr, "%s\n", error.message);
    return status == CREST_OK ? 0 : 1;
}
