/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of <crest/snapshot.h>: a sorted directory of series, shared by snapshots until a
 * series comes or goes, and beside it one flat array of values.
 */
#ifndef CREST_SNAPSHOT_INSIDE_H
#define CREST_SNAPSHOT_INSIDE_H

#include "distributions/bucket_totals.h"
#include "distributions/distribution_inside.h"
#include "snapshot/directory.h"
#include <crest/snapshot.h>

struct crest_snapshot {
    crest_directory *directory;
    uint64_t time_ns;
    uint64_t wall_ns;
    uint64_t born;                       /* with notes: the highest birth before it was read */
    struct crest_window_copies *windows; /* window results of its series, or NULL */
    struct crest_passing *passing;       /* streaming.h: of a snapshot for one page, or NULL */
    uint64_t shift; /* delta_base.c: hint how far an earlier snapshot's index is off */
    struct crest_carried_list *carried; /* delta_base.h: carried series, or NULL */
    uint64_t values[];                  /* a counter; the bits of a gauge; a range sampler; a
                              * crest_distribution * */
};

/* A snapshot without windows. NULL without memory, or before the first metric. */
crest_snapshot *crest_snapshot_read(crest_registry_state *state);
/* The same, and takes each distribution's notes away with it. For the ticker alone, which keeps the
 * registry's windows. */
crest_snapshot *crest_snapshot_read_notes(crest_registry_state *state);

/* Moves a series' values down to another place, and frees what that place held. The caller moves
 * the directory's entry. */
void crest_snapshot_move(crest_snapshot *snapshot, size_t from, size_t to);
void crest_snapshot_lose(crest_snapshot *snapshot, size_t index);

/* A snapshot for one page, which reads values on demand: see windows/snapshot_take.h. */
crest_snapshot *crest_snapshot_read_passing(crest_registry_state *state);
/* Whether there was no memory for a distribution's totals. */
int crest_snapshot_lacked(const crest_snapshot *snapshot);

/* The values of `count` series from `index` on, all of one kind without distributions, as they lie
 * in the flat array. */
void crest_snapshot_values(const crest_snapshot *snapshot, crest_kind kind, size_t index,
                           size_t count, uint64_t *values);

/* The totals of a series' distribution as a page shows them; `limits` ascend. */
void crest_snapshot_totals(const crest_snapshot *snapshot, size_t index, const uint64_t *limits,
                           unsigned count, crest_totals *totals);

/* Fills all of a view but its value; the series must exist. */
void crest_snapshot_describe(const crest_snapshot *snapshot, size_t index, crest_series_view *view);

/* A series' distribution, or NULL for other kinds; not of a snapshot for one page. */
const crest_distribution *crest_snapshot_distribution(const crest_snapshot *snapshot, size_t index);

#endif
