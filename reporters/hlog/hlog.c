/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hlog reporter: what histograms recorded since the last report, as lines of HdrHistogram's
 * log. See <crest/hlog.h>.
 */
#include <crest/hlog.h>

#include "kinds.h"
#include "common/appended_file.h"
#include "hlog/hlog_base64.h"
#include "hlog/hlog_tag.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HLOG_NAME "hlog"
/* Of three decimal times, commas and a tag's beginning. */
#define HLOG_NUMBERS_BYTES 128

typedef struct hlog {
    crest_reporter reporter; /* first: what the caller holds */
    crest_appended_file file;
    uint64_t since_ns;      /* on crest_now's timeline: what is older is in the log */
    unsigned char *bytes;   /* the compressed form of a histogram, and behind it its base64 */
    size_t room;
} hlog;

/* ---- a line ---- */

/* The compressed bytes of a distribution, in self->bytes with room for their base64. */
static crest_status hlog_compressed(hlog *self, const crest_distribution *grown, size_t *length)
{
    for (;;) {
        crest_status status =
            crest_distribution_encode_compressed(grown, self->bytes, self->room, length);
        if (status != CREST_LIMIT || *length <= self->room)
            return status;
        unsigned char *more = realloc(self->bytes, *length + CREST_HLOG_BASE64_LETTERS(*length));
        if (more == NULL)
            return CREST_NO_MEMORY;
        self->bytes = more;
        self->room = *length;
    }
}

/* "%.3f" of so many thousandths, with a point in every locale. */
#define HLOG_THOUSANDTHS "%" PRIu64 ".%03u"
#define HLOG_OF_THOUSANDTHS(number) (number) / 1000, (unsigned)((number) % 1000)

/* Thousandths of what the log's "Interval_Max" is in: milliseconds of times. */
static uint64_t hlog_max_thousandths(const crest_series_view *view, uint64_t max)
{
    switch (view->unit) {
    case CREST_NANOSECONDS: return max / 1000;
    case CREST_MICROSECONDS: return max;
    case CREST_SECONDS: return max > UINT64_MAX / 1000000 ? UINT64_MAX : max * 1000000;
    default: return max > UINT64_MAX / 1000 ? UINT64_MAX : max * 1000;
    }
}

/* When the report's interval began, since 1970, and how long it is. */
static uint64_t hlog_start_ms(const hlog *self, const crest_report *report, uint64_t *length_ms)
{
    uint64_t end_ms = crest_snapshot_wall_ns(report->snapshot) / 1000000;
    *length_ms = (crest_snapshot_time_ns(report->snapshot) - self->since_ns) / 1000000;
    return end_ms > *length_ms ? end_ms - *length_ms : 0;
}

static crest_status hlog_line(hlog *self, const crest_report *report,
                              const crest_series_view *view, const crest_distribution *grown)
{
    crest_patient_output *output = &self->file.output;
    size_t length;
    crest_status status = hlog_compressed(self, grown, &length);
    if (status == CREST_INVALID_ARGUMENT || status == CREST_LIMIT)
        return CREST_OK; /* of no buckets, or counts that the format does not hold */
    if (status != CREST_OK)
        return status;
    char *letters = (char *)self->bytes + self->room, numbers[HLOG_NUMBERS_BYTES];
    crest_hlog_base64_encode(self->bytes, length, letters);
    uint64_t length_ms, start_ms = hlog_start_ms(self, report, &length_ms);
    uint64_t max = hlog_max_thousandths(view, crest_distribution_max(grown));
    int used = snprintf(numbers, sizeof numbers,
                        "," HLOG_THOUSANDTHS "," HLOG_THOUSANDTHS "," HLOG_THOUSANDTHS ",",
                        HLOG_OF_THOUSANDTHS(start_ms), HLOG_OF_THOUSANDTHS(length_ms),
                        HLOG_OF_THOUSANDTHS(max));
    crest_patient_output_write(output, "Tag=", 4);
    crest_hlog_tag_write(view, crest_patient_output_write, output);
    crest_patient_output_write(output, numbers, (size_t)used);
    crest_patient_output_write(output, letters, CREST_HLOG_BASE64_LETTERS(length));
    crest_patient_output_write(output, "\n", 1);
    return CREST_OK;
}

/* ---- a report ---- */

