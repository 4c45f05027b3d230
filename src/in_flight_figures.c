/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gauges of the operations in flight. See in_flight_figures.h.
 */
#include "in_flight_figures.h"
#include "arena.h"
#include "atomic.h"
#include "in_flight_table.h"
#include "lock.h"

#include <pthread.h>

/* Of one metric. The sums are of one refresh, under its lock. */
typedef struct crest_in_flight_figures {
    struct crest_in_flight_figures *next;
    const crest_registry_state *state;
    crest_gauge *count;
    crest_gauge *oldest;
    uint64_t operations;
    uint64_t oldest_ns;
} crest_in_flight_figures;

/* Held while gauges are brought up to date, so that an older reading does not come after a newer
 * one. The library's lock may be taken under it. */
static pthread_mutex_t figures_lock = PTHREAD_MUTEX_INITIALIZER;

/* All of them; grows at its head, under the library's lock. */
static crest_in_flight_figures *figures_all;

/* In a forked child whoever held the lock is not there. */
static void figures_forked(void)
{
    static const pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;
    figures_lock = fresh;
}

__attribute__((constructor)) static void figures_constructor(void)
{
    pthread_atfork(NULL, NULL, figures_forked);
}

static crest_gauge *figures_gauge(crest_metric *metric, const char *word, const char *description,
                                  crest_unit unit, crest_status *status)
{
    crest_metric_options options = {.name = word, .description = description, .unit = unit};
    if (*status != CREST_OK)
        return NULL;
    crest_metric *gauge = crest_metric_with(metric, CREST_KIND_GAUGE, &options, NULL, 0, status);
    return gauge ? &gauge->children->handle.gauge : NULL;
}

crest_status crest_in_flight_figures_make(crest_metric *metric)
{
    if (metric->figures != NULL)
        return CREST_OK;
    crest_status status = CREST_OK;
    crest_in_flight_figures *figures =
        crest_arena_take(CREST_ARENA_META, sizeof *figures, _Alignof(crest_in_flight_figures));
    if (figures == NULL)
        return CREST_NO_MEMORY;
    figures->state = metric->state;
    figures->count =
        figures_gauge(metric, "in-flight", "Operations begun and not ended.", CREST_NONE, &status);
    figures->oldest = figures_gauge(metric, "oldest", "Age of the oldest operation in flight.",
                                    CREST_SECONDS, &status);
    if (status != CREST_OK)
        return status;
    figures->next = figures_all;
    /* partners: the acquire loads below */
    crest_atomic_store_ptr_release(CREST_PTR(&figures_all), figures);
    crest_atomic_store_ptr_release(CREST_PTR(&metric->figures), figures);
    return CREST_OK;
}

static void figures_add(const crest_in_flight_seen *seen, void *unused)
{
    (void)unused;
    /* acquire: partner of the release store above */
    crest_in_flight_figures *figures =
        crest_atomic_load_ptr_acquire(CREST_PTR(&seen->owner->metric->figures));
    if (figures == NULL)
        return;
    figures->operations++;
    if (seen->age_ns > figures->oldest_ns)
        figures->oldest_ns = seen->age_ns;
}

void crest_in_flight_refresh(void)
{
    crest_in_flight_sweep();
    if (crest_atomic_load_ptr_acquire(CREST_PTR(&figures_all)) == NULL)
        return;
    pthread_mutex_lock(&figures_lock);
    crest_in_flight_figures *first = crest_atomic_load_ptr_acquire(CREST_PTR(&figures_all));
    for (crest_in_flight_figures *at = first; at != NULL; at = at->next)
        at->operations = at->oldest_ns = 0;
    crest_in_flight_each(figures_add, NULL);
    for (crest_in_flight_figures *at = first; at != NULL; at = at->next) {
        crest_gauge_set(at->count, (double)at->operations);
        crest_gauge_set(at->oldest, (double)at->oldest_ns * 1e-9);
    }
    pthread_mutex_unlock(&figures_lock);
}

void crest_in_flight_figures_forget(const crest_registry_state *state)
{
    crest_lock_saved saved;
    pthread_mutex_lock(&figures_lock);
    crest_lock_take(&saved);
    for (crest_in_flight_figures **at = &figures_all; *at != NULL;)
        if ((*at)->state == state)
            crest_atomic_store_ptr_release(CREST_PTR(at), (*at)->next);
        else
            at = &(*at)->next;
    crest_lock_drop(&saved);
    pthread_mutex_unlock(&figures_lock);
}
