/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Totals of dead series into cells of this run. See adopted_series.h.
 */
#include "adopt/adopted_series.h"
#include "base/alloc.h"
#include "base/atomic.h"
#include "base/lock.h"
#include "cells/cells.h"
#include "cells/delivered_cells.h"
#include "cells/shards.h"
#include "distributions/delivered_counts.h"
#include "registry/inherited.h"
#include "remains/dead_values.h"
#include "state/directory_records.h"

#include <crest/op.h>
#include <stdio.h>
#include <string.h>

/* One dead file. */
typedef struct adopted_from {
    crest_state_view *view;
    crest_dead *dead;
    uint32_t *ids; /* by the file's metric number: that of a record in this run's file, or 0 */
    uint32_t id_count;
    crest_adoption *done;
} adopted_from;

/* A metric's texts, split. */
typedef struct adopted_texts {
    const char *all[CREST_DEAD_TEXTS_MAX];
    const char *values[CREST_DEAD_TEXTS_MAX];
} adopted_texts;

/* ---- identities ---- */

/* The identity of a series; 0 where its texts are not all there. */
static int adopted_identity(const crest_state_metric *metric, const crest_state_series *series,
                            adopted_texts *texts, crest_identity *identity)
{
    if (!crest_dead_texts(metric, texts->all) || series->value_count > metric->key_count ||
        !crest_state_texts(&series->record, 0, texts->values, series->value_count) ||
        series->outcome >= CREST_OUTCOME_COUNT)
        return 0;
    *identity = (crest_identity){.name = texts->all[0],
                                 .kind = (crest_kind)metric->kind,
                                 .unit = (crest_unit)metric->unit,
                                 .outcome = series->outcome,
                                 .constant_count = metric->constant_count,
                                 .key_count = series->value_count,
                                 .constants = texts->all + 3,
                                 .keys = texts->all + 3 + 2 * metric->constant_count,
                                 .values = texts->values};
    if (metric->layout_blocks != 0) {
        identity->layout_bits = metric->layout_bits;
        identity->layout_unit = metric->layout_unit;
        identity->layout_highest = metric->layout_highest;
    }
    return 1;
}

/* ---- records of series that wait ---- */

/* Under the lock: the number of the series' metric in this run's file, described if need be. */
static uint32_t adopted_metric_id(adopted_from *from, const crest_state_metric *metric,
                                  const crest_identity *identity, const adopted_texts *texts)
{
    int mismatch;
    const crest_metric *there = crest_inherited_metric(identity, &mismatch);
    if (there != NULL && there->state_id != 0)
        return there->state_id;
    if (from->ids[metric->id] != 0)
        return from->ids[metric->id];
    crest_state_metric copy = *metric;
    double bounds[CREST_BUCKETS_MAX];
    memcpy(bounds, metric + 1, metric->bound_count * sizeof bounds[0]);
    copy.id = from->ids[metric->id] = crest_state_metric_next();
    copy.parent = 0;
    crest_state_note_metric(&copy, bounds, texts->all);
    return copy.id;
}

/* Under the lock: describes a waiting series, so that a kill does not end the chain. */
static void adopted_describe(adopted_from *from, const crest_state_metric *metric,
                             const crest_state_series *series, const crest_identity *identity,
                             const adopted_texts *texts, uint32_t slot)
{
    crest_state_series record = {.slot = slot,
                                 .metric = adopted_metric_id(from, metric, identity, texts),
                                 .made_s = series->made_s,
                                 .outcome = series->outcome,
                                 .value_count = series->value_count};
    crest_state_note_series(&record, texts->values);
}

/* ---- adding ---- */

/* Under the lock: adds to the entry's cell; 0 without memory. */
static int adopted_add_counter(crest_inherited *entry, uint64_t *cell, uint64_t count,
                               uint64_t delivered)
{
    if (!crest_delivered_inherit(entry->slot, delivered))
        return 0;
    entry->delivered = crest_distribution_plus(entry->delivered, delivered);
    crest_atomic_store(cell, crest_distribution_plus(*cell, count));
    return 1;
}

/* Under the lock: the same of a distribution. Takes what was delivered. */
static int adopted_add_counts(crest_inherited *entry, uint64_t *cell,
                              const crest_distribution *past, crest_distribution *delivered)
{
    const crest_layout *layout = crest_layout_shared(&past->layout);
    crest_shard *shard = layout != NULL ? crest_shard_at(cell, layout, NULL) : NULL;
    int added = shard != NULL && crest_delivered_inherit_counts(entry->slot, delivered) &&
                crest_shard_add_counts(shard, layout, past);
    if (added && entry->past == NULL) {
        entry->past = delivered;
        return 1;
    }
    added = added && crest_distribution_add(entry->past, delivered) == CREST_OK;
    crest_distribution_free(delivered);
    return added;
}

/* What a dead series has: a counter's two numbers, or two distributions; 0 without memory. */
typedef struct adopted_values {
    uint64_t count, delivered;
    crest_distribution *past, *past_delivered;
} adopted_values;

static int adopted_read(adopted_from *from, const crest_state_metric *metric,
                        const crest_state_series *series, adopted_values *values)
{
    *values = (adopted_values){0};
    if (metric->kind == CREST_KIND_COUNTER) {
        values->count = crest_dead_counter(from->dead, series);
        values->delivered = crest_dead_delivered(from->dead, series);
        return 1;
    }
    values->past = crest_dead_distribution(from->dead, series);
    values->past_delivered = crest_dead_delivered_counts(from->dead, series, values->past);
    return values->past_delivered != NULL;
}

