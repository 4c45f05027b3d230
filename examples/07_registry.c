/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Registries: a library that is embedded keeps its metrics in a static registry of its own, under a
 * prefix; a test makes one that goes away with it.
 */
#include <crest/crest.h>
#include <stdio.h>

CREST_REGISTRY(dht_metrics, .prefix = "dht");
#define CREST_REGISTRY_HERE &dht_metrics
CREST_COUNTER(lookups, "lookups", "Lookups answered."); /* dht.lookups */

int main(void)
{
    crest_counter_inc(&lookups);
    if (crest_prometheus_write(&dht_metrics, stdout) != 0)
        return 1;

    crest_registry *registry = crest_registry_new(NULL);
    crest_status status;
    crest_metric_options options = {.name = "test.events", .description = "Only for this test."};
    crest_counter *events = crest_counter_get(registry, &options, &status);
    crest_counter_add(events, 5);
    crest_prometheus_write(registry, stdout);

    /* a refused metric still has a handle: it records nowhere, and the status says why */
    options.name = "not a name"; /* crest-lint: ignore undeclared-name no metric comes of it */
    crest_counter *nothing = crest_counter_get(registry, &options, &status);
    crest_counter_inc(nothing);
    printf("%s\n", crest_status_text(status));

    crest_registry_free(registry);
    return 0;
}
