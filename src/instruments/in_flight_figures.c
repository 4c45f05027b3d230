/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gauges of the operations in flight. See in_flight_figures.h.
 */
#include "instruments/in_flight_figures.h"
#include "base/arena.h"
#include "base/atomic.h"
#include "registry/children.h"
#include "base/forked.h"
#include "instruments/in_flight_table.h"
#include "registry/lifecycle.h"
#include "base/lock.h"
#include "base/utf8.h"
#include "base/sync.h"

#include <pthread.h>
#include <string.h>

#define FIGURES_NS 1e-9
/* What is exported instead of an id when there were too many. */
#define FIGURES_OVERFLOW "overflow"

/* An id as a label value: valid UTF-8, which a text need not be. */
typedef struct figures_id {
    char text[CREST_OP_TEXT_BYTES * CREST_UTF8_REPLACEMENT_BYTES];
} figures_id;

/* A stuck operation that is exported. */
typedef struct figures_stuck {
    crest_gauge *gauge;
    figures_id id;
} figures_stuck;

/* Of one metric. All but the first words belong to who refreshes, under its lock. */
typedef struct crest_in_flight_figures {
    struct crest_in_flight_figures *next;
    const crest_registry_state *state;
    crest_gauge *count;
    crest_gauge *oldest;
    crest_metric *stuck;
    uint64_t stuck_ns; /* the age from which on an operation is */
    uint64_t operations;
    uint64_t oldest_ns;
    uint64_t ids; /* that have been exported so far */
    unsigned top_count, shown_count;
    crest_in_flight_seen top[CREST_STUCK_MAX]; /* the oldest stuck ones, the oldest first */
    figures_stuck shown[CREST_STUCK_MAX];
} crest_in_flight_figures;

/* Held while gauges are brought up to date, so that an older reading does not come after a newer
 * one. The library's lock may be taken under it. */
static pthread_mutex_t figures_lock = PTHREAD_MUTEX_INITIALIZER;

/* All of them; grows at its head, under the library's lock. */
static crest_in_flight_figures *figures_all;

/* In a forked child whoever held the lock is not there. */
static void figures_forked(void)
{
    crest_mutex_fresh(&figures_lock);
}
CREST_FORKED(FIGURES, figures_forked)

static crest_gauge *figures_gauge(crest_metric *metric, const char *word, const char *description,
                                  crest_unit unit, crest_status *status)
{
    crest_metric_options options = {.name = word, .description = description, .unit = unit};
    if (*status != CREST_OK)
        return NULL;
    crest_metric *gauge = crest_metric_with(metric, CREST_KIND_GAUGE, &options, NULL, 0, status);
    return gauge ? &gauge->children->own->gauge : NULL;
}

/* Whether somebody else has a metric of that name: then none of the three is made, for one alone
 * would stand at zero whatever is in flight. */
static int figures_are_taken(const crest_metric *metric)
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
    if (figures_are_taken(metric))
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
        figures_gauge(metric, "in-flight", "Operations begun and not ended.", CREST_NONE, &status);
    figures->oldest = figures_gauge(metric, "oldest", "Age of the oldest operation in flight.",
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
        crest_atomic_load_ptr_acquire(CREST_PTR(&seen->keyed->metric->figures));
    if (figures == NULL)
        return;
    figures->operations++;
    if (seen->age_ns > figures->oldest_ns)
        figures->oldest_ns = seen->age_ns;
    if (seen->age_ns < figures->stuck_ns)
        return;
    unsigned at = figures->top_count;
    while (at != 0 && figures->top[at - 1].age_ns < seen->age_ns)
        at--;
    if (at == CREST_STUCK_MAX)
        return;
    if (figures->top_count < CREST_STUCK_MAX)
        figures->top_count++;
    memmove(&figures->top[at + 1], &figures->top[at],
            (figures->top_count - 1 - at) * sizeof figures->top[0]);
    figures->top[at] = *seen;
}

/* The place among these of an id; `count` if it is not there. */
static unsigned figures_find(const figures_stuck *stuck, unsigned count, const char *id)
{
    unsigned at = 0;
    while (at < count && strcmp(stuck[at].id.text, id) != 0)
        at++;
    return at;
}

