/* SPDX-License-Identifier: Apache-2.0 */
/* What lane.h has with CREST_DISABLE; made by scripts/make-off, not by hand. */
#ifndef CREST_LANE_OFF_H
#define CREST_LANE_OFF_H

#pragma GCC system_header

CREST_BEGIN_C

CREST_API unsigned crest_lanes_make(unsigned processors)
{
    (void)processors;
    return 0;
}

CREST_API crest_cells *crest_lane_cells(unsigned lane)
{
    (void)lane;
    return NULL;
}

CREST_API crest_cells *crest_lane_own(uint32_t slot)
{
    (void)slot;
    return NULL;
}

CREST_API void crest_lane_counter_add(unsigned lane, crest_counter *counter, int64_t amount)
{
    (void)lane, (void)counter, (void)amount;
}

CREST_API void crest_lane_histogram_record(unsigned lane, crest_histogram *histogram,
        int64_t value, uint64_t times)
{
    (void)lane, (void)histogram, (void)value, (void)times;
}

CREST_API crest_status crest_lane_timer_record(unsigned lane, crest_timer *timer,
        int64_t duration_ns, crest_outcome outcome, const crest_op *op)
{
    (void)lane, (void)timer, (void)duration_ns, (void)outcome, (void)op;
    return CREST_OK;
}

CREST_END_C

#endif
