/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The gate's paths with a look-up: operations by id, series by label values, metrics by
 * name; and the measured mutex.
 */
#include "gate.h"

#include <crest/by_name.h>
#include <crest/crest.h>
#include <stdio.h>

#define KEYED_SOURCE "gate.comm"
CREST_SOURCE(KEYED_SOURCE);

CREST_TIMER(keyed_timer, "gate.keyed", "Begun and ended by id.");
CREST_STAGES(keyed_stages, "gate.stages", "Stages.", .stages = {"first", "second"});
CREST_COUNTER_FAMILY(keyed_one, "gate.one-label", "A family.", peer);
CREST_COUNTER_FAMILY(keyed_three, "gate.three-labels", "A family.", kind, peer, way);
CREST_MUTEX(keyed_mutex, "gate.mutex");

#define KEYED_SERIES GATE_TIMES

static char keyed_texts[KEYED_SERIES][3][16];
static char keyed_names[KEYED_SERIES][48];

/* Everything is there before it is counted: the series, and, with the clock put forward, the blocks
 * and extremes of durations, of which later ones are 0 or 1. */
static void keyed_prepare(void)
{
    for (unsigned i = 0; i < KEYED_SERIES; i++) {
        snprintf(keyed_texts[i][0], sizeof keyed_texts[i][0], "kind-%03u", i % 10);
        snprintf(keyed_texts[i][1], sizeof keyed_texts[i][1], "peer-%03u", i / 10);
        snprintf(keyed_texts[i][2], sizeof keyed_texts[i][2], "way-%04u", i % 2);
        snprintf(keyed_names[i], sizeof keyed_names[i], KEYED_SOURCE ".packets-%u", i);
    }
    const crest_op long_one = crest_op_u64(1), short_one = crest_op_u64(2);
    gate_clock_set(2000000000);
    crest_timer_begin(&keyed_timer, long_one);
    crest_stages_begin(&keyed_stages, long_one);
    gate_clock_set(2000001000);
    crest_stages_mark(&keyed_stages, long_one, 0);
    gate_clock_set(2000002000);
    crest_stages_mark(&keyed_stages, long_one, 1);
    crest_stages_end(&keyed_stages, long_one, CREST_OUTCOME_OK);
    crest_timer_end(&keyed_timer, long_one, CREST_OUTCOME_OK);
    crest_stages_begin(&keyed_stages, short_one);
    crest_timer_begin(&keyed_timer, short_one);
    crest_stages_mark(&keyed_stages, short_one, 0);
    crest_stages_mark(&keyed_stages, short_one, 1);
    crest_stages_end(&keyed_stages, short_one, CREST_OUTCOME_OK);
    crest_timer_end(&keyed_timer, short_one, CREST_OUTCOME_OK);
}

static uint64_t keyed_total(void)
{
    return gate_recorded("gate.keyed", 1);
}

static uint64_t keyed_stages_total(void)
{
    return gate_recorded("gate.stages", 1);
}

static uint64_t keyed_mutex_total(void)
{
    return gate_recorded("gate.mutex.lock.acquire", 1);
}

/* As often as the names were counted, under any of them. */
static uint64_t keyed_names_total(void)
{
    uint64_t total = 0;
    for (unsigned i = 0; i < KEYED_SERIES; i++)
        total += crest_counter_value(crest_counter_by_name_in(NULL, keyed_names[i]));
    return total;
}

static uint64_t keyed_literal_total(void)
{
    return crest_counter_value(crest_counter_by_name_in(NULL, KEYED_SOURCE ".literal"));
}

/* Of the families, likewise. */
static uint64_t keyed_one_total(void)
{
    uint64_t total = 0;
    for (unsigned i = 0; i < KEYED_SERIES; i += 10)
        total += crest_counter_value(keyed_one_with(keyed_texts[i][1]));
    return total;
}

static uint64_t keyed_three_total(void)
{
    uint64_t total = 0;
    for (unsigned i = 0; i < KEYED_SERIES; i++)
        total += crest_counter_value(
            keyed_three_with(keyed_texts[i][0], keyed_texts[i][1], keyed_texts[i][2]));
    return total;
}

GATE_OPERATION(keyed_begin_end)
{
    crest_op op = crest_op_u64(at + 10);
    crest_timer_begin(&keyed_timer, op);
    crest_timer_end(&keyed_timer, op, CREST_OUTCOME_OK);
}

GATE_OPERATION(keyed_begin_end_bytes)
{
    crest_op op = {{at + 1, 2, 3, 4}, 32, CREST_OP_BYTES};
    crest_timer_begin(&keyed_timer, op);
    crest_timer_end(&keyed_timer, op, CREST_OUTCOME_OK);
}

GATE_OPERATION(keyed_stages_begin_end)
{
    crest_op op = crest_op_u64(at + 10);
    crest_stages_begin(&keyed_stages, op);
    crest_stages_end(&keyed_stages, op, CREST_OUTCOME_OK);
}

GATE_OPERATION(keyed_stages_marked)
{
    crest_op op = crest_op_u64(at + 10);
    crest_stages_begin(&keyed_stages, op);
    crest_stages_mark(&keyed_stages, op, 0);
    crest_stages_end(&keyed_stages, op, CREST_OUTCOME_OK);
}

GATE_OPERATION(keyed_lock)
{
    crest_mutex_lock(&keyed_mutex);
    crest_mutex_unlock(&keyed_mutex);
}

/* With an addition, which follows every look-up in a program. */
GATE_OPERATION(keyed_resolve_one)
{
    crest_counter_inc(keyed_one_with(keyed_texts[at][1]));
}

GATE_OPERATION(keyed_resolve_three)
{
    crest_counter_inc(keyed_three_with(keyed_texts[at][0], keyed_texts[at][1], keyed_texts[at][2]));
}

GATE_OPERATION(keyed_literal)
{
    crest_increment_counter("literal");
}

GATE_OPERATION(keyed_run_time)
{
    crest_counter_inc(crest_counter_by_name_in(NULL, keyed_names[at]));
}

GATE_OPERATION(keyed_sourced)
{
    crest_increment_counter(keyed_names[at] + sizeof KEYED_SOURCE);
}

const gate_path gate_keyed_paths[] = {
    {.name = "keyed/begin-end",
     .run = keyed_begin_end,
     .prepare = keyed_prepare,
     .total = keyed_total,
     .grows = 1},
    {.name = "keyed/begin-end-bytes",
     .run = keyed_begin_end_bytes,
     .total = keyed_total,
     .grows = 1},
    {.name = "stages/begin-end",
     .run = keyed_stages_begin_end,
     .total = keyed_stages_total,
     .grows = 1},
    {.name = "stages/begin-mark-end",
     .run = keyed_stages_marked,
     .total = keyed_stages_total,
     .grows = 1},
    {.name = "mutex/lock-unlock", .run = keyed_lock, .total = keyed_mutex_total, .grows = 1},
    {.name = "resolve/1-label",
     .run = keyed_resolve_one,
     .less = "text",
     .total = keyed_one_total,
     .grows = 1},
    {.name = "resolve/3-labels",
     .run = keyed_resolve_three,
     .less = "text",
     .total = keyed_three_total,
     .grows = 1},
    {.name = "by-name/literal", .run = keyed_literal, .total = keyed_literal_total, .grows = 1},
    {.name = "by-name/run-time",
     .run = keyed_run_time,
     .less = "text",
     .total = keyed_names_total,
     .grows = 1},
    {.name = "by-name/sourced",
     .run = keyed_sourced,
     .less = "text",
     .total = keyed_names_total,
     .grows = 1},
    {.name = NULL},
};
