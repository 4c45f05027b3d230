/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The snapshot before, of reporters that hand out differences: the inside of crest_report_previous
 * in <crest/reporter.h>.
 *
 * A series that was idle leaves the snapshots and comes back with the value it had, and so does one
 * that was released. What was delivered of it must not be delivered again: so the snapshot that is
 * kept carries what the one before had of series that it has not itself.
 *
 *     if (crest_previous_prepare(next, before) == CREST_OK && deliver(next, before) == CREST_OK)
 *         crest_previous_commit(next, before), crest_snapshot_free(before), before = next;
 *     else
 *         crest_snapshot_free(next);
 */
#ifndef CREST_DELTA_BASE_H
#define CREST_DELTA_BASE_H

#include "snapshot/carried.h"
#include "snapshot/snapshot_inside.h"

/* Notes what `next` will have to carry if it takes the place of `before` (NULL: nothing), which
 * stays as it is. CREST_NO_MEMORY. Cost: a walk over both. */
crest_status crest_previous_prepare(crest_snapshot *next, const crest_snapshot *before);

/* `next` takes the place of `before`, and what it carries out of it. `before` can then only be
 * freed. */
void crest_previous_commit(crest_snapshot *next, crest_snapshot *before);

#endif