/* The gauge of an id that is shown from now on; NULL if it cannot be had. Each id leaves some
 * memory behind, so that there is a limit to them; one that was shown before finds its own. */
static crest_gauge *figures_stuck_gauge(crest_in_flight_figures *figures, figures_id *id)
{
    const char *values[] = {id->text};
    crest_status status;
    if (crest_children_find(figures->stuck, values) == NULL) {
        if (figures->ids >= CREST_STUCK_IDS_MAX)
            strcpy(id->text, FIGURES_OVERFLOW);
        else
            figures->ids++;
    }
    crest_child *child = crest_child_get(figures->stuck, values, &status);
    return child ? &child->own->gauge : NULL;
}

/* Takes the series of those that are no longer stuck from all pages; what there was no memory for
 * is tried again with the next look. Returns how many are in `now`. */
static unsigned figures_hide_others(const crest_in_flight_figures *figures, figures_stuck *now,
                                    unsigned count)
{
    unsigned kept = count;
    for (unsigned i = 0; i < figures->shown_count; i++)
        if (figures_find(now, count, figures->shown[i].id.text) == count &&
            crest_handle_withdraw(&figures->shown[i].gauge->handle) != CREST_OK &&
            kept < CREST_STUCK_MAX)
            now[kept++] = figures->shown[i];
    return kept;
}

/* Shows the oldest stuck operations. */
static void figures_show_stuck(crest_in_flight_figures *figures)
{
    figures_stuck now[CREST_STUCK_MAX];
    unsigned count = 0;
    for (unsigned i = 0; i < figures->top_count; i++) {
        char text[CREST_OP_TEXT_BYTES];
        figures_stuck *next = &now[count];
        crest_op_format(&figures->top[i].op, text, sizeof text);
        crest_utf8_copy(text, next->id.text, sizeof next->id.text, NULL);
        unsigned shown = figures_find(figures->shown, figures->shown_count, next->id.text);
        next->gauge = shown < figures->shown_count ? figures->shown[shown].gauge
                                                   : figures_stuck_gauge(figures, &next->id);
        /* two series of a family may have an operation of one id: the older one is shown */
        if (next->gauge == NULL || figures_find(now, count, next->id.text) < count)
            continue;
        crest_gauge_set(next->gauge, (double)figures->top[i].age_ns * FIGURES_NS);
        count++;
    }
    count = figures_hide_others(figures, now, count);
    memcpy(figures->shown, now, count * sizeof now[0]);
    figures->shown_count = count;
}

void crest_in_flight_refresh(void)
{
    crest_in_flight_sweep();
    if (crest_atomic_load_ptr_acquire(CREST_PTR(&figures_all)) == NULL)
        return;
    pthread_mutex_lock(&figures_lock);
    crest_in_flight_figures *first = crest_atomic_load_ptr_acquire(CREST_PTR(&figures_all));
    for (crest_in_flight_figures *at = first; at != NULL; at = at->next)
        at->operations = at->oldest_ns = at->top_count = 0;
    crest_in_flight_each(figures_add, NULL);
    for (crest_in_flight_figures *at = first; at != NULL; at = at->next) {
        crest_gauge_set(at->count, (double)at->operations);
        crest_gauge_set(at->oldest, (double)at->oldest_ns * FIGURES_NS);
        figures_show_stuck(at);
    }
    pthread_mutex_unlock(&figures_lock);
}

void crest_in_flight_figures_forget(const crest_registry_state *state)
{
    crest_lock_saved saved;
    pthread_mutex_lock(&figures_lock);
    crest_lock_take(&saved);
    for (crest_in_flight_figures **at = &figures_all; *at != NULL;)
        if ((*at)->state == state) {
            /* they wait in figures_kept for the metric's next registry */
            crest_atomic_store_ptr_release(CREST_PTR(&(*at)->stuck->parent->figures), NULL);
            crest_atomic_store_ptr_release(CREST_PTR(at), (*at)->next);
        } else
            at = &(*at)->next;
    crest_lock_drop(&saved);
    pthread_mutex_unlock(&figures_lock);
}
