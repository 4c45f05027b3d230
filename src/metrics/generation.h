/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Generations (seqlock counters), by which snapshots learn that a metric's series have changed.
 *
 *   writer, under the lock:
 *     1. metric's count of changes and registry's generation + 1: both odd
 *     2. the change
 *     3. both + 1: even again, and larger
 *   directory (snapshot/directory.h):
 *     1. loads the generation (acquire), before it looks at anything
 *     2. reads the series
 *     3. is valid while both counters are what they were
 */
#ifndef CREST_GENERATION_H
#define CREST_GENERATION_H

#include "metrics/metric_inside.h"

/*
 * Under the lock: _changing before and _changed after a change of a metric's series. Earlier
 * directories are out of date from _changing on, and none made in between is kept. `_changed` alone
 * will do for a change that snapshots may find as late as that.
 */
void crest_registry_changing(crest_metric *metric);
void crest_registry_changed(crest_metric *metric);

#endif
