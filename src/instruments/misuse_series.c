/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The series that show misuse: crest_misuse_total by cause and crest_late_records_total, at zero
 * from load on. base/misuse counts in the shared cells of their slots, so counting takes no lock
 * and resolves no handle. These slots are never reused: the family is marked as lasting.
 */
#include "instruments/misuse_series.h"
#include "base/lock.h"
#include "base/misuse.h"
#include "cells/cells.h"
#include "instruments/resolve.h"
#include "metrics/handles.h"

#include <crest/family.h>

CREST_COUNTER_FAMILY(
    misuse_family, "crest.misuse",
    "Calls that could not do what was asked, by cause; the log says the first of each.", cause);

CREST_COUNTER(misuse_late_counter, "crest.late-records",
              "Records through handles of series that had been retired or freed.");

/* The word in which all threads count a counter's series; NULL if it could not be made. It and its
 * siblings are never released or retired from now on. */
static uint64_t *misuse_series_word(crest_counter *counter)
{
    crest_lock_saved saved;
    crest_status status;
    crest_lock_take(&saved);
    uint32_t slot = crest_handle_resolve(&counter->handle, CREST_KIND_COUNTER, &status);
    if (slot != 0)
        crest_handle_series(&counter->handle)->metric->lasts = 1;
    crest_lock_drop(&saved);
    return slot != 0 ? crest_cells_shared(slot) : NULL;
}

void crest_misuse_series_keep(void) {}

__attribute__((constructor)) static void misuse_series_constructor(void)
{
    uint64_t *word = misuse_series_word(&misuse_late_counter);
    if (word != NULL)
        crest_misuse_late_bind(word);
    for (int i = 0; i < CREST_MISUSE_COUNT; i++) {
        word = misuse_series_word(misuse_family_with(crest_misuse_label((crest_misuse)i)));
        if (word != NULL) /* without memory base/misuse keeps its own word */
            crest_misuse_bind((crest_misuse)i, word);
    }
}
