/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The thread that runs polls, and rounds of them. The inside of <crest/poll.h>; what a poll does
 * with a value is in poll_value.c.
 *
 * Ownership of a poll, in this order:
 *
 *   1. the list, until the poll is stopped;
 *   2. the thread that runs its callback, if the callback stopped the poll itself;
 *   3. otherwise the caller of stop, which waits until no thread runs the callback, and frees it.
 *
 * Handing over the poller. One thread is the poller at a time:
 *
 *   1. The poller runs a callback; a caller waits for a round.
 *   2. The callback overruns. The caller starts another thread, which is the poller from then on.
 *   3. The new poller finishes the round. The first thread is late.
 *   4. The late thread ends when its callback comes back.
 *
 * Invariant: no thread owns a round; each poll is marked while the round still has to call it. No
 * model: every step is under one lock.
 */
#ifndef CREST_POLLER_H
#define CREST_POLLER_H

#include "polls/poll_value.h"

/* Takes a poll into the list, and starts the poller if need be. CREST_LIMIT. */
crest_status crest_poller_add(crest_poll *poll);

/* A round of the registry's polls, for the snapshot that follows. The caller waits at most
 * CREST_POLL_ROUND_MS; no lock is held during calls. Does nothing on the poller's thread and in
 * callbacks. Without any poll: one load. */
void crest_poller_round(const crest_registry_state *registry);

/* A turn of the host's loop (host_loop.h), CREST_POLL_ROUND_MS at most. Calls the loop's polls that
 * are due; where there are no threads, all that have an interval. Returns when the next is due. */
uint64_t crest_poller_turn(void);

/* The registry is being freed: its polls are not called any more. Does not wait for a running
 * call. */
void crest_poller_forget(const crest_registry_state *registry);

/* In the child of a fork, after the poller's own handler: the poll is not called any more. It is
 * freed by crest_poll_stop, which the calling handler may not call. */
void crest_poller_orphan(crest_poll *poll);

/* crest_start calls it: the child of a fork may have a poller again. Where threads are forbidden,
 * the present poller ends. */
void crest_poller_resume(void);

/* For tests: stops the poller's clock, by which polls are due and overrun, and steps it by `ns`.
 * Any thread, a callback's too. */
void crest_poller_step(uint64_t ns);

#endif
