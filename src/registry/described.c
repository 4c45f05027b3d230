/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Metrics and series as records of the state file. See described.h.
 */
#include "registry/described.h"
#include "cells/cells.h"
#include "cells/created.h"
#include "metrics/child.h"
#include "state/directory_records.h"

/* Texts of a metric: names, constant labels, keys, stages. */
#define DESCRIBED_TEXTS_MAX                                                                        \
    (3 + 2 * CREST_CONSTANT_LABELS_MAX + CREST_LABELS_KEPT_MAX + CREST_STAGES_MAX)

void crest_describe_metric(crest_metric *metric)
{
    if (!crest_state_is_on())
        return;
    const crest_registry_state *state = metric->state;
    const char *texts[DESCRIBED_TEXTS_MAX];
    unsigned count = 0, keys = crest_metric_keys(metric);
    if (metric->state_id == 0)
        metric->state_id = crest_state_metric_next();
    crest_state_metric record = {.id = metric->state_id,
                                 .kind = (uint32_t)metric->kind,
                                 .unit = (uint32_t)metric->unit,
                                 .parent = metric->parent ? metric->parent->state_id : 0,
                                 .deadline_ns = metric->deadline_ns,
                                 .constant_count = state->constant_count,
                                 .key_count = keys,
                                 .stage_count = metric->stage_count,
                                 .open = metric->open};
    if (metric->layout != NULL) {
        record.layout_bits = metric->layout->bits;
        record.layout_unit = metric->layout->unit;
        record.layout_blocks = metric->layout->blocks;
        record.layout_highest = metric->layout->highest;
        record.bound_count = metric->buckets.count;
    }
    texts[count++] = metric->name;
    texts[count++] = metric->exported;
    texts[count++] = metric->description;
    for (unsigned i = 0; i < state->constant_count; i++) {
        texts[count++] = state->constant_keys[i];
        texts[count++] = state->constant_values[i];
    }
    for (unsigned i = 0; i < keys; i++)
        texts[count++] = metric->label_keys[i];
    for (unsigned i = 0; i < metric->stage_count; i++)
        texts[count++] = metric->stages[i];
    crest_state_note_metric(&record, metric->buckets.bounds, texts);
}

void crest_describe_series(const crest_series *series)
{
    if (!crest_state_is_on())
        return;
    const crest_metric *metric = series->metric;
    crest_state_series record = {
        .birth = series->birth,
        .shared = (uint64_t)(uintptr_t)series->shared,
        .base = metric->kind == CREST_KIND_COUNTER ? crest_cells_base(series->slot) : 0,
        .slot = series->slot,
        .metric = metric->state_id,
        .made_s = crest_made_s(series->slot),
        .outcome = series->outcome,
        .value_count = (uint16_t)crest_metric_keys(metric)};
    crest_state_note_series(&record, crest_series_values(series));
}

void crest_describe_keyed(const crest_child *child, const void *keyed)
{
    crest_state_keyed record = {.keyed = (uint64_t)(uintptr_t)keyed,
                                .metric = child->first.metric->state_id,
                                .value_count = crest_metric_keys(child->first.metric)};
    crest_state_note_keyed(&record, crest_child_values(child));
}
