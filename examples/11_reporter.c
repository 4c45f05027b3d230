/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A reporter of the program's own: a name and a function that gets snapshots, on a thread of its
 * own. This one writes a line per counter. A value that it fails to deliver is in the next
 * snapshot, because values are cumulative.
 */
#include <crest/crest.h>
#include <inttypes.h>
#include <stdio.h>

CREST_REGISTRY(mine);
#define CREST_REGISTRY_HERE &mine
CREST_COUNTER(applied, "casper.transfers-applied", "Transfers applied.");
/* crest-lint: ignore unused-variable what never happened is reported as 0 */
CREST_COUNTER(refused, "casper.transfers-refused", "Transfers without funds.");

static crest_status lines_report(crest_reporter *self, const crest_report *report,
                                 crest_error *error)
{
    FILE *out = self->state;
    for (size_t i = 0; i < crest_snapshot_size(report->snapshot); i++) {
        crest_series_view series;
        crest_snapshot_series(report->snapshot, i, &series);
        if (series.kind == CREST_KIND_COUNTER)
            fprintf(out, "%s %" PRIu64 "\n", series.name, series.counter);
    }
    if (fflush(out) != 0)
        return crest_error_set(error, CREST_IO, "Writing the report failed; is the disk full?");
    return CREST_OK;
}

int main(void)
{
    crest_reporter lines = {.name = "lines", .report = lines_report, .state = stdout};
    crest_schedule hourly = {.interval_ms = 3600000};
    crest_error error;
    crest_counter_add(&applied, 41);
    if (crest_reporter_attach(&mine, &lines, &hourly, &error) != CREST_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    crest_counter_inc(&applied);

    /* detaching reports a last time */
    return crest_reporter_detach(&lines, 2000, &error) == CREST_OK ? 0 : 1;
}
