/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is remembered of freed registries: all that lies in the arena for good, since a program may
 * still hold handles, families and snapshots that lead there. The next registry of the same prefix
 * and labels takes it over, and its metrics take their old places when they are asked for again, as
 * label values do in lifecycle.c. So registries that come and go take no new memory.
 *
 * Taken over is only what everything has gone of: a minute after it was freed.
 */
#ifndef CREST_REMEMBERED_H
#define CREST_REMEMBERED_H

#include "registry/name_claims.h"
#include "cells/layouts.h"
#include "registry/metric_inside.h"

/* What a metric is to be, gathered and checked before anything is made. */
typedef struct crest_metric_wish {
    char name[CREST_NAME_BYTES_MAX + 1];
    crest_kind kind;
    crest_unit unit;
    const char *description;
    const crest_buckets *buckets; /* NULL: none, as for what is no distribution */
    crest_layout layout;          /* blocks 0: no distribution */
    const char *const *keys;
    unsigned key_count;
    uint32_t open; /* an open family, whose keys come later */
    uint64_t deadline_ns;
    const char *const *stages;
    unsigned stage_count;
    crest_metric *parent; /* the one that it comes with */
    uint32_t idle_s;
    int no_windows;
    const double *quantiles; /* NULL: none */
} crest_metric_wish;

/* Under the lock: whether the metric has the kind, label keys and stages of the wish. */
int crest_metric_has_shape(const crest_metric *metric, const crest_metric_wish *wish);

/* Under the lock, all of them. A registry is freed, its series are retired. */
void crest_registry_remember(crest_registry_state *state);

/* What is remembered of one with this prefix and these labels, alive again; NULL if nothing is. */
crest_registry_state *crest_registry_remembered(const crest_registry_options *options);

/* A metric of the registry before that was in nothing different from the wish, and is not in this
 * one yet; NULL if there is none. It is taken from what is remembered. */
crest_metric *crest_metric_remembered(crest_registry_state *state, const crest_metric_wish *wish);

/* Puts it back, for it could not be had after all. */
void crest_metric_remember(crest_metric *metric);

#endif
