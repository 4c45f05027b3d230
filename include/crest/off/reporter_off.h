/* SPDX-License-Identifier: Apache-2.0 */
/* What reporter.h has with CREST_DISABLE; made by scripts/make-off, not by hand. */
#ifndef CREST_REPORTER_OFF_H
#define CREST_REPORTER_OFF_H

#pragma GCC system_header

CREST_BEGIN_C

CREST_API int crest_reporter_descriptor(int descriptor)
{
    return descriptor;
}

/* Started all the same, or who joins it would wait for nothing. */
CREST_API int crest_reporter_thread(pthread_t *thread, void *(*run)(void *), void *context)
{
    pthread_t unseen;
    int failed = pthread_create(thread != NULL ? thread : &unseen, NULL, run, context);
    if (failed == 0 && thread == NULL)
        pthread_detach(unseen);
    return failed;
}

CREST_API void crest_reporter_free(crest_reporter *reporter)
{
    if (reporter != NULL && reporter->free != NULL)
        reporter->free(reporter);
}

CREST_API crest_status crest_reporter_attach(crest_registry *registry, crest_reporter *reporter,
        const crest_schedule *schedule, crest_error *error)
{
    (void)registry, (void)reporter, (void)schedule;
    crest_off_fine(error);
    return CREST_OK;
}

CREST_API crest_status crest_report_previous(const crest_report *report, size_t index,
        crest_series_view *view)
{
    (void)report, (void)index;
    if (view != NULL)
        __builtin_memset((void *)view, 0, sizeof *view);
    return CREST_NOT_FOUND;
}

CREST_API crest_status crest_reporter_detach(crest_reporter *reporter, uint64_t deadline_ms,
        crest_error *error)
{
    (void)reporter, (void)deadline_ms;
    crest_off_fine(error);
    return CREST_OK;
}

CREST_API crest_status crest_report_now(crest_reporter *reporter, uint64_t deadline_ms,
        crest_error *error)
{
    (void)reporter, (void)deadline_ms;
    crest_off_fine(error);
    return CREST_OK;
}

CREST_API crest_status crest_reporter_status(const crest_reporter *reporter,
        crest_reporter_state *state)
{
    (void)reporter;
    if (state != NULL)
        __builtin_memset((void *)state, 0, sizeof *state);
    return CREST_NOT_FOUND;
}

CREST_API size_t crest_reporter_list(crest_reporter_info *infos, size_t room)
{
    (void)infos, (void)room;
    return 0;
}

CREST_API crest_status crest_report_once(crest_registry *registry, crest_reporter *reporter,
        uint64_t deadline_ms, crest_error *error)
{
    (void)registry, (void)reporter, (void)deadline_ms;
    crest_off_fine(error);
    return CREST_OK;
}

CREST_API crest_status crest_reporter_kind_add(const crest_reporter_kind *kind)
{
    (void)kind;
    return CREST_OK;
}

CREST_API const char *crest_option(const crest_options *options, const char *key)
{
    (void)options, (void)key;
    return NULL;
}

CREST_API const char *crest_option_origin(const crest_options *options, const char *key)
{
    (void)options, (void)key;
    return NULL;
}

CREST_API int crest_option_next(const crest_options *options, const char *prefix, size_t *cursor,
        const char **key, const char **value)
{
    (void)options, (void)prefix, (void)cursor, (void)key, (void)value;
    return 0;
}

CREST_API crest_status crest_option_duration_ms(const crest_options *options, const char *key,
        uint64_t *value, crest_error *error)
{
    (void)options, (void)key, (void)value, (void)error;
    return CREST_OK;
}

CREST_API crest_status crest_option_switch(const crest_options *options, const char *key,
        int *value, crest_error *error)
{
    (void)options, (void)key, (void)value, (void)error;
    return CREST_OK;
}

CREST_API crest_status crest_option_name_add(const char *name)
{
    (void)name;
    return CREST_OK;
}

CREST_API crest_status crest_options_read(const char *text, crest_options **options,
        crest_error *error)
{
    (void)text;
    if (options != NULL)
        *options = NULL;
    crest_off_fine(error);
    return CREST_OK;
}

CREST_API void crest_options_free(crest_options *options)
{
    (void)options;
}

CREST_END_C

#endif
