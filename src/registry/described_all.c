/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All metrics and series at once, for a state file that is opened after they were made. See
 * described.h.
 */
#include "metrics/child.h"
#include "registry/children.h"
#include "registry/described.h"

static void described_child(const crest_child *child)
{
    if (child->first.metric->kind == CREST_KIND_TIMER && child->own->timer.keyed != NULL)
        crest_describe_keyed(child, child->own->timer.keyed);
    for (unsigned outcome = 0; outcome < CREST_OUTCOME_COUNT; outcome++) {
        const crest_series *series = crest_child_at(child, outcome);
        if (series != NULL && series->slot != 0)
            crest_describe_series(series);
        if (child->first.metric->kind != CREST_KIND_TIMER)
            return;
    }
}

void crest_describe_all(void)
{
    for (crest_registry_state *state = crest_registry_states(); state != NULL;
         state = state->made_before)
        for (crest_metric *metric = state->metrics; metric != NULL; metric = metric->next) {
            crest_children_cursor cursor = {0};
            const crest_child *child;
            crest_describe_metric(metric);
            while ((child = crest_children_next(metric, &cursor)) != NULL)
                described_child(child);
        }
}
