/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lists of listeners, which only grow. See tick_listeners.h.
 */
#include "windows/tick_listeners.h"
#include "base/atomic.h"

#include <stdint.h>

/* Functions' addresses; the first 0 ends a list. Written once each, by crest_atomic_cas. No other
 * memory depends on an address, so a reader needs no ordering. */
typedef uint64_t listeners_list[CREST_LISTENERS_MAX];

static listeners_list listeners_of_ticks, listeners_of_snapshots;

static int listeners_add(listeners_list list, crest_listener *listener)
{
    uint64_t word = (uint64_t)(uintptr_t)listener;
    for (unsigned i = 0; i < CREST_LISTENERS_MAX; i++)
        if (crest_atomic_cas(&list[i], 0, word) || crest_atomic_load(&list[i]) == word)
            return 0;
    return -1;
}

static void listeners_call(const listeners_list list)
{
    for (unsigned i = 0; i < CREST_LISTENERS_MAX; i++) {
        uint64_t word = crest_atomic_load(&list[i]);
        if (word == 0)
            return;
        ((crest_listener *)(uintptr_t)word)();
    }
}

int crest_on_tick(crest_listener *listener)
{
    return listeners_add(listeners_of_ticks, listener);
}

int crest_before_snapshot(crest_listener *listener)
{
    return listeners_add(listeners_of_snapshots, listener);
}

void crest_listeners_tick(void)
{
    listeners_call(listeners_of_ticks);
}

void crest_listeners_snapshot(void)
{
    listeners_call(listeners_of_snapshots);
}
