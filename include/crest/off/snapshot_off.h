/* SPDX-License-Identifier: Apache-2.0 */
/* What snapshot.h has with CREST_DISABLE; made by scripts/make-off, not by hand. */
#ifndef CREST_SNAPSHOT_OFF_H
#define CREST_SNAPSHOT_OFF_H

#pragma GCC system_header

CREST_BEGIN_C

CREST_API crest_snapshot *crest_snapshot_take(crest_registry *registry)
{
    (void)registry;
    return CREST_NOTHING_(crest_snapshot);
}

CREST_API crest_snapshot *crest_snapshot_take_windows(crest_registry *registry, int windows)
{
    (void)registry, (void)windows;
    return CREST_NOTHING_(crest_snapshot);
}

CREST_API void crest_snapshot_free(crest_snapshot *snapshot)
{
    (void)snapshot;
}

CREST_API size_t crest_snapshot_size(const crest_snapshot *snapshot)
{
    (void)snapshot;
    return 0;
}

CREST_API uint64_t crest_snapshot_time_ns(const crest_snapshot *snapshot)
{
    (void)snapshot;
    return 0;
}

CREST_API uint64_t crest_snapshot_wall_ns(const crest_snapshot *snapshot)
{
    (void)snapshot;
    return 0;
}

CREST_API crest_status crest_snapshot_series(const crest_snapshot *snapshot, size_t index,
        crest_series_view *view)
{
    (void)snapshot, (void)index;
    if (view != NULL)
        __builtin_memset((void *)view, 0, sizeof *view);
    return CREST_INVALID_ARGUMENT;
}

CREST_API unsigned crest_snapshot_windows(const crest_snapshot *snapshot,
        unsigned window_s[CREST_WINDOWS_MAX])
{
    (void)snapshot;
    if (window_s != NULL)
        *window_s = 0;
    return 0;
}

CREST_API crest_status crest_snapshot_window(const crest_snapshot *snapshot, size_t index,
        unsigned window_s, crest_window *window)
{
    (void)snapshot, (void)index, (void)window_s;
    if (window != NULL)
        __builtin_memset((void *)window, 0, sizeof *window);
    return CREST_NOT_FOUND;
}

CREST_API crest_status crest_snapshot_find(const crest_snapshot *snapshot, const char *name,
        const char *const *values, unsigned count, crest_series_view *view)
{
    (void)snapshot, (void)name, (void)values, (void)count;
    if (view != NULL)
        __builtin_memset((void *)view, 0, sizeof *view);
    return CREST_NOT_FOUND;
}

CREST_API crest_status crest_snapshot_select(crest_snapshot *snapshot, const char *include,
        const char *exclude)
{
    (void)snapshot, (void)include, (void)exclude;
    return CREST_OK;
}

CREST_END_C

#endif