/* Under the lock. Takes values->past_delivered. */
static int adopted_add(crest_inherited *entry, adopted_values *values)
{
    uint64_t *cell = crest_cells_touch_lane(crest_cells_adopted(), entry->slot);
    if (cell == NULL)
        return 0;
    if (values->past == NULL)
        return adopted_add_counter(entry, cell, values->count, values->delivered);
    crest_distribution *delivered = values->past_delivered;
    values->past_delivered = NULL;
    return adopted_add_counts(entry, cell, values->past, delivered);
}

static void adopted_one(adopted_from *from, const crest_state_metric *metric,
                        const crest_state_series *series)
{
    adopted_texts texts;
    crest_identity identity;
    crest_lock_saved saved;
    adopted_values values;
    int mismatch = 0, added = 0, read = adopted_read(from, metric, series, &values);
    from->done->lacked += !read;
    if (read && adopted_identity(metric, series, &texts, &identity)) {
        crest_lock_take(&saved);
        crest_inherited *entry = crest_inherited_made(&identity, &mismatch);
        if (entry != NULL)
            added = adopted_add(entry, &values);
        if (entry != NULL && entry->birth == 0)
            adopted_describe(from, metric, series, &identity, &texts, entry->slot);
        crest_lock_drop(&saved);
        from->done->series += added != 0;
        from->done->mismatched += mismatch != 0;
        from->done->lacked += !added && !mismatch;
    }
    crest_distribution_free(values.past);
    crest_distribution_free(values.past_delivered);
}

static int adopted_is(uint32_t kind)
{
    return kind == CREST_KIND_COUNTER || kind == CREST_KIND_HISTOGRAM || kind == CREST_KIND_TIMER;
}

void crest_adopt_series(crest_state_view *view, crest_adoption *done)
{
    adopted_from from = {.view = view, .dead = crest_dead_new(view), .done = done};
    const crest_state_series *series;
    if (from.dead != NULL)
        from.id_count = crest_dead_metric_count(from.dead);
    from.ids = crest_alloc(from.id_count + 1, sizeof *from.ids);
    crest_state_cursor cursor = {0};
    while (from.dead != NULL && from.ids != NULL &&
           (series = crest_dead_next(from.dead, &cursor)) != NULL) {
        const crest_state_metric *metric = crest_dead_metric(from.dead, series->metric);
        if (adopted_is(metric->kind))
            adopted_one(&from, metric, series);
    }
    done->lacked += from.dead == NULL || from.ids == NULL;
    crest_alloc_free(from.ids);
    crest_dead_free(from.dead);
}

/* ---- in flight ---- */

static uint64_t adopted_word(const unsigned char *entry, unsigned at)
{
    uint64_t word;
    memcpy(&word, entry + at, sizeof word);
    return word;
}

/* The name of the timer that an entry in flight bears the address of; "" if none does. */
static const char *adopted_timer(crest_state_view *view, crest_dead *dead, uint64_t keyed,
                                 adopted_texts *texts)
{
    const crest_state_record *record;
    const char *name = "";
    for (crest_state_cursor cursor = {0}; (record = crest_state_next(view, &cursor)) != NULL;) {
        const crest_state_keyed *one = (const crest_state_keyed *)(const void *)record;
        const crest_state_metric *metric = record->type == CREST_STATE_KEYED && one->keyed == keyed
                                               ? crest_dead_metric(dead, one->metric)
                                               : NULL;
        if (metric != NULL && crest_dead_texts(metric, texts->all))
            name = texts->all[0];
    }
    return name;
}

static void adopted_block(crest_state_view *view, const crest_state_in_flight *block,
                          crest_adoption *done, const unsigned char **oldest)
{
    const unsigned char *entries =
        crest_state_at(view, block->address, (uint64_t)block->entries * CREST_STATE_ENTRY_BYTES);
    if (entries == NULL || block->entry_bytes != CREST_STATE_ENTRY_BYTES)
        return;
    for (uint32_t i = 0; i < block->entries; i++) {
        const unsigned char *entry = entries + (size_t)i * CREST_STATE_ENTRY_BYTES;
        if ((adopted_word(entry, CREST_STATE_ENTRY_STATE) & 3) != 1)
            continue;
        uint64_t begun_ns = adopted_word(entry, CREST_STATE_ENTRY_BEGUN_NS);
        uint64_t beat_ns = view->header->beat_ns;
        uint64_t age_ns = beat_ns > begun_ns ? beat_ns - begun_ns : 0;
        done->in_flight++;
        if (*oldest == NULL || age_ns > done->oldest_ns) {
            *oldest = entry;
            done->oldest_ns = age_ns;
        }
    }
}

void crest_adopt_in_flight(crest_state_view *view, crest_adoption *done)
{
    const crest_state_record *record;
    const unsigned char *oldest = NULL;
    for (crest_state_cursor cursor = {0}; (record = crest_state_next(view, &cursor)) != NULL;)
        if (record->type == CREST_STATE_IN_FLIGHT)
            adopted_block(view, (const crest_state_in_flight *)(const void *)record, done, &oldest);
    crest_dead *dead = oldest != NULL ? crest_dead_new(view) : NULL;
    if (dead == NULL)
        return;
    adopted_texts texts;
    crest_op op;
    char text[CREST_OP_TEXT_BYTES];
    memcpy(&op, oldest + CREST_STATE_ENTRY_OP, sizeof op);
    crest_op_format(&op, text, sizeof text);
    snprintf(done->oldest, sizeof done->oldest, "%.200s %s",
             adopted_timer(view, dead, adopted_word(oldest, CREST_STATE_ENTRY_KEYED), &texts),
             text);
    crest_dead_free(dead);
}
