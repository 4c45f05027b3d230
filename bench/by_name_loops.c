/* SPDX-License-Identifier: Apache-2.0 */
/* See by_name_loops.h. */
#include "by_name_loops.h"

#include <crest/by_name.h>
#include <stdio.h>

#define BY_NAME_SOURCE "rchain.comm.rp.transport"
CREST_SOURCE(BY_NAME_SOURCE);

#define BY_NAME_LOOP __attribute__((noinline, aligned(64)))

static char by_name_whole[BY_NAME_NAMES][64];
static crest_counter *by_name_handle[BY_NAME_NAMES];
static unsigned by_name_order[BY_NAME_NAMES];

void by_name_prepare(void)
{
    uint64_t state = 20;
    for (unsigned i = 0; i < BY_NAME_NAMES; i++) {
        snprintf(by_name_whole[i], sizeof by_name_whole[i], BY_NAME_SOURCE ".packets-%u", i);
        by_name_handle[i] = crest_counter_by_name_in(NULL, by_name_whole[i]);
        /* a permutation, by swapping (Fisher and Yates) */
        state = state * UINT64_C(6364136223846793005) + 1;
        unsigned other = (unsigned)(state >> 33) % (i + 1);
        by_name_order[i] = by_name_order[other];
        by_name_order[other] = i;
    }
}

uint64_t by_name_total(void)
{
    uint64_t total = 0;
    for (unsigned i = 0; i < BY_NAME_NAMES; i++)
        total += crest_counter_value(by_name_handle[i]);
    return total;
}

#define BY_NAME_LITERAL(n)                                                                         \
    BY_NAME_LOOP static void by_name_literal_##n(uint64_t times)                                   \
    {                                                                                              \
        for (uint64_t i = 0; i < times; i++)                                                       \
            crest_increment_counter("literal-" #n);                                                \
    }
BY_NAME_LITERAL(0)
BY_NAME_LITERAL(1)
BY_NAME_LITERAL(2)
BY_NAME_LITERAL(3)
BY_NAME_LITERAL(4)
BY_NAME_LITERAL(5)
BY_NAME_LITERAL(6)
BY_NAME_LITERAL(7)

void by_name_literal(unsigned which, uint64_t times)
{
    static void (*const loops[HOT_METRICS])(uint64_t) = {
        by_name_literal_0, by_name_literal_1, by_name_literal_2, by_name_literal_3,
        by_name_literal_4, by_name_literal_5, by_name_literal_6, by_name_literal_7};
    loops[which](times);
}

uint64_t by_name_literal_total(unsigned which)
{
    char name[32];
    snprintf(name, sizeof name, "literal-%u", which);
    return crest_counter_value(crest_counter_by_name(name));
}

BY_NAME_LOOP void by_name_handles(unsigned which, uint64_t times)
{
    unsigned at = which;
    for (uint64_t i = 0; i < times; i++) {
        crest_counter_inc(by_name_handle[by_name_order[at]]);
        at = at + 1 < BY_NAME_NAMES ? at + 1 : 0;
    }
}

BY_NAME_LOOP void by_name_run_time(unsigned which, uint64_t times)
{
    unsigned at = which;
    for (uint64_t i = 0; i < times; i++) {
        crest_counter_inc(crest_counter_by_name_in(NULL, by_name_whole[by_name_order[at]]));
        at = at + 1 < BY_NAME_NAMES ? at + 1 : 0;
    }
}

BY_NAME_LOOP void by_name_sourced(unsigned which, uint64_t times)
{
    unsigned at = which;
    for (uint64_t i = 0; i < times; i++) {
        crest_increment_counter(by_name_whole[by_name_order[at]] + sizeof BY_NAME_SOURCE);
        at = at + 1 < BY_NAME_NAMES ? at + 1 : 0;
    }
}
