/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Making the gauges of operations in flight, and abandoning them. See in_flight_gauges.h.
 */
#include "instruments/in_flight_gauges.h"
#include "base/arena.h"
#include "base/atomic.h"
#include "base/forked.h"
#include "base/lock.h"
#include "base/sync.h"
#include "registry/metric_make.h"

#include <string.h>

pthread_mutex_t crest_in_flight_gauges_lock = PTHREAD_MUTEX_INITIALIZER;

/* All metrics' gauges; pushed at the head, under the library's lock. */
static crest_in_flight_figures *gauges_all;

/* In a forked child the thread that held the lock does not exist. */
static void gauges_forked(void)
{
    crest_mutex_fresh(&crest_in_flight_gauges_lock);
}
CREST_FORKED(FIGURES, gauges_forked)

crest_in_flight_figures *crest_in_flight_gauges(void)
{
    /* acquire: partner of the release stores below */
    return crest_atomic_load_ptr_acquire(CREST_PTR(&gauges_all));
}

static crest_gauge *gauges_one(crest_metric *metric, const char *word, const char *description,
                               crest_unit unit, crest_status *status)
{
    crest_metric_options options = {.name = word, .description = description, .unit = unit};
    if (*status != CREST_OK)
        return NULL;
    crest_metric *gauge = crest_metric_with(metric, CREST_KIND_GAUGE, &options, NULL, 0, status);
    return gauge ? &gauge->children->own->gauge : NULL;
}

/* Whether another metric has one of the three names. Then none is made: one alone would stand at
 * zero whatever is in flight. */
static int gauges_are_taken(const crest_metric *metric)
{
    static const char *const words[] = {".in-flight", ".oldest", ".stuck"};
    char name[CREST_NAME_BYTES_MAX + sizeof ".in-flight"];
    size_t length = strlen(metric->name);
    memcpy(name, metric->name, length);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        memcpy(name + length, words[i], strlen(words[i]) + 1);
        const crest_metric *other = crest_metric_find(metric->state, name);
        if (other != NULL && other->parent == NULL)
            return 1;
    }
    return 0;
}

crest_status crest_in_flight_figures_make(crest_metric *metric)
{
    if (metric->figures != NULL)
        return CREST_OK;
    if (gauges_are_taken(metric))
        return CREST_NAME_CLASH;
    crest_status status = CREST_OK;
    crest_in_flight_figures *figures = metric->figures_kept;
    if (figures == NULL)
        figures =
            crest_arena_take(CREST_ARENA_META, sizeof *figures, _Alignof(crest_in_flight_figures));
    if (figures == NULL)
        return CREST_NO_MEMORY;
    metric->figures_kept = figures;
    figures->shown_count = 0;
    figures->ids = 0;
    figures->state = metric->state;
    figures->count =
        gauges_one(metric, "in-flight", "Operations begun and not ended.", CREST_NONE, &status);
    figures->oldest = gauges_one(metric, "oldest", "Age of the oldest operation in flight.",
                                 CREST_SECONDS, &status);
    if (status != CREST_OK)
        return status;
    static const char *const keys[] = {"op"};
    crest_metric_options stuck = {.name = "stuck",
                                  .description = "Age of the oldest operations that are stuck.",
                                  .unit = CREST_SECONDS};
    figures->stuck = crest_metric_with(metric, CREST_KIND_GAUGE, &stuck, keys, 1, &status);
    figures->stuck_ns =
        metric->deadline_ns ? metric->deadline_ns / 2 : CREST_STUCK_S * UINT64_C(1000000000);
    if (status != CREST_OK)
        return status;
    figures->next = gauges_all;
    /* partners: the acquire loads in crest_in_flight_gauges and figures_add */
    crest_atomic_store_ptr_release(CREST_PTR(&gauges_all), figures);
    crest_atomic_store_ptr_release(CREST_PTR(&metric->figures), figures);
    return CREST_OK;
}

void crest_in_flight_figures_forget(const crest_registry_state *state)
{
    crest_lock_saved saved;
    pthread_mutex_lock(&crest_in_flight_gauges_lock);
    crest_lock_take(&saved);
    for (crest_in_flight_figures **at = &gauges_all; *at != NULL;)
        if ((*at)->state == state) {
            /* figures_kept holds them for the metric's next registry */
            crest_atomic_store_ptr_release(CREST_PTR(&(*at)->stuck->parent->figures), NULL);
            crest_atomic_store_ptr_release(CREST_PTR(at), (*at)->next);
        } else
            at = &(*at)->next;
    crest_lock_drop(&saved);
    pthread_mutex_unlock(&crest_in_flight_gauges_lock);
}
