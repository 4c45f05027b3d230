/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples that another runtime has taken of its threads: crest_profile_add. They go into the same
 * store as those of the signal's handler, and weigh as much CPU time as they stand for.
 */
#include "profiling/named_frames.h"
#include "profiling/profiler.h"
#include "profiling/stack_walk.h"

#include "base/forked.h"
#include "metrics/handles.h"

/* Under the profiler's lock: what is left of the last one, less than a sample. */
static uint64_t told_rest_ns;

/* The metric of a timer that has recorded; NULL: none. */
static const crest_metric *told_metric(const crest_timer *timer)
{
    const crest_handle *handle = timer != NULL ? &timer->outcome[CREST_OUTCOME_OK].handle : NULL;
    const crest_series *series = handle != NULL ? crest_handle_series(handle) : NULL;
    return series != NULL && crest_handle_dead(handle) == CREST_OK ? series->metric : NULL;
}

crest_status crest_profile_add(const uint64_t *frames, size_t depth, const crest_timer *timer,
                               uint64_t cpu_ns)
{
    if (frames == NULL || depth == 0 || depth > CREST_FRAMES_MAX ||
        cpu_ns > CREST_PROFILE_ADD_NS_MAX)
        return CREST_INVALID_ARGUMENT;
    crest_forked_check();
    crest_profiler_lock();
    crest_status status = crest_profiler_runs() ? CREST_OK : CREST_NOT_RUNNING;
    if (status == CREST_OK) {
        uint64_t period_ns = crest_profiler_period_ns();
        told_rest_ns += cpu_ns;
        crest_cpu_sample sample = {.frames = frames,
                                   .depth = (unsigned)depth,
                                   .label = (uint64_t)(uintptr_t)told_metric(timer),
                                   .weight = told_rest_ns / period_ns};
        told_rest_ns %= period_ns;
        if (sample.weight != 0)
            crest_samples_add(&sample);
    }
    crest_profiler_unlock();
    return status;
}
