/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Readings: which generations of a registry's series are being read by their slots. Safe memory
 * reclamation of slots, by counted readers.
 *
 * A slot gets another series only when no thread reads by a list older than the generation at which
 * the series left it. One lock orders both sides:
 *
 *     reader     1. under the lock: loads the generation, takes a list as new as it, `readers` + 1
 *                2. without it: reads values
 *                3. under the lock: `readers` - 1
 *     lifecycle  under the lock: is there a list with readers that is older than the generation?
 *
 * Invariant: a list taken after lifecycle's question is as new as the generation in it, so it does
 * not contain the series.
 */
#ifndef CREST_READERS_H
#define CREST_READERS_H

#include "metrics/metric_inside.h"

/* A list of series to read by: a directory has one (snapshot/directory.h). */
typedef struct crest_reading {
    struct crest_reading *next; /* in the list of all readings */
    const crest_registry_state *state;
    uint64_t generation;
    uint64_t readers; /* threads that read values by it now */
} crest_reading;

/* Guards all readings, and all else that directories keep. Held while a directory is made. Taken
 * under no other lock but the looks' (growth.c). */
void crest_readers_lock(void);
void crest_readers_unlock(void);

/* Under the readers' lock: adds or removes one. A listed reading counts as reachable for leak
 * checkers, which do not scan arenas, where registries lie. */
void crest_reading_add(crest_reading *reading);
void crest_reading_remove(const crest_reading *reading);

/* Whether no thread reads by one of this registry's lists older than this generation. Any thread;
 * takes the readers' lock. */
int crest_readers_quiet(const crest_registry_state *state, uint64_t generation);

#endif
