/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the profiler says of itself, in the default registry; see METRICS.md. The first start makes
 * the metrics, so that the page of a process without a profiler lacks them.
 */
#ifndef CREST_PROFILING_PROFILE_FIGURES_H
#define CREST_PROFILING_PROFILE_FIGURES_H

/* Makes the metrics. Thread-safe; locks. */
void crest_profile_figures_make(void);

/* Brings them up to date: handlers count by themselves. One thread at a time. */
void crest_profile_figures_update(void);

#endif
