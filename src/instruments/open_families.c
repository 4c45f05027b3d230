/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Open families: metrics whose label keys come one by one. See <crest/family.h>.
 *
 * Every child has room for a value of each possible key; "" for keys that it lacks or that do not
 * exist yet. So a new key changes nothing in memory that readers use: it is written behind the
 * others, and then counted (crest_metric_keys).
 */
#include "base/arena.h"
#include "base/atomic.h"
#include "base/lock.h"
#include "base/misuse.h"
#include "base/utf8.h"
#include "instruments/child_get.h"
#include "instruments/metric_get.h"
#include "metrics/constant_labels.h"
#include "metrics/handles.h"
#include "names/names.h"
#include "registry/described.h"
#include "registry/growth.h"

#include <string.h>

/* Cleaned label values, by the place of their key; guarded by the lock. */
static struct {
    const char *values[CREST_OPEN_LABELS_MAX];
    char text[CREST_OPEN_LABELS_MAX][CREST_LABEL_VALUE_BYTES_MAX + 1];
} open_clean;

static int open_is_absent(const crest_label *label)
{
    return label->value == NULL || label->value[0] == '\0';
}

/* Whether these labels can belong to one series. */
static crest_status open_check(const crest_label *labels, unsigned count)
{
    if (labels == NULL && count != 0)
        return CREST_INVALID_ARGUMENT;
    unsigned present = 0;
    for (unsigned i = 0; i < count; i++) {
        crest_status status = crest_label_key_check(labels[i].key, NULL, 0);
        if (status != CREST_OK)
            return status;
        for (unsigned other = 0; other < i; other++)
            if (strcmp(labels[other].key, labels[i].key) == 0)
                return CREST_INVALID_LABEL;
        present += !open_is_absent(&labels[i]);
        if (present > CREST_OPEN_LABELS_MAX)
            return CREST_LIMIT;
    }
    return CREST_OK;
}

/* The place of a key; the number of keys if it is none of them. */
static unsigned open_place(const crest_metric *metric, const char *key)
{
    unsigned keys = crest_metric_keys(metric), place = 0;
    while (place < keys && strcmp(metric->label_keys[place], key) != 0)
        place++;
    return place;
}

/* Whether there is room for the labels' keys. Checked before the first new one is added. */
static crest_status open_room(const crest_metric *metric, const crest_label *labels, unsigned count)
{
    unsigned keys = crest_metric_keys(metric), more = 0;
    for (unsigned i = 0; i < count; i++) {
        if (open_is_absent(&labels[i]) || open_place(metric, labels[i].key) < keys)
            continue;
        if (crest_constants_clash(metric->state, &labels[i].key, 1))
            return CREST_INVALID_LABEL;
        more++;
    }
    return keys + more <= metric->label_count ? CREST_OK : CREST_LIMIT;
}

/* The place of a key, added if need be; there is room for it. */
static unsigned open_key(crest_metric *metric, const char *key, crest_status *status)
{
    unsigned keys = crest_metric_keys(metric), place = open_place(metric, key);
    if (place < keys)
        return place;
    const char *copy = crest_arena_copy(key, strlen(key));
    if (copy == NULL) {
        *status = CREST_NO_MEMORY;
        return place;
    }
    ((const char **)(uintptr_t)metric->label_keys)[place] = copy;
    /* partner: the acquire load in crest_metric_keys: a reader that counts the key finds it */
    crest_atomic_store32_release(&metric->open_keys, place + 1);
    crest_describe_metric(metric);
    return place;
}

/* Puts each value at the place of its key; non-zero if one was changed by cleaning. */
static int open_values(crest_metric *metric, const crest_label *labels, unsigned count,
                       crest_status *status)
{
    int changed = 0;
    for (unsigned i = 0; i < CREST_OPEN_LABELS_MAX; i++)
        open_clean.values[i] = "";
    for (unsigned i = 0; i < count && *status == CREST_OK; i++) {
        if (open_is_absent(&labels[i]))
            continue;
        unsigned place = open_key(metric, labels[i].key, status), what;
        if (*status != CREST_OK)
            break;
        crest_utf8_copy(labels[i].value, open_clean.text[place], sizeof open_clean.text[place],
                        &what);
        open_clean.values[place] = open_clean.text[place];
        changed |= what != 0;
    }
    return changed;
}

/* Under the lock: the child of these labels; metric and keys are made if need be. */
static crest_child *open_child_locked(crest_registry *registry, crest_kind kind,
                                      const crest_metric_options *options,
                                      const crest_label *labels, unsigned count,
                                      crest_status *status, int *changed)
{
    crest_metric *metric = crest_metric_get_open_locked(registry, kind, options, status);
    if (metric == NULL)
        return NULL;
    *status = open_room(metric, labels, count);
    if (*status != CREST_OK)
        return NULL;
    *changed = open_values(metric, labels, count, status);
    return *status == CREST_OK ? crest_child_get_locked(metric, open_clean.values, status) : NULL;
}

/* The handle of these labels, or a dead one, whose cause is counted. */
static crest_own_handle *open_handle(crest_registry *registry, crest_kind kind,
                                     const crest_metric_options *options, const crest_label *labels,
                                     unsigned count, crest_status *status)
{
    crest_child *child = NULL;
    int changed = 0;
    crest_status why = open_check(labels, count);
    crest_growth_now_and_then();
    if (why == CREST_OK) {
        crest_lock_saved saved;
        crest_lock_take(&saved);
        child = open_child_locked(registry, kind, options, labels, count, &why, &changed);
        crest_lock_drop(&saved);
    }
    const char *name = options != NULL ? options->name : NULL;
    if (why != CREST_OK)
        crest_misuse_count(crest_misuse_of(why), name);
    if (changed || (child != NULL && options->description != NULL &&
                    !crest_utf8_is_valid(options->description)))
        crest_misuse_count(CREST_MISUSE_TEXT, name);
    if (status != NULL)
        *status = why;
    return child != NULL ? child->own : crest_handle_dead_of(kind, why);
}

#define OPEN_LABELLED(type, kind)                                                                  \
    crest_##type *crest_##type##_labelled(                                                         \
        crest_registry *registry, const crest_metric_options *options, const crest_label *labels,  \
        unsigned count, crest_status *status)                                                      \
    {                                                                                              \
        return &open_handle(registry, kind, options, labels, count, status)->type;                 \
    }
OPEN_LABELLED(counter, CREST_KIND_COUNTER)
OPEN_LABELLED(gauge, CREST_KIND_GAUGE)
OPEN_LABELLED(histogram, CREST_KIND_HISTOGRAM)
OPEN_LABELLED(range_sampler, CREST_KIND_RANGE_SAMPLER)
