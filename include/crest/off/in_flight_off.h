/* SPDX-License-Identifier: Apache-2.0 */
/* What in_flight.h has with CREST_DISABLE; made by scripts/make-off, not by hand. */
#ifndef CREST_IN_FLIGHT_OFF_H
#define CREST_IN_FLIGHT_OFF_H

#pragma GCC system_header

CREST_BEGIN_C

CREST_API crest_status crest_timer_begin(crest_timer *timer, crest_op op)
{
    (void)timer, (void)op;
    return CREST_OK;
}

CREST_API crest_status crest_timer_begin_owned(crest_timer *timer, crest_op op, crest_op owner)
{
    (void)timer, (void)op, (void)owner;
    return CREST_OK;
}

CREST_API size_t crest_owner_end(crest_op owner, crest_outcome outcome)
{
    (void)owner, (void)outcome;
    return 0;
}

CREST_API crest_status crest_timer_end(crest_timer *timer, crest_op op, crest_outcome outcome)
{
    (void)timer, (void)op, (void)outcome;
    return CREST_OK;
}

CREST_API crest_in_flight crest_timer_in_flight(const crest_timer *timer)
{
    crest_in_flight nothing;
    (void)timer;
    __builtin_memset((void *)&nothing, 0, sizeof nothing);
    return nothing;
}

CREST_API size_t crest_timer_oldest(const crest_timer *timer, crest_in_flight_op *ops, size_t max)
{
    (void)timer, (void)ops, (void)max;
    return 0;
}

CREST_END_C

#endif
