/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Taking ahead what a thread's recording needs of the system, and setting the stack of our own
 * threads. See <crest/prepare.h>.
 */
#include <crest/prepare.h>

#include "base/lock.h"
#include "base/thread.h"
#include "cells/cells.h"

/* Makes the thread's chunk of the slot; 0 on failure. */
static int prepare_chunk(uint32_t slot)
{
    crest_lock_saved saved;
    crest_lock_take(&saved);
    int touched = crest_cells_touch(slot) != NULL;
    crest_lock_drop(&saved);
    return touched;
}

crest_status crest_thread_prepare(void)
{
    /* slots begin in the second chunk, see crest_cells_slot_new */
    uint64_t slots = crest_cells_slot_count();
    for (uint64_t first = 0; first < slots; first += CREST_CHUNK_CELLS)
        if (!prepare_chunk((uint32_t)first + CREST_CHUNK_CELLS))
            return crest_cells_reserve() != NULL ? CREST_NO_MEMORY : CREST_LATE;
    return CREST_OK;
}

_Static_assert(CREST_THREAD_STACK_BYTES == CREST_THREAD_STACK_DEFAULT, "what the header says");

crest_status crest_thread_stack(size_t bytes)
{
    if (bytes < CREST_THREAD_STACK_BYTES_MIN || bytes > CREST_THREAD_STACK_BYTES_MAX)
        return CREST_INVALID_ARGUMENT;
    crest_thread_stack_set(bytes);
    return CREST_OK;
}
