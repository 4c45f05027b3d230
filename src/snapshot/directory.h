/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Directories: which series a registry has, sorted, at one moment. Immutable, and shared by all
 * snapshots that are taken until a series comes or goes. It knows no values.
 *
 * Made incrementally: runs of metrics whose series are unchanged are copied from the previous
 * directory; only the others are looked for and sorted. So one new series among a million costs
 * some milliseconds at the next snapshot. Filling a family does not cost its square.
 */
#ifndef CREST_DIRECTORY_H
#define CREST_DIRECTORY_H

#include "metrics/readers.h"

/* The series of one metric, which lie together. */
typedef struct crest_directory_run {
    const crest_metric *metric;
    uint64_t changes; /* the metric's count of changes, read before its series */
    uint32_t first, count;
} crest_directory_run;

/* A stretch: adjacent series of one kind, of whatever metrics. Values are read by stretch, since
 * looking up each metric's kind would cost as much as its value. None is empty. */
typedef struct crest_directory_stretch {
    crest_kind kind;
    int distributions; /* their kind has distributions */
    uint32_t first, count;
} crest_directory_stretch;

/* Reference-counted by the registry that keeps the newest and by each snapshot made with it. */
typedef struct crest_directory {
    crest_reading reading; /* its generation, and how many snapshots still read values by it */
    crest_registry_state *state;
    uint64_t users;
    const crest_metric *newest; /* the registry's newest metric when it was made */
    /* Each metric, sorted, those without series included. */
    crest_directory_run *runs;
    size_t run_count;
    crest_directory_stretch *stretches;
    size_t stretch_count;
    size_t count;
    /* Only where the registry has constant labels: those and its own of each series, then all
     * texts' addresses. Kept here, not with the series, because few registries have any. */
    const char *const **labels;
    uint32_t *slots;  /* of each series; NULL in a directory of a narrowed snapshot */
    uint64_t *births; /* which life of each series this is about */
    crest_series *series[];
} crest_directory;

/*
 * The registry's directory, remade if series came or went; adds a user and a reader. NULL without
 * memory. Any thread. Takes a lock, but none that recording, resolving a series or beginning a
 * thread waits for.
 */
crest_directory *crest_directory_of(crest_registry_state *state);
/* The reader has read the values: slots that the directory knows may get new series. */
void crest_directory_read(crest_directory *directory);
/* Drops a user; the last one frees. NULL does nothing. */
void crest_directory_drop(crest_directory *directory);

/* The registry is being freed: it keeps no directory any more. Any thread. */
void crest_directory_forget(crest_registry_state *state);

/* An empty directory with room for `count` series of this registry; NULL without memory. */
crest_directory *crest_directory_new(crest_registry_state *state, size_t count);
/* Completes a filled directory, which has one user; 0 without memory, and it is freed. */
int crest_directory_ready(crest_directory *directory);

/* Where a metric's series are; NULL if the directory does not know it. */
const crest_directory_run *crest_directory_run_of(const crest_directory *directory,
                                                  const crest_metric *metric);

/* The order of a directory: compares two series, as strcmp. */
int crest_directory_compare(const crest_series *x, const crest_series *y);

/* How many label values a metric's series have, without the registry's. */
static inline unsigned crest_directory_own_labels(const crest_metric *metric)
{
    return metric->label_count + (metric->kind == CREST_KIND_TIMER);
}

#endif
