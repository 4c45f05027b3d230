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

typedef struct hot_loops {
    const char *language;

    /* counters: what Crest does, and what it is compared with */
    void (*counter_inc)(uint64_t times);
    void (*lock_xadd)(uint64_t times);
    void (*thread_local_inc)(uint64_t times);
    uint64_t (*counter_total)(void);
    uint64_t (*lock_total)(void);
    uint64_t (*thread_local_total)(void);

    /* the same through a handle that was passed, for two threads at once; `which` is 0 or 1 */
    void (*shared_counter_inc)(unsigned which, uint64_t times);
    void (*shared_lock_xadd)(unsigned which, uint64_t times);
    uint64_t (*shared_counter_total)(unsigned which);
    uint64_t (*shared_lock_total)(unsigned which);

    /* histograms; preparing returns 0 without memory, the total is 0 when the counts disagree */
    int (*plain_hdr_prepare)(void);
    void (*histogram_record)(const int64_t *values, uint64_t times);
    void (*plain_hdr_record)(const int64_t *values, uint64_t times);
    void (*plain_hdr_folded)(const int64_t *values, uint64_t times);
    uint64_t (*plain_hdr_total)(unsigned folded, int64_t *min, int64_t *max);
    const char *histogram_name;

    /* timers; the clock alone returns the sum of the differences */
    void (*timer_start_end)(uint64_t times);
    void (*timer_through_memory)(uint64_t times);
    uint64_t (*clock_twice)(uint64_t times);
    const char *timer_name;

    void (*gauge_set)(uint64_t times);
    double (*gauge_value)(void);
} hot_loops;

CREST_BEGIN_C
extern const hot_loops hot_loops_c;
extern const hot_loops hot_loops_cc;
CREST_END_C

#endif
