/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Moving a series from one state of its life to another. See series_state.h.
 */
#include "registry/series_state.h"
#include "base/lock.h"
#include "metrics/child.h"
#include "metrics/generation.h"

static uint64_t life_born; /* under the lock */

static int life_counts(crest_life life)
{
    return life != CREST_LIFE_QUARANTINED && life != CREST_LIFE_GONE;
}

/* The child is counted by its first series. */
void crest_life_move(crest_series *series, crest_life life, uint64_t set, uint64_t clear)
{
    crest_metric *metric = series->metric;
    crest_life before = crest_series_life(series);
    uint64_t word = (series->life & ~(CREST_LIFE_STATE | clear)) | set | life;
    crest_atomic_store(&series->life, word + CREST_LIFE_MOVE);
    if (series->outcome == 0) {
        metric->child_count += (unsigned)life_counts(life);
        metric->child_count -= (unsigned)life_counts(before);
        metric->state->gone += life == CREST_LIFE_GONE;
        metric->state->gone -= before == CREST_LIFE_GONE;
    }
    crest_registry_changed(metric);
}

void crest_life_begin(crest_series *series)
{
    crest_atomic_store(&series->birth, ++life_born);
    if (crest_series_life(series) == CREST_LIFE_GONE)
        crest_life_move(series, CREST_LIFE_SHOWN, 0, 0);
}

uint64_t crest_life_last_birth(void)
{
    crest_lock_saved saved;
    crest_lock_take(&saved);
    uint64_t born = life_born;
    crest_lock_drop(&saved);
    return born;
}

int crest_child_is_gone(const crest_child *child)
{
    for (unsigned i = 0; i < CREST_OUTCOME_COUNT; i++) {
        const crest_series *series = crest_child_at(child, i);
        if (series != NULL && crest_series_life(series) != CREST_LIFE_GONE)
            return 0;
    }
    return 1;
}
