/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What rooms above the windows want done at each tick, and before each snapshot: they say so once,
 * and the ticker and snapshot_take need not know them.
 *
 *     crest_on_tick(crest_report_watch_now);
 *
 * A listener stays for the life of the process, the children of a fork included; one that has
 * nothing to do returns at once. It is called under no lock, so it may record, take locks and log,
 * but take no snapshot.
 */
#ifndef CREST_TICK_LISTENERS_H
#define CREST_TICK_LISTENERS_H

/* Of each of the two kinds. */
#define CREST_LISTENERS_MAX 8u

typedef void crest_listener(void);

/* At each tick, in the thread that ticks, before the registries are read. Given before, it is not
 * added again. Any thread; takes no lock. Non-zero, which is a mistake of the library's own, where
 * there are CREST_LISTENERS_MAX. */
int crest_on_tick(crest_listener *listener);
/* Before each snapshot that is taken whole, in the thread that takes it. Likewise. */
int crest_before_snapshot(crest_listener *listener);

/* Calls them, in the order in which they were given. */
void crest_listeners_tick(void);
void crest_listeners_snapshot(void);

#endif
