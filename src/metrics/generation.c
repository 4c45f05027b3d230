/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Generations. See generation.h.
 *
 * Partners of all these stores: the acquire loads in directory.c, which loads the generation first.
 */
#include "metrics/generation.h"
#include "base/atomic.h"

void crest_registry_changing(crest_metric *metric)
{
    crest_registry_state *state = metric->state;
    crest_atomic_store_release(&metric->changes, metric->changes | 1);
    crest_atomic_store_release(&state->generation, state->generation | 1);
}

void crest_registry_changed(crest_metric *metric)
{
    crest_registry_state *state = metric->state;
    crest_atomic_store_release(&metric->changes, (metric->changes | 1) + 1);
    crest_atomic_store_release(&state->generation, (state->generation | 1) + 1);
}
