/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Making and keeping directories. See directory.h.
 */
#include "snapshot/directory.h"
#include "base/alloc.h"
#include "base/atomic.h"
#include "instruments/misuse_series.h"
#include "metrics/child.h"
#include "polls/poller.h"
#include "registry/children.h"
#include "registry/series_state.h"

#include <stdlib.h>
#include <string.h>

/*
 * "The lock" here is the readers' (metrics/readers.h). It guards every registry's `directory` and
 * the directories' users and readers. It is held while a directory is made, so that each new
 * directory has all series of its predecessor.
 */

static void directory_free(crest_directory *directory)
{
    crest_atomic_add(&directory->state->directories, UINT64_MAX);
    crest_alloc_free(directory->labels);
    crest_alloc_free(directory->stretches);
    crest_alloc_free(directory->runs);
    crest_alloc_free(directory);
}

/* Under the lock: drops a reference (user). The last one frees. */
static void directory_drop_locked(crest_directory *directory)
{
    if (directory == NULL || --directory->users != 0)
        return;
    crest_reading_remove(&directory->reading);
    directory_free(directory);
}

void crest_directory_drop(crest_directory *directory)
{
    crest_readers_lock();
    directory_drop_locked(directory);
    crest_readers_unlock();
}

/* ---- order ---- */

static int directory_compare_metrics(const crest_metric *m, const crest_metric *n)
{
    int by_name = strcmp(m->exported, n->exported);
    return by_name ? by_name : strcmp(m->name, n->name);
}

int crest_directory_compare(const crest_series *x, const crest_series *y)
{
    const crest_metric *m = x->metric;
    if (m != y->metric)
        return directory_compare_metrics(m, y->metric);
    const char *const *own = crest_series_values(x), *const *other = crest_series_values(y);
    for (unsigned i = 0; i < m->label_count; i++) {
        int by_value = strcmp(own[i], other[i]);
        if (by_value != 0)
            return by_value;
    }
    return (x->outcome > y->outcome) - (x->outcome < y->outcome);
}

static int directory_by_series(const void *a, const void *b)
{
    return crest_directory_compare(*(crest_series *const *)a, *(crest_series *const *)b);
}

static int directory_by_metric(const void *a, const void *b)
{
    return directory_compare_metrics(((const crest_directory_run *)a)->metric,
                                     ((const crest_directory_run *)b)->metric);
}

const crest_directory_run *crest_directory_run_of(const crest_directory *directory,
                                                  const crest_metric *metric)
{
    const crest_directory_run key = {.metric = metric};
    const crest_directory_run *run =
        directory->run_count == 0
            ? NULL
            : bsearch(&key, directory->runs, directory->run_count, sizeof key, directory_by_metric);
    return run != NULL && run->metric == metric ? run : NULL;
}

/* ---- planning: which runs there are, and the series of those that changed ---- */

/* Flag of a run in a plan: its `first` is a place in `fresh`, not in the previous directory. */
#define DIRECTORY_FRESH (UINT32_C(1) << 31)
_Static_assert(CREST_SLOT_COUNT < DIRECTORY_FRESH, "a place has no room for its mark");

/* The runs of a directory that is being made. */
typedef struct directory_plan {
    crest_registry_state *state;
    const crest_directory *before; /* NULL: no previous one can be used */
    const crest_metric *newest;
    crest_directory_run *runs;
    size_t run_count, count;
    crest_series **fresh;
    size_t fresh_count, fresh_room;
} directory_plan;

/* Metrics made since the previous directory. Its newest must be in the list, or it cannot be
 * used. */
static size_t directory_plan_added(directory_plan *plan)
{
    /* acquire: partner of the release store in metric_make.c */
    plan->newest = crest_atomic_load_ptr_acquire(CREST_PTR(&plan->state->metrics));
    const crest_metric *known = plan->before ? plan->before->newest : NULL, *metric = plan->newest;
    size_t added = 0;
    for (; metric != NULL && metric != known; metric = metric->next)
        added++;
    if (metric == NULL)
        plan->before = NULL; /* that newest could not be published after all, and was undone */
    return added;
}

