/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which series are idle. See window_idle.h.
 */
#include "windows/window_idle.h"
#include "base/alloc.h"
#include "metrics/metric_kinds.h"
#include "registry/growth.h"
#include "registry/series_state.h"

/* Only series that are recorded into can be idle: gauges and range samplers stand. */
static int idle_is_watched(const crest_metric *metric)
{
    return metric->idle_s != 0 && crest_kind_row_of(metric->kind)->grows;
}

static size_t idle_count(const crest_directory *directory)
{
    size_t count = 0;
    for (size_t i = 0; i < directory->count; i++)
        count += idle_is_watched(directory->series[i]->metric) != 0;
    return count;
}

int crest_idle_follow(crest_idle *idle, const crest_directory *directory)
{
    size_t count = idle_count(directory), old = 0;
    crest_idle_watch *watch = NULL;
    if (count != 0 && (watch = crest_alloc(count, sizeof *watch)) == NULL)
        return 0;
    count = 0;
    for (size_t i = 0; i < directory->count; i++) {
        crest_series *series = directory->series[i];
        if (!idle_is_watched(series->metric))
            continue;
        while (old < idle->count && crest_directory_compare(idle->watch[old].series, series) < 0)
            old++;
        uint64_t birth = crest_series_birth(series);
        if (old < idle->count && idle->watch[old].series == series &&
            idle->watch[old].birth == birth)
            watch[count] = idle->watch[old];
        else
            watch[count] = (crest_idle_watch){.series = series, .birth = birth};
        watch[count++].index = (uint32_t)i;
    }
    crest_alloc_free(idle->watch);
    *idle = (crest_idle){watch, count};
    return 1;
}

void crest_idle_look(crest_idle *idle, const crest_snapshot *snapshot)
{
    uint64_t now_ns = snapshot->time_ns;
    for (size_t i = 0; i < idle->count; i++) {
        crest_idle_watch *watch = &idle->watch[i];
        const crest_distribution *values = crest_snapshot_distribution(snapshot, watch->index);
        uint64_t events = values != NULL ? values->count : snapshot->values[watch->index];
        uint64_t idle_ns = watch->series->metric->idle_s * UINT64_C(1000000000);
        if (watch->changed_ns == 0 || events != watch->events)
            watch->changed_ns = now_ns;
        else if (now_ns - watch->changed_ns >= idle_ns)
            crest_growth_idle(watch->series, events, watch->changed_ns, now_ns);
        watch->events = events;
    }
}

void crest_idle_fini(crest_idle *idle)
{
    crest_alloc_free(idle->watch);
    *idle = (crest_idle){NULL, 0};
}
