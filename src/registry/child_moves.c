/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Moves of a series that the program asks for. See child_moves.h.
 */
#include "registry/child_moves.h"
#include "metrics/child.h"
#include "metrics/slots.h"
#include "registry/children.h"
#include "registry/growth.h"
#include "registry/series.h"

unsigned crest_child_waits(const crest_child *child)
{
    unsigned needed = 0;
    for (unsigned i = 0; i < CREST_OUTCOME_COUNT; i++) {
        const crest_series *series = crest_child_at(child, i);
        needed += series != NULL && series->slot != 0 && !(series->life & CREST_LIFE_WAITS);
    }
    return needed;
}

/* Moves each series of the child towards its end and marks it. */
static void moves_send_off(crest_child *child, uint64_t mark, int shown, int wait)
{
    for (unsigned i = 0; i < CREST_OUTCOME_COUNT; i++) {
        crest_series *series = crest_child_at(child, i);
        if (series == NULL)
            continue;
        crest_life life = crest_series_life(series);
        if (series->slot != 0 && wait && !(series->life & CREST_LIFE_WAITS)) {
            crest_atomic_store(&series->life, series->life | CREST_LIFE_WAITS);
            crest_growth_wait(series, ~series->life, 0);
        }
        if (life == CREST_LIFE_SHOWN || life == CREST_LIFE_HIDDEN)
            life = CREST_LIFE_LEAVING;
        if (life == CREST_LIFE_LEAVING && !shown)
            life = CREST_LIFE_QUARANTINED;
        if (mark != 0 || life != crest_series_life(series))
            crest_life_move(series, life, mark, 0);
    }
}

crest_status crest_child_release(crest_child *child)
{
    if (!crest_waits_reserve(crest_child_waits(child)))
        return CREST_NO_MEMORY;
    moves_send_off(child, 0, 1, 1);
    crest_child_blank(child);
    return CREST_OK;
}

/* A child without labels: hides each series as an idle one. */
static void moves_hide(crest_child *child)
{
    for (unsigned i = 0; i < CREST_OUTCOME_COUNT; i++) {
        crest_series *series = crest_child_at(child, i);
        if (series == NULL || crest_series_life(series) != CREST_LIFE_SHOWN)
            continue;
        int waits = (series->life & CREST_LIFE_WAITS) != 0;
        crest_life_move(series, CREST_LIFE_HIDDEN, CREST_LIFE_WAITS, 0);
        if (!waits)
            crest_growth_wait(series, ~series->life, 0);
    }
}

crest_status crest_child_withdraw(crest_child *child)
{
    if (!crest_waits_reserve(crest_child_waits(child)))
        return CREST_NO_MEMORY;
    if (child->first.metric->label_count == 0) {
        moves_hide(child);
        return CREST_OK;
    }
    moves_send_off(child, 0, 0, 1);
    crest_child_blank(child);
    return CREST_OK;
}

void crest_child_readmit(crest_child *child)
{
    for (unsigned i = 0; i < CREST_OUTCOME_COUNT; i++) {
        crest_series *series = crest_child_at(child, i);
        if (series != NULL && crest_series_life(series) == CREST_LIFE_HIDDEN)
            crest_life_move(series, CREST_LIFE_SHOWN, 0, 0); /* the next look ends its wait */
    }
}

void crest_child_retire(crest_child *child, crest_status why, int shown)
{
    /* without memory for a wait it goes at once, and its slot is lost */
    int wait = crest_waits_reserve(crest_child_waits(child));
    moves_send_off(child, CREST_LIFE_RETIRED, shown && wait, wait);
    crest_child_kill(child, why);
    crest_metric *metric = child->first.metric;
    if (metric->overflow == child) {
        metric->overflow = NULL;
        metric->overflow_beyond = 0;
    }
}

/* Brings back the parts of stages, which left with their child; 0 and *status on failure. */
static int moves_revive_parts(const crest_child *child, crest_status *status)
{
    crest_child *parts[CREST_CHILD_PARTS_MAX];
    unsigned count = crest_child_parts(child, parts);
    for (unsigned i = 0; i < count; i++)
        if (parts[i]->own->handle.slot == 0 && !crest_child_revive(parts[i], status))
            return 0;
    return 1;
}

int crest_child_revive(crest_child *child, crest_status *status)
{
    *status = CREST_LATE;
    if (crest_series_retired(&child->first))
        return 0;
    for (unsigned i = 0; i < CREST_OUTCOME_COUNT; i++) {
        crest_series *series = crest_child_at(child, i);
        crest_life life = series ? crest_series_life(series) : CREST_LIFE_SHOWN;
        /* other outcomes appear when first hit, as in a first life */
        if (life == CREST_LIFE_GONE && i <= CREST_OUTCOME_ERROR) {
            *status = crest_series_equip(series);
            if (*status != CREST_OK)
                return 0;
        }
        if (life == CREST_LIFE_LEAVING || life == CREST_LIFE_QUARANTINED)
            crest_life_move(series, CREST_LIFE_SHOWN, 0, 0);
    }
    if (!moves_revive_parts(child, status))
        return 0;
    crest_child_fill(child, &child->own->handle);
    *status = CREST_OK;
    return 1;
}

void crest_child_replace(const crest_metric *metric, const char *const *values, uint32_t hash)
{
    crest_child *old = NULL;
    while ((old = crest_children_retired(metric, values, hash, old)) != NULL)
        for (unsigned i = 0; i < CREST_OUTCOME_COUNT; i++) {
            crest_series *series = crest_child_at(old, i);
            if (series != NULL && crest_series_life(series) == CREST_LIFE_LEAVING)
                crest_life_move(series, CREST_LIFE_QUARANTINED, 0, 0);
        }
}

crest_child *crest_child_remembered(const crest_metric *metric, const char *const *values,
                                    uint32_t hash)
{
    crest_child *child = crest_children_retired(metric, values, hash, NULL);
    while (child != NULL && !crest_child_is_gone(child))
        child = crest_children_retired(metric, values, hash, child);
    return child;
}

int crest_child_reborn(crest_child *child, crest_status *status)
{
    for (unsigned i = 0; i < CREST_OUTCOME_COUNT; i++) {
        crest_series *series = crest_child_at(child, i);
        if (series != NULL)
            crest_atomic_store(&series->life, series->life & ~(uint64_t)CREST_LIFE_RETIRED);
    }
    return crest_child_revive(child, status);
}
