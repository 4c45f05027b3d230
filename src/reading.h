/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of <crest/snapshot.h>: a sorted directory of series, shared by snapshots until a
 * series comes or goes, and beside it one flat array of values.
 */
#ifndef CREST_READING_H
#define CREST_READING_H

#include "directory.h"
#include "distribution_inside.h"
#include <crest/snapshot.h>

struct crest_snapshot {
    crest_directory *directory;
    uint64_t time_ns;
    uint64_t wall_ns;
    struct crest_window_copies *windows; /* what they say of its series, or NULL */
    uint64_t shift;        /* previous.c's: how far an earlier snapshot's index is off, roughly */
    struct crest_carried_list *carried; /* previous.h's, or NULL */
    uint64_t values[];     /* a counter; the bits of a gauge; a range sampler; a
                              * crest_distribution * */
};

/* A snapshot without windows. NULL without memory, or before the first
 * metric. */
crest_snapshot *crest_snapshot_read(crest_registry_state *state);
/* The same, which takes what was noted of each distribution with it: for who keeps the registry's
 * windows, and nobody else. */
crest_snapshot *crest_snapshot_read_notes(crest_registry_state *state);

/* Moves what the snapshot has of a series down to another place; frees what it has of it. The
 * directory is the caller's business. */
void crest_snapshot_move(crest_snapshot *snapshot, size_t from, size_t to);
void crest_snapshot_lose(crest_snapshot *snapshot, size_t index);

/* A series' distribution, or NULL for other kinds. */
const crest_distribution *crest_snapshot_distribution(const crest_snapshot *snapshot, size_t index);

#endif
