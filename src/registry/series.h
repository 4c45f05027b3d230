/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Children and series: what a metric has for each combination of label values. See
 * metric_inside.h.
 */
#ifndef CREST_SERIES_H
#define CREST_SERIES_H

#include "registry/metric_inside.h"
#include <crest/snapshot.h>

/* Under the lock: a new child with its series and handle; NULL and *status when that fails. Values
 * are copied. */
crest_child *crest_child_make(crest_metric *metric, const char *const *values,
                              crest_status *status);

/* The child that a series belongs to. */
crest_child *crest_series_child(const crest_series *series);

/* A child's series for an outcome, 0 but for timers; NULL if there is none. Any thread. */
crest_series *crest_child_at(const crest_child *child, unsigned outcome);

/* Where a child's label values begin. */
size_t crest_child_bytes(crest_kind kind);

/* The series' label values in the order of the metric's keys, a timer's outcome last. */
const char *const *crest_series_values(const crest_series *series);

/* Under the lock: the child of these clean values, made if need be, or the overflow child past the
 * limit, *status then being CREST_LIMIT. None in a registry that has been freed, which would never
 * be killed. */
crest_child *crest_child_get_locked(crest_metric *metric, const char *const *values,
                                    crest_status *status);

/* Under the lock: a timer's series for an outcome, made if need be. */
crest_series *crest_child_series(crest_child *child, unsigned outcome, crest_status *status);

/* Under the lock: fills a handle, wherever it lies, from a child of the same kind. */
void crest_child_fill(const crest_child *child, crest_handle *handle);

/* Under the lock: the child's own handles lead to the cold path, which finds the child by them. */
void crest_child_blank(crest_child *child);

/* Under the lock: the child's own handles record nowhere from now on, because of this status. */
void crest_child_kill(crest_child *child, crest_status status);

/* Under the lock: gives a series that has neither a slot and, if its kind needs one, a shared part.
 */
crest_status crest_series_equip(crest_series *series);

/* The series that stands for "records nowhere, because of this status". */
crest_series *crest_series_dead_for(crest_status status);
/* Whether it is one of those, and which status it stands for. */
int crest_series_is_dead(const crest_series *series, crest_status *status);

/* As in metric_inside.h, with the lock held. */
crest_metric *crest_metric_get_locked(crest_registry *registry, crest_kind kind,
                                      const crest_metric_options *options, const char *const *keys,
                                      unsigned key_count, crest_status *status);

/* The same for an open family, of a kind that has one series a child. */
crest_metric *crest_metric_get_open_locked(crest_registry *registry, crest_kind kind,
                                           const crest_metric_options *options,
                                           crest_status *status);

/* directory.c: drops what it keeps of a registry that is freed. */
void crest_registry_forget(crest_registry_state *state);

#endif
