/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When a span is slow: against the 99th percentile of its timer's own spans, over the last half to
 * whole minute. Two sets of log-linear counts a timer, filled in turn for 30 s each; a duration is
 * known to a sixteenth. Not thread-safe: the tracing thread's. Time is an argument.
 */
#ifndef CREST_TRACE_SLOW_H
#define CREST_TRACE_SLOW_H

#include "metrics/metric_inside.h"

/* Timers that are known; those beyond have no threshold. */
#define CREST_TRACE_SLOW_TIMERS 512u
/* Spans of a timer before it has a threshold. */
#define CREST_TRACE_SLOW_LEAST 100u
/* How long one set is filled. */
#define CREST_TRACE_SLOW_NS UINT64_C(30000000000)

typedef struct crest_trace_slow crest_trace_slow;

/* NULL without memory. */
crest_trace_slow *crest_trace_slow_new(void);
void crest_trace_slow_free(crest_trace_slow *slow);

/* Counts a span of this timer. */
void crest_trace_slow_count(crest_trace_slow *slow, const crest_metric *metric,
                            uint64_t duration_ns, uint64_t now_ns);

/* The timer's 99th percentile, as it was within the last second; 0: not known. */
uint64_t crest_trace_slow_p99_ns(crest_trace_slow *slow, const crest_metric *metric,
                                 uint64_t now_ns);

#endif
