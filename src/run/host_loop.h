/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The host's own event loop as what works for Crest. The inside of <crest/loop.h>.
 *
 * What would be done by threads is done in turns: crest_poller_turn, crest_ticker_turn and
 * crest_attachments_turn do what is due and say when to come again, as times of CLOCK_MONOTONIC in
 * ns, UINT64_MAX for never. One thread at a time takes turns; who ends what they work on, as
 * crest_stop does, holds the loop meanwhile.
 */
#ifndef CREST_HOST_LOOP_H
#define CREST_HOST_LOOP_H

#include <crest/loop.h>

/* Something may be due sooner than was said. Any thread, under any lock of the turns. */
void crest_loop_wake(void);

/* Keeps the loop from taking turns, waiting for the end of the present one: CREST_OK,
 * CREST_TIMED_OUT, or CREST_INVALID_ARGUMENT when the caller is in it. */
crest_status crest_loop_hold(uint64_t until_ns, crest_error *error);
void crest_loop_release(void);

/* Non-zero when the caller is within crest_loop_run, or holds the loop. */
int crest_loop_inside(void);

#endif
