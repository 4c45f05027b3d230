/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many thread records are owned, or seem to be. Asserts nothing, because children of tests use
 * it too.
 */
#ifndef CREST_TESTS_OWNED_RECORDS_H
#define CREST_TESTS_OWNED_RECORDS_H

#include "base/atomic.h"
#include "cells/cells.h"

__attribute__((unused)) static unsigned owned_records(void)
{
    unsigned owned = 0;
    const crest_thread_table *table = crest_cells_tables();
    for (; table != NULL; table = table->next)
        owned += crest_atomic_load32(&table->owned) == CREST_TABLE_OWNED;
    return owned;
}

#endif
