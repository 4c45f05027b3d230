/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Generations: how snapshots learn that the series of a metric have changed.
 *
 * The metric's count of changes and the registry's generation are odd while a change goes on, and
 * even, and larger, after it. A directory of series (snapshot/directory.h) loads the generation
 * before it looks at anything, and holds as long as both are what they were.
 */
#ifndef CREST_GENERATION_H
#define CREST_GENERATION_H

#include "registry/metric_inside.h"

/*
 * Under the lock, around a change of which series a metric has. What directories made before have
 * of it is out of date then, and while the change goes on nothing of it is kept. `_changed` alone
 * will do after a change that is to be found by snapshots only until then.
 */
void crest_registry_changing(crest_metric *metric);
void crest_registry_changed(crest_metric *metric);

#endif
