/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Taking a whole snapshot. In this order:
 *
 *  1. listeners are called, which set gauges of what is under way (tick_listeners.h);
 *  2. the registry's polls are called (poller.h);
 *  3. series that have ended, or were idle, leave or come back (child_moves.h);
 *  4. the values are read (snapshot_inside.h), and the series know that they were shown;
 *  5. the windows' results are copied under the ticker's lock (ticker.h).
 */
#ifndef CREST_SNAPSHOT_TAKE_H
#define CREST_SNAPSHOT_TAKE_H

#include "snapshot/snapshot_inside.h"

/*
 * A snapshot for one page (streaming): read once, by one thread, and freed soon. It keeps no values
 * but reads them on demand, and has distributions' totals alone. So a page takes no more memory
 * however many series it has. It has at least what was recorded before this call. Until it is
 * freed, slots that it knows get no other series. NULL without memory, or before the first metric.
 * What memory lacked for later is missing; crest_snapshot_lacked says so.
 */
crest_snapshot *crest_snapshot_take_passing(crest_registry *registry);

#endif
