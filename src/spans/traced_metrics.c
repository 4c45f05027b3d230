/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which metrics are traced. See traced_metrics.h.
 */
#include "spans/traced_metrics.h"
#include "base/forked.h"
#include "base/lock.h"
#include "names/globs.h"

#include <string.h>

uint64_t crest_traced_generation;

/* Guarded by the slow path's lock. */
static char traced_globs[CREST_SPANS_GLOBS_BYTES];
static uint64_t traced_last; /* the last generation */

/* The child of a fork traces nothing until it starts Crest itself. */
static void traced_forked(void)
{
    crest_atomic_store(&crest_traced_generation, 0);
}
CREST_FORKED(TRACED, traced_forked)

int crest_traced_look(const crest_metric *metric)
{
    crest_lock_saved saved;
    if (!crest_lock_take_unless_forking(&saved))
        return 0;
    uint64_t generation = crest_atomic_load(&crest_traced_generation);
    int traced = generation != 0 && metric->kind == CREST_KIND_TIMER &&
                 crest_globs_match(traced_globs, metric->name);
    crest_atomic_store((uint64_t *)(uintptr_t)&metric->traced, generation | (uint64_t)traced);
    crest_lock_drop(&saved);
    return traced;
}

int crest_traced_set(const char *globs)
{
    size_t length = globs != NULL ? strlen(globs) : 0;
    if (length >= sizeof traced_globs)
        return 0;
    crest_lock_saved saved;
    crest_lock_take(&saved);
    memset(traced_globs, 0, sizeof traced_globs);
    if (length != 0)
        memcpy(traced_globs, globs, length);
    traced_last += 2;
    crest_atomic_store(&crest_traced_generation, crest_globs_empty(traced_globs) ? 0 : traced_last);
    crest_lock_drop(&saved);
    return 1;
}