/* All metrics, sorted: those of the previous directory with their runs, and newer ones without. 0
 * without memory. */
static int directory_plan_runs(directory_plan *plan)
{
    size_t added = directory_plan_added(plan);
    size_t old = plan->before != NULL ? plan->before->run_count : 0;
    plan->run_count = old + added;
    plan->runs = crest_alloc(plan->run_count, sizeof *plan->runs);
    if (plan->runs == NULL)
        return 0;
    crest_directory_run *fresh = plan->runs + old;
    const crest_metric *metric = plan->newest;
    for (size_t i = 0; i < added; i++, metric = metric->next)
        fresh[i].metric = metric;
    qsort(fresh, added, sizeof *fresh, directory_by_metric);
    if (old == 0)
        return 1;
    if (added == 0) {
        memcpy(plan->runs, plan->before->runs, old * sizeof *plan->runs);
        return 1;
    }
    crest_directory_run *sorted = crest_alloc(plan->run_count, sizeof *sorted);
    if (sorted == NULL)
        return 0;
    const crest_directory_run *from = plan->before->runs, *end = from + old;
    const crest_directory_run *fresh_end = fresh + added;
    for (size_t i = 0; i < plan->run_count; i++)
        sorted[i] = from == end || (fresh != fresh_end && directory_by_metric(fresh, from) < 0)
                        ? *fresh++
                        : *from++;
    crest_alloc_free(plan->runs);
    plan->runs = sorted;
    return 1;
}

static int directory_plan_add(directory_plan *plan, crest_series *series)
{
    if (plan->fresh_count == plan->fresh_room) {
        size_t room = plan->fresh_room * 2 + 64;
        crest_series **larger = crest_alloc_resize(plan->fresh, room, sizeof(crest_series *));
        if (larger == NULL)
            return 0;
        plan->fresh = larger;
        plan->fresh_room = room;
    }
    plan->fresh[plan->fresh_count++] = series;
    return 1;
}

/* The series of one metric that snapshots show; 0 without memory. */
static int directory_plan_walk(directory_plan *plan, const crest_metric *metric)
{
    crest_children_cursor at = {NULL, 0, NULL};
    for (const crest_child *child; (child = crest_children_next(metric, &at)) != NULL;)
        for (unsigned i = 0; i < CREST_OUTCOME_COUNT; i++) {
            crest_series *series = crest_child_at(child, i);
            if (series != NULL && crest_series_shown(series) && !directory_plan_add(plan, series))
                return 0;
        }
    return 1;
}

/* The same, sorted, as a run. Walks again if links were moved during the walk. */
static int directory_plan_fresh(directory_plan *plan, crest_directory_run *run)
{
    size_t first = plan->fresh_count;
    uint64_t version;
    do {
        version = crest_children_version(run->metric);
        plan->fresh_count = first;
        if (!directory_plan_walk(plan, run->metric))
            return 0;
    } while (crest_children_version(run->metric) != version);
    run->first = (uint32_t)first | DIRECTORY_FRESH;
    run->count = (uint32_t)(plan->fresh_count - first);
    if (run->count > 1) /* an empty list may be NULL */
        qsort(plan->fresh + first, run->count, sizeof(crest_series *), directory_by_series);
    return 1;
}

/* Looks for the series of all runs that changed; 0 without memory. */
static int directory_plan_make(directory_plan *plan)
{
    if (!directory_plan_runs(plan))
        return 0;
    for (size_t i = 0; i < plan->run_count; i++) {
        crest_directory_run *run = &plan->runs[i];
        /* acquire: partner of the release stores in generation.c; while the number was 0 the metric
         * had no series */
        uint64_t changes = crest_atomic_load_acquire(&run->metric->changes);
        if (run->changes != changes || (changes & 1) != 0) {
            run->changes = changes;
            if (!directory_plan_fresh(plan, run))
                return 0;
        }
        plan->count += run->count;
    }
    return 1;
}

