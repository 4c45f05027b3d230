/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Readings. See readers.h.
 */
#include "metrics/readers.h"
#include "base/forked.h"
#include "base/sync.h"

#include <pthread.h>

static pthread_mutex_t readers_mutex = PTHREAD_MUTEX_INITIALIZER;
static crest_reading *readers_all;

/* In a forked child the thread that held the lock does not exist. What the lock guards is whole or
 * is made again. */
static void readers_forked(void)
{
    crest_mutex_fresh(&readers_mutex);
}
CREST_FORKED(READERS, readers_forked)

void crest_readers_lock(void)
{
    pthread_mutex_lock(&readers_mutex);
}

void crest_readers_unlock(void)
{
    pthread_mutex_unlock(&readers_mutex);
}

void crest_reading_add(crest_reading *reading)
{
    reading->next = readers_all;
    readers_all = reading;
}

void crest_reading_remove(const crest_reading *reading)
{
    crest_reading **at = &readers_all;
    while (*at != reading)
        at = &(*at)->next;
    *at = reading->next;
}

int crest_readers_quiet(const crest_registry_state *state, uint64_t generation)
{
    int quiet = 1;
    crest_readers_lock();
    for (const crest_reading *one = readers_all; one != NULL; one = one->next)
        quiet &= one->state != state || one->readers == 0 || one->generation >= generation;
    crest_readers_unlock();
    return quiet;
}
