/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Listeners of ticks and snapshots: what rooms above the windows want done at each tick, and before
 * each snapshot. Each room registers once, so the ticker and snapshot_take need not know it.
 *
 *     crest_on_tick(crest_report_watch_now);
 *
 * A listener stays for the life of the process, the children of a fork included; one that has
 * nothing to do returns at once. It is called under no lock, so it may record, take locks and log,
 * but take no snapshot.
 */
#ifndef CREST_TICK_LISTENERS_H
#define CREST_TICK_LISTENERS_H

/* Listeners of each of the two kinds, at most. */
#define CREST_LISTENERS_MAX 8u

typedef void crest_listener(void);

/* Registers a listener for each tick: the ticker calls it before the registries are read. A second
 * registration does nothing. Any thread; takes no lock. Non-zero, a bug of the library, when there
 * are CREST_LISTENERS_MAX already. */
int crest_on_tick(crest_listener *listener);
/* Likewise before each whole snapshot, on the thread that takes it. */
int crest_before_snapshot(crest_listener *listener);

/* Calls the listeners, in the order of registration. */
void crest_listeners_tick(void);
void crest_listeners_snapshot(void);

#endif
