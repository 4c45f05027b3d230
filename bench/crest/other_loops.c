/* SPDX-License-Identifier: Apache-2.0 */
/* See other_loops.h. */
#include "other_loops.h"

#include <crest/crest.h>

#define OTHER_IN_FLIGHT 1000u

CREST_TIMER(other_late_timer, OTHER_AMONG_NAME, "With a deadline.", .deadline_ms = 3600000);
CREST_TIMER(other_scope_timer, OTHER_SCOPE_NAME, "Blocks.");
CREST_MUTEX(other_lock, OTHER_MUTEX_NAME);

LOOPS_LOOP void other_scope(unsigned object, uint64_t times)
{
    (void)object;
    for (uint64_t i = 0; i < times; i++) {
        CREST_TIME_SCOPE(&other_scope_timer, crest_op_u64(i), NULL);
        __asm__ volatile("" ::: "memory");
    }
}

void other_among_prepare(void)
{
    for (uint64_t i = 0; i < OTHER_IN_FLIGHT; i++)
        crest_timer_begin(&other_late_timer, crest_op_u64x2(1, i));
}

LOOPS_LOOP void other_among(unsigned object, uint64_t times)
{
    (void)object;
    uint64_t first = loops_own_ids();
    for (uint64_t i = 0; i < times; i++) {
        crest_op op = crest_op_u64(first + i);
        crest_timer_begin(&other_late_timer, op);
        crest_timer_end(&other_late_timer, op, CREST_OUTCOME_OK);
    }
}

LOOPS_LOOP void other_mutex(unsigned object, uint64_t times)
{
    (void)object;
    for (uint64_t i = 0; i < times; i++) {
        crest_mutex_lock(&other_lock);
        crest_mutex_unlock(&other_lock);
    }
}
