/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Registries: where metrics live, and how they are found or created at run time.
 *
 *     crest_status status;
 *     crest_metric_options options = {.name = "rspace.comm-produce"};
 *     crest_counter *counter = crest_counter_get(NULL, &options, &status);
 *
 * Most programs need only the default registry and the declarations of counter.h and its
 * neighbours.
 */
#ifndef CREST_REGISTRY_H
#define CREST_REGISTRY_H

#include <crest/counter.h>
#include <crest/gauge.h>
#include <crest/histogram.h>
#include <crest/range_sampler.h>
#include <crest/stages.h>
#include <crest/timer.h>

/* Constant labels of a registry. */
#define CREST_CONSTANT_LABELS_MAX 8u

/* A label that all series of a registry have. */
typedef struct crest_label {
    const char *key CREST_DEFAULT_(NULL);
    const char *value CREST_DEFAULT_(NULL);
} crest_label;

typedef struct crest_registry_options {
    /* put before every name, with a dot; NULL: none. Borrowed while the registry lives */
    const char *prefix CREST_DEFAULT_(NULL);
    /* non-zero: as by crest_registry_strict, from the start */
    int strict CREST_DEFAULT_(0);
    /* the idle_s of metrics that set none; 0: their series are always exported */
    uint32_t idle_s CREST_DEFAULT_(0);
    /*
     * Up to the first NULL key: labels that every series of the registry has, exported before the
     * series' own. Copied. Keys are as those of families; a family with one of these keys is
     * refused. Invalid and repeated keys are left out and counted as misuse; values are made valid
     * UTF-8 and cut as those of families are.
     */
    crest_label labels[CREST_CONSTANT_LABELS_MAX] CREST_DEFAULT_({});
} crest_registry_options;

/* Public so that it can be static; only the library looks inside. */
typedef struct crest_registry {
    uint32_t abi;
    uint32_t heap; /* made by crest_registry_new */
    struct crest_registry_state *state;
    crest_registry_options options;
} crest_registry;

/* CREST_REGISTRY(dht_metrics, .prefix = "dht", .labels = {{"network", "main"}}): a static registry
 * for an embedded library's metrics. */
#define CREST_REGISTRY(variable, ...)                                                              \
    static crest_registry variable __attribute__((unused)) = {CREST_ABI, 0, NULL, {__VA_ARGS__}}
#define CREST_REGISTRY_DECLARE(variable) extern crest_registry variable
#define CREST_REGISTRY_DEFINE(variable, ...)                                                       \
    crest_registry variable = {CREST_ABI, 0, NULL, {__VA_ARGS__}}

CREST_BEGIN_C

/* The registry of declarations that name no other; never freed. Any thread, any handler. */
CREST_API crest_registry *crest_default_registry(void);

/* A registry of its own, for a test or a component; NULL options for defaults. NULL when there is
 * no memory. Owned by the caller. Thread-safe; allocates. */
CREST_API crest_registry *crest_registry_new(const crest_registry_options *options);

/*
 * Strict (non-zero) or not. Split names are those that differ only in case or separators
 * (comm.block-seen, comm.blockSeen). Strict: a new metric whose name is split from that of another
 * metric of the registry is refused with CREST_SPLIT_NAME. Otherwise it is made, counted as misuse,
 * and the log is told both names. Existing names stay. NULL: the default registry, for which
 * crest_start's strict=on does the same. Thread-safe; locks.
 */
CREST_API void crest_registry_strict(crest_registry *registry, int strict);

/*
 * Frees a registry made by crest_registry_new; NULL does nothing. Handles into it become no-ops
 * (records through them are counted in crest_late_records_total), reporters must have been
 * detached, and polls still need their crest_poll_stop. Operations in flight of its keyed timers
 * end.
 *
 * Names, label values and handles stay in memory, because the program may still record through the
 * handles. Slots and the memory of values serve other series after a minute (lifetime.h). A later
 * registry of the same prefix and labels takes over what stayed: a metric made in it with the same
 * options has its old handles, which do nothing until then. Thread-safe; locks.
 */
CREST_API void crest_registry_free(crest_registry *registry);

/*
 * Find or create. registry: NULL is the default one. options: copied; found metrics keep the
 * settings they were first given. status: NULL if not wanted. The result is owned by the registry,
 * a no-op after the registry was freed, and never NULL. On failure it is a handle that records
 * nowhere, and *status says why: CREST_INVALID_NAME, _INVALID_TEXT, _INVALID_ARGUMENT, _TYPE_CLASH
 * (the name is of another kind), _NAME_CLASH (another metric is exported under a name this one
 * needs), _SPLIT_NAME (see crest_registry_strict), _LIMIT, _NO_MEMORY. Failures are counted in
 * crest_misuse_total and logged once a cause, clashes once a pair of names. Thread-safe; not for
 * signal handlers. Cost: a hash lookup; locks when it creates.
 */
CREST_API crest_counter *crest_counter_get(crest_registry *registry,
                                           const crest_metric_options *options,
                                           crest_status *status);
CREST_API crest_gauge *crest_gauge_get(crest_registry *registry,
                                       const crest_metric_options *options, crest_status *status);
CREST_API crest_histogram *crest_histogram_get(crest_registry *registry,
                                               const crest_metric_options *options,
                                               crest_status *status);
CREST_API crest_range_sampler *crest_range_sampler_get(crest_registry *registry,
                                                       const crest_metric_options *options,
                                                       crest_status *status);
CREST_API crest_timer *crest_timer_get(crest_registry *registry,
                                       const crest_metric_options *options, crest_status *status);
CREST_API crest_stages *crest_stages_get(crest_registry *registry,
                                         const crest_metric_options *options, crest_status *status);

CREST_END_C

#ifdef CREST_DISABLE
#include <crest/off/registry_off.h>
#endif

#endif
