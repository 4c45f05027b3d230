/* SPDX-License-Identifier: Apache-2.0 */
/* What stages.h has with CREST_DISABLE; made by scripts/make-off, not by hand. */
#ifndef CREST_STAGES_OFF_H
#define CREST_STAGES_OFF_H

#pragma GCC system_header

CREST_BEGIN_C

CREST_API crest_status crest_stages_begin(crest_stages *stages, crest_op op)
{
    (void)stages, (void)op;
    return CREST_OK;
}

CREST_API crest_status crest_stages_begin_owned(crest_stages *stages, crest_op op, crest_op owner)
{
    (void)stages, (void)op, (void)owner;
    return CREST_OK;
}

CREST_API crest_status crest_stages_mark(crest_stages *stages, crest_op op, unsigned index)
{
    (void)stages, (void)op, (void)index;
    return CREST_OK;
}

CREST_API crest_status crest_stages_end(crest_stages *stages, crest_op op, crest_outcome outcome)
{
    (void)stages, (void)op, (void)outcome;
    return CREST_OK;
}

CREST_API crest_in_flight crest_stages_in_flight(const crest_stages *stages)
{
    crest_in_flight nothing;
    (void)stages;
    __builtin_memset((void *)&nothing, 0, sizeof nothing);
    return nothing;
}

CREST_API size_t crest_stages_oldest(const crest_stages *stages, crest_in_flight_op *ops,
        size_t max)
{
    (void)stages, (void)ops, (void)max;
    return 0;
}

CREST_END_C

#endif
