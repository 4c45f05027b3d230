/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which metrics are traced. Asked on the cold path of each record of a timer, so it is one load
 * while nothing is traced, and two where the answer for the metric is known.
 *
 *     if (crest_traced_any() && crest_traced(metric)) ...
 *
 * A metric's word `traced` holds the generation of the globs that it was last held to, and the
 * answer in bit 0. A new set of globs is a new generation, so all words become unknown at once.
 */
#ifndef CREST_TRACED_METRICS_H
#define CREST_TRACED_METRICS_H

#include "metrics/metric_inside.h"
#include <crest/span.h>

/* 0: nothing is traced; otherwise the generation, even. */
extern uint64_t crest_traced_generation;

static inline int crest_traced_any(void)
{
    return CREST_UNLIKELY(crest_atomic_load(&crest_traced_generation) != 0);
}

/* The answer where the word does not say. */
int crest_traced_look(const crest_metric *metric);

/* Whether records of this metric are spans. Any thread, any handler; takes the slow path's lock the
 * first time. */
static inline int crest_traced(const crest_metric *metric)
{
    uint64_t word = crest_atomic_load(&metric->traced);
    uint64_t generation = crest_atomic_load(&crest_traced_generation);
    if (CREST_LIKELY((word & ~UINT64_C(1)) == generation))
        return (int)(word & 1);
    return crest_traced_look(metric);
}

/*
 * From now on the metrics are traced whose names match; NULL or no glob: none. Timers only count.
 * 0, and nothing changed, when the globs are longer than CREST_SPANS_GLOBS_BYTES - 1. Not under
 * the slow path's lock.
 */
int crest_traced_set(const char *globs);

#endif
