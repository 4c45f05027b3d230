/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Constant labels of a registry: checked and copied when its state is made. Metrics put the keys in
 * front of their own, directories the values (snapshot.c).
 */
#ifndef CREST_CONSTANT_LABELS_H
#define CREST_CONSTANT_LABELS_H

#include "metrics/metric_inside.h"

/* Under the lock: copies the labels up to the first without a key; 0 without memory. Invalid labels
 * are left out and counted. */
int crest_constants_make(crest_registry_state *state, const crest_label *labels);

/* Whether one of a family's keys is also a constant label's. */
int crest_constants_clash(const crest_registry_state *state, const char *const *keys,
                          unsigned count);

#endif
