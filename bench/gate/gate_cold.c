/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The gate's cold paths: a thread's first touch, the largest value of a tick, snapshots, pages,
 * bodies of OTLP and ticks of the windows. Their allocations are the C library's work, so only
 * their calls are counted.
 */
#include "gate.h"

#include <crest/crest.h>
#include <crest/testing.h>
#include <stdio.h>

#define COLD_SERIES 1000u
#define COLD_HISTOGRAMS 20u

CREST_HISTOGRAM(cold_histogram, "gate.climbing", "Each value the largest yet.");
CREST_TIMER(cold_timer, "gate.climbing-time", "Each value the largest yet.");

static crest_registry *cold_counters_of, *cold_histograms_of, *cold_unmet_of;
static crest_counter *cold_counters[COLD_SERIES];
static crest_histogram *cold_histograms[COLD_HISTOGRAMS], *cold_unmet[COLD_SERIES];
static uint64_t cold_written, cold_lines;

static void cold_prepare(void)
{
    char name[48];
    crest_metric_options options = {.name = name, .description = "One of many."};
    cold_counters_of = crest_registry_new(NULL);
    cold_histograms_of = crest_registry_new(NULL);
    cold_unmet_of = crest_registry_new(NULL);
    for (unsigned i = 0; i < COLD_SERIES; i++) {
        snprintf(name, sizeof name, "cold.counter-%03u", i);
        cold_counters[i] = crest_counter_get(cold_counters_of, &options, NULL);
        snprintf(name, sizeof name, "cold.unmet-%03u", i);
        cold_unmet[i] = crest_histogram_get(cold_unmet_of, &options, NULL);
    }
    for (unsigned i = 0; i < COLD_HISTOGRAMS; i++) {
        snprintf(name, sizeof name, "cold.histogram-%03u", i);
        cold_histograms[i] = crest_histogram_get(cold_histograms_of, &options, NULL);
        for (unsigned at = 0; at < GATE_TIMES; at++)
            crest_histogram_record(cold_histograms[i], gate_values[at]);
    }
    crest_histogram_record(&cold_histogram, 0);
    crest_timer_record(&cold_timer, 0, CREST_OUTCOME_OK);
    /* a reading notes its time: for equal counts in each run the clock has to stand still */
    crest_testing_clock_set(UINT64_C(10000000000));
}

static uint64_t cold_counters_total(void)
{
    uint64_t total = 0;
    for (unsigned i = 0; i < COLD_SERIES; i++)
        total += crest_counter_value(cold_counters[i]);
    return total;
}

static uint64_t cold_unmet_total(void)
{
    uint64_t total = 0;
    crest_snapshot *snapshot = crest_snapshot_take(cold_unmet_of);
    crest_series_view view;
    for (size_t i = 0; crest_snapshot_series(snapshot, i, &view) == CREST_OK; i++)
        total += crest_distribution_count(view.distribution);
    crest_snapshot_free(snapshot);
    return total;
}

static uint64_t cold_histogram_total(void)
{
    return gate_recorded("gate.climbing", 0);
}

static uint64_t cold_timer_total(void)
{
    return gate_recorded("gate.climbing-time", 1);
}

static uint64_t cold_lines_total(void)
{
    return cold_lines;
}

/* One record into each of a thousand counters by a thread without cells of them. */
GATE_OPERATION(cold_first_touch)
{
    crest_counter_inc(cold_counters[at]);
}

/* The same of histograms. */
GATE_OPERATION(cold_first_touch_histogram)
{
    crest_histogram_record(cold_unmet[at], 100000);
}

GATE_OPERATION(cold_climbing)
{
    static int64_t height = INT64_C(1) << 20;
    crest_histogram_record(&cold_histogram, ++height);
}

GATE_OPERATION(cold_climbing_timer)
{
    static int64_t height = INT64_C(1) << 20;
    crest_op op = crest_op_u64(at);
    crest_timer_record_op(&cold_timer, ++height, CREST_OUTCOME_OK, &op);
}

