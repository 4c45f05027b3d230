/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The host's own event loop as Crest's worker: which thread is in a run, and the descriptor that
 * asks for runs. The work of a run is run/loop_run.c's; this file knows nothing of it.
 *
 * Threads' work is done in runs instead. A run does what is due and says when the next is due: a
 * time of CLOCK_MONOTONIC in ns, UINT64_MAX for never. States:
 *
 *     FREE     begin: RUNNING     hold: HELD
 *     RUNNING  end: FREE          hold waits for it; begin: CREST_ALREADY
 *     HELD     release: FREE      begin: CREST_ALREADY
 *
 * One thread at a time runs or holds. A caller that frees what runs work on, as crest_stop does,
 * holds the loop meanwhile.
 */
#ifndef CREST_HOST_LOOP_H
#define CREST_HOST_LOOP_H

#include <crest/status.h>
#include <stdint.h>

/* Work may be due earlier than the last run said. Any thread, under any lock of the runs' work. */
void crest_loop_wake(void);

/* Holds the loop against runs, after waiting for the present run to end: CREST_OK, CREST_TIMED_OUT,
 * or CREST_INVALID_ARGUMENT when the caller is in that run. */
crest_status crest_loop_hold(uint64_t until_ns, crest_error *error);
void crest_loop_release(void);

/* Non-zero when the caller is within crest_loop_run, or holds the loop. */
int crest_loop_inside(void);

/* Begins a run: CREST_ALREADY during another or while held, CREST_INVALID_ARGUMENT on another
 * thread than the loop's owner. The first caller becomes the owner. */
crest_status crest_loop_begin(void);
/* Ends the run, whose next is due at next_ns. Returns when the next run is due: at once, if
 * crest_loop_wake was called meanwhile. */
uint64_t crest_loop_end(uint64_t next_ns);

/* The descriptor, readable when a run is due; the caller's thread owns the loop from then on. -1
 * with errno when none can be made. */
int crest_loop_descriptor(void);
/* Makes the loop's descriptor readable whenever `descriptor` is, or no longer; 0, or -1 with errno.
 */
int crest_loop_wait_for(int descriptor, int wanted);

#endif
