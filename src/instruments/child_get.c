/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finding and making children. See child_get.h.
 */
#include "instruments/child_get.h"
#include "base/arena.h"
#include "base/atomic.h"
#include "base/lock.h"
#include "base/misuse.h"
#include "base/utf8.h"
#include "instruments/keyed_series.h"
#include "metrics/child.h"
#include "registry/child_moves.h"
#include "registry/children.h"
#include "registry/growth.h"
#include "registry/series.h"

#include <crest/lifetime.h>
#include <string.h>

#define CHILD_OVERFLOW "overflow"

/* ---- the parts of stages ---- */

/* Under the lock: the histograms of a child's stages, made if need be; gaps, then times since the
 * start. */
static crest_status child_find_parts(const crest_metric *metric, const char *const *values,
                                     crest_histogram **parts)
{
    const char *all[CREST_LABELS_KEPT_MAX];
    crest_status status;
    for (unsigned i = 0; i < metric->label_count; i++)
        all[i] = values[i];
    for (unsigned i = 0; i < 2 * metric->stage_count; i++) {
        all[metric->label_count] = metric->stages[i % metric->stage_count];
        crest_child *stage =
            crest_child_get_locked(metric->histograms[i / metric->stage_count], all, &status);
        if (stage == NULL)
            return status;
        /* partner: the acquire load in in_flight_histogram */
        crest_atomic_store_ptr_release(CREST_PTR(&parts[i]), &stage->own->histogram);
    }
    return CREST_OK;
}

/* The parts of a new child, zeroed, and the keyed series that leads to them. */
static crest_status child_make_parts(crest_child *child)
{
    const crest_metric *metric = child->first.metric;
    unsigned count = metric->stage_count;
    crest_keyed *keyed = crest_in_flight_keyed_new(child);
    crest_histogram **parts =
        crest_arena_take(CREST_ARENA_META, 2 * count * sizeof *parts, _Alignof(void *));
    if (keyed == NULL || parts == NULL)
        return CREST_NO_MEMORY;
    crest_status status = child_find_parts(metric, crest_series_values(&child->first), parts);
    if (status != CREST_OK)
        return status;
    keyed->stage_count = count;
    keyed->histograms = parts;
    child->parts = parts;
    child->own->timer.keyed = keyed;
    return CREST_OK;
}

/* ---- making a child, and its next life ---- */

crest_child *crest_child_make(crest_metric *metric, const char *const *values, crest_status *status)
{
    crest_child *child = crest_child_new(metric, values, status);
    if (child == NULL)
        return NULL;
    if (metric->stage_count != 0)
        *status = child_make_parts(child);
    if (*status == CREST_OK)
        *status = crest_child_publish(metric, child);
    return *status == CREST_OK ? child : NULL;
}

int crest_child_again(crest_child *child, crest_status *status)
{
    const crest_metric *metric = child->first.metric;
    if (metric->stage_count != 0) {
        /* the parts' series may be gone */
        *status = child_find_parts(metric, crest_series_values(&child->first), child->parts);
        if (*status != CREST_OK)
            return 0;
    }
    if (metric->kind == CREST_KIND_TIMER)
        crest_in_flight_open(child->own->timer.keyed);
    return crest_child_reborn(child, status);
}

/* ---- finding ---- */

/* Whether a handle of the child records at once. Any thread. */
static int child_is_living(const crest_child *child)
{
    return crest_atomic_load32(&child->own->handle.slot) != 0;
}

/* Under the lock: the child, brought back if it was released; NULL and *status on failure. */
static crest_child *child_living(crest_child *child, crest_status *status)
{
    return child_is_living(child) || crest_child_revive(child, status) ? child : NULL;
}

crest_child *crest_child_get_locked(crest_metric *metric, const char *const *values,
                                    crest_status *status)
{
    *status = CREST_NOT_FOUND;
    if (metric->state->dead || metric->left_over)
        return NULL;
    *status = CREST_OK;
    crest_child *child = crest_children_find(metric, values);
    int room = metric->child_count < CREST_FAMILY_SERIES_MAX + metric->overflow_beyond;
    if (child != NULL && (room || crest_series_life(&child->first) != CREST_LIFE_GONE))
        return child_living(child, status);
    if (room) {
        uint32_t hash = crest_children_hash(metric, values);
        crest_child_replace(metric, values, hash);
        child = crest_child_remembered(metric, values, hash);
        if (child != NULL)
            return crest_child_again(child, status) ? child : NULL;
        if (metric->state->gone < CREST_GONE_SERIES_MAX)
            return crest_child_make(metric, values, status);
    }
    if (metric->overflow == NULL) {
        const char *overflow[CREST_LABELS_KEPT_MAX];
        for (unsigned i = 0; i < metric->label_count; i++)
            overflow[i] = i < crest_metric_keys(metric) ? CHILD_OVERFLOW : "";
        metric->overflow = crest_children_find(metric, overflow);
        if (metric->overflow == NULL)
            metric->overflow = crest_child_make(metric, overflow, status);
        metric->overflow_beyond = metric->child_count > CREST_FAMILY_SERIES_MAX;
    }
    if (metric->overflow == NULL || child_living(metric->overflow, status) == NULL)
        return NULL;
    *status = CREST_LIMIT;
    return metric->overflow;
}

/* Label values cleaned for storage: valid UTF-8 of bounded length. Non-zero if one was changed. */
typedef struct child_clean {
    const char *values[CREST_LABELS_MAX + 1];
    char text[CREST_LABELS_MAX + 1][CREST_LABEL_VALUE_BYTES_MAX + 1];
} child_clean;

static int child_clean_values(unsigned count, const char *const *values, child_clean *clean)
{
    int changed = 0;
    for (unsigned i = 0; i < count; i++) {
        unsigned what;
        crest_utf8_copy(values[i] != NULL ? values[i] : "", clean->text[i], sizeof clean->text[i],
                        &what);
        clean->values[i] = clean->text[i];
        changed |= what != 0;
    }
    return changed;
}

crest_child *crest_child_get(crest_metric *metric, const char *const *values, crest_status *status)
{
    *status = CREST_OK;
    crest_child *child = crest_children_find(metric, values);
    if (child != NULL && child_is_living(child))
        return child;
    crest_growth_now_and_then();
    child_clean clean;
    int changed = child_clean_values(metric->label_count, values, &clean);
    crest_lock_saved saved;
    crest_lock_take(&saved);
    child = crest_child_get_locked(metric, clean.values, status);
    crest_lock_drop(&saved);
    if (changed)
        crest_misuse_count(CREST_MISUSE_TEXT, metric->name);
    if (*status != CREST_OK)
        crest_misuse_count(crest_misuse_of(*status), metric->name);
    return child;
}
