/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The timed loops that find their metric each time: by a name at run time, by label values. The
 * records are the same as in loops_body.h.
 */
#include "resolve_loops.h"
#include "loops_records.h"

#define RESOLVE_SUBJECT(peer, operation) (&loops_subjects[peer][operation])

/* Of names and of families; `at` is the number of the metric. */
#define RESOLVE_NAMED(type) crest_##type##_by_name_in(NULL, names[at])
#define RESOLVE_LABELLED(type) crest_##type##_family_get(family, loops_labels[at], count)

#define RESOLVE_NAMED_LOOPS(type, suffix, operation, record)                                       \
    LOOPS_LOOP static void named_hot_##suffix(unsigned object, uint64_t times)                     \
    {                                                                                              \
        const char *const *names = RESOLVE_SUBJECT(LOOPS_PEER_NAMED, operation)->hot_name;         \
        unsigned at = object;                                                                      \
        uint64_t first = loops_own_ids();                                                          \
        (void)first;                                                                               \
        for (uint64_t i = 0; i < times; i++) {                                                     \
            crest_##type *handle = RESOLVE_NAMED(type);                                            \
            record;                                                                                \
        }                                                                                          \
    }                                                                                              \
    LOOPS_LOOP static void named_random_##suffix(unsigned object, uint64_t times)                  \
    {                                                                                              \
        const char *const *names = RESOLVE_SUBJECT(LOOPS_PEER_NAMED, operation)->name[object];     \
        uint64_t first = loops_own_ids();                                                          \
        (void)first;                                                                               \
        for (uint64_t i = 0; i < times; i++) {                                                     \
            uint32_t at = loops_order[i % LOOPS_VALUES];                                           \
            crest_##type *handle = RESOLVE_NAMED(type);                                            \
            record;                                                                                \
        }                                                                                          \
    }

#define RESOLVE_LABELLED_LOOPS(type, suffix, operation, record)                                    \
    LOOPS_LOOP static void labelled_hot_##suffix(unsigned object, uint64_t times)                  \
    {                                                                                              \
        crest_##type##_family *family =                                                            \
            RESOLVE_SUBJECT(LOOPS_PEER_LABELLED, operation)->hot_family;                           \
        unsigned at = object;                                                                      \
        uint64_t first = loops_own_ids();                                                          \
        unsigned count = loops_label_count;                                                        \
        (void)first;                                                                               \
        for (uint64_t i = 0; i < times; i++) {                                                     \
            crest_##type *handle = RESOLVE_LABELLED(type);                                         \
            record;                                                                                \
        }                                                                                          \
    }                                                                                              \
    LOOPS_LOOP static void labelled_random_##suffix(unsigned object, uint64_t times)               \
    {                                                                                              \
        crest_##type##_family *family =                                                            \
            RESOLVE_SUBJECT(LOOPS_PEER_LABELLED, operation)->family[object];                       \
        uint64_t first = loops_own_ids();                                                          \
        unsigned count = loops_label_count;                                                        \
        (void)first;                                                                               \
        for (uint64_t i = 0; i < times; i++) {                                                     \
            uint32_t at = loops_order[i % LOOPS_VALUES];                                           \
            crest_##type *handle = RESOLVE_LABELLED(type);                                         \
            record;                                                                                \
        }                                                                                          \
    }

#define RESOLVE_LOOPS(type, suffix, operation, record)                                             \
    RESOLVE_NAMED_LOOPS(type, suffix, operation, record)                                           \
    RESOLVE_LABELLED_LOOPS(type, suffix, operation, record)

RESOLVE_LOOPS(counter, counter, LOOPS_COUNTER, RECORD_COUNTER)
RESOLVE_LOOPS(gauge, gauge, LOOPS_GAUGE, RECORD_GAUGE)
RESOLVE_LOOPS(histogram, histogram, LOOPS_HISTOGRAM, RECORD_HISTOGRAM)
RESOLVE_LOOPS(timer, timer, LOOPS_TIMER, RECORD_TIMER)
RESOLVE_LOOPS(timer, keyed_timer, LOOPS_KEYED_TIMER, RECORD_KEYED_TIMER)
RESOLVE_LOOPS(range_sampler, range_sampler, LOOPS_RANGE_SAMPLER, RECORD_RANGE_SAMPLER)

/* In the order of loops_operation. */
#define RESOLVE_TABLE(way)                                                                         \
    {                                                                                              \
        {way##_hot_counter, way##_random_counter}, {way##_hot_gauge, way##_random_gauge},          \
            {way##_hot_histogram, way##_random_histogram}, {way##_hot_timer, way##_random_timer},  \
            {way##_hot_keyed_timer, way##_random_keyed_timer},                                     \
        {                                                                                          \
            way##_hot_range_sampler, way##_random_range_sampler                                    \
        }                                                                                          \
    }
const loops_pair loops_named[LOOPS_BOTH] = RESOLVE_TABLE(named);
const loops_pair loops_labelled[LOOPS_BOTH] = RESOLVE_TABLE(labelled);

/* ---- the other ways of a counter by its name ---- */

const char **resolve_sourced_names;
crest_source *resolve_source;

void resolve_sourced(unsigned object, uint64_t times)
{
    (void)object;
    const char *const *names = resolve_sourced_names;
    crest_source *source = resolve_source;
    for (uint64_t i = 0; i < times; i++)
        crest_counter_inc(crest_counter_by_name_in(source, names[loops_order[i % LOOPS_VALUES]]));
}

#define RESOLVE_LITERAL(n)                                                                         \
    LOOPS_LOOP static void resolve_literal_##n(uint64_t times)                                     \
    {                                                                                              \
        for (uint64_t i = 0; i < times; i++)                                                       \
            crest_increment_counter("bench.literal-" #n);                                          \
    }
RESOLVE_LITERAL(0)
RESOLVE_LITERAL(1)
RESOLVE_LITERAL(2)
RESOLVE_LITERAL(3)
RESOLVE_LITERAL(4)
RESOLVE_LITERAL(5)
RESOLVE_LITERAL(6)
RESOLVE_LITERAL(7)

void resolve_literal(unsigned object, uint64_t times)
{
    static void (*const loops[LOOPS_HOT])(uint64_t) = {
        resolve_literal_0, resolve_literal_1, resolve_literal_2, resolve_literal_3,
        resolve_literal_4, resolve_literal_5, resolve_literal_6, resolve_literal_7};
    loops[object](times);
}
