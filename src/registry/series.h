/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Making children and series, and filling and cutting the handles that lead to them.
 * metric_inside.h says what they are made of. All of these are called under the lock.
 */
#ifndef CREST_SERIES_H
#define CREST_SERIES_H

#include "metrics/metric_inside.h"

/* A new, unpublished child with its series and handle; NULL and *status on failure. Values are
 * copied. */
crest_child *crest_child_new(crest_metric *metric, const char *const *values, crest_status *status);

/* Publishes the child: a caller that finds it, records and takes a snapshot finds it there.
 * CREST_NO_MEMORY: it is not published. */
crest_status crest_child_publish(crest_metric *metric, crest_child *child);

/* A timer's series for an outcome, made if need be. */
crest_series *crest_child_series(crest_child *child, unsigned outcome, crest_status *status);

/* Fills any handle from a child of the same kind. */
void crest_child_fill(const crest_child *child, crest_handle *handle);

/* Makes the child's own handles lead to the cold path, which finds the child by them. */
void crest_child_blank(crest_child *child);

/* Makes the child's own handles dead, of this status. */
void crest_child_kill(crest_child *child, crest_status status);

/* Gives a series a slot and, if its kind needs one, a shared part, unless it has them. */
crest_status crest_series_equip(crest_series *series);

#endif
