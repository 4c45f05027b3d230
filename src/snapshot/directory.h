/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Directories: which series a registry has, sorted, at one moment. Immutable, and shared by all
 * snapshots that are taken until a series comes or goes. It knows no values.
 *
 * The next one is made from the one before: what became of a metric whose series are the same is
 * copied, only the others are looked for and sorted. So one new series among a million costs some
 * milliseconds at the next snapshot, and a family that is being filled does not cost its square.
 */
#ifndef CREST_DIRECTORY_H
#define CREST_DIRECTORY_H

#include "registry/readers.h"

/* The series of one metric, which lie together. */
typedef struct crest_directory_run {
    const crest_metric *metric;
    uint64_t changes; /* the metric's, before they were looked for */
    uint32_t first, count;
} crest_directory_run;

/* Series of one kind, which lie together, whatever metrics they are of: reading goes through these,
 * since looking up each metric's kind would cost as much as its value. None is empty. */
typedef struct crest_directory_stretch {
    crest_kind kind;
    int distributions; /* they have some */
    uint32_t first, count;
} crest_directory_stretch;

/* Counted by the registry that keeps the newest and by each snapshot made with it. */
typedef struct crest_directory {
    crest_reading reading; /* its generation, and snapshots whose values are being read by it */
    crest_registry_state *state;
    uint64_t users;
    const crest_metric *newest; /* of the registry's metrics then */
    /* Each metric, sorted, those without series included. */
    crest_directory_run *runs;
    size_t run_count;
    crest_directory_stretch *stretches;
    size_t stretch_count;
    size_t count;
    /* Where the registry has constant labels: those and its own of each series, then all texts'
     * addresses. They are kept here, and not with the series, because few registries have any. */
    const char *const **labels;
    uint32_t *slots;  /* of each series; NULL in a directory of a narrowed snapshot */
    uint64_t *births; /* which life of each series this is about */
    crest_series *series[];
} crest_directory;

/*
 * The registry's directory, remade if series came or went; with one more user, and reader. NULL
 * without memory. Any thread; locks, but nothing that recording, resolving a series or beginning a
 * thread waits for.
 */
crest_directory *crest_directory_of(crest_registry_state *state);
/* The values have been read: slots that the directory knows may get new series. */
void crest_directory_read(crest_directory *directory);
/* One user less; the last one frees. NULL does nothing. */
void crest_directory_drop(crest_directory *directory);

/* The registry is being freed: it keeps no directory any more. Any thread. */
void crest_directory_forget(crest_registry_state *state);

/* A directory with room for `count` series of this registry, to be filled; NULL without memory. */
crest_directory *crest_directory_new(crest_registry_state *state, size_t count);
/* It is filled, and has one user; 0 without memory, and it is freed. */
int crest_directory_ready(crest_directory *directory);

/* Where a metric's series are; NULL if the directory does not know it. */
const crest_directory_run *crest_directory_run_of(const crest_directory *directory,
                                                  const crest_metric *metric);

/* The order of a directory: two series, as strcmp. */
int crest_directory_compare(const crest_series *x, const crest_series *y);

/* Values of a metric's series but for the registry's. */
static inline unsigned crest_directory_own_labels(const crest_metric *metric)
{
    return metric->label_count + (metric->kind == CREST_KIND_TIMER);
}

#endif
