/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What metrics and series are made of: the inside of <crest/registry.h> and <crest/family.h>.
 *
 *     registry -> metrics -> children (one per combination of label values) -> series (one per
 * slot)
 *
 * A child of a counter, gauge or histogram has one series, that of a timer one per outcome. All of
 * it is arena memory that never moves or goes away; lists are only ever pushed, so they are read
 * without a lock.
 */
#ifndef CREST_REGISTRY_INSIDE_H
#define CREST_REGISTRY_INSIDE_H

#include <ck_hs.h>
#include <crest/family.h>

#include "shards.h"

/* Metrics of one registry. */
#define CREST_METRICS_MAX 100000u

typedef struct crest_series {
    struct crest_child *child;
    uint32_t slot;
    uint32_t outcome;          /* of a timer's series */
    const char *const *values; /* label values, a timer's outcome last */
    void *shared;              /* a gauge's or range sampler's cell; a histogram's
                                * crest_shared_shard */
    void *window;              /* the ticker's, under its lock */
} crest_series;

typedef struct crest_child {
    struct crest_metric *metric;
    struct crest_child *next;
    uint64_t hash;
    const char *const *values;                 /* label_count texts */
    crest_series *series[CREST_OUTCOME_COUNT]; /* [0] alone but for timers; NULL until first hit */
    union {
        crest_counter counter;
        crest_gauge gauge;
        crest_histogram histogram;
        crest_timer timer;
        crest_range_sampler range_sampler;
    } handle;
} crest_child;

typedef struct crest_metric {
    const char *name;
    const char *exported;
    const char *description;
    crest_kind kind;
    crest_unit unit;
    crest_buckets buckets;
    const crest_layout *layout;
    unsigned label_count;          /* without a timer's outcome */
    const char *const *label_keys; /* with it, last */
    struct crest_registry_state *state;
    struct crest_metric *next;
    uint64_t hash;
    crest_child *children;
    crest_child *overflow;
    uint64_t child_count;
    ck_hs_t by_values; /* families only */
} crest_metric;

typedef struct crest_registry_state {
    const char *prefix;
    crest_metric *metrics;
    uint64_t metric_count;
    uint64_t generation; /* grows with each new series */
    uint32_t dead;
    ck_hs_t by_name;
    ck_hs_t claims;                    /* exported names, derived ones included */
    struct crest_directory *directory; /* snapshot.c's, under its lock */
} crest_registry_state;

/* The instruments: what has a handle of its own type, and public functions by that name. */
#define CREST_INSTRUMENT_TABLE(X)                                                                  \
    X(counter, CREST_KIND_COUNTER)                                                                 \
    X(gauge, CREST_KIND_GAUGE)                                                                     \
    X(histogram, CREST_KIND_HISTOGRAM)                                                             \
    X(timer, CREST_KIND_TIMER)                                                                     \
    X(range_sampler, CREST_KIND_RANGE_SAMPLER)

/* The registry's state, made if need be; NULL if there is no memory. NULL is the default registry.
 */
crest_registry_state *crest_registry_state_of(crest_registry *registry);
/* The same without making it. */
crest_registry_state *crest_registry_state_seen(crest_registry *registry);

/* A metric by canonical name, prefix included; NULL if there is none. Lock-free. */
crest_metric *crest_metric_find(crest_registry_state *state, const char *name);

/* Find or create, taking the lock itself. NULL and *status when that fails. */
crest_metric *crest_metric_get(crest_registry *registry, crest_kind kind,
                               const crest_metric_options *options, const char *const *keys,
                               unsigned key_count, crest_status *status);
crest_child *crest_child_get(crest_metric *metric, const char *const *values, crest_status *status);

#endif
