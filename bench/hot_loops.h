/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loops that are timed, and what they must have left behind.
 *
 * They are compiled twice, as C (hot_loops_c.c) and as C++ (hot_loops_cc.cc), because users do
 * either; the loops themselves are in hot_loops_body.h. Each does `times` operations and nothing
 * else; the totals are read afterwards, so that a loop that the compiler threw away is noticed.
 */
#ifndef BENCH_HOT_LOOPS_H
#define BENCH_HOT_LOOPS_H

#include <crest/crest.h>

/* Recorded round and round: a power of two. */
#define HOT_VALUES 65536u

/*
 * Of each kind this many, taken in turn: where a metric happens to lie in memory counts. A store
 * and a load of another word are mistaken for the same while they agree in the low twelve bits of
 * their addresses, which costs a counter 0.2 ns; here that shall not weigh more than it does in a
 * program.
 */
#define HOT_METRICS 8u

typedef struct hot_loops {
    const char *language;

    /* counters, `which` of HOT_METRICS: what Crest does, and what it is compared with */
    void (*counter_inc)(unsigned which, uint64_t times);
    void (*lock_xadd)(unsigned which, uint64_t times);
    void (*thread_local_inc)(unsigned which, uint64_t times);
    uint64_t (*counter_total)(unsigned which);
    uint64_t (*lock_total)(unsigned which);
    uint64_t (*thread_local_total)(unsigned which);

    /* histograms; preparing returns 0 without memory, the total is 0 when the counts disagree */
    int (*plain_hdr_prepare)(void);
    void (*histogram_record)(unsigned which, const int64_t *values, uint64_t times);
    void (*plain_hdr_record)(unsigned which, const int64_t *values, uint64_t times);
    void (*plain_hdr_folded)(unsigned which, const int64_t *values, uint64_t times);
    uint64_t (*plain_hdr_total)(unsigned which, unsigned folded, int64_t *min, int64_t *max);
    const char *histogram_name[HOT_METRICS];

    /* timers; the clock alone returns the sum of the differences */
    void (*timer_start_end)(uint64_t times);
    void (*timer_through_memory)(uint64_t times);
    uint64_t (*clock_twice)(uint64_t times);
    const char *timer_name;

    void (*gauge_set)(uint64_t times);
    double (*gauge_value)(void);

    /* range samplers: up and down by turns, an even number of times; each time up; what comes of
     * it. And one reading of the clock, which is most of it. */
    void (*range_sampler_add)(uint64_t times);
    void (*range_sampler_raise)(uint64_t times);
    int64_t (*range_sampler_value)(void);
    uint64_t (*clock_once)(uint64_t times);
} hot_loops;

CREST_BEGIN_C
extern const hot_loops hot_loops_c;
extern const hot_loops hot_loops_cc;
CREST_END_C

#endif
