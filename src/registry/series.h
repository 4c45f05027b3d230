/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Making children and series, and filling and cutting the handles that lead to them. See
 * metric_inside.h for what they are made of. All of these are called under the lock.
 */
#ifndef CREST_SERIES_H
#define CREST_SERIES_H

#include "registry/metric_inside.h"

/* A new child with its series and handle, which no thread can find yet; NULL and *status when that
 * fails. Values are copied. */
crest_child *crest_child_new(crest_metric *metric, const char *const *values, crest_status *status);

/* A caller that finds the child from now on, records and takes a snapshot finds it there.
 * CREST_NO_MEMORY: it is not there. */
crest_status crest_child_publish(crest_metric *metric, crest_child *child);

/* A timer's series for an outcome, made if need be. */
crest_series *crest_child_series(crest_child *child, unsigned outcome, crest_status *status);

/* Fills a handle, wherever it lies, from a child of the same kind. */
void crest_child_fill(const crest_child *child, crest_handle *handle);

/* The child's own handles lead to the cold path, which finds the child by them. */
void crest_child_blank(crest_child *child);

/* The child's own handles record nowhere from now on, because of this status. */
void crest_child_kill(crest_child *child, crest_status status);

/* Gives a series that has neither a slot and, if its kind needs one, a shared part. */
crest_status crest_series_equip(crest_series *series);

#endif
