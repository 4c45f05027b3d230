/* SPDX-License-Identifier: Apache-2.0 */
/* What range_sampler.h has with CREST_DISABLE; made by scripts/make-off, not by hand. */
#ifndef CREST_RANGE_SAMPLER_OFF_H
#define CREST_RANGE_SAMPLER_OFF_H

#pragma GCC system_header

CREST_BEGIN_C

CREST_API void crest_range_sampler_add_slow(crest_range_sampler *sampler, int64_t delta)
{
    (void)sampler, (void)delta;
}

CREST_API void crest_range_sampler_set_slow(crest_range_sampler *sampler, int64_t value)
{
    (void)sampler, (void)value;
}

CREST_API uint64_t crest_range_time(void)
{
    return 0;
}

CREST_API void crest_range_extend(crest_range_cell *cell, int64_t value)
{
    (void)cell, (void)value;
}

CREST_API int crest_range_replace(crest_range_cell *cell, crest_range_state *seen, uint64_t value,
        uint64_t moment)
{
    (void)cell, (void)seen, (void)value, (void)moment;
    return 0;
}

CREST_API crest_range_state crest_range_seen(const crest_range_cell *cell)
{
    crest_range_state nothing;
    (void)cell;
    __builtin_memset((void *)&nothing, 0, sizeof nothing);
    return nothing;
}

CREST_API void crest_range_sampler_add(crest_range_sampler *sampler, int64_t delta)
{
    (void)sampler, (void)delta;
}

CREST_API void crest_range_sampler_set(crest_range_sampler *sampler, int64_t value)
{
    (void)sampler, (void)value;
}

CREST_API int64_t crest_range_sampler_value(const crest_range_sampler *sampler)
{
    (void)sampler;
    return 0;
}

CREST_END_C

#endif
