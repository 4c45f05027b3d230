/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The gate's paths through exported symbols, as another language calls them. The headers are not
 * included, because they inline these functions.
 */
#include "gate.h"

/* The beginnings of the library's types; this file does not look inside. */
typedef struct gate_handle gate_handle;
extern gate_handle gate_counter, gate_gauge, gate_histogram, gate_timer, gate_sampler;

void crest_counter_inc(gate_handle *counter);
void crest_counter_add(gate_handle *counter, int64_t amount);
void crest_gauge_set(gate_handle *gauge, double value);
void crest_histogram_record(gate_handle *histogram, int64_t value);
void crest_timer_record(gate_handle *timer, int64_t ns, int outcome);
void crest_range_sampler_add(gate_handle *sampler, int64_t delta);
uint64_t crest_now(void);

GATE_OPERATION(exported_inc)
{
    crest_counter_inc(&gate_counter);
}

GATE_OPERATION(exported_add)
{
    crest_counter_add(&gate_counter, 3);
}

GATE_OPERATION(exported_set)
{
    crest_gauge_set(&gate_gauge, 17);
}

GATE_OPERATION(exported_record)
{
    crest_histogram_record(&gate_histogram, gate_values[at]);
}

GATE_OPERATION(exported_time)
{
    crest_timer_record(&gate_timer, gate_values[at], 0);
}

GATE_OPERATION(exported_sample)
{
    crest_range_sampler_add(&gate_sampler, at % 2 == 0 ? 1 : -1);
}

GATE_OPERATION(exported_now)
{
    GATE_KEEP(crest_now());
}

const gate_path gate_exported_paths[] = {
    {.name = "exported/counter-inc", .run = exported_inc, .total = gate_counter_total, .grows = 1},
    {.name = "exported/counter-add", .run = exported_add, .total = gate_counter_total, .grows = 3},
    {.name = "exported/gauge-set", .run = exported_set},
    {.name = "exported/histogram",
     .run = exported_record,
     .less = "value",
     .total = gate_histogram_total,
     .grows = 1},
    {.name = "exported/timer-record",
     .run = exported_time,
     .less = "value",
     .total = gate_timer_total,
     .grows = 1},
    {.name = "exported/range-sampler-add", .run = exported_sample},
    {.name = "exported/now", .run = exported_now},
    {.name = NULL},
};