GATE_OPERATION(cold_snapshot_counters)
{
    crest_snapshot *snapshot = crest_snapshot_take(cold_counters_of);
    cold_lines += crest_snapshot_size(snapshot);
    crest_snapshot_free(snapshot);
}

GATE_OPERATION(cold_snapshot_histograms)
{
    crest_snapshot *snapshot = crest_snapshot_take(cold_histograms_of);
    cold_lines += crest_snapshot_size(snapshot);
    crest_snapshot_free(snapshot);
}

static int cold_write(void *context, const void *bytes, size_t length)
{
    (void)context;
    (void)bytes;
    cold_written += length != 0;
    return 0;
}

GATE_OPERATION(cold_page_counters)
{
    crest_page_write(cold_counters_of, CREST_FORMAT_PROMETHEUS_TEXT, cold_write, NULL, NULL);
}

GATE_OPERATION(cold_page_histograms)
{
    crest_page_write(cold_histograms_of, CREST_FORMAT_PROMETHEUS_TEXT, cold_write, NULL, NULL);
}

static int cold_body(void *context, const crest_otlp_body *body)
{
    (void)context;
    cold_written += body->length != 0;
    return 0;
}

/* With a snapshot, as a reporter makes them. */
static void cold_otlp(crest_registry *registry)
{
    crest_snapshot *snapshot = crest_snapshot_take(registry);
    crest_otlp_write(snapshot, NULL, cold_body, NULL, NULL);
    crest_snapshot_free(snapshot);
}

GATE_OPERATION(cold_otlp_counters)
{
    cold_otlp(cold_counters_of);
}

GATE_OPERATION(cold_otlp_histograms)
{
    cold_otlp(cold_histograms_of);
}

GATE_OPERATION(cold_tick)
{
    crest_testing_clock_advance(UINT64_C(1000000000));
    crest_testing_tick(cold_counters_of);
}

const gate_path gate_cold_paths[] = {
    {.name = "first-touch/counter",
     .run = cold_first_touch,
     .times = COLD_SERIES,
     .cold = 1,
     .prepare = cold_prepare,
     .total = cold_counters_total,
     .grows = 1},
    {.name = "first-touch/histogram",
     .run = cold_first_touch_histogram,
     .times = COLD_SERIES,
     .cold = 1,
     .total = cold_unmet_total,
     .grows = 1},
    {.name = "climbing/histogram", .run = cold_climbing, .total = cold_histogram_total, .grows = 1},
    {.name = "climbing/timer", .run = cold_climbing_timer, .total = cold_timer_total, .grows = 1},
    {.name = "snapshot/counter",
     .run = cold_snapshot_counters,
     .times = GATE_FEW,
     .less = "empty-5",
     .each = COLD_SERIES,
     .total = cold_lines_total,
     .grows = COLD_SERIES},
    {.name = "snapshot/histogram",
     .run = cold_snapshot_histograms,
     .times = GATE_FEW,
     .less = "empty-5",
     .each = COLD_HISTOGRAMS,
     .total = cold_lines_total,
     .grows = COLD_HISTOGRAMS},
    {.name = "page/counter",
     .run = cold_page_counters,
     .times = GATE_FEW,
     .less = "empty-5",
     .each = COLD_SERIES},
    {.name = "page/histogram",
     .run = cold_page_histograms,
     .times = GATE_FEW,
     .less = "empty-5",
     .each = COLD_HISTOGRAMS},
    {.name = "otlp/counter",
     .run = cold_otlp_counters,
     .times = GATE_FEW,
     .less = "empty-5",
     .each = COLD_SERIES},
    {.name = "otlp/histogram",
     .run = cold_otlp_histograms,
     .times = GATE_FEW,
     .less = "empty-5",
     .each = COLD_HISTOGRAMS},
    {.name = "tick/counter",
     .run = cold_tick,
     .times = GATE_FEW,
     .less = "empty-5",
     .each = COLD_SERIES},
    {.name = NULL},
};
