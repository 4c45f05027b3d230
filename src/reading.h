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
    crest_series *series[];
} crest_directory;

struct crest_snapshot {
    crest_directory *directory;
    uint64_t time_ns;
    uint64_t wall_ns;
    crest_window *windows; /* one a series, or NULL */
    uint64_t values[];     /* a counter; the bits of a gauge; a range sampler; a
                              * crest_distribution * */
};

/* A snapshot without windows. NULL without memory, or before the first
 * metric. */
crest_snapshot *crest_snapshot_read(crest_registry_state *state);
/* The same, which takes what was noted of each distribution with it: for who keeps the registry's
 * windows, and nobody else. */
crest_snapshot *crest_snapshot_read_notes(crest_registry_state *state);

/* A series' distribution, or NULL for other kinds. */
const crest_distribution *crest_snapshot_distribution(const crest_snapshot *snapshot, size_t index);

#endif
