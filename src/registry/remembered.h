/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The arena memory of freed registries, remembered for equal ones. It stays because a program may
 * still hold handles, families and snapshots into it. The next registry of the same prefix and
 * labels takes it over. Its metrics get their old places back when they are asked for again, as
 * label values do (child_moves.h). So registries that come and go take no new memory.
 *
 * Only metrics whose series are all gone are taken over: a minute after the registry was freed.
 */
#ifndef CREST_REMEMBERED_H
#define CREST_REMEMBERED_H

#include "metrics/metric_spec.h"

/* Under the lock, all of these. Remembers a registry that is being freed; its series are retired.
 */
void crest_registry_remember(crest_registry_state *state);

/* A remembered registry with this prefix and these labels, alive again; NULL if there is none. */
crest_registry_state *crest_registry_remembered(const crest_registry_options *options);

/* A metric of the previous registry that equals the spec and is not in this one yet, or NULL. It is
 * no longer remembered then. */
crest_metric *crest_metric_remembered(crest_registry_state *state, const crest_metric_spec *spec);

/* Remembers it again, because making it failed. */
void crest_metric_remember(crest_metric *metric);

#endif
