/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The thread that runs polls, and rounds of them. The inside of <crest/poll.h>; what a poll does
 * with a value is in poll_value.c.
 *
 * Who owns a poll: the list, until it is stopped; then whoever runs it, if that is the callback
 * that stopped itself, else whoever stops it, who waits until nobody runs it.
 *
 * One thread is the poller at a time. When its callback overruns while somebody waits, another
 * thread becomes the poller and goes on with the round; the first one is late, and ends when its
 * callback comes back. So a round is of no thread: what is left of it is marked in the polls.
 */
#ifndef CREST_POLLER_H
#define CREST_POLLER_H

#include "polls/poll_value.h"

/* Takes a poll into the list and sees to the thread. CREST_LIMIT. */
crest_status crest_poller_add(crest_poll *poll);

/* A round of the registry's polls, of which the snapshot that follows shows the results. Waits at
 * most CREST_POLL_ROUND_MS; holds no lock when it calls. Does nothing on the poller's thread and in
 * callbacks. Without any poll: one load. */
void crest_poller_round(const crest_registry_state *registry);

/* A turn of the host's loop (host_loop.h): calls what is due of the polls that are the loop's, and
 * of all that have an interval where there are no threads, for CREST_POLL_ROUND_MS at most. When
 * the next one is due. */
uint64_t crest_poller_turn(void);

/* The registry is being freed: its polls are not called any more. A call that is running is not
 * waited for. */
void crest_poller_forget(const crest_registry_state *registry);

/* In the child of a fork, after the poller's own handler: the poll is not called any more. It is
 * freed by crest_poll_stop as ever, which such a handler may not call. */
void crest_poller_orphan(crest_poll *poll);

/* crest_start: the child of a fork may have a poller again. Where threads are forbidden, the one
 * that there is ends. */
void crest_poller_resume(void);

#endif
