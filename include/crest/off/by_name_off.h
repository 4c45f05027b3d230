/* SPDX-License-Identifier: Apache-2.0 */
/* What by_name.h has with CREST_DISABLE; made by scripts/make-off, not by hand. */
#ifndef CREST_BY_NAME_OFF_H
#define CREST_BY_NAME_OFF_H

#pragma GCC system_header

CREST_BEGIN_C

CREST_API void crest_increment_counter(const char *name)
{
    (void)name;
}

CREST_API void crest_increment_counter_by(const char *name, int64_t amount)
{
    (void)name, (void)amount;
}

CREST_API void crest_set_gauge(const char *name, double value)
{
    (void)name, (void)value;
}

CREST_API void crest_increment_gauge(const char *name, double delta)
{
    (void)name, (void)delta;
}

CREST_API void crest_decrement_gauge(const char *name, double delta)
{
    (void)name, (void)delta;
}

CREST_API void crest_record(const char *name, int64_t value)
{
    (void)name, (void)value;
}

CREST_API void crest_record_n(const char *name, int64_t value, uint64_t times)
{
    (void)name, (void)value, (void)times;
}

CREST_API void crest_increment_sampler(const char *name, int64_t delta)
{
    (void)name, (void)delta;
}

CREST_API void crest_sample(const char *name)
{
    (void)name;
}

CREST_API crest_timing crest_timer_start_by_name(const char *name, crest_op op)
{
    crest_timing nothing;
    (void)name, (void)op;
    __builtin_memset((void *)&nothing, 0, sizeof nothing);
    return nothing;
}

CREST_API crest_status crest_timer_begin_by_name(const char *name, crest_op op)
{
    (void)name, (void)op;
    return CREST_OK;
}

CREST_API crest_status crest_timer_end_by_name(const char *name, crest_op op,
        crest_outcome outcome)
{
    (void)name, (void)op, (void)outcome;
    return CREST_OK;
}

CREST_API crest_counter *crest_counter_by_name(const char *name)
{
    (void)name;
    return CREST_NOTHING_(crest_counter);
}

CREST_API crest_gauge *crest_gauge_by_name(const char *name)
{
    (void)name;
    return CREST_NOTHING_(crest_gauge);
}

CREST_API crest_histogram *crest_histogram_by_name(const char *name)
{
    (void)name;
    return CREST_NOTHING_(crest_histogram);
}

CREST_API crest_timer *crest_timer_by_name(const char *name)
{
    (void)name;
    return CREST_NOTHING_(crest_timer);
}

CREST_API crest_range_sampler *crest_range_sampler_by_name(const char *name)
{
    (void)name;
    return CREST_NOTHING_(crest_range_sampler);
}

CREST_API crest_stages *crest_stages_by_name(const char *name)
{
    (void)name;
    return CREST_NOTHING_(crest_stages);
}

CREST_API crest_source *crest_source_get(const char *name)
{
    (void)name;
    return CREST_NOTHING_(crest_source);
}

CREST_API crest_status crest_source_check(const char *name, crest_error *error)
{
    (void)name;
    crest_off_fine(error);
    return CREST_OK;
}

CREST_API void crest_increment_counter_in(crest_source *source, const char *name)
{
    (void)source, (void)name;
}

CREST_API void crest_increment_counter_by_in(crest_source *source, const char *name,
        int64_t amount)
{
    (void)source, (void)name, (void)amount;
}

CREST_API void crest_set_gauge_in(crest_source *source, const char *name, double value)
{
    (void)source, (void)name, (void)value;
}

CREST_API void crest_increment_gauge_in(crest_source *source, const char *name, double delta)
{
    (void)source, (void)name, (void)delta;
}

CREST_API void crest_decrement_gauge_in(crest_source *source, const char *name, double delta)
{
    (void)source, (void)name, (void)delta;
}

CREST_API void crest_record_in(crest_source *source, const char *name, int64_t value)
{
    (void)source, (void)name, (void)value;
}

CREST_API void crest_record_n_in(crest_source *source, const char *name, int64_t value,
        uint64_t times)
{
    (void)source, (void)name, (void)value, (void)times;
}

CREST_API void crest_increment_sampler_in(crest_source *source, const char *name, int64_t delta)
{
    (void)source, (void)name, (void)delta;
}

CREST_API void crest_sample_in(crest_source *source, const char *name)
{
    (void)source, (void)name;
}

CREST_API crest_timing crest_timer_start_by_name_in(crest_source *source, const char *name,
        crest_op op)
{
    crest_timing nothing;
    (void)source, (void)name, (void)op;
    __builtin_memset((void *)&nothing, 0, sizeof nothing);
    return nothing;
}

CREST_API crest_status crest_timer_begin_by_name_in(crest_source *source, const char *name,
        crest_op op)
{
    (void)source, (void)name, (void)op;
    return CREST_OK;
}

CREST_API crest_status crest_timer_end_by_name_in(crest_source *source, const char *name,
        crest_op op, crest_outcome outcome)
{
    (void)source, (void)name, (void)op, (void)outcome;
    return CREST_OK;
}

CREST_API crest_counter *crest_counter_by_name_in(crest_source *source, const char *name)
{
    (void)source, (void)name;
    return CREST_NOTHING_(crest_counter);
}

CREST_API crest_gauge *crest_gauge_by_name_in(crest_source *source, const char *name)
{
    (void)source, (void)name;
    return CREST_NOTHING_(crest_gauge);
}

CREST_API crest_histogram *crest_histogram_by_name_in(crest_source *source, const char *name)
{
    (void)source, (void)name;
    return CREST_NOTHING_(crest_histogram);
}

CREST_API crest_timer *crest_timer_by_name_in(crest_source *source, const char *name)
{
    (void)source, (void)name;
    return CREST_NOTHING_(crest_timer);
}

CREST_API crest_range_sampler *crest_range_sampler_by_name_in(crest_source *source,
        const char *name)
{
    (void)source, (void)name;
    return CREST_NOTHING_(crest_range_sampler);
}

CREST_API crest_stages *crest_stages_by_name_in(crest_source *source, const char *name)
{
    (void)source, (void)name;
    return CREST_NOTHING_(crest_stages);
}

CREST_API void crest_counter_site_slow(crest_counter *site, crest_source *source,
        const char *name, int64_t amount)
{
    (void)site, (void)source, (void)name, (void)amount;
}

CREST_API void crest_counter_site_add(crest_counter *site, crest_source *source, const char *name,
        int64_t amount)
{
    (void)site, (void)source, (void)name, (void)amount;
}

CREST_END_C

#endif
