/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Narrowing a snapshot to some of its series: it gets a directory of its own with these, and its
 * values move together. See <crest/snapshot.h>.
 */
#include "names/globs.h"
#include "snapshot/snapshot_inside.h"

/* The series of a metric are adjacent, so its name is matched once. */
typedef struct selection_rule {
    const char *include;
    const char *exclude;
    const crest_metric *metric;
    int wanted;
} selection_rule;

static int selection_wants(selection_rule *rule, const crest_series *series)
{
    const crest_metric *metric = series->metric;
    if (metric != rule->metric) {
        rule->metric = metric;
        rule->wanted =
            (crest_globs_empty(rule->include) || crest_globs_match(rule->include, metric->name)) &&
            !crest_globs_match(rule->exclude, metric->name);
    }
    return rule->wanted;
}

/* A directory of the wanted series; NULL without memory. */
static crest_directory *selection_directory(const crest_directory *all, selection_rule *rule)
{
    size_t count = 0;
    for (size_t i = 0; i < all->count; i++)
        count += (size_t)selection_wants(rule, all->series[i]);
    crest_directory *chosen = crest_directory_new(all->state, count);
    if (chosen == NULL)
        return NULL;
    chosen->reading.generation = all->reading.generation;
    for (size_t i = 0, to = 0; i < all->count; i++) {
        if (!selection_wants(rule, all->series[i]))
            continue;
        chosen->series[to] = all->series[i];
        chosen->births[to++] = all->births[i];
    }
    return crest_directory_ready(chosen) ? chosen : NULL;
}

crest_status crest_snapshot_select(crest_snapshot *snapshot, const char *include,
                                   const char *exclude)
{
    if (snapshot == NULL || (crest_globs_empty(include) && crest_globs_empty(exclude)))
        return CREST_OK;
    selection_rule rule = {.include = include, .exclude = exclude};
    crest_directory *all = snapshot->directory;
    crest_directory *chosen = selection_directory(all, &rule);
    if (chosen == NULL)
        return CREST_NO_MEMORY;
    for (size_t i = 0, to = 0; i < all->count; i++) {
        if (!selection_wants(&rule, all->series[i])) {
            crest_snapshot_lose(snapshot, i);
            continue;
        }
        crest_snapshot_move(snapshot, i, to++);
    }
    snapshot->directory = chosen;
    crest_directory_drop(all);
    return CREST_OK;
}
