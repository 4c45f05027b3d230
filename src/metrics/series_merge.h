/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The values of a distribution's series, read back: all threads' shards and the shared one.
 */
#ifndef CREST_SERIES_MERGE_H
#define CREST_SERIES_MERGE_H

#include "cells/cells.h"
#include "cells/shards.h"
#include "metrics/metric_inside.h"
#include <crest/snapshot.h>

/* The merged distribution of a series that has one; NULL without memory. Any thread, no lock. */
crest_distribution *crest_series_merge(const crest_series *series);

/* The same, and takes the note of the slowest operation since the last time. Ticker only. */
crest_distribution *crest_series_merge_noted(const crest_series *series);

#endif
