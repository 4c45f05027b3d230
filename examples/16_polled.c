/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values that the program has already: the length of a queue, fetched with each snapshot; a
 * driver's total, which is reset when the driver is reloaded; and how full a pool is, read a
 * hundred times a second. The callbacks run on one thread of the library's own, and a snapshot
 * waits for them no longer than CREST_POLL_ROUND_MS.
 */
#include <crest/crest.h>
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

CREST_REGISTRY(node);
#define CREST_REGISTRY_HERE &node
CREST_GAUGE(waiting, "comm.queue-length", "Messages waiting.");
CREST_COUNTER(dropped, "comm.packets-dropped", "Packets that the driver dropped.");
CREST_HISTOGRAM(used, "pool.slots-used", "Slots in use.");

/* ---- the owners of the values ---- */

static double queue_length(void *context)
{
    return (double)__atomic_load_n((unsigned *)context, __ATOMIC_RELAXED);
}

/* As a file below /proc would say it. */
static uint64_t driver_dropped(void *context)
{
    return __atomic_load_n((uint64_t *)context, __ATOMIC_RELAXED);
}

static int64_t pool_used(void *context)
{
    (void)context;
    return 12;
}

/* ---- a reader ---- */

/* Here each line must show the newest values: on a very busy machine a callback may be too late for
 * one snapshot, and its value is in the next. A program does not need this. */
static crest_snapshot *newest_snapshot(const crest_poll *last)
{
    crest_poll_state before, after;
    crest_poll_read(last, &before);
    for (;;) {
        crest_snapshot *snapshot = crest_snapshot_take(&node);
        crest_poll_read(last, &after);
        if (after.calls > before.calls)
            return snapshot;
        crest_snapshot_free(snapshot);
    }
}

static void show(const crest_poll *last)
{
    crest_snapshot *snapshot = newest_snapshot(last);
    crest_series_view length, drops;
    crest_snapshot_find(snapshot, "comm.queue-length", NULL, 0, &length);
    crest_snapshot_find(snapshot, "comm.packets-dropped", NULL, 0, &drops);
    printf("%.0f waiting, %" PRIu64 " dropped\n", length.gauge, drops.counter);
    crest_snapshot_free(snapshot);
}

int main(void)
{
    unsigned queue = 7;
    uint64_t drops = 100;
    /* a budget as wide as it may be, so that this prints the same on a busy machine */
    crest_poll_options patient = {.budget_ms = CREST_POLL_BUDGET_MS_MAX};
    crest_poll_options often = {.interval_ms = 10};
    crest_poll *polls[] = {
        crest_gauge_poll(&waiting, queue_length, &queue, &patient, NULL),
        crest_counter_poll(&dropped, driver_dropped, &drops, &patient, NULL),
        crest_histogram_poll(&used, pool_used, NULL, &often, NULL),
    };

    show(polls[1]);
    __atomic_store_n(&queue, 3, __ATOMIC_RELAXED);
    __atomic_store_n(&drops, 130, __ATOMIC_RELAXED);
    show(polls[1]);
    __atomic_store_n(&drops, 5, __ATOMIC_RELAXED); /* the driver was loaded anew */
    show(polls[1]);

    crest_poll_state state;
    do {
        nanosleep(&(struct timespec){0, 10000000}, NULL);
        crest_poll_read(polls[2], &state);
    } while (state.calls < 5);
    crest_poll_read(polls[1], &state);
    printf("the driver began again: %" PRIu64 " time\n", state.resets);

    /* before what the callbacks read goes away */
    for (int i = 0; i < 3; i++)
        crest_poll_stop(polls[i]);
    crest_snapshot *snapshot = crest_snapshot_take(&node);
    crest_series_view pool;
    crest_snapshot_find(snapshot, "pool.slots-used", NULL, 0, &pool);
    printf("the pool was looked at at least 5 times: %s\n",
           crest_distribution_count(pool.distribution) >= 5 ? "yes" : "no");
    printf("slots in use, 99 of 100 times at most: %" PRIu64 "\n",
           crest_distribution_quantile(pool.distribution, 0.99));
    crest_snapshot_free(snapshot);
    return 0;
}
