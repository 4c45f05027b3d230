/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The profiler's self-metrics. See profile_figures.h.
 */
#include "profiling/profile_figures.h"
#include "profiling/sample_store.h"
#include "profiling/thread_timers.h"

#include <crest/family.h>
#include <pthread.h>

enum {
    FIGURES_WHOLE,
    FIGURES_BROKEN,
    FIGURES_TRUNCATED,
    FIGURES_LOST,
    FIGURES_ELSEWHERE,
    FIGURES_RESULTS
};

static const char *const profile_figures_results[FIGURES_RESULTS] = {"whole", "broken", "truncated",
                                                                     "lost", "elsewhere"};
static pthread_once_t profile_figures_once = PTHREAD_ONCE_INIT;
static crest_counter *profile_figures_samples[FIGURES_RESULTS];
static crest_gauge *profile_figures_threads;
static uint64_t profile_figures_told[FIGURES_RESULTS];

static void profile_figures_make_once(void)
{
    const char *const result = "result";
    crest_counter_family samples = crest_counter_family_new(
        NULL,
        &(crest_metric_options){.name = "crest.profile-samples",
                                .description = "Samples of CPU time that the profiler took, by "
                                               "what became of their stacks."},
        &result, 1, NULL);
    for (unsigned i = 0; i < FIGURES_RESULTS; i++)
        profile_figures_samples[i] =
            crest_counter_family_get(&samples, &profile_figures_results[i], 1);
    profile_figures_threads = crest_gauge_get(
        NULL,
        &(crest_metric_options){.name = "crest.profile-threads",
                                .description = "Threads whose CPU time the profiler samples."},
        NULL);
}

void crest_profile_figures_make(void)
{
    pthread_once(&profile_figures_once, profile_figures_make_once);
}

void crest_profile_figures_update(void)
{
    crest_sample_counts counts = crest_samples_counts();
    uint64_t now[FIGURES_RESULTS] = {
        [FIGURES_BROKEN] = counts.broken,
        [FIGURES_TRUNCATED] = counts.truncated,
        [FIGURES_LOST] = counts.refused,
        [FIGURES_ELSEWHERE] = counts.elsewhere,
    };
    uint64_t rest = counts.broken + counts.truncated + counts.refused;
    now[FIGURES_WHOLE] = counts.samples > rest ? counts.samples - rest : 0;
    for (unsigned i = 0; i < FIGURES_RESULTS; i++)
        if (now[i] > profile_figures_told[i]) {
            crest_counter_add(profile_figures_samples[i], now[i] - profile_figures_told[i]);
            profile_figures_told[i] = now[i];
        }
    crest_gauge_set(profile_figures_threads, (double)crest_thread_timers_count());
}
