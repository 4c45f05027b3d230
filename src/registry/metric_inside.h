/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What metrics and series are made of: the inside of <crest/registry.h> and <crest/family.h>.
 *
 *     registry -> metrics -> children (one per combination of label values) -> series (one per
 * slot)
 *
 * A child of a counter, gauge or histogram has one series, that of a timer one per outcome. All of
 * it is arena memory that never moves or goes away, so it is read without a lock.
 *
 * A child is one block, because there may be very many: its first series, pointers to its label
 * values (a timer's outcome last), and their texts. A counter takes 128 bytes with three labels of
 * eight; what a series costs besides is listed in docs/limits.md. Its handle lies apart, among
 * other handles only (handle_pool.h), because that is what recording reads.
 */
#ifndef CREST_METRIC_INSIDE_H
#define CREST_METRIC_INSIDE_H

#include <ck_hs.h>
#include <crest/family.h>
#include <crest/stages.h>

#include "base/atomic.h"
#include "cells/shards.h"

/* Label keys of a metric: the histograms of stages have one more than a family may, an open family
 * may have more. */
#define CREST_LABELS_KEPT_MAX                                                                      \
    (CREST_OPEN_LABELS_MAX > CREST_LABELS_MAX ? CREST_OPEN_LABELS_MAX : CREST_LABELS_MAX + 1)

/* Metrics of one registry. */
#define CREST_METRICS_MAX 100000u

typedef struct crest_series {
    struct crest_metric *metric;
    void *shared;   /* a gauge's or range sampler's cell; a histogram's crest_shared_shard */
    uint64_t life;  /* life.h's; written under the lock */
    uint64_t birth; /* which life of which series of the process; the same */
    /* windows.c's, under the ticker's lock: the life that it has decided about, and how */
    uint64_t window_birth;
    uint32_t window;
    uint32_t slot;    /* 0: it has none, see life.h */
    uint16_t outcome; /* of a timer's series; 0: the series that the child itself carries */
    /* of the label values that lie in the child, with their NULs; 0: some need escaping */
    uint16_t text_bytes;
    uint32_t hash; /* of the child's label values; in the child's first series */
} crest_series;

/* A handle that the library made. It is as large as its kind needs. */
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
    struct crest_child *next; /* in its chain of the table of children */
    crest_own_handle *own;    /* its handle, which never changes or goes */
    /* timers only: by outcome; NULL until first hit */
    crest_series *others[CREST_OUTCOME_COUNT - 1];
    /* stages only: the histograms of each stage, gaps and then times since the start; the children
     * of them leave and come back with this one */
    crest_histogram **parts;
} crest_child;

/* All children of a family, by their label values: see children.h. */
typedef struct crest_children {
    struct crest_children_table *table; /* NULL: none yet */
    uint64_t count;
    uint64_t version; /* odd while links are being moved to a larger table */
} crest_children;

/* All exported names that a metric has taken: see name_claims.h. */
typedef struct crest_claims {
    struct crest_claim *all;
    unsigned count; /* of those in the table */
    unsigned made;  /* of those that it may have */
} crest_claims;

typedef struct crest_metric {
    const char *name;
    const char *exported;
    const char *description;
    crest_kind kind;
    crest_unit unit;
    crest_buckets buckets;
    const crest_layout *layout;
    uint32_t idle_s;               /* 0: never hidden */
    uint32_t no_windows;           /* non-zero: none are kept */
    const double *quantiles;       /* that windows give, up to the first 0; NULL: none */
    unsigned label_count;          /* without a timer's outcome; values that a child has */
    const char *const *label_keys; /* with it, last; the registry's constant ones lie before */
    uint32_t lasts;                /* non-zero: its series are neither released nor retired */
    uint32_t open;                 /* an open family: its keys come one by one */
    uint32_t open_keys;            /* of an open family, how many there are; they only grow */
    struct crest_metric *parent;   /* the one that this one comes with, or NULL */
    uint64_t deadline_ns;          /* timers; 0: none */
    const char *const *stages;     /* stages: their names */
    unsigned stage_count;
    struct crest_metric *histograms[2]; /* stages: of gaps, and of times since the start */
    struct crest_in_flight_figures *figures;
    uint32_t in_flight_share; /* of the table of operations in flight, from 1; 0: none yet */
    struct crest_registry_state *state;
    struct crest_metric *next;
    uint64_t hash;
    uint64_t changes;      /* of which series there are; as the registry's generation */
    crest_child *children; /* the only one of a metric without labels */
    crest_child *overflow;
    unsigned overflow_beyond; /* 1: it does not count among the others */
    uint64_t child_count;     /* children that are not on their way out */
    crest_children by_values; /* families only */
    crest_claims claims;
    uint32_t rests; /* of a freed registry, and nobody has asked for it in the next one */
    struct crest_metric *remembered;              /* remembered.c's: the next of those */
    struct crest_in_flight_figures *figures_kept; /* of the registry that was freed, or NULL */
} crest_metric;

