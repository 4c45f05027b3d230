/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes an HdrHistogram log for tests/integration/test_hlog_readers.py: `hlog_program VALUES LOG`
 * records lines of "TAG DIGITS VALUE COUNT" into a histogram for each tag, d1 to d5 for one to five
 * digits, and reports them in two intervals.
 */
#include <crest/crest.h>
#include <crest/hlog.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define RANGE(digits) {1, (UINT64_C(1) << 42) - 1, digits}
static const crest_range ranges[] = {RANGE(1), RANGE(2), RANGE(3), RANGE(4), RANGE(5)};
CREST_HISTOGRAM(d1, "d1", "One digit.", .range = &ranges[0]);
CREST_HISTOGRAM(d2, "d2", "Two digits.", .range = &ranges[1]);
CREST_HISTOGRAM(d3, "d3", "Three digits.", .range = &ranges[2]);
CREST_HISTOGRAM(d4, "d4", "Four digits.", .range = &ranges[3]);
CREST_HISTOGRAM(d5, "d5", "Five digits.", .range = &ranges[4]);

int main(int argc, char **argv)
{
    static crest_histogram *const all[] = {&d1, &d2, &d3, &d4, &d5};
    crest_error error;
    FILE *values = argc == 3 ? fopen(argv[1], "r") : NULL;
    crest_hlog_options options = {.path = argc == 3 ? argv[2] : NULL};
    crest_reporter *log = crest_hlog_new(&options, &error);
    if (values == NULL || log == NULL)
        return 2;
    const crest_schedule rarely = {.interval_ms = 3600000};
    if (crest_reporter_attach(NULL, log, &rarely, &error) != CREST_OK)
        return 2;
    unsigned digits, lines = 0;
    int64_t value;
    uint64_t count;
    while (fscanf(values, "%*s %u %" SCNd64 " %" SCNu64, &digits, &value, &count) == 3) {
        crest_histogram_record_n(all[digits - 1], value, count);
        if (++lines == 1000 && crest_report_now(log, 60000, &error) != CREST_OK)
            return 2;
    }
    fclose(values);
    crest_status status = crest_reporter_detach(log, 60000, &error);
    crest_reporter_free(log);
    if (status != CREST_OK)
        fprintf(stderr, "%s\n", error.message);
    return status != CREST_OK;
}
