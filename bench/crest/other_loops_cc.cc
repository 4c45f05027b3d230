/* SPDX-License-Identifier: Apache-2.0 */
/* What differs in C++: the block that handles exceptions. See other_loops.h. */
#include "other_loops.h"

#include <crest/crest.h>

CREST_TIMER(other_scope_timer_cc, OTHER_SCOPE_CC_NAME, "Blocks.");

LOOPS_LOOP void other_scope_cc(unsigned, uint64_t times)
{
    for (uint64_t i = 0; i < times; i++) {
        CREST_TIME_SCOPE(&other_scope_timer_cc, crest_op_u64(i), nullptr);
        __asm__ volatile("" ::: "memory");
    }
}
