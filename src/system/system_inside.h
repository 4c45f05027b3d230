/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What running collectors are made of: shared by system.c (when they run), figures.c (their series)
 * and collect_file.c (what they read). Collectors themselves see collector.h only.
 *
 * Who touches what: a collection is made by one thread at a time, to which belong the buffer, the
 * state and the places. What others may want meanwhile has a lock: who runs and what is told about
 * it, system.c's; series that are given values or withdrawn, `series_lock` of each collector,
 * because a collector that hangs is withdrawn while it hangs.
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
    void *handle;   /* by the figure's kind; NULL: not made yet */
    uint64_t last;  /* counters: the source's last count */
    uint64_t round; /* the last collection that gave it a value */
    int counted;    /* there is a last */
    int moved;      /* and it is another source's */
    int shown;      /* in snapshots */
} crest_figure_series;

struct crest_place {
    crest_place *next;
    struct crest_collector *collector;
    const crest_figure *figures;
    unsigned count;
    uint64_t round;                          /* the last collection that had the device */
    int gone;                                /* it has vanished */
    void *state;                             /* the device's own memory; NULL: none */
    char device[CREST_COLLECT_DEVICE_BYTES]; /* "": the collector's own place */
    crest_figure_series series[];
};

/* Sources of a collector that are remembered as denied; one more is counted each time. */
#define CREST_COLLECT_DENIED_MAX 64u

typedef struct crest_collector {
    const crest_collector_kind *kind;
    struct crest_system *system;
    crest_poll *poll;
    crest_timer *time;
    crest_counter *cpu;
    /* the collection's */
    crest_collect collect;
    crest_place *devices; /* in the order in which they came first */
    crest_place *nearby;  /* the device after the last one that was asked for */
    unsigned device_count;
    uint64_t round;
    uint64_t full_round;  /* the last collection that had more devices than places */
    uint64_t due_ns;      /* consumption, or the whole of it, was last read then */
    int begun;            /* there is a due_ns */
    uint64_t last_cpu_ns; /* what the last collection took */
    char *buffer;
    size_t buffer_bytes;
    crest_root root;     /* of the last file */
    uint32_t told, tell; /* causes that the log knows of, and is to be told of, as bits */
    char to_tell[CREST_CAUSE_COUNT][CREST_SYSTEM_WHY_BYTES];
    unsigned given; /* series of this collection */
    uint64_t denied[CREST_COLLECT_DENIED_MAX]; /* hashes of what may not be read */
    unsigned denied_count;
    uint64_t failed;
    char failure[CREST_SYSTEM_WHY_BYTES];
    /* under series_lock */
    pthread_mutex_t series_lock;
    int withdrawn; /* nothing is given any more */
    /* under the system's lock */
    int running, stopped, left_behind;
    crest_system_state shown;
} crest_collector;

struct crest_system {
    struct crest_system *next;
    const void *registry_state; /* which registry it is of */
    crest_registry *registry;
    crest_collect_settings settings;
    char *texts[5];
    unsigned users; /* collectors that have not been freed */
    unsigned count;
    crest_collector *collectors[CREST_SYSTEM_COLLECTORS_MAX];
};

/* system.c: crest_system_start with these collectors and options that have been checked; the kinds
 * are borrowed until they are stopped, at most CREST_SYSTEM_COLLECTORS_MAX. */
crest_system *crest_system_start_kinds(const crest_system_options *options,
                                       const crest_collector_kind *const *kinds, size_t count,
                                       crest_error *error);

/* figures.c: the own place of a new collector; 0 without memory. */
int crest_figures_begin(crest_collector *collector);
/* The collection has ended: what it gave no value is withdrawn. */
void crest_figures_end(crest_collector *collector);
/* Nothing of the collector is in snapshots from now on, nor given values. */
void crest_figures_withdraw(crest_collector *collector);
/* Frees its places. */
void crest_figures_free(crest_collector *collector);

/* collect_file.c: tells the log what it is to be told; not under a lock. */
void crest_collect_tell(crest_collector *collector);

/* The collector whose collection this is. */
static inline crest_collector *crest_collector_of(crest_collect *collect)
{
    return (crest_collector *)((char *)collect - offsetof(crest_collector, collect));
}

#endif
