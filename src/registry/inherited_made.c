/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Making inherited series, with the slots of the series that there are. See inherited.h.
 */
#include "base/atomic.h"
#include "cells/cells.h"
#include "metrics/child.h"
#include "registry/children.h"
#include "registry/inherited.h"
#include "registry/series_state.h"

#include <string.h>

/* ---- what there is already ---- */

crest_metric *crest_inherited_metric(const crest_identity *identity, int *mismatch)
{
    *mismatch = 0;
    for (crest_registry_state *state = crest_registry_states(); state != NULL;
         state = state->made_before) {
        crest_metric *metric = state->dead ? NULL : crest_metric_find(state, identity->name);
        crest_identity_constants constants;
        if (metric == NULL)
            continue;
        crest_identity there = crest_identity_of(metric, constants);
        if (!crest_identity_same_constants(&there, identity))
            continue;
        if (crest_identity_same_make(&there, identity))
            return metric;
        *mismatch = 1;
    }
    return NULL;
}

/* The metric's series of these labels, with a slot; NULL. *mismatch: the metric lacks a key. */
static const crest_series *inherited_series(const crest_metric *metric,
                                            const crest_identity *identity, int *mismatch)
{
    const char *values[CREST_LABELS_KEPT_MAX];
    unsigned keys = crest_metric_keys(metric), found = 0, wanted = 0;
    for (unsigned i = 0; i < metric->label_count; i++) {
        values[i] = i < keys ? crest_identity_value(identity, metric->label_keys[i]) : "";
        found += values[i][0] != '\0';
    }
    for (unsigned i = 0; i < identity->key_count; i++)
        wanted += identity->values[i][0] != '\0';
    *mismatch = found != wanted && !metric->open;
    if (found != wanted)
        return NULL;
    const crest_child *child =
        metric->label_count == 0 ? metric->children : crest_children_find(metric, values);
    const crest_series *series = child != NULL ? crest_child_at(child, identity->outcome) : NULL;
    return series != NULL && series->slot != 0 ? series : NULL;
}

crest_inherited *crest_inherited_made(const crest_identity *identity, int *mismatch)
{
    uint64_t hash = crest_identity_hash(identity);
    crest_inherited *entry = crest_inherited_find(identity, hash);
    *mismatch = 0;
    if (entry != NULL)
        return entry;
    const crest_metric *metric = crest_inherited_metric(identity, mismatch);
    const crest_series *series =
        metric != NULL ? inherited_series(metric, identity, mismatch) : NULL;
    if (*mismatch)
        return NULL;
    uint32_t slot = series != NULL ? series->slot : crest_cells_slot_new();
    entry = slot != 0 ? crest_inherited_new(identity, hash, slot) : NULL;
    if (entry != NULL && series != NULL)
        entry->birth = crest_series_birth(series);
    else if (entry != NULL)
        crest_inherited_wait();
    return entry;
}
