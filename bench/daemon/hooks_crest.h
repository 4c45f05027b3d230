/* SPDX-License-Identifier: Apache-2.0 */
/* The hooks, by Crest. crest_start gets its options from the environment's DAEMON_CREST. */
#ifndef HOOKS_CREST_H
#define HOOKS_CREST_H

#include <crest/crest.h>

#define HOOK_COUNTER_(variable, name, text) CREST_COUNTER_DECLARE(hook_##variable);
#define HOOK_HISTOGRAM_(variable, name, text) CREST_HISTOGRAM_DECLARE(hook_##variable);
#define HOOK_TIMER_(variable, name, text) CREST_TIMER_DECLARE(hook_##variable);
#define HOOK_SAMPLER_(variable, name, text) CREST_RANGE_SAMPLER_DECLARE(hook_##variable);
METRICS(HOOK_COUNTER_, HOOK_HISTOGRAM_, HOOK_TIMER_, HOOK_SAMPLER_)

void hook_begin_all(void);
void hook_end_all(void);

#define HOOK_BEGIN_ALL() hook_begin_all()
#define HOOK_END_ALL() hook_end_all()

#define HOOK_INC(counter) crest_counter_inc(&hook_##counter)
#define HOOK_ADD(counter, n) crest_counter_add(&hook_##counter, (n))
#define HOOK_RECORD(histogram, value) crest_histogram_record(&hook_##histogram, (value))
#define HOOK_RAISE(sampler, n) crest_range_sampler_add(&hook_##sampler, (n))

#define HOOK_TIMING(field) crest_timing_u64 field;
#define HOOK_START(field, timer, id) (field) = crest_timer_start_u64(&hook_##timer, (uint64_t)(id))
#define HOOK_STOP(field, timer, id) crest_timing_u64_end(&(field), (uint64_t)(id), CREST_OUTCOME_OK)

#if VARIANT == VARIANT_STAMPS
#define HOOK_STAMP(field) uint64_t field;
#define HOOK_KEYED_BEGIN(field, timer, object, id) (field) = crest_now()
#define HOOK_KEYED_END(field, timer, object, id)                                                   \
    crest_timer_record(&hook_##timer, (int64_t)(crest_now() - (field)), CREST_OUTCOME_OK)
#else
#define HOOK_STAMP(field)
#define HOOK_OP_(object, id) crest_op_u64x2((uint64_t)(uintptr_t)(object), (uint64_t)(id))
#define HOOK_KEYED_BEGIN(field, timer, object, id)                                                 \
    crest_timer_begin(&hook_##timer, HOOK_OP_(object, id))
#define HOOK_KEYED_END(field, timer, object, id)                                                   \
    crest_timer_end(&hook_##timer, HOOK_OP_(object, id), CREST_OUTCOME_OK)
#endif

#if VARIANT == VARIANT_ALONE || VARIANT == VARIANT_STAMPS
void hook_join(int epoll);
int hook_turn(const void *event);
#define HOOK_JOIN(epoll) hook_join(epoll)
#define HOOK_TURN(event) hook_turn(event)
#endif

#if VARIANT == VARIANT_CREST
#define HOOK_MUTEX(variable, name) CREST_MUTEX(variable, "daemon." #name)
#define HOOK_LOCK(variable) crest_mutex_lock(&(variable))
#define HOOK_UNLOCK(variable) crest_mutex_unlock(&(variable))
#define HOOK_TRYLOCK(variable) crest_mutex_trylock(&(variable))
#endif

#endif
