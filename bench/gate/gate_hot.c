/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The gate's hot paths: the library's code that is inlined into its users.
 *
 * GATE_WORSE makes the counter worse on purpose, so that the gate can be seen to close: 1 adds an
 * instruction, 2 locks the addition.
 */
#include "gate.h"

#include <crest/crest.h>

CREST_COUNTER_DEFINE(gate_counter, "gate.counter", "A counter.");
CREST_GAUGE_DEFINE(gate_gauge, "gate.gauge", "A gauge.");
CREST_HISTOGRAM_DEFINE(gate_histogram, "gate.histogram", "A histogram.");
CREST_TIMER_DEFINE(gate_timer, "gate.timer", "A timer.");
CREST_RANGE_SAMPLER_DEFINE(gate_sampler, "gate.sampler", "A range sampler.");

static __thread uint64_t hot_thread_local;

/* The largest value of the tick, the smallest of all and the blocks of all powers of two: after it
 * a record has no extreme to note and no block to make. */
static void hot_prepare(void)
{
    for (unsigned bit = 0; bit < 42; bit++) {
        crest_histogram_record(&gate_histogram, INT64_C(1) << bit);
        crest_timer_record(&gate_timer, INT64_C(1) << bit, CREST_OUTCOME_OK);
    }
    crest_histogram_record(&gate_histogram, 0);
    crest_timer_record(&gate_timer, 0, CREST_OUTCOME_OK);
    crest_range_sampler_set(&gate_sampler, 1000);
    crest_range_sampler_set(&gate_sampler, -1000);
    crest_range_sampler_set(&gate_sampler, 0);
}

uint64_t gate_counter_total(void)
{
    return crest_counter_value(&gate_counter);
}

static uint64_t hot_gauge_total(void)
{
    return (uint64_t)crest_gauge_value(&gate_gauge);
}

uint64_t gate_histogram_total(void)
{
    return gate_recorded("gate.histogram", 0);
}

uint64_t gate_timer_total(void)
{
    return gate_recorded("gate.timer", 1);
}

GATE_OPERATION(hot_limit_add)
{
    hot_thread_local++;
    __asm__ volatile("" : "+m"(hot_thread_local));
}

GATE_OPERATION(hot_limit_clock)
{
    GATE_KEEP(crest_now());
}

GATE_OPERATION(hot_counter_inc)
{
#if defined(GATE_WORSE) && GATE_WORSE == 2
    uint64_t *cell = crest_cell_of(&gate_counter.handle);
    if (CREST_UNLIKELY(cell == NULL))
        crest_counter_add_slow(&gate_counter, 1);
    else
        __atomic_fetch_add(cell, 1, __ATOMIC_RELAXED);
#else
    crest_counter_inc(&gate_counter);
#endif
#if defined(GATE_WORSE) && GATE_WORSE == 1
    __asm__ volatile("nop");
#endif
}

GATE_OPERATION(hot_counter_add)
{
    int64_t amount = 3;
    __asm__("" : "+r"(amount)); /* not a constant */
    crest_counter_add(&gate_counter, amount);
}

GATE_OPERATION(hot_gauge_set)
{
    crest_gauge_set(&gate_gauge, 17);
}

GATE_OPERATION(hot_gauge_add)
{
    crest_gauge_add(&gate_gauge, 1);
}

GATE_OPERATION(hot_histogram_record)
{
    crest_histogram_record(&gate_histogram, 1000000);
}

GATE_OPERATION(hot_histogram_values)
{
    crest_histogram_record(&gate_histogram, gate_values[at]);
}

GATE_OPERATION(hot_histogram_record_n)
{
    uint64_t times = 5;
    __asm__("" : "+r"(times));
    crest_histogram_record_n(&gate_histogram, gate_values[at], times);
}

GATE_OPERATION(hot_timer_start_end)
{
    crest_op op = crest_op_u64(at);
    crest_timing timing = crest_timer_start(&gate_timer, op);
    crest_timing_end(&timing, op, CREST_OUTCOME_OK);
}

