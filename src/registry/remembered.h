/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is remembered of freed registries: all that lies in the arena for good, since a program may
 * still hold handles, families and snapshots that lead there. The next registry of the same prefix
 * and labels takes it over, and its metrics take their old places when they are asked for again, as
 * label values do (lifecycle.h). So registries that come and go take no new memory.
 *
 * Taken over is only what everything has gone of: a minute after it was freed.
 */
#ifndef CREST_REMEMBERED_H
#define CREST_REMEMBERED_H

#include "registry/metric_spec.h"

/* Under the lock, all of them. A registry is freed, its series are retired. */
void crest_registry_remember(crest_registry_state *state);

/* What is remembered of one with this prefix and these labels, alive again; NULL if nothing is. */
crest_registry_state *crest_registry_remembered(const crest_registry_options *options);

/* A metric of the registry before that was in nothing different from the spec, and is not in this
 * one yet; NULL if there is none. It is taken from what is remembered. */
crest_metric *crest_metric_remembered(crest_registry_state *state, const crest_metric_spec *spec);

/* Puts it back, for it could not be had after all. */
void crest_metric_remember(crest_metric *metric);

#endif
