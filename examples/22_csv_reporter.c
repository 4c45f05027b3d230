/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A reporter of differences, of the program's own, that operators select by name: csv=PATH appends
 * the growth since its last report that succeeded, one series a line. Crest hands it the previous
 * snapshot, so it keeps no state, and the next report makes up for one that failed.
 */
#include <crest/crest.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

CREST_COUNTER_FAMILY(sent, "comm.messages-sent", "Messages sent.", peer);
CREST_HISTOGRAM(block_size, "casper.block-size", "Serialised block.", .unit = CREST_BYTES);

/* Records since the last report, and for distributions their sum. */
static void csv_line(FILE *out, const crest_series_view *now, const crest_series_view *before)
{
    uint64_t grown = now->counter - before->counter, sum = grown;
    if (now->distribution != NULL) {
        grown = crest_distribution_count(now->distribution) -
                crest_distribution_count(before->distribution);
        sum = crest_distribution_sum(now->distribution) -
              crest_distribution_sum(before->distribution);
    }
    if (grown == 0)
        return;
    fprintf(out, "%s", now->name);
    for (unsigned i = 0; i < now->label_count; i++)
        fprintf(out, " %s=%s", now->label_keys[i], now->label_values[i]);
    fprintf(out, ",%" PRIu64 ",%" PRIu64 "\n", grown, sum);
}

static crest_status csv_report(crest_reporter *self, const crest_report *report, crest_error *error)
{
    const char *path = self->state;
    FILE *out = strcmp(path, "-") == 0 ? stdout : fopen(path, "a");
    if (out == NULL)
        return crest_error_set(error, CREST_IO, "%s cannot be opened: is there such a folder?",
                               path);
    for (size_t i = 0; i < crest_snapshot_size(report->snapshot); i++) {
        crest_series_view now, before; /* all zero if there was none */
        crest_snapshot_series(report->snapshot, i, &now);
        crest_report_previous(report, i, &before);
        csv_line(out, &now, &before);
    }
    int failed = fflush(out) != 0;
    if (out != stdout && fclose(out) != 0)
        failed = 1;
    return failed ? crest_error_set(error, CREST_IO, "%s: is the disk full?", path) : CREST_OK;
}

static char csv_path[256];
static crest_reporter csv = {.name = "csv", .report = csv_report, .state = csv_path, .deltas = 1};

static crest_reporter *csv_create(const char *value, const crest_options *options,
                                  const crest_resource *resource, crest_error *error)
{
    (void)options, (void)resource, (void)error;
    snprintf(csv_path, sizeof csv_path, "%s", value);
    return &csv;
}

int main(void)
{
    static const crest_reporter_kind kind = {.name = "csv", .create = csv_create};
    crest_error error;
    crest_reporter_kind_add(&kind);
    if (crest_start("csv=-,csv.interval=1h,csv.include=comm.*:casper.*", &error) != CREST_OK)
        return fprintf(stderr, "%s\n", error.message), 1;
    crest_counter_add(sent_with("10.0.0.7"), 41);
    crest_histogram_record(&block_size, 1000);
    crest_report_now(&csv, 0, &error);
    crest_counter_inc(sent_with("10.0.0.7"));
    crest_counter_inc(sent_with("10.0.0.8"));
    return crest_stop(0, &error) == CREST_OK ? 0 : 1; /* reports a last time */
}