/* As an operation that goes through queues: the token is in memory, and the id is passed again. */
GATE_OPERATION(hot_timer_token)
{
    crest_op op = crest_op_u64(at);
    crest_timing timing = crest_timer_start(&gate_timer, op);
    __asm__ volatile("" : "+m"(timing), "+m"(op));
    crest_timing_end(&timing, op, CREST_OUTCOME_OK);
}

GATE_OPERATION(hot_timer_token_u64)
{
    uint64_t id = at;
    crest_timing_u64 timing = crest_timer_start_u64(&gate_timer, id);
    __asm__ volatile("" : "+m"(timing), "+m"(id));
    crest_timing_u64_end(&timing, id, CREST_OUTCOME_OK);
}

GATE_OPERATION(hot_timer_record)
{
    crest_timer_record(&gate_timer, gate_values[at], CREST_OUTCOME_OK);
}

GATE_OPERATION(hot_timer_scope)
{
    CREST_TIME_SCOPE(&gate_timer, crest_op_u64(at), NULL);
    __asm__ volatile("" : : : "memory");
}

GATE_OPERATION(hot_sampler_add)
{
    crest_range_sampler_add(&gate_sampler, at % 2 == 0 ? 1 : -1);
}

GATE_OPERATION(hot_sampler_set)
{
    crest_range_sampler_set(&gate_sampler, (int64_t)(at % 512));
}

GATE_OPERATION(hot_op_u64)
{
    crest_op op = crest_op_u64(at);
    __asm__ volatile("" : "+m"(op));
}

GATE_OPERATION(hot_op_bytes_32)
{
    crest_op op = crest_op_bytes(gate_values, 32);
    __asm__ volatile("" : "+m"(op));
}

GATE_OPERATION(hot_op_bytes_64)
{
    crest_op op = crest_op_bytes(gate_values, 64);
    __asm__ volatile("" : "+m"(op));
}

GATE_OPERATION(hot_op_hex)
{
    crest_op op = crest_op_hex("00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff");
    __asm__ volatile("" : "+m"(op));
}

GATE_OPERATION(hot_op_text)
{
    crest_op op = crest_op_text("deploy-1234567");
    __asm__ volatile("" : "+m"(op));
}

#define HOT_COUNTS .total = gate_counter_total
#define HOT_RECORDS .total = gate_histogram_total, .grows = 1
#define HOT_TIMES .total = gate_timer_total, .grows = 1

const gate_path gate_hot_paths[] = {
    {.name = "limit/thread-local-add", .run = hot_limit_add, .prepare = hot_prepare},
    {.name = "limit/clock", .run = hot_limit_clock},
    {.name = "counter/inc", .run = hot_counter_inc, HOT_COUNTS, .grows = 1},
    {.name = "counter/add", .run = hot_counter_add, HOT_COUNTS, .grows = 3},
    {.name = "gauge/set", .run = hot_gauge_set},
    {.name = "gauge/add", .run = hot_gauge_add, .total = hot_gauge_total, .grows = 1},
    {.name = "histogram/record", .run = hot_histogram_record, HOT_RECORDS},
    {.name = "histogram/values", .run = hot_histogram_values, .less = "value", HOT_RECORDS},
    {.name = "histogram/record-n",
     .run = hot_histogram_record_n,
     .less = "value",
     .total = gate_histogram_total,
     .grows = 5},
    {.name = "timer/start-end", .run = hot_timer_start_end, HOT_TIMES},
    {.name = "timer/token", .run = hot_timer_token, HOT_TIMES},
    {.name = "timer/token-u64", .run = hot_timer_token_u64, HOT_TIMES},
    {.name = "timer/record", .run = hot_timer_record, .less = "value", HOT_TIMES},
    {.name = "timer/scope", .run = hot_timer_scope, HOT_TIMES},
    {.name = "range-sampler/add", .run = hot_sampler_add},
    {.name = "range-sampler/set", .run = hot_sampler_set},
    {.name = "op/u64", .run = hot_op_u64},
    {.name = "op/bytes-32", .run = hot_op_bytes_32},
    {.name = "op/bytes-64", .run = hot_op_bytes_64},
    {.name = "op/hex-64", .run = hot_op_hex},
    {.name = "op/text", .run = hot_op_text},
    {.name = NULL},
};
