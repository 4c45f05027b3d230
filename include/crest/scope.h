/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Timing the rest of a block, however it is left: at its end, by return, break, continue or goto,
 * and in C++ by an exception.
 *
 *     crest_outcome outcome = CREST_OUTCOME_ERROR;
 *     CREST_TIME_SCOPE(&store_time, crest_op_u64(height), &outcome);
 *     if (store(block) != 0)
 *         return -1;
 *     outcome = CREST_OUTCOME_OK;
 *     return 0;
 *
 * It does not survive longjmp, which skips a block's clean-up.
 */
#ifndef CREST_SCOPE_H
#define CREST_SCOPE_H

#include <crest/timer.h>

#ifdef __cplusplus
#include <exception>
#endif

/* A timing of a block; only the macro makes them. */
typedef struct crest_time_scope {
    crest_timing timing;
    const crest_outcome *outcome; /* borrowed until the block is left; NULL: ok */
} crest_time_scope;

CREST_BEGIN_C

#ifndef CREST_DISABLE
/* The begin of CREST_TIME_SCOPE. */
CREST_INLINE crest_time_scope crest_time_scope_begin(crest_timer *timer, crest_op op,
                                                     const crest_outcome *outcome)
{
    crest_time_scope scope = {crest_timer_start(timer, op), outcome};
    return scope;
}

/* Called when the block is left: records its time under this outcome. An invalid outcome is not
 * recorded, and counted in crest_misuse_total. */
CREST_INLINE void crest_time_scope_record(const crest_time_scope *scope, crest_outcome outcome)
{
    uint64_t now_ns = crest_now();
    const crest_timing *timing = &scope->timing;
    if (CREST_UNLIKELY((unsigned)outcome >= CREST_OUTCOME_COUNT))
        crest_timing_refuse(timing->timer, CREST_INVALID_ARGUMENT);
    else
        crest_timer_record_op(timing->timer, (int64_t)(now_ns - timing->start_ns), outcome,
                              &timing->op);
}

/* The same, under the outcome that the block has set by now. */
CREST_INLINE void crest_time_scope_end(crest_time_scope *scope)
{
    crest_time_scope_record(scope, scope->outcome ? *scope->outcome : CREST_OUTCOME_OK);
}
#endif

CREST_END_C

/*
 * CREST_TIME_SCOPE(timer, op, outcome): a declaration. Times from here to the end of the block,
 * however it is left. Records that in the crest_timer * `timer` as operation `op` (crest_op_none()
 * if it has no id), under what the crest_outcome * `outcome` then points to; NULL: ok. In C++, a
 * block that an exception leaves while the outcome still says ok is recorded as error. Several may
 * stand in one block; they end in the opposite order. Any thread, any handler. Cost: that of a
 * start and an end.
 */
#ifdef __cplusplus
#ifndef CREST_DISABLE
class crest_time_scope_guard
{
  public:
    crest_time_scope_guard(crest_timer *timer, crest_op op, const crest_outcome *outcome)
        : scope_(crest_time_scope_begin(timer, op, outcome)),
          exceptions_(std::uncaught_exceptions())
    {
    }
    crest_time_scope_guard(const crest_time_scope_guard &) = delete;
    crest_time_scope_guard &operator=(const crest_time_scope_guard &) = delete;
    ~crest_time_scope_guard()
    {
        crest_outcome outcome = scope_.outcome != nullptr ? *scope_.outcome : CREST_OUTCOME_OK;
        if (outcome == CREST_OUTCOME_OK && std::uncaught_exceptions() > exceptions_)
            outcome = CREST_OUTCOME_ERROR;
        crest_time_scope_record(&scope_, outcome);
    }

  private:
    crest_time_scope scope_;
    int exceptions_;
};
#else
class crest_time_scope_guard
{
  public:
    crest_time_scope_guard(crest_timer *, crest_op, const crest_outcome *) {}
    crest_time_scope_guard(const crest_time_scope_guard &) = delete;
    crest_time_scope_guard &operator=(const crest_time_scope_guard &) = delete;
    ~crest_time_scope_guard() {}
};
#endif

#define CREST_TIME_SCOPE(timer, op, outcome)                                                       \
    crest_time_scope_guard CREST_PASTE_(crest_time_scope_of_, __COUNTER__)(timer, op, outcome)
#else
#define CREST_TIME_SCOPE(timer, op, outcome)                                                       \
    __attribute__((cleanup(crest_time_scope_end), unused)) crest_time_scope CREST_PASTE_(          \
        crest_time_scope_of_, __COUNTER__) = crest_time_scope_begin(timer, op, outcome)
#endif

#ifdef CREST_DISABLE
#include <crest/off/scope_off.h>
#endif

#endif
