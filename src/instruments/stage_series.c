/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The series of stages. See stage_series.h.
 */
#include "instruments/stage_series.h"
#include "base/arena.h"
#include "registry/handles.h"
#include "instruments/in_flight_table.h"
#include "registry/series.h"
#include "base/utf8.h"

#include <string.h>

static int stages_name_is_valid(const char *const *stages, unsigned index)
{
    const char *name = stages[index];
    if (name[0] == '\0' ||
        strnlen(name, CREST_LABEL_VALUE_BYTES_MAX + 1) > CREST_LABEL_VALUE_BYTES_MAX ||
        !crest_utf8_is_valid(name))
        return 0;
    for (unsigned i = 0; i < index; i++)
        if (strcmp(stages[i], name) == 0)
            return 0;
    return 1;
}

crest_status crest_stages_check(crest_kind kind, const char *const *stages, unsigned *count)
{
    unsigned last = 0;
    *count = 0;
    for (; *count < CREST_STAGES_MAX && stages[*count] != NULL; ++*count)
        if (!stages_name_is_valid(stages, *count))
            return CREST_INVALID_ARGUMENT;
    /* one more than there may be: C takes further ones with a warning only */
    for (unsigned i = 0; i <= CREST_STAGES_MAX; i++)
        if (stages[i] != NULL)
            last = i + 1;
    return last == *count && (kind == CREST_KIND_STAGES) == (last != 0) ? CREST_OK
                                                                        : CREST_INVALID_ARGUMENT;
}

crest_status crest_stages_histograms_make(crest_metric *metric)
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

/* Under the lock: the histograms of a child's stages, made if need be; gaps, then times since the
 * start. */
static crest_status stages_find_histograms(const crest_metric *metric, const char *const *values,
                                           crest_histogram **histograms)
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
        crest_atomic_store_ptr_release(CREST_PTR(&histograms[i]), &stage->own->histogram);
    }
    return CREST_OK;
}

crest_status crest_stages_child_again(crest_child *child)
{
    return stages_find_histograms(child->first.metric, crest_series_values(&child->first),
                                  child->own->timer.keyed->histograms);
}

crest_status crest_stages_child_make(crest_child *child, const char *const *values)
{
    const crest_metric *metric = child->first.metric;
    unsigned count = metric->stage_count;
    crest_status status = CREST_NO_MEMORY;
    crest_keyed *keyed = crest_in_flight_keyed_new(child);
    crest_histogram **histograms =
        crest_arena_take(CREST_ARENA_META, 2 * count * sizeof *histograms, _Alignof(void *));
    if (keyed == NULL || histograms == NULL)
        return status;
    status = stages_find_histograms(metric, values, histograms);
    if (status != CREST_OK)
        return status;
    keyed->stage_count = count;
    keyed->histograms = histograms;
    child->own->timer.keyed = keyed;
    return CREST_OK;
}

unsigned crest_stages_parts(const crest_child *child, crest_child **parts)
{
    const crest_keyed *keyed =
        child->first.metric->stage_count != 0 ? child->own->timer.keyed : NULL;
    unsigned count = 0;
    for (unsigned i = 0; keyed != NULL && i < 2 * keyed->stage_count; i++) {
        const crest_handle *handle = &keyed->histograms[i]->handle;
        if (crest_handle_dead(handle) == CREST_OK)
            parts[count++] = crest_series_child(handle->series);
    }
    return count;
}
