/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The host's own event loop as what works for Crest: whose turn it is, and the descriptor that asks
 * for turns. What is done in a turn is in run/loop_run.c; this knows nothing of it.
 *
 * What would be done by threads is done in turns, which do what is due and say when to come again,
 * as times of CLOCK_MONOTONIC in ns, UINT64_MAX for never. One thread at a time takes turns: it
 * begins a run and ends it. A caller that ends what turns work on, as crest_stop does, holds the
 * loop meanwhile.
 */
#ifndef CREST_HOST_LOOP_H
#define CREST_HOST_LOOP_H

#include <crest/status.h>
#include <stdint.h>

/* Something may be due sooner than was said. Any thread, under any lock of the turns. */
void crest_loop_wake(void);

/* Keeps the loop from taking turns, waiting for the end of the present one: CREST_OK,
 * CREST_TIMED_OUT, or CREST_INVALID_ARGUMENT when the caller is in it. */
crest_status crest_loop_hold(uint64_t until_ns, crest_error *error);
void crest_loop_release(void);

/* Non-zero when the caller is within crest_loop_run, or holds the loop. */
int crest_loop_inside(void);

/* A run begins: CREST_ALREADY while another does or the loop is held, CREST_INVALID_ARGUMENT on
 * another thread than the one whose loop it is. The caller's thread has it from then on. */
crest_status crest_loop_begin(void);
/* It ends, and wants the next at next_ns. When that is to be: at once, if the loop was woken
 * meanwhile. */
uint64_t crest_loop_end(uint64_t next_ns);

/* The descriptor, which becomes readable when a run is due; it is the caller's thread that runs
 * from then on. -1 with errno without room for it. */
int crest_loop_descriptor(void);
/* Makes the descriptor readable when that one is, or no longer; 0, or -1 with errno. */
int crest_loop_wait_for(int descriptor, int wanted);

#endif