typedef struct crest_registry_state {
    const char *prefix;
    unsigned constant_count;
    const char *constant_keys[CREST_CONSTANT_LABELS_MAX];
    const char *constant_values[CREST_CONSTANT_LABELS_MAX];
    crest_metric *metrics;
    uint64_t metric_count;
    uint64_t generation; /* grows with each new series; odd while one is being added */
    uint32_t dead;
    uint32_t strict; /* refuses split names */
    uint32_t idle_s;
    uint64_t waiting;      /* series that growth.c looks at */
    uint64_t gone;         /* children without slots, remembered for the handles that lead there */
    uint64_t exported_ns;  /* when the newest snapshot for others was taken */
    uint64_t delivered_ns; /* what was recorded before has been exported; see growth.h */
    uint64_t linger_ns;
    ck_hs_t by_name;
    ck_hs_t claims;                    /* exported names: see name_claims.h */
    ck_hs_t by_split;                  /* the first metric of each name but for case, separators */
    struct crest_directory *directory; /* directory.c's, under its lock */
    uint64_t directories;              /* that there are; snapshots have them */
    /* remembered.c's: the next freed registry, and metrics of the registry before this one */
    struct crest_registry_state *next;
    struct crest_metric *remembered;
} crest_registry_state;

/* The instruments: what has a handle of its own type, and public functions by that name. */
#define CREST_INSTRUMENT_TABLE(X)                                                                  \
    X(counter, CREST_KIND_COUNTER)                                                                 \
    X(gauge, CREST_KIND_GAUGE)                                                                     \
    X(histogram, CREST_KIND_HISTOGRAM)                                                             \
    X(timer, CREST_KIND_TIMER)                                                                     \
    X(range_sampler, CREST_KIND_RANGE_SAMPLER)                                                     \
    X(stages, CREST_KIND_STAGES)

/* Kinds, CREST_KIND_NONE included. */
#define CREST_KIND_COUNT (CREST_KIND_STAGES + 1)

/* Whether a caller that wants a handle of this kind may have this metric's: stages are a timer with
 * stages, and a metric that comes with another one is the library's. */
static inline int crest_metric_is(const struct crest_metric *metric, crest_kind kind)
{
    if (metric->parent != NULL)
        return 0;
    return kind == CREST_KIND_STAGES ? metric->stage_count != 0
                                     : metric->kind == kind && metric->stage_count == 0;
}

/* Label keys that there are, without a timer's outcome: all of them, but for an open family. Any
 * thread. */
static inline unsigned crest_metric_keys(const struct crest_metric *metric)
{
    /* acquire: partner of the release store in open_families.c */
    return metric->open ? crest_atomic_load32_acquire(&metric->open_keys) : metric->label_count;
}

/* The registry's state, made if need be; NULL if there is no memory. NULL is the default registry.
 */
crest_registry_state *crest_registry_state_of(crest_registry *registry);
/* The same under the lock; NULL besides for one of another ABI. */
crest_registry_state *crest_registry_state_made(crest_registry *registry);
/* The same without making it. */
crest_registry_state *crest_registry_state_seen(crest_registry *registry);

/* A metric by canonical name, prefix included; NULL if there is none. Lock-free. */
crest_metric *crest_metric_find(crest_registry_state *state, const char *name);

#endif
