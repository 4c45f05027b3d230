/* SPDX-License-Identifier: Apache-2.0 */
/* What timer.h has with CREST_DISABLE; made by scripts/make-off, not by hand. */
#ifndef CREST_TIMER_OFF_H
#define CREST_TIMER_OFF_H

#pragma GCC system_header

CREST_BEGIN_C

CREST_API const char *crest_outcome_text(crest_outcome outcome)
{
    switch (outcome) {
    case CREST_OUTCOME_OK: return "ok";
    case CREST_OUTCOME_ERROR: return "error";
    case CREST_OUTCOME_TIMEOUT: return "timeout";
    case CREST_OUTCOME_CANCELLED: return "cancelled";
    default: return NULL;
    }
}

CREST_API crest_status crest_timer_record_slow(crest_timer *timer, int64_t duration_ns,
        crest_outcome outcome, const crest_op *op)
{
    (void)timer, (void)duration_ns, (void)outcome, (void)op;
    return CREST_OK;
}

CREST_API crest_status crest_timing_refuse(const crest_timer *timer, crest_status why)
{
    (void)timer, (void)why;
    return CREST_OK;
}

CREST_API crest_status crest_timer_record_op(crest_timer *timer, int64_t duration_ns,
        crest_outcome outcome, const crest_op *op)
{
    (void)timer, (void)duration_ns, (void)outcome, (void)op;
    return CREST_OK;
}

CREST_API void crest_timer_record(crest_timer *timer, int64_t duration_ns, crest_outcome outcome)
{
    (void)timer, (void)duration_ns, (void)outcome;
}

CREST_API crest_timing crest_timer_start_at(crest_timer *timer, crest_op op, uint64_t now_ns)
{
    crest_timing nothing;
    (void)timer, (void)op, (void)now_ns;
    __builtin_memset((void *)&nothing, 0, sizeof nothing);
    return nothing;
}

CREST_API crest_timing crest_timer_start(crest_timer *timer, crest_op op)
{
    crest_timing nothing;
    (void)timer, (void)op;
    __builtin_memset((void *)&nothing, 0, sizeof nothing);
    return nothing;
}

CREST_API crest_status crest_timing_bind(crest_timing *timing, crest_op op)
{
    (void)timing, (void)op;
    return CREST_OK;
}

CREST_API crest_status crest_timing_end_at(crest_timing *timing, crest_op op,
        crest_outcome outcome, crest_timer *series, uint64_t now_ns)
{
    (void)timing, (void)op, (void)outcome, (void)series, (void)now_ns;
    return CREST_OK;
}

CREST_API crest_status crest_timing_end_in(crest_timing *timing, crest_op op,
        crest_outcome outcome, crest_timer *series)
{
    (void)timing, (void)op, (void)outcome, (void)series;
    return CREST_OK;
}

CREST_API crest_status crest_timing_end(crest_timing *timing, crest_op op, crest_outcome outcome)
{
    (void)timing, (void)op, (void)outcome;
    return CREST_OK;
}

CREST_API crest_status crest_timing_stop(crest_timing *timing, crest_op op)
{
    (void)timing, (void)op;
    return CREST_OK;
}

CREST_API crest_timing_u64 crest_timer_start_u64_at(crest_timer *timer, uint64_t id,
        uint64_t now_ns)
{
    crest_timing_u64 nothing;
    (void)timer, (void)id, (void)now_ns;
    __builtin_memset((void *)&nothing, 0, sizeof nothing);
    return nothing;
}

CREST_API crest_timing_u64 crest_timer_start_u64(crest_timer *timer, uint64_t id)
{
    crest_timing_u64 nothing;
    (void)timer, (void)id;
    __builtin_memset((void *)&nothing, 0, sizeof nothing);
    return nothing;
}

CREST_API crest_status crest_timing_u64_end_at(crest_timing_u64 *timing, uint64_t id,
        crest_outcome outcome, crest_timer *series, uint64_t now_ns)
{
    (void)timing, (void)id, (void)outcome, (void)series, (void)now_ns;
    return CREST_OK;
}

CREST_API crest_status crest_timing_u64_end_in(crest_timing_u64 *timing, uint64_t id,
        crest_outcome outcome, crest_timer *series)
{
    (void)timing, (void)id, (void)outcome, (void)series;
    return CREST_OK;
}

CREST_API crest_status crest_timing_u64_end(crest_timing_u64 *timing, uint64_t id,
        crest_outcome outcome)
{
    (void)timing, (void)id, (void)outcome;
    return CREST_OK;
}

CREST_END_C

#endif
