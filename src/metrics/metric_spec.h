/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The spec of a metric, gathered from a declaration or a call, and checked before anything is made.
 */
#ifndef CREST_METRIC_SPEC_H
#define CREST_METRIC_SPEC_H

#include "cells/layouts.h"
#include "metrics/metric_inside.h"

/* Texts, keys, buckets, quantiles and stages are borrowed from the caller; the name is its own
 * copy. */
typedef struct crest_metric_spec {
    char name[CREST_NAME_BYTES_MAX + 1];
    crest_kind kind;
    crest_unit unit;
    const char *description;
    const crest_buckets *buckets; /* NULL: none, as for other kinds than distributions */
    crest_layout layout;          /* blocks 0: no distribution */
    const char *const *keys;
    unsigned key_count;
    const char *place; /* where it is declared; NULL: by a call */
    uint32_t open;     /* an open family; keys come later */
    uint64_t deadline_ns;
    const char *const *stages;
    unsigned stage_count;
    crest_metric *parent; /* a companion's parent */
    uint32_t idle_s;
    int no_windows;
    const double *quantiles; /* NULL: none */
    crest_native_mode native;
    double native_factor;
} crest_metric_spec;

/*
 * Under the lock: fills in all but `keys`, `key_count`, `place`, `open` and `parent`, which the
 * caller has set, and checks everything. CREST_INVALID_NAME, CREST_INVALID_LABEL or
 * CREST_INVALID_ARGUMENT.
 */
crest_status crest_metric_spec_make(const crest_registry_state *state, crest_kind kind,
                                    const crest_metric_options *options, crest_metric_spec *spec);

/* Under the lock: whether the metric has the spec's kind, label keys and stages. */
int crest_metric_has_shape(const crest_metric *metric, const crest_metric_spec *spec);

#endif
