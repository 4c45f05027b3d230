/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The slow profile: the CPU samples of the slowest operations of the last minute, a few of each
 * metric. Threads hand over operations that ended and were sampled; the profiler's thread keeps
 * those that are slow, with their stacks.
 *
 *     on their threads   crest_slow_ended(scope, now_ns)        lock-free, bounded, may lose
 *     profiler's thread  crest_slow_take(now_ns)                 every second at the latest
 *     a reader           crest_slow_each(now_ns, each, context)
 */
#ifndef CREST_PROFILING_SLOW_OPERATIONS_H
#define CREST_PROFILING_SLOW_OPERATIONS_H

#include "profiling/sample_store.h"
#include <crest/profile.h>

/* Operations handed over and not taken yet; kept of each metric, and in all; stacks of each. */
#define CREST_SLOW_HANDED 1024u
#define CREST_SLOW_PER_METRIC 8u
#define CREST_SLOW_KEPT 128u
#define CREST_SLOW_STACKS_MAX 1024u
/* How long one counts as slow. */
#define CREST_SLOW_WINDOW_NS (UINT64_C(60) * 1000000000)

/* A sample of a slow operation. */
typedef struct crest_slow_stack {
    const struct crest_metric *metric;
    const crest_op *op;
    uint64_t took_ns; /* the operation; one that threads share: from the first of it to the last */
    uint32_t stage;   /* 1 + its index; 0: none */
    const uint64_t *frames;
    unsigned depth;
} crest_slow_stack;

typedef int crest_slow_each_fn(void *context, const crest_slow_stack *stack);

/* The profiler's own time: `zero_ns` is when_ms 0 of samples. */
void crest_slow_begin(uint64_t zero_ns);
/* A crest_operations_ended_fn. */
void crest_slow_ended(const crest_profile_scope *scope, uint64_t now_ns);
/* One thread at a time, as the two below. */
void crest_slow_take(uint64_t now_ns);
int crest_slow_each(uint64_t now_ns, crest_slow_each_fn *each, void *context);
void crest_slow_end(void);
/* Operations that were handed over; only grows. Any thread. */
uint64_t crest_slow_count(void);

#endif
