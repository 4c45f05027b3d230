/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The library's handlers of fork(), the only ones in src. The slow path's lock is held across a
 * fork, so that the child's copy of what it guards is consistent. In the child the calls of
 * forked.h are made in their order.
 */
#ifndef CREST_BASE_FORK_H
#define CREST_BASE_FORK_H

/* Once, before the first taker of the lock in a process that may fork: installs the handlers, and
 * registers the lock's release in children. Takes no lock of the library's. */
void crest_fork_prepare(void);

#endif
