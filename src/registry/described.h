/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the registry writes into the directory of the state file (state/directory_records.h): its
 * metrics and series. All of it under the lock; without a file nothing is done.
 */
#ifndef CREST_DESCRIBED_H
#define CREST_DESCRIBED_H

#include "metrics/metric_inside.h"

/* A new metric, and an open family that got a key. */
void crest_describe_metric(crest_metric *metric);
/* A series that got a slot and a life. */
void crest_describe_series(const crest_series *series);
/* The keyed series of a child, in which operations are begun. */
void crest_describe_keyed(const crest_child *child, const void *keyed);
/* All that there is, when a file is opened after the first of them was made. */
void crest_describe_all(void);

#endif
