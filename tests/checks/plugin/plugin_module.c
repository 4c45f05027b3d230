/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plugin with declarations of its own, loaded and unloaded by the hosts of check_plugin.py;
 * compiled as C and as C++. Without the host's metrics when WITHOUT_HOST is defined. For the soak,
 * FOR_LONG, without what stays of each load: a static registry, see docs/limits.md.
 */
#include "plugin_shared.h"

#include <crest/by_name.h>
#include <crest/event.h>

CREST_COUNTER(events, "plugin.events", "Declared in the plugin.");
static const crest_range size_range = {1, 1000000, 3};
CREST_HISTOGRAM(size, "plugin.size", "Declared in the plugin.", .unit = CREST_BYTES,
                .range = &size_range);
CREST_RANGE_SAMPLER(queue, "plugin.queue", "Declared in the plugin.");
CREST_TIMER(keyed, "plugin.keyed-time", "Begun in the plugin, never ended.", .deadline_ms = 50);
CREST_STAGES(steps, "plugin.steps", "Declared in the plugin.", .stages = {"half", "whole"});
#ifndef FOR_LONG
CREST_REGISTRY(own_registry, .prefix = "own");
#endif
CREST_TIMER(spent, "plugin.spent-time", "Declared in the plugin.", .buckets = CREST_BUCKETS_FAST);
CREST_GAUGE(level, "plugin.level", "Declared in the plugin.");
CREST_COUNTER_FAMILY(by_kind, "plugin.by-kind", "Declared in the plugin.", kind);
CREST_COUNTER(misnamed, "plugin misnamed", "Refused, and its name told after it is unloaded.");

CREST_EVENT(recorded, "plugin.recorded", CREST_WARNING, "Declared in the plugin.", (u64, times),
            (text, by, 16));

#ifdef __cplusplus
extern "C" {
#endif
CREST_API plugin_record_fn plugin_record;
CREST_API plugin_count_fn plugin_count;

void plugin_record(int times, int with_host)
{
    crest_op op = crest_op_u64x2(crest_now(), (uint64_t)(uintptr_t)&op);
    crest_timer_begin(&keyed, op);
    crest_stages_begin(&steps, op);
    crest_stages_mark(&steps, op, 0);
#ifndef FOR_LONG
    crest_metric_options options = {.name = "in-own-registry"};
    crest_counter_inc(crest_counter_get(&own_registry, &options, NULL));
#endif
    for (int i = 0; i < times; i++) {
        crest_counter_inc(&events);
        crest_range_sampler_add(&queue, 1);
        crest_histogram_record(&size, i % 1000);
        crest_timing timing = crest_timer_start(&spent, crest_op_u64((uint64_t)i));
        crest_timing_stop(&timing, crest_op_u64((uint64_t)i));
        crest_gauge_add(&level, 1);
        crest_counter_inc(by_kind_with("a"));
        crest_increment_counter("plugin.by-name");
        crest_counter_inc(&misnamed);
#ifndef WITHOUT_HOST
        if (with_host) {
            crest_counter_inc(&shared_events);
            crest_gauge_add(&shared_level, 1);
            crest_histogram_record(&shared_size, 7);
            crest_timer_record(&shared_time, 7, CREST_OUTCOME_OK);
            crest_counter_inc(shared_by_kind_with("plugin"));
        }
#endif
    }
    crest_stages_end(&steps, op, CREST_OUTCOME_OK);
    CREST_EMIT(recorded, (uint64_t)times, "the plugin");
    (void)with_host;
}

uint64_t plugin_count(void)
{
    return crest_counter_value(&events);
}
#ifdef __cplusplus
}
#endif
