/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finding and making metrics. See metric_get.h.
 */
#include "instruments/metric_get.h"
#include "base/lock.h"
#include "base/misuse.h"
#include "base/utf8.h"
#include "instruments/child_get.h"
#include "instruments/in_flight_gauges.h"
#include "instruments/metric_refused.h"
#include "registry/metric_make.h"

/* The two histograms of stages. */
static crest_status metric_stage_histograms(crest_metric *metric)
{
    static const char *const words[] = {"stage", "since-start"};
    static const char *const descriptions[] = {
        "From the stage marked before, or the start, to this stage.",
        "From the start to this stage.",
    };
    const char *keys[CREST_LABELS_KEPT_MAX];
    crest_status status = CREST_OK;
    for (unsigned i = 0; i < metric->label_count; i++)
        keys[i] = metric->label_keys[i];
    keys[metric->label_count] = "stage";
    for (unsigned i = 0; i < 2 && status == CREST_OK; i++) {
        crest_metric_options options = {.name = words[i],
                                        .description = descriptions[i],
                                        .unit = CREST_NANOSECONDS,
                                        .idle_s = metric->idle_s};
        metric->histograms[i] = crest_metric_with(metric, CREST_KIND_HISTOGRAM, &options, keys,
                                                  metric->label_count + 1, &status);
    }
    return status;
}

/* A metric's companions that exist from the start. */
static crest_status metric_companions(crest_metric *metric)
{
    crest_status status = CREST_OK;
    if (metric->stage_count != 0)
        status = metric_stage_histograms(metric);
    if (status == CREST_OK &&
        (metric->stage_count != 0 || metric->deadline_ns != 0 || metric->figures_kept != NULL))
        status = crest_in_flight_figures_make(metric);
    return status;
}

/* Under the lock. */
static crest_metric *metric_make(crest_registry_state *state, const crest_metric_spec *spec,
                                 crest_status *status)
{
    crest_metric_draft draft;
    *status = crest_metric_prepare(state, spec, &draft);
    if (*status != CREST_OK)
        return NULL;
    *status = metric_companions(draft.metric);
    if (*status == CREST_OK && draft.metric->label_count == 0) {
        if (draft.again)
            crest_child_again(draft.metric->children, status);
        else
            crest_child_make(draft.metric, NULL, status);
    }
    return crest_metric_conclude(&draft, status);
}

/* Under the lock: finds or makes the metric; *known is the one that has the name, or NULL. */
static crest_metric *metric_look(crest_registry *registry, crest_kind kind,
                                 const crest_metric_options *options, crest_metric_spec *spec,
                                 crest_metric **known, crest_status *status)
{
    crest_registry_state *state = crest_registry_state_made(registry);
    if (state == NULL) {
        *status =
            registry != NULL && registry->abi != CREST_ABI ? CREST_ABI_MISMATCH : CREST_NO_MEMORY;
        return NULL;
    }
    *status = crest_metric_spec_make(state, kind, options, spec);
    if (*status != CREST_OK)
        return NULL;
    crest_metric *metric = crest_metric_find(state, spec->name);
    if (metric == NULL)
        return metric_make(state, spec, status);
    if (metric->parent == NULL && crest_metric_has_shape(metric, spec))
        return metric;
    *known = metric;
    *status = metric->parent != NULL ? CREST_NAME_CLASH : CREST_TYPE_CLASH;
    return NULL;
}

/* Under the lock: the same with words for a refusal; the spec has its keys and place, or is open.
 */
static crest_metric *metric_find_or_make(crest_registry *registry, crest_kind kind,
                                         const crest_metric_options *options,
                                         crest_metric_spec *spec, crest_status *status)
{
    crest_metric *known = NULL;
    crest_metric *metric = metric_look(registry, kind, options, spec, &known, status);
    if (metric == NULL)
        crest_metric_refused(*status, kind, options, spec, known);
    return metric;
}

crest_metric *crest_metric_get_declared_locked(const crest_declaration *declaration,
                                               crest_status *status)
{
    crest_metric_spec spec = {.keys = declaration->label_keys,
                              .key_count = declaration->label_count,
                              .place = declaration->place};
    return metric_find_or_make(declaration->registry, declaration->kind, &declaration->options,
                               &spec, status);
}

crest_metric *crest_metric_get_open_locked(crest_registry *registry, crest_kind kind,
                                           const crest_metric_options *options,
                                           crest_status *status)
{
    crest_metric_spec spec = {.open = 1};
    return metric_find_or_make(registry, kind, options, &spec, status);
}

/* Counts what was wrong; returns the metric. Not under the lock. */
static crest_metric *metric_got(crest_metric *metric, const crest_metric_options *options,
                                crest_status status)
{
    if (metric == NULL)
        crest_misuse_count(crest_misuse_of(status), options ? options->name : NULL);
    else if (options->description != NULL && !crest_utf8_is_valid(options->description))
        crest_misuse_count(CREST_MISUSE_TEXT, options->name);
    return metric;
}

crest_metric *crest_metric_get(crest_registry *registry, crest_kind kind,
                               const crest_metric_options *options, const char *const *keys,
                               unsigned key_count, crest_status *status)
{
    crest_metric_spec spec = {.keys = keys, .key_count = key_count};
    crest_lock_saved saved;
    crest_lock_take(&saved);
    crest_metric *metric = metric_find_or_make(registry, kind, options, &spec, status);
    crest_lock_drop(&saved);
    return metric_got(metric, options, *status);
}

crest_metric *crest_metric_get_declared(const crest_declaration *declaration, crest_status *status)
{
    crest_lock_saved saved;
    crest_lock_take(&saved);
    crest_metric *metric = crest_metric_get_declared_locked(declaration, status);
    crest_lock_drop(&saved);
    return metric_got(metric, &declaration->options, *status);
}
