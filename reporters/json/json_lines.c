/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The JSON lines reporter: a report into a file or standard output. See <crest/json_lines.h>.
 *
 * The lines are json_report.c's, the file appended_file.c's.
 */
#include <crest/json_lines.h>

#include "json/json_report.h"
#include "kinds.h"
#include "common/appended_file.h"

#include <stdlib.h>

#define JSON_LINES_NAME "json"

typedef struct json_lines {
    crest_reporter reporter; /* first: what the caller holds */
    crest_json_choice choice;
    crest_appended_file file;
} json_lines;

static crest_status json_lines_report(crest_reporter *reporter, const crest_report *report,
                                      crest_error *error)
{
    json_lines *self = reporter->state;
    crest_status status = crest_appended_file_begin(&self->file, report->deadline_ns, error);
    if (status != CREST_OK)
        return status;
    crest_json_report_write(report, &self->choice, crest_patient_output_write, &self->file.output);
    status = crest_appended_file_end(&self->file, error);
    self->choice.number += status == CREST_OK;
    return status;
}

/* ---- making one ---- */

static void json_lines_free(crest_reporter *reporter)
{
    json_lines *self = reporter->state;
    crest_appended_file_fini(&self->file);
    free(self);
}

static crest_status json_lines_check(const crest_json_lines_options *options, crest_error *error)
{
    if (options == NULL || options->path == NULL || options->path[0] == '\0')
        return crest_error_set(error, CREST_INVALID_ARGUMENT,
                               "JSON lines need a file, or - for standard output, as in "
                               "json=/var/log/x/metrics.jsonl");
    if ((unsigned)options->buckets > CREST_JSON_BUCKETS_NONE)
        return crest_error_set(error, CREST_INVALID_ARGUMENT, "There are no buckets of number %u",
                               (unsigned)options->buckets);
    return CREST_OK;
}

crest_reporter *crest_json_lines_new(const crest_json_lines_options *options, crest_error *error)
{
    if (json_lines_check(options, error) != CREST_OK)
        return NULL;
    json_lines *self = calloc(1, sizeof *self);
    if (self == NULL) {
        crest_error_set(error, CREST_NO_MEMORY, "No memory for a reporter of JSON lines");
        return NULL;
    }
    if (crest_appended_file_init(&self->file, options->path, error) != CREST_OK) {
        free(self);
        return NULL;
    }
    self->choice = (crest_json_choice){
        .number = 1, .buckets = options->buckets, .no_windows = options->no_windows};
    self->reporter = (crest_reporter){
        .name = JSON_LINES_NAME,
        .report = json_lines_report,
        .free = json_lines_free,
        .state = self,
        .deltas = 1,
    };
    return &self->reporter;
}

/* ---- from options ---- */

static crest_reporter *json_lines_create(const char *value, const crest_options *options,
                                         const crest_resource *resource, crest_error *error)
{
    (void)resource; /* comes with each report */
    crest_json_lines_options made = {.path = value};
    int windows = 1;
    if (crest_option_switch(options, "json.windows", &windows, error) != CREST_OK ||
        crest_json_report_buckets(options, "json.buckets", &made.buckets, error) != CREST_OK)
        return NULL;
    made.no_windows = !windows;
    return crest_json_lines_new(&made, error);
}

static const char *const json_lines_keys[] = {"json.windows", "json.buckets", NULL};

const crest_reporter_kind crest_json_kind = {
    .name = JSON_LINES_NAME,
    .keys = json_lines_keys,
    .create = json_lines_create,
};
