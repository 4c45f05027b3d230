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

/* Copies the windows of the directory's series (window_copies.h), or of its range samplers alone.
 * *copies is NULL if the registry is not observed. 0 without memory. */
int crest_ticker_copy(const crest_directory *directory, int ranges_only,
                      struct crest_window_copies **copies);

/* Keeps the ticker, and the listeners' calls (tick_listeners.h), whatever is observed; the second
 * function undoes one call of the first. If no thread can be had, there are no ticks until the next
 * call. Callers hold no lock that a listener takes and are no listeners: the second may wait for
 * the end of a tick. */
void crest_ticker_keep(void);
void crest_ticker_release(void);

/* For tests: stops the clock of due ticks, and steps it by `ns`. Any thread, the ticker in a tick
 * included; not under a lock. */
void crest_ticker_step(uint64_t ns);

/* The registry is being freed: its windows are freed, whichever call attached it. */
void crest_ticker_forget(const crest_registry_state *state);

/* A turn of the host's loop (host_loop.h): runs the tick if it is due and no thread does. Returns
 * when the next tick is due. */
uint64_t crest_ticker_turn(void);

/* crest_testing_tick: takes a reading now; the ticker's thread takes none from then on. */
crest_status crest_ticker_by_hand(crest_registry *registry);

#endif
