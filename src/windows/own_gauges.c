/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gauges of the library itself. See own_gauges.h.
 */
#include "windows/own_gauges.h"
#include "base/arena.h"
#include "cells/cells.h"
#include "windows/windows.h"

#include <crest/family.h>

CREST_GAUGE_FAMILY_OPTIONS(own_gauges_covered, "crest.window-covered",
                           "How much of the moving window has been observed.",
                           (.unit = CREST_SECONDS), window);
CREST_GAUGE(own_gauges_windowed, "crest.series-windowed", "Series that windows are kept of.");
CREST_GAUGE(own_gauges_refused, "crest.windows-refused",
            "Series without windows, because as many as may have them have.");
CREST_GAUGE(own_gauges_series, "crest.series", "Series made in this process.");
CREST_GAUGE(own_gauges_records, "crest.thread-records",
            "Tables of cells; as many as threads ever recorded at once.");
CREST_GAUGE(own_gauges_memory, "crest.arena-used", "Memory of cells, names and labels in use.",
            .unit = CREST_BYTES);

static crest_gauge *own_gauges_covered_of(unsigned window_s)
{
    return own_gauges_covered_with(window_s == CREST_WINDOW_S ? "1m"
                                   : window_s == 300          ? "5m"
                                                              : "15m");
}

void crest_own_gauges_make(void)
{
    unsigned window_s[CREST_WINDOWS_MAX];
    unsigned windows = crest_windows_kept(window_s);
    for (unsigned w = 0; w < windows; w++)
        (void)own_gauges_covered_of(window_s[w]);
}

void crest_own_gauges_set(const unsigned *window_s, const double *covered_s, unsigned windows)
{
    for (unsigned w = 0; w < windows; w++)
        crest_gauge_set(own_gauges_covered_of(window_s[w]), covered_s[w]);
    crest_gauge_set(&own_gauges_windowed, (double)crest_windows_places());
    crest_gauge_set(&own_gauges_refused, (double)crest_windows_refused());
    crest_gauge_set(&own_gauges_series, (double)crest_cells_slot_count());
    crest_gauge_set(&own_gauges_records, (double)crest_cells_table_count());
    crest_gauge_set(&own_gauges_memory, (double)(crest_arena_used(CREST_ARENA_META) +
                                                 crest_arena_used(CREST_ARENA_CELLS)));
}
