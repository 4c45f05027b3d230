/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ticker: one thread that reads the observed registries once a second. The inside of
 * <crest/window.h>.
 */
#ifndef CREST_TICKER_H
#define CREST_TICKER_H

#include "snapshot/snapshot_inside.h"
#include <crest/window.h>

/* Registries observed at a time. */
#define CREST_OBSERVED_MAX 64u

/* Whether the registry has windows. */
int crest_ticker_observes(const crest_registry_state *state);

/* What the windows say of the directory's series (window_copies.h), or of its range samplers alone;
 * *copies is NULL if the registry is not observed. 0 without memory. */
int crest_ticker_copy(const crest_directory *directory, int ranges_only,
                      struct crest_window_copies **copies);

/* Ticks are wanted, and with them the listeners' calls (tick_listeners.h), whatever is observed; no
 * longer, after as many calls of the second. Without a thread to be had there are none until the
 * next call. Not under a lock that a listener takes, nor in a listener: the second may wait for the
 * end of a tick. */
void crest_ticker_keep(void);
void crest_ticker_release(void);

/* For tests: the clock that ticks are due by stands from now on, `ns` later than it is. Any thread,
 * a tick's own included; not under a lock. */
void crest_ticker_step(uint64_t ns);

/* The registry is being freed: its windows go, whoever attached it. */
void crest_ticker_forget(const crest_registry_state *state);

/* A turn of the host's loop (host_loop.h): the tick, if it is due and there is no thread for it.
 * When the next one is due. */
uint64_t crest_ticker_turn(void);

/* crest_testing_tick: a reading now, and none by the thread from then on. */
crest_status crest_ticker_by_hand(crest_registry *registry);

#endif
