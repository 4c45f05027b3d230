/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What running collectors are made of. Shared by system.c (when they run), figures.c (their series)
 * and collect_file.c (what they read). Collectors themselves see collector.h only.
 *
 * Which thread touches what:
 *
 *   buffer, state, places    the thread that makes the collection, one at a time; no lock
 *   which collector runs,    any thread, under system.c's lock
 *   and what is told of it
 *   giving and withdrawing   any thread, under the collector's `series_lock`: a hanging collector's
 *   values of series         series are withdrawn while it hangs
 */
#ifndef CREST_SYSTEM_INSIDE_H
#define CREST_SYSTEM_INSIDE_H

#include "system/collector.h"

#include <crest/family.h>
#include <crest/poll.h>
#include <crest/system.h>

#include <pthread.h>

/* One series of a place. */
typedef struct crest_figure_series {
    void *handle;   /* of the figure's kind; NULL: not made yet */
    uint64_t last;  /* counters: the source's previous count */
    uint64_t round; /* the last collection that gave it a value */
    int counted;    /* `last` holds a count */
    int moved;      /* it is another source's */
    int shown;      /* in snapshots */
} crest_figure_series;

struct crest_place {
    crest_place *next;
    struct crest_collector *collector;
    const crest_figure *figures;
    unsigned count;
    uint64_t round;                          /* the last collection that had the device */
    int gone;                                /* the device has vanished */
    void *state;                             /* the device's own memory; NULL: none */
    char device[CREST_COLLECT_DEVICE_BYTES]; /* "": the collector's own place */
    crest_figure_series series[];
};

/* Denied sources that a collector remembers; a further one is counted each time. */
#define CREST_COLLECT_DENIED_MAX 64u

typedef struct crest_collector {
    const crest_collector_kind *kind;
    struct crest_system *system;
    crest_poll *poll;
    crest_timer *time;
    crest_counter *cpu;
    /* the collecting thread's */
    crest_collect collect;
    crest_place *devices; /* in the order in which they first came */
    crest_place *nearby;  /* the device after the one asked for last */
    unsigned device_count;
    uint64_t round;
    uint64_t full_round;  /* the last collection with more devices than places */
    uint64_t due_ns;      /* when consumption, or all of it, was last read */
    int begun;            /* due_ns is set */
    uint64_t last_cpu_ns; /* processor time of the last collection */
    char *buffer;
    size_t buffer_bytes;
    crest_root root;     /* of the file read last */
    uint32_t told, tell; /* causes, as bits: told to the log, and to be told */
    char to_tell[CREST_CAUSE_COUNT][CREST_SYSTEM_WHY_BYTES];
    unsigned given;                            /* series given values by this collection */
    uint64_t denied[CREST_COLLECT_DENIED_MAX]; /* hashes of denied sources */
    unsigned denied_count;
    uint64_t failed;
    char failure[CREST_SYSTEM_WHY_BYTES];
    /* under series_lock */
    pthread_mutex_t series_lock;
    int withdrawn; /* no value is given any more */
    /* under the system's lock */
    int running, stopped, left_behind;
    crest_system_state shown;
} crest_collector;

struct crest_system {
    struct crest_system *next;
    const void *registry_state; /* the registry that it is of */
    crest_registry *registry;
    crest_collect_settings settings;
    char *texts[5];
    unsigned users; /* collectors that have not been freed */
    unsigned count;
    crest_collector *collectors[CREST_SYSTEM_COLLECTORS_MAX];
};

/* system.c: crest_system_start with these collectors and checked options. The kinds are borrowed
 * until the system is stopped, at most CREST_SYSTEM_COLLECTORS_MAX of them. */
crest_system *crest_system_start_kinds(const crest_system_options *options,
                                       const crest_collector_kind *const *kinds, size_t count,
                                       crest_error *error);

/* figures.c: makes the own place of a new collector; 0 without memory. */
int crest_figures_begin(crest_collector *collector);
/* The collection has ended: withdraws the figures that it gave no value. */
void crest_figures_end(crest_collector *collector);
/* Withdraws all series of the collector; none is given a value from now on. */
void crest_figures_withdraw(crest_collector *collector);
/* Frees the collector's places. */
void crest_figures_free(crest_collector *collector);

/* collect_file.c: tells the log of new causes of failure; not under a lock. */
void crest_collect_tell(crest_collector *collector);

/* The collector that makes this collection. */
static inline crest_collector *crest_collector_of(crest_collect *collect)
{
    return (crest_collector *)((char *)collect - offsetof(crest_collector, collect));
}

#endif