/* ---- making ---- */

/* Puts the registry's labels before those of each series; 0 without memory. */
static int directory_label(crest_directory *directory)
{
    const crest_registry_state *state = directory->state;
    unsigned constants = state->constant_count;
    if (constants == 0)
        return 1;
    size_t all = directory->count * (1 + constants);
    for (size_t i = 0; i < directory->count; i++)
        all += crest_directory_own_labels(directory->series[i]->metric);
    directory->labels = crest_alloc(all, sizeof(void *));
    if (directory->labels == NULL)
        return 0;
    const char **next = (const char **)(directory->labels + directory->count);
    for (size_t i = 0; i < directory->count; i++) {
        const crest_series *series = directory->series[i];
        unsigned own = crest_directory_own_labels(series->metric);
        directory->labels[i] = next;
        memcpy(next, state->constant_values, constants * sizeof *next);
        memcpy(next + constants, crest_series_values(series), own * sizeof *next);
        next += constants + own;
    }
    return 1;
}

static crest_directory *directory_new(crest_registry_state *state, size_t count, int slots)
{
    size_t each = sizeof(crest_series *) + sizeof(uint64_t) + (slots ? sizeof(uint32_t) : 0);
    crest_directory *directory = crest_alloc(1, sizeof *directory + count * each);
    if (directory == NULL)
        return NULL;
    crest_atomic_add(&state->directories, 1);
    directory->state = state;
    directory->reading.state = state;
    directory->count = count;
    directory->births = (uint64_t *)(directory->series + count);
    directory->slots = slots ? (uint32_t *)(directory->births + count) : NULL;
    return directory;
}

crest_directory *crest_directory_new(crest_registry_state *state, size_t count)
{
    return directory_new(state, count, 0);
}

/* Merges runs of one kind into stretches; with `stretches` NULL it only counts them. */
static size_t directory_stretch(const crest_directory *directory,
                                crest_directory_stretch *stretches)
{
    const crest_directory_run *run = directory->runs, *end = run + directory->run_count;
    crest_directory_stretch last = {CREST_KIND_NONE, 0, 0, 0};
    size_t count = 0;
    for (; run != end; run++) {
        int distributions = run->metric->layout != NULL;
        if (run->count == 0)
            continue;
        if (count == 0 || last.kind != run->metric->kind || last.distributions != distributions) {
            last = (crest_directory_stretch){run->metric->kind, distributions, run->first, 0};
            count++;
        }
        last.count += run->count;
        if (stretches != NULL)
            stretches[count - 1] = last;
    }
    return count;
}

/* Under the lock: sorts and completes a filled directory; 0 without memory, and it is freed. */
static int directory_finish(crest_directory *directory)
{
    directory->stretch_count = directory_stretch(directory, NULL);
    directory->stretches = crest_alloc(directory->stretch_count, sizeof *directory->stretches);
    if (directory->stretches != NULL)
        directory_stretch(directory, directory->stretches);
    if (directory->stretches == NULL || !directory_label(directory)) {
        directory_free(directory);
        return 0;
    }
    crest_reading_add(&directory->reading);
    return 1;
}

/* Makes the runs of a filled directory; 0 without memory. */
static int directory_run_through(crest_directory *directory)
{
    size_t count = 0;
    const crest_metric *metric = NULL;
    for (size_t i = 0; i < directory->count; metric = directory->series[i++]->metric)
        count += directory->series[i]->metric != metric;
    directory->runs = crest_alloc(count, sizeof *directory->runs);
    if (directory->runs == NULL)
        return 0;
    crest_directory_run *run = directory->runs - 1;
    metric = NULL;
    for (size_t i = 0; i < directory->count; i++) {
        if (directory->series[i]->metric != metric) {
            metric = directory->series[i]->metric;
            *++run = (crest_directory_run){.metric = metric, .first = (uint32_t)i};
        }
        run->count++;
    }
    directory->run_count = count;
    return 1;
}

