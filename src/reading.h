/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of <crest/snapshot.h>: a sorted directory of series, shared by snapshots until a
 * series is added, and beside it one flat array of values.
 */
#ifndef CREST_READING_H
#define CREST_READING_H

#include "distribution_inside.h"
#include "registry_inside.h"
#include <crest/snapshot.h>

/* Immutable; counted by the registry that keeps the newest and by each snapshot made with it. */
typedef struct crest_directory {
    struct crest_directory *next; /* of all there are */
    const crest_registry_state *state;
    uint64_t users;
    uint64_t readers; /* snapshots whose values are being read */
    uint64_t generation;
    size_t count;
    /* Where the registry has constant labels: those and its own of each series, then all texts'
     * addresses. They are kept here, and not with the series, because few registries have any. */
    const char *const **labels;
    uint8_t *births; /* which life of each series this is about */
    crest_series *series[];
} crest_directory;

struct crest_snapshot {
    crest_directory *directory;
    uint64_t time_ns;
    uint64_t wall_ns;
    crest_window *windows; /* one a series, or NULL */
    uint64_t shift;        /* previous.c's: how far an earlier snapshot's index is off, roughly */
    uint64_t values[];     /* a counter; the bits of a gauge; a range sampler; a
                              * crest_distribution * */
};

/* A snapshot without windows. NULL without memory, or before the first
 * metric. */
crest_snapshot *crest_snapshot_read(crest_registry_state *state);
/* The same, which takes what was noted of each distribution with it: for who keeps the registry's
 * windows, and nobody else. */
crest_snapshot *crest_snapshot_read_notes(crest_registry_state *state);

/* The order of a directory: two series, as strcmp. */
int crest_directory_compare(const crest_series *a, const crest_series *b);

/* A directory with room for `count` series of this registry, to be filled; NULL without memory. */
crest_directory *crest_directory_new(const crest_registry_state *state, size_t count);
/* It is filled, and has one user; 0 without memory, and it is freed. */
int crest_directory_ready(crest_directory *directory);
/* One user less; the last one frees. */
void crest_directory_drop(crest_directory *directory);

/* Moves what the snapshot has of a series down to another place; frees what it has of it. The
 * directory is the caller's business. */
void crest_snapshot_move(crest_snapshot *snapshot, size_t from, size_t to);
void crest_snapshot_lose(crest_snapshot *snapshot, size_t index);

/* A series' distribution, or NULL for other kinds. */
const crest_distribution *crest_snapshot_distribution(const crest_snapshot *snapshot, size_t index);

#endif
