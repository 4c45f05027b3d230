/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The snapshot before, of reporters that hand out differences: the inside of crest_report_previous
 * in <crest/reporter.h>.
 *
 * A series that was idle or released leaves the snapshots and may come back with the value it had.
 * What was delivered of it must not be delivered again. So each kept snapshot carries, from the
 * snapshot before it, the series that it lacks itself.
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

/* Notes what `next` will have to carry if it replaces `before` (NULL: nothing). `before` stays as
 * it is. CREST_NO_MEMORY. Cost: a walk over both. */
crest_status crest_previous_prepare(crest_snapshot *next, const crest_snapshot *before);

/* `next` replaces `before` and takes what it carries from it. `before` can then only be freed. */
void crest_previous_commit(crest_snapshot *next, crest_snapshot *before);

#endif
