/* SPDX-License-Identifier: Apache-2.0 */
/* What testing.h has with CREST_DISABLE; made by scripts/make-off, not by hand. */
#ifndef CREST_TESTING_OFF_H
#define CREST_TESTING_OFF_H

#pragma GCC system_header

CREST_BEGIN_C

CREST_API crest_testing_mark *crest_testing_mark_take(crest_registry *registry)
{
    (void)registry;
    return CREST_NOTHING_(crest_testing_mark);
}

CREST_API void crest_testing_mark_free(crest_testing_mark *mark)
{
    (void)mark;
}

CREST_API crest_status crest_testing_read(crest_registry *registry,
        const crest_testing_mark *since, crest_testing_reading *reading, crest_error *error,
        const char *name, ...)
{
    (void)registry, (void)since, (void)name;
    if (reading != NULL)
        __builtin_memset((void *)reading, 0, sizeof *reading);
    return crest_error_set(error, CREST_NOT_FOUND, "CREST_DISABLE");
}

CREST_API crest_status crest_testing_quantile(crest_registry *registry,
        const crest_testing_mark *since, double q, uint64_t *value, crest_error *error,
        const char *name, ...)
{
    (void)registry, (void)since, (void)q, (void)name;
    if (value != NULL)
        *value = 0;
    return crest_error_set(error, CREST_NOT_FOUND, "CREST_DISABLE");
}

CREST_API crest_status crest_testing_grew(const crest_testing_mark *since, uint64_t by,
        crest_error *error, const char *name, ...)
{
    (void)since, (void)by, (void)name;
    return crest_error_set(error, CREST_NOT_FOUND, "CREST_DISABLE");
}

CREST_API void crest_testing_clock_set(uint64_t ns)
{
    (void)ns;
}

CREST_API void crest_testing_clock_advance(uint64_t ns)
{
    (void)ns;
}

CREST_API void crest_testing_clock_set_wall(uint64_t ns)
{
    (void)ns;
}

CREST_API void crest_testing_clock_shift_wall(int64_t ns, int64_t parts_per_billion)
{
    (void)ns, (void)parts_per_billion;
}

CREST_API void crest_testing_clock_real(void)
{
}

CREST_API crest_status crest_testing_tick(crest_registry *registry)
{
    (void)registry;
    return CREST_OK;
}

CREST_API crest_reporter *crest_testing_reporter_new(const crest_testing_reporter_options *options)
{
    (void)options;
    return CREST_NOTHING_(crest_reporter);
}

CREST_API void crest_testing_reporter_fail(crest_reporter *reporter, unsigned times,
        crest_status status, const char *reason)
{
    (void)reporter, (void)times, (void)status, (void)reason;
}

CREST_API size_t crest_testing_reporter_count(const crest_reporter *reporter)
{
    (void)reporter;
    return 0;
}

CREST_API size_t crest_testing_reporter_stops(const crest_reporter *reporter)
{
    (void)reporter;
    return 0;
}

CREST_API crest_status crest_testing_reporter_wait(const crest_reporter *reporter, size_t reports,
        uint64_t deadline_ms)
{
    (void)reporter, (void)reports, (void)deadline_ms;
    return CREST_TIMED_OUT;
}

CREST_API crest_status crest_testing_reporter_get(const crest_reporter *reporter, size_t index,
        crest_testing_report *report)
{
    (void)reporter, (void)index;
    if (report != NULL)
        __builtin_memset((void *)report, 0, sizeof *report);
    return CREST_NOT_FOUND;
}

CREST_API crest_status crest_testing_page_value(const char *page, const char *series,
        double *value)
{
    (void)page, (void)series;
    if (value != NULL)
        *value = 0;
    return CREST_NOT_FOUND;
}

CREST_END_C

#endif