int crest_directory_ready(crest_directory *directory)
{
    if (!directory_run_through(directory)) {
        directory_free(directory);
        return 0;
    }
    crest_readers_lock();
    directory->users = 1;
    int ready = directory_finish(directory);
    crest_readers_unlock();
    return ready;
}

/* The plan's runs, one after the other. A shown series cannot begin another life or change its slot
 * while the lock is held: its slot would have to pass quarantine first. */
static void directory_fill(crest_directory *directory, const directory_plan *plan)
{
    uint32_t to = 0;
    for (size_t i = 0; i < plan->run_count; i++) {
        crest_directory_run *run = &directory->runs[i];
        uint32_t from = run->first & ~DIRECTORY_FRESH;
        if (run->first & DIRECTORY_FRESH) {
            for (uint32_t n = 0; n < run->count; n++) {
                crest_series *series = plan->fresh[from + n];
                directory->series[to + n] = series;
                directory->slots[to + n] = crest_atomic_load32(&series->slot);
                directory->births[to + n] = crest_series_birth(series);
            }
        } else if (run->count != 0) {
            const crest_directory *before = plan->before;
            memcpy(directory->series + to, before->series + from, run->count * sizeof(void *));
            memcpy(directory->slots + to, before->slots + from, run->count * sizeof(uint32_t));
            memcpy(directory->births + to, before->births + from, run->count * sizeof(uint64_t));
        }
        run->first = to;
        to += run->count;
    }
}

/*
 * Under the lock: a new directory, without users yet. A series added meanwhile may or may not be in
 * it; the next directory has it. For the generation and the metric's count of changes are odd
 * before a series can be found, and grow afterwards.
 */
static crest_directory *directory_make(crest_registry_state *state)
{
    directory_plan plan = {.state = state, .before = state->directory};
    uint64_t generation = crest_atomic_load_acquire(&state->generation);
    crest_directory *directory = NULL;
    if (directory_plan_make(&plan))
        directory = directory_new(state, plan.count, 1);
    if (directory != NULL) {
        directory->reading.generation = generation;
        directory->newest = plan.newest;
        directory->run_count = plan.run_count;
        directory->runs = plan.runs;
        plan.runs = NULL;
        directory_fill(directory, &plan);
        if (!directory_finish(directory))
            directory = NULL;
    }
    crest_alloc_free(plan.runs);
    crest_alloc_free(plan.fresh);
    return directory;
}

/* ---- keeping ---- */

/*
 * Fork: the child may inherit any step. Invariant: a directory is counted before the registry keeps
 * it, and dropped only after another one is kept.
 */
crest_directory *crest_directory_of(crest_registry_state *state)
{
    crest_misuse_series_keep();
    crest_readers_lock();
    crest_directory *kept = state->directory, *directory = kept;
    uint64_t generation = crest_atomic_load_acquire(&state->generation);
    if (kept != NULL && kept->reading.generation == generation && (generation & 1) == 0) {
        kept->users++;
    } else if ((directory = directory_make(state)) != NULL) {
        /* a directory kept by a freed registry would never be dropped */
        int keep = !crest_atomic_load32(&state->dead);
        directory->users = keep ? 2 : 1;
        if (keep) {
            crest_atomic_store_ptr_release(CREST_PTR(&state->directory), directory);
            directory_drop_locked(kept);
        }
    }
    if (directory != NULL)
        directory->reading.readers++;
    crest_readers_unlock();
    return directory;
}

void crest_directory_read(crest_directory *directory)
{
    crest_readers_lock();
    directory->reading.readers--;
    crest_readers_unlock();
}

void crest_directory_forget(crest_registry_state *state)
{
    crest_readers_lock();
    crest_directory *old = state->directory;
    state->directory = NULL;
    crest_readers_unlock();
    crest_directory_drop(old);
}
