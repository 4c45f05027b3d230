/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A measured lock: how many threads wait for it, for how long, and whether it is held. However a
 * call ends, the figures return to where they were.
 */
#include <crest/crest.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

CREST_MUTEX(dag_lock, "casper.dag");

static void *insert(void *blocks)
{
    for (int i = 0; i < 1000; i++) {
        CREST_MUTEX_SCOPE(&dag_lock);
        ++*(int *)blocks;
        if (i % 2 == 0)
            continue; /* however the block is left */
    }
    return NULL;
}

static void show(const char *when)
{
    printf("%s: %d wait, held: %d\n", when, (int)crest_range_sampler_value(dag_lock.queue),
           (int)crest_range_sampler_value(dag_lock.permit));
}

int main(void)
{
    int blocks = 0;
    pthread_t threads[2];
    show("at first");
    crest_mutex_lock(&dag_lock);
    show("locked");
    struct timespec past = {0, 0};
    if (crest_mutex_timedlock(&dag_lock, &past) != 0)
        show("after one that was not had in time");
    crest_mutex_unlock(&dag_lock);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, insert, &blocks);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    show("at the end");

    const char *outcomes[] = {"ok", "timeout"};
    crest_snapshot *snapshot = crest_snapshot_take(NULL);
    for (int i = 0; i < 2; i++) {
        crest_series_view series;
        if (crest_snapshot_find(snapshot, "casper.dag.lock.acquire", &outcomes[i], 1, &series) !=
            CREST_OK)
            return 1;
        printf("acquired, %s: %d\n", outcomes[i],
               (int)crest_distribution_count(series.distribution));
    }
    crest_snapshot_free(snapshot);
    return blocks == 2000 ? 0 : 1;
}
