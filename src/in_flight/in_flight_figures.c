/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Updating the gauges of operations in flight. See in_flight_figures.h.
 */
#include "in_flight/in_flight_figures.h"
#include "base/atomic.h"
#include "in_flight/in_flight_walks.h"
#include "in_flight/lifetime_inside.h"
#include "instruments/child_get.h"
#include "instruments/in_flight_gauges.h"
#include "registry/children.h"

#include <string.h>

#define FIGURES_NS 1e-9
/* Exported instead of an id once there were too many. */
#define FIGURES_OVERFLOW "overflow"

static void figures_add(const crest_in_flight_seen *seen, void *unused)
{
    (void)unused;
    /* acquire: partner of the release store in in_flight_gauges.c */
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

/* The index of an id among these; `count` if it is not there. */
static unsigned figures_find(const crest_figures_stuck *stuck, unsigned count, const char *id)
{
    unsigned at = 0;
    while (at < count && strcmp(stuck[at].id.text, id) != 0)
        at++;
    return at;
}

/* The gauge of an id that is shown from now on; NULL on failure. Each id leaves memory behind, so
 * ids are limited; one that was shown before finds its old gauge. */
static crest_gauge *figures_stuck_gauge(crest_in_flight_figures *figures, crest_figures_id *id)
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

/* Takes the gauges of operations no longer stuck from all pages; without memory the next look tries
 * again. Returns how many are in `now`. */
static unsigned figures_hide_others(const crest_in_flight_figures *figures,
                                    crest_figures_stuck *now, unsigned count)
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
    crest_figures_stuck now[CREST_STUCK_MAX];
    unsigned count = 0;
    for (unsigned i = 0; i < figures->top_count; i++) {
        char text[CREST_OP_TEXT_BYTES];
        crest_figures_stuck *next = &now[count];
        crest_op_format(&figures->top[i].op, text, sizeof text);
        crest_utf8_copy(text, next->id.text, sizeof next->id.text, NULL);
        unsigned shown = figures_find(figures->shown, figures->shown_count, next->id.text);
        next->gauge = shown < figures->shown_count ? figures->shown[shown].gauge
                                                   : figures_stuck_gauge(figures, &next->id);
        /* operations of two series may share an id: the older one is shown */
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
    if (crest_in_flight_gauges() == NULL)
        return;
    pthread_mutex_lock(&crest_in_flight_gauges_lock);
    crest_in_flight_figures *first = crest_in_flight_gauges();
    for (crest_in_flight_figures *at = first; at != NULL; at = at->next)
        at->operations = at->oldest_ns = at->top_count = 0;
    crest_in_flight_each(figures_add, NULL);
    for (crest_in_flight_figures *at = first; at != NULL; at = at->next) {
        crest_gauge_set(at->count, (double)at->operations);
        crest_gauge_set(at->oldest, (double)at->oldest_ns * FIGURES_NS);
        figures_show_stuck(at);
    }
    pthread_mutex_unlock(&crest_in_flight_gauges_lock);
}
