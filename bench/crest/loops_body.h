/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The timed loops of recording through handles; see loops.h. Included as C, as C++ and where only
 * the exported symbols are known, with LOOPS_PEER and LOOPS_TABLE defined.
 *
 * No compiler can leave any of it out: the additions are volatile assembly or atomic, and so are
 * the stores of gauges. `objdump -d --no-show-raw-insn build/release/obj/bench/crest/loops_c.o`
 * shows one `add …,(…)` in each step of hot_counter, one `mov …,(…)` in hot_gauge, two additions
 * in hot_histogram, two `rdtsc` in hot_timer; loops_exported.o shows the calls.
 */
#include "loops_records.h"

#define LOOPS_SUBJECT(operation) (&loops_subjects[LOOPS_PEER][operation])

/* A loop on one metric, and one on a set of them in the order that is given. */
#define LOOPS_ON_HOT(name, operation, type, record)                                                \
    LOOPS_LOOP static void name(unsigned object, uint64_t times)                                   \
    {                                                                                              \
        struct type *handle = (struct type *)LOOPS_SUBJECT(operation)->hot[object];                \
        uint64_t first = loops_own_ids();                                                          \
        (void)first;                                                                               \
        for (uint64_t i = 0; i < times; i++) {                                                     \
            record;                                                                                \
        }                                                                                          \
    }
#define LOOPS_ON_RANDOM(name, operation, type, record)                                             \
    LOOPS_LOOP static void name(unsigned object, uint64_t times)                                   \
    {                                                                                              \
        void *const *handles = LOOPS_SUBJECT(operation)->random[object];                           \
        uint64_t first = loops_own_ids();                                                          \
        (void)first;                                                                               \
        for (uint64_t i = 0; i < times; i++) {                                                     \
            struct type *handle = (struct type *)handles[loops_order[i % LOOPS_VALUES]];           \
            record;                                                                                \
        }                                                                                          \
    }
#define LOOPS_ON_BOTH(name, operation, type, record)                                               \
    LOOPS_ON_HOT(hot_##name, operation, type, record)                                              \
    LOOPS_ON_RANDOM(random_##name, operation, type, record)

LOOPS_ON_BOTH(counter, LOOPS_COUNTER, crest_counter, RECORD_COUNTER)
LOOPS_ON_BOTH(gauge, LOOPS_GAUGE, crest_gauge, RECORD_GAUGE)
LOOPS_ON_BOTH(histogram, LOOPS_HISTOGRAM, crest_histogram, RECORD_HISTOGRAM)
LOOPS_ON_BOTH(timer, LOOPS_TIMER, crest_timer, RECORD_TIMER)
LOOPS_ON_BOTH(keyed_timer, LOOPS_KEYED_TIMER, crest_timer, RECORD_KEYED_TIMER)
LOOPS_ON_BOTH(range_sampler, LOOPS_RANGE_SAMPLER, crest_range_sampler, RECORD_RANGE_SAMPLER)
LOOPS_ON_HOT(hot_histogram_even, LOOPS_HISTOGRAM_EVEN, crest_histogram, RECORD_HISTOGRAM_EVEN)
LOOPS_ON_HOT(hot_timer_through_memory, LOOPS_TIMER_THROUGH_MEMORY, crest_timer,
             RECORD_TIMER_THROUGH_MEMORY)
LOOPS_ON_HOT(hot_range_sampler_raise, LOOPS_RANGE_SAMPLER_RAISE, crest_range_sampler,
             RECORD_RANGE_SAMPLER_RAISE)

/* In the order of loops_operation. */
const loops_pair LOOPS_TABLE[LOOPS_OPERATIONS] = {{hot_counter, random_counter},
                                                  {hot_gauge, random_gauge},
                                                  {hot_histogram, random_histogram},
                                                  {hot_timer, random_timer},
                                                  {hot_keyed_timer, random_keyed_timer},
                                                  {hot_range_sampler, random_range_sampler},
                                                  {hot_histogram_even, 0},
                                                  {hot_timer_through_memory, 0},
                                                  {hot_range_sampler_raise, 0}};