/* The log starts with its first interval: Python's reader leaves out what began before. */
static void hlog_head(hlog *self, const crest_report *report)
{
    char head[512];
    uint64_t length_ms, ms = hlog_start_ms(self, report, &length_ms);
    int used = snprintf(head, sizeof head,
                        "#[Histograms of %.200s, logged by Crest: a tag is a series, values are in "
                        "its metric's unit]\n"
                        "#[Histogram log format version 1.3]\n"
                        "#[StartTime: " HLOG_THOUSANDTHS " (seconds since epoch)]\n"
                        "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\","
                        "\"Interval_Compressed_Histogram\"\n",
                        report->resource->service[0] != '\0' ? report->resource->service
                                                             : "a process",
                        HLOG_OF_THOUSANDTHS(ms));
    crest_patient_output_write(&self->file.output, head, (size_t)used);
}

/* What was recorded since the last report, or NULL with *status, CREST_OK if that is nothing. */
static crest_distribution *hlog_grown(const crest_report *report, size_t index,
                                      const crest_series_view *view, crest_status *status)
{
    crest_series_view before;
    *status = CREST_OK;
    if (crest_report_previous(report, index, &before) != CREST_OK)
        before.distribution = NULL;
    if (crest_distribution_count(view->distribution) ==
        crest_distribution_count(before.distribution))
        return NULL;
    crest_distribution *grown = crest_distribution_copy(view->distribution);
    if (grown == NULL)
        *status = CREST_NO_MEMORY;
    else if (crest_distribution_subtract(grown, before.distribution) == CREST_OK)
        return grown;
    crest_distribution_free(grown);
    return NULL;
}

static crest_status hlog_lines(hlog *self, const crest_report *report)
{
    size_t size = crest_snapshot_size(report->snapshot);
    crest_status status = CREST_OK;
    for (size_t i = 0; i < size && status == CREST_OK; i++) {
        crest_series_view view;
        if (crest_snapshot_series(report->snapshot, i, &view) != CREST_OK ||
            view.distribution == NULL)
            continue;
        crest_distribution *grown = hlog_grown(report, i, &view, &status);
        if (grown != NULL)
            status = hlog_line(self, report, &view, grown);
        crest_distribution_free(grown);
    }
    return status;
}

static crest_status hlog_report(crest_reporter *reporter, const crest_report *report,
                                crest_error *error)
{
    hlog *self = reporter->state;
    crest_status status = crest_appended_file_begin(&self->file, report->deadline_ns, error);
    if (status != CREST_OK)
        return status;
    if (self->file.before == 0 || (self->file.before < 0 && report->previous == NULL))
        hlog_head(self, report);
    status = hlog_lines(self, report);
    if (status != CREST_OK) {
        crest_appended_file_abandon(&self->file);
        return crest_error_set(error, status, "No memory for the lines of an HdrHistogram log");
    }
    status = crest_appended_file_end(&self->file, error);
    if (status == CREST_OK)
        self->since_ns = crest_snapshot_time_ns(report->snapshot);
    return status;
}

static void hlog_free(crest_reporter *reporter)
{
    hlog *self = reporter->state;
    crest_appended_file_fini(&self->file);
    free(self->bytes);
    free(self);
}

/* ---- making one ---- */

crest_reporter *crest_hlog_new(const crest_hlog_options *options, crest_error *error)
{
    if (options == NULL || options->path == NULL || options->path[0] == '\0') {
        crest_error_set(error, CREST_INVALID_ARGUMENT,
                        "An HdrHistogram log needs a file, or - for standard output, as in "
                        "hlog=/var/log/x/latencies.hlog");
        return NULL;
    }
    hlog *self = calloc(1, sizeof *self);
    if (self == NULL) {
        crest_error_set(error, CREST_NO_MEMORY, "No memory for a reporter of HdrHistogram logs");
        return NULL;
    }
    if (crest_appended_file_init(&self->file, options->path, error) != CREST_OK) {
        free(self);
        return NULL;
    }
    self->since_ns = crest_now();
    self->reporter = (crest_reporter){
        .name = HLOG_NAME,
        .report = hlog_report,
        .free = hlog_free,
        .state = self,
        .deltas = 1,
    };
    return &self->reporter;
}

static crest_reporter *hlog_create(const char *value, const crest_options *options,
                                   const crest_resource *resource, crest_error *error)
{
    (void)options;
    (void)resource; /* comes with each report */
    return crest_hlog_new(&(crest_hlog_options){.path = value}, error);
}

const crest_reporter_kind crest_hlog_kind = {.name = HLOG_NAME, .create = hlog_create};
