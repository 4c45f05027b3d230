/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a caller's options to a checked spec of a metric. See metric_spec.h.
 */
#include "metrics/metric_spec.h"
#include "base/utf8.h"
#include "metrics/constant_labels.h"
#include "names/buckets.h"
#include "names/derived_results.h"
#include "names/names.h"

#include <string.h>

/* prefix + "." + name, checked. */
static crest_status spec_full_name(const crest_registry_state *state, const char *name, char *full)
{
    if (name == NULL)
        return CREST_INVALID_NAME;
    size_t before = state->prefix ? strlen(state->prefix) + 1 : 0;
    size_t length = strnlen(name, CREST_NAME_BYTES_MAX + 1);
    if (before + length > CREST_NAME_BYTES_MAX)
        return CREST_INVALID_NAME;
    if (before != 0) {
        memcpy(full, state->prefix, before - 1);
        full[before - 1] = '.';
    }
    memcpy(full + before, name, length);
    full[before + length] = '\0';
    return crest_name_check(full, NULL, 0);
}

/* Range and buckets of a distribution. One that keeps no single values (CREST_RANGE_NONE) has
 * nothing to fill buckets with: it gets none, and options must not ask for any. */
static crest_status spec_distribution(const crest_metric_options *options, crest_metric_spec *spec)
{
    if (spec->parent != NULL) {
        spec->layout = *spec->parent->layout;
        spec->buckets = spec->parent->buckets.count != 0 ? &spec->parent->buckets : NULL;
        spec->quantiles = spec->parent->quantiles;
        spec->native = spec->parent->native;
        spec->native_factor = spec->parent->native_factor;
        return CREST_OK;
    }
    crest_status status = crest_layout_make(options->range, &spec->layout);
    if (status != CREST_OK)
        return status;
    if (spec->layout.unit == CREST_LAYOUT_UNIT_NONE)
        return options->buckets == NULL ? CREST_OK : CREST_INVALID_ARGUMENT;
    spec->buckets =
        options->buckets ? options->buckets : crest_buckets_for_unit(spec->unit, spec->kind);
    return crest_buckets_check(spec->buckets, NULL, 0);
}

static int spec_stage_is_valid(const char *const *stages, unsigned index)
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

/* Counts the stages. CREST_INVALID_ARGUMENT for none, an empty or repeated one, one that is not
 * UTF-8, or one behind a NULL; and for stages of a kind without them. */
static crest_status spec_stages(crest_kind kind, const char *const *stages, unsigned *count)
{
    unsigned last = 0;
    *count = 0;
    for (; *count < CREST_STAGES_MAX && stages[*count] != NULL; ++*count)
        if (!spec_stage_is_valid(stages, *count))
            return CREST_INVALID_ARGUMENT;
    /* one beyond the most: for extra initialisers C compilers only warn */
    for (unsigned i = 0; i <= CREST_STAGES_MAX; i++)
        if (stages[i] != NULL)
            last = i + 1;
    return last == *count && (kind == CREST_KIND_STAGES) == (last != 0) ? CREST_OK
                                                                        : CREST_INVALID_ARGUMENT;
}

/* Options of timers and stages only. */
static crest_status spec_timing(crest_kind kind, const crest_metric_options *options,
                                crest_metric_spec *spec)
{
    spec->deadline_ns = options->deadline_ms * UINT64_C(1000000);
    spec->stages = options->stages;
    return spec_stages(kind, options->stages, &spec->stage_count);
}

/* A companion's last key is the library's own, beyond its parent's most. */
static crest_status spec_keys_check(const crest_metric_spec *spec)
{
    unsigned count = spec->key_count;
    if (spec->parent != NULL && count == CREST_LABELS_MAX + 1) {
        count--;
        for (unsigned i = 0; i < count; i++)
            if (strcmp(spec->keys[i], spec->keys[count]) == 0)
                return CREST_INVALID_LABEL;
    }
    return crest_label_keys_check(spec->keys, count, NULL, 0);
}

/* Native buckets, of distributions that keep values. */
static crest_status spec_native(const crest_metric_options *options, crest_metric_spec *spec)
{
    double factor = options->native_factor;
    if (spec->parent != NULL || (options->native == CREST_NATIVE_DEFAULT && factor == 0))
        return CREST_OK;
    spec->native = options->native;
    spec->native_factor = factor;
    int values = spec->layout.blocks != 0 && spec->layout.unit != CREST_LAYOUT_UNIT_NONE;
    return values && (unsigned)options->native <= CREST_NATIVE_ONLY &&
                   (factor == 0 || (factor > 1 && factor <= CREST_NATIVE_FACTOR_MAX))
               ? CREST_OK
               : CREST_INVALID_ARGUMENT;
}

/* Options of windows that only distributions have. */
static crest_status spec_windows(const crest_metric_options *options, crest_metric_spec *spec)
{
    spec->no_windows = spec->parent ? (int)spec->parent->no_windows : options->no_windows != 0;
    if (options->quantiles[0] == 0)
        return CREST_OK;
    spec->quantiles = options->quantiles;
    int values = spec->layout.blocks != 0 && spec->layout.unit != CREST_LAYOUT_UNIT_NONE;
    return values && !spec->no_windows && crest_quantiles_valid(options->quantiles)
               ? CREST_OK
               : CREST_INVALID_ARGUMENT;
}

crest_status crest_metric_spec_make(const crest_registry_state *state, crest_kind kind,
                                    const crest_metric_options *options, crest_metric_spec *spec)
{
    if (options == NULL)
        return CREST_INVALID_ARGUMENT;
    crest_status status = spec_full_name(state, options->name, spec->name);
    if (status != CREST_OK)
        return status;
    if (spec_timing(kind, options, spec) != CREST_OK)
        return CREST_INVALID_ARGUMENT;
    if (kind == CREST_KIND_STAGES)
        kind = CREST_KIND_TIMER;
    spec->kind = kind;
    spec->idle_s = options->idle_s;
    spec->unit = kind == CREST_KIND_TIMER ? CREST_NANOSECONDS : options->unit;
    spec->description = options->description ? options->description : "";
    if ((unsigned)spec->unit > CREST_RATIO)
        return CREST_INVALID_ARGUMENT;
    if (options->description != NULL &&
        strnlen(options->description, CREST_DESCRIPTION_BYTES_MAX + 1) >
            CREST_DESCRIPTION_BYTES_MAX)
        return CREST_INVALID_ARGUMENT;
    if ((kind == CREST_KIND_HISTOGRAM || kind == CREST_KIND_TIMER) &&
        spec_distribution(options, spec) != CREST_OK)
        return CREST_INVALID_ARGUMENT;
    if (spec_windows(options, spec) != CREST_OK || spec_native(options, spec) != CREST_OK)
        return CREST_INVALID_ARGUMENT;
    return crest_constants_clash(state, spec->keys, spec->key_count) ? CREST_INVALID_LABEL
                                                                     : spec_keys_check(spec);
}

int crest_metric_has_shape(const crest_metric *metric, const crest_metric_spec *spec)
{
    if (metric->kind != spec->kind || metric->open != spec->open ||
        (!spec->open && metric->label_count != spec->key_count) ||
        metric->stage_count != spec->stage_count)
        return 0;
    for (unsigned i = 0; i < spec->stage_count; i++)
        if (strcmp(metric->stages[i], spec->stages[i]) != 0)
            return 0;
    for (unsigned i = 0; i < spec->key_count; i++)
        if (strcmp(metric->label_keys[i], spec->keys[i]) != 0)
            return 0;
    return 1;
}
