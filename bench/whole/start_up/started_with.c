/* SPDX-License-Identifier: Apache-2.0 */
/* With the library; see started.h. */
#include "started.h"

#include <crest/crest.h>
#include <string.h>

unsigned long started_metrics(void)
{
    static const char prefix[] = "bench.static-";
    unsigned long found = 0;
    crest_snapshot *snapshot = crest_snapshot_take(NULL);
    for (size_t i = 0; i < crest_snapshot_size(snapshot); i++) {
        crest_series_view series;
        crest_snapshot_series(snapshot, i, &series);
        found += strncmp(series.name, prefix, sizeof prefix - 1) == 0;
    }
    crest_snapshot_free(snapshot);
    return found;
}
