/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What metrics and series are made of: the inside of <crest/registry.h> and <crest/family.h>.
 *
 *     registry -> metrics -> children (one per label values) -> series (one per slot)
 *
 * A child of a counter, gauge or histogram has one series, a timer's one per outcome. All of it is
 * arena memory that never moves or goes away, so it is read without a lock.
 *
 * A child is one block, because there may be very many: its first series, pointers to its label
 * values (a timer's outcome last), and their texts. A counter takes 128 bytes with three labels of
 * eight; docs/limits.md lists the other costs of a series. Its handle, which recording reads, lies
 * apart among other handles (handle_pool.h).
 */
#ifndef CREST_METRIC_INSIDE_H
#define CREST_METRIC_INSIDE_H

#include <ck_hs.h>
#include <crest/family.h>
#include <crest/stages.h>

#include "base/atomic.h"
#include "cells/shards.h"

/* Label keys of a metric: a family's most and one for the histograms of stages; an open family may
 * have more. */
#define CREST_LABELS_KEPT_MAX                                                                      \
    (CREST_OPEN_LABELS_MAX > CREST_LABELS_MAX ? CREST_OPEN_LABELS_MAX : CREST_LABELS_MAX + 1)

/* Metrics of one registry. */
#define CREST_METRICS_MAX 100000u

typedef struct crest_series {
    struct crest_metric *metric;
    void *shared;   /* a gauge's or range sampler's cell; a histogram's crest_shared_shard */
    uint64_t life;  /* see series_state.h; written under the lock */
    uint64_t birth; /* number of the series' present life; the same */
    /* windows.c's, under the ticker's lock: the life that it has decided about, and its decision */
    uint64_t window_birth;
    uint32_t window;
    uint32_t slot;    /* 0: none, see series_state.h */
    uint16_t outcome; /* of a timer; 0: the series within the child */
    /* length of the label values within the child, NULs included; 0: some need escaping */
    uint16_t text_bytes;
    uint32_t hash; /* of the child's label values; in its first series only */
} crest_series;

/* A handle that the library made; allocated with the size of its kind. */
typedef union crest_own_handle {
    crest_handle handle;
    crest_counter counter;
    crest_gauge gauge;
    crest_histogram histogram;
    crest_timer timer;
    crest_stages stages;
    crest_range_sampler range_sampler;
} crest_own_handle;

typedef struct crest_child {
    crest_series first;
    struct crest_child *next; /* in its chain of the hash table */
    crest_own_handle *own;    /* its handle, for good */
    /* timers: by outcome; NULL until first hit */
    crest_series *others[CREST_OUTCOME_COUNT - 1];
    /* stages: the histograms of each stage, gaps and then times since the start; their children
     * leave and come back with this one */
    crest_histogram **parts;
} crest_child;

/* A family's children by label values: see children.h. */
typedef struct crest_children {
    struct crest_children_table *table; /* NULL: none yet */
    uint64_t count;
    uint64_t version; /* odd while links are moved to a larger table */
} crest_children;

/* The exported names that a metric has claimed: see name_claims.h. */
typedef struct crest_claims {
    struct crest_claim *all;
    unsigned count; /* claims in the table */
    unsigned made;  /* claims made in memory */
} crest_claims;

typedef struct crest_metric {
    const char *name;
    const char *exported;
    const char *description;
    const char *place; /* where it is declared; NULL: made by a call */
    crest_kind kind;
    crest_unit unit;
    crest_buckets buckets;
    const crest_layout *layout;
    uint32_t idle_s;               /* 0: never hidden */
    uint32_t no_windows;           /* non-zero: no windows are kept */
    const double *quantiles;       /* of windows, up to the first 0; NULL: none */
    crest_native_mode native;      /* of a page, for this metric */
    double native_factor;          /* 0: the page's */
    unsigned label_count;          /* values of a child, a timer's outcome excluded */
    const char *const *label_keys; /* constant keys first, the outcome last */
    uint32_t lasts;                /* non-zero: its series are never released or retired */
    uint32_t open;                 /* an open family: its keys come one by one */
    uint32_t goes_on;              /* its counts began before its series: no growth at first */
    uint32_t state_id;             /* its number in the state file; 0: none */
    uint32_t open_keys;            /* an open family's number of keys; only grows */
    struct crest_metric *parent;   /* the metric that this companion belongs to, or NULL */
    uint64_t deadline_ns;          /* timers; 0: none */
    const char *const *stages;     /* stages: their names */
    unsigned stage_count;
    struct crest_metric *histograms[2]; /* stages: of gaps, and of times since the start */
    struct crest_in_flight_figures *figures;
    uint32_t in_flight_share; /* share of in-flight operations, from 1; 0: none yet */
    struct crest_registry_state *state;
    struct crest_metric *next;
    uint64_t hash;
    uint64_t changes;      /* counter of changes of its series; see generation.h */
    crest_child *children; /* the only child of a metric without labels */
    crest_child *overflow;
    unsigned overflow_beyond; /* 1: the overflow child, beyond the limit */
    uint64_t child_count;     /* children neither released nor retired */
    crest_children by_values; /* families only */
    crest_claims claims;
    uint32_t left_over;              /* of a freed registry, not asked for yet in the next one */
    struct crest_metric *remembered; /* remembered.c's list of those */
    struct crest_in_flight_figures *figures_kept; /* kept from the freed registry, or NULL */
    uint64_t traced;                              /* spans/traced_metrics.h's */
} crest_metric;

typedef struct crest_registry_state {
    const char *prefix;
    unsigned constant_count;
    const char *constant_keys[CREST_CONSTANT_LABELS_MAX];
    const char *constant_values[CREST_CONSTANT_LABELS_MAX];
    crest_metric *metrics;
    uint64_t metric_count;
    uint64_t generation; /* grows with each new series; odd during a change */
    uint32_t dead;
    uint32_t strict; /* refuses split names */
    uint32_t idle_s;
    uint64_t waiting;      /* series in growth.c's list */
    uint64_t gone;         /* children without slots, kept for handles that lead to them */
    uint64_t exported_ns;  /* when the newest snapshot for export was taken */
    uint64_t delivered_ns; /* records before this time have been exported; see growth.h */
    uint64_t linger_ns;
    ck_hs_t by_name;
    ck_hs_t claims;                    /* exported names: see name_claims.h */
    ck_hs_t by_split;                  /* by name without case and separators: the first metric */
    struct crest_directory *directory; /* directory.c's, under its lock */
    uint64_t directories;              /* directories in existence; snapshots hold them */
    /* remembered.c's: the next freed registry, and metrics of the previous registry */
    struct crest_registry_state *next;
    struct crest_metric *remembered;
    struct crest_registry_state *made_before; /* list of all states of the process */
} crest_registry_state;

/* The instruments: kinds with a handle type and public functions named after it. */
#define CREST_INSTRUMENT_TABLE(X)                                                                  \
    X(counter, CREST_KIND_COUNTER)                                                                 \
    X(gauge, CREST_KIND_GAUGE)                                                                     \
    X(histogram, CREST_KIND_HISTOGRAM)                                                             \
    X(timer, CREST_KIND_TIMER)                                                                     \
    X(range_sampler, CREST_KIND_RANGE_SAMPLER)                                                     \
    X(stages, CREST_KIND_STAGES)

/* Kinds, CREST_KIND_NONE included. */
#define CREST_KIND_COUNT (CREST_KIND_STAGES + 1)

/* Whether a caller that wants a handle of this kind may have this metric's. Stages are a timer with
 * stages; a companion is the library's only. */
static inline int crest_metric_is(const struct crest_metric *metric, crest_kind kind)
{
    if (metric->parent != NULL)
        return 0;
    return kind == CREST_KIND_STAGES ? metric->stage_count != 0
                                     : metric->kind == kind && metric->stage_count == 0;
}

/* The number of label keys, a timer's outcome excluded; grows only in an open family. Any thread.
 */
static inline unsigned crest_metric_keys(const struct crest_metric *metric)
{
    /* acquire: partner of the release store in open_families.c */
    return metric->open ? crest_atomic_load32_acquire(&metric->open_keys) : metric->label_count;
}

/* The registry's state, made if need be; NULL without memory. `registry` NULL: the default one. */
crest_registry_state *crest_registry_state_of(crest_registry *registry);
/* The same under the lock; NULL also for a registry of another ABI. */
crest_registry_state *crest_registry_state_made(crest_registry *registry);
/* The same, but never made. */
crest_registry_state *crest_registry_state_seen(crest_registry *registry);

/* Under the lock: the newest of all states, freed ones included; follow ->made_before. */
crest_registry_state *crest_registry_states(void);

/* A metric by canonical name, prefix included; NULL if there is none. Lock-free. */
crest_metric *crest_metric_find(crest_registry_state *state, const char *name);

#endif
