/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Readings: which generations of a registry's series are being read by their slots.
 *
 * A slot gets another series only when no thread reads by a list that is older than the generation
 * at which the series left it. One lock makes that sure:
 *
 *     reader     under the lock: loads the generation, takes a list that is as new, `readers` + 1;
 *                reads values without it; under the lock: `readers` - 1
 *     lifecycle  under the lock: is there a list with readers that is older than the generation?
 *
 * Invariant: a list that is taken after lifecycle has asked is as new as the generation that it
 * asked about, so it does not have the series.
 */
#ifndef CREST_READERS_H
#define CREST_READERS_H

#include "registry/metric_inside.h"

/* A list of series that may be read by: a directory has one (snapshot/directory.h). */
typedef struct crest_reading {
    struct crest_reading *next; /* of all there are */
    const crest_registry_state *state;
    uint64_t generation;
    uint64_t readers; /* that read values by it just now */
} crest_reading;

/* Guards all of them, and all else that the directories keep. Held while a directory is made. Not
 * taken under any other lock but that of the looks (growth.c). */
void crest_readers_lock(void);
void crest_readers_unlock(void);

/* Under the readers' lock: there is one more, or one less. What is in the list is in use for leak
 * checkers too, which look for no pointers in arenas, where registries lie. */
void crest_reading_add(crest_reading *reading);
void crest_reading_remove(const crest_reading *reading);

/* Whether no thread reads by one of this registry that is older than this generation. Any thread;
 * takes the readers' lock. */
int crest_readers_quiet(const crest_registry_state *state, uint64_t generation);

#endif
