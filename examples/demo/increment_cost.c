/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an increment costs here, now: crest_counter_inc in a loop, and beside it the same loop with
 * an atomic add to memory that no other thread uses. Prints one JSON line:
 *
 *     {"crest_ns":0.52,"xadd_ns":4.70}
 *
 * The best of several short runs, because another program's turn is not the counter's cost. For
 * numbers to rely on there is `make bench`.
 */
#include <crest/crest.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#define COST_RUNS 25
#define COST_INCREMENTS 2000000

CREST_COUNTER(cost_counted, "demo.increments-done", "Increments made to time them.");

static uint64_t cost_shared;

static double cost_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

int main(void)
{
    double crest_ns = 1e9, xadd_ns = 1e9;
    for (int run = 0; run < COST_RUNS; run++) {
        double began = cost_now_ns();
        for (int i = 0; i < COST_INCREMENTS; i++) {
            crest_counter_inc(&cost_counted);
            __asm__ volatile("" ::: "memory"); /* each addition happens: the compiler merges none */
        }
        double between = cost_now_ns();
        for (int i = 0; i < COST_INCREMENTS; i++) {
            uint64_t before = __atomic_fetch_add(&cost_shared, 1, __ATOMIC_SEQ_CST);
            __asm__ volatile("" ::"r"(before) : "memory"); /* wanted, so it is a lock xadd */
        }
        double ended = cost_now_ns();
        if ((between - began) / COST_INCREMENTS < crest_ns)
            crest_ns = (between - began) / COST_INCREMENTS;
        if ((ended - between) / COST_INCREMENTS < xadd_ns)
            xadd_ns = (ended - between) / COST_INCREMENTS;
    }
    uint64_t wanted = (uint64_t)COST_RUNS * COST_INCREMENTS;
    if (crest_counter_value(&cost_counted) != wanted || cost_shared != wanted) {
        fprintf(stderr, "increment_cost: counted %" PRIu64 " and %" PRIu64 ", not %" PRIu64 "\n",
                crest_counter_value(&cost_counted), cost_shared, wanted);
        return 1;
    }
    printf("{\"crest_ns\":%.3f,\"xadd_ns\":%.3f}\n", crest_ns, xadd_ns);
    return 0;
}
