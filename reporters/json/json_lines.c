/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The JSON lines reporter: a report into a file or standard output. See <crest/json_lines.h>.
 *
 * The lines are json_report.c's, the bytes deadline_output.c's; this file opens the output, and
 * takes a failed report back.
 */
#define _GNU_SOURCE
#include <crest/json_lines.h>

#include "json/json_report.h"
#include "kinds.h"
#include "common/deadline_output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define JSON_LINES_NAME "json"
#define JSON_LINES_MODE 0644
/* Of a path in a message. */
#define JSON_LINES_SHOWN_BYTES 300

typedef struct json_lines {
    crest_reporter reporter; /* first: what the caller holds */
    char *path;              /* absolute; NULL: standard output */
    crest_json_choice choice;
    int torn; /* the last line is incomplete, and could not be truncated away */
    crest_patient_output output;
} json_lines;

/* ---- a report ---- */

/* -1 with errno set. Non-blocking: a FIFO without a reader is an error. */
static int json_lines_open(const char *path)
{
    return crest_reporter_descriptor(open(
        path, O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, JSON_LINES_MODE));
}

/* The size of a file; -1 for what has none. */
static off_t json_lines_size(int file)
{
    struct stat about;
    return file >= 0 && fstat(file, &about) == 0 && S_ISREG(about.st_mode) ? about.st_size : -1;
}

/* Truncates away what a failed report has written, if it is still the end of the file. */
static void json_lines_take_back(json_lines *self, int file, off_t before)
{
    off_t written = (off_t)self->output.written;
    if (written == 0)
        return;
    if (before < 0 || json_lines_size(file) != before + written || ftruncate(file, before) != 0)
        self->torn = 1;
}

static crest_status json_lines_failed(const json_lines *self, int failed, crest_error *error)
{
    const char *advice = failed == ENOSPC || failed == EDQUOT ? ". Make room there"
                         : failed == EFBIG
                             ? ": the process's limit on the size of files (ulimit -f) is smaller"
                         : failed == ENXIO ? ": no process reads this FIFO"
                                           : "";
    return crest_error_set(error, failed == ETIMEDOUT ? CREST_TIMED_OUT : CREST_IO,
                           "Not written to %.*s: %s%s", JSON_LINES_SHOWN_BYTES,
                           self->path != NULL ? self->path : "standard output",
                           failed == ETIMEDOUT ? "it takes no more, and its reader is slow or hangs"
                                               : strerror(failed),
                           advice);
}

static crest_status json_lines_report(crest_reporter *reporter, const crest_report *report,
                                      crest_error *error)
{
    json_lines *self = reporter->state;
    int file = self->path != NULL ? json_lines_open(self->path) : -1;
    if (self->path != NULL && file < 0)
        return json_lines_failed(self, errno, error);
    off_t before = json_lines_size(file);
    crest_patient_output *output = &self->output;
    crest_patient_output_begin(output, self->path != NULL ? NULL : stdout, file,
                               report->deadline_ns);
    if (self->torn)
        crest_patient_output_write(output, "\n", 1);
    crest_json_report_write(report, &self->choice, crest_patient_output_write, output);
    int failed = crest_patient_output_end(output);
    if (failed)
        json_lines_take_back(self, file, before);
    else
        self->torn = 0;
    /* some file systems report only now that there was no room */
    if (file >= 0 && close(file) != 0 && failed == 0 && errno != EINTR)
        failed = errno;
    if (failed)
        return json_lines_failed(self, failed, error);
    self->choice.number++;
    return CREST_OK;
}

/* ---- making one ---- */

static void json_lines_free(crest_reporter *reporter)
{
    json_lines *self = reporter->state;
    free(self->path);
    free(self);
}

/* The path, made absolute; NULL without memory. */
static char *json_lines_absolute(const char *path)
{
    char *here = path[0] == '/' ? strdup("") : getcwd(NULL, 0), *absolute = NULL;
    if (here != NULL && asprintf(&absolute, "%s%s%s", here, path[0] == '/' ? "" : "/", path) < 0)
        absolute = NULL;
    free(here);
    return absolute;
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
    if (strcmp(options->path, "-") == 0)
        return CREST_OK;
    int file = json_lines_open(options->path);
    if (file < 0 && errno != ENXIO)
        return crest_error_set(error, CREST_IO,
                               "The file %.*s cannot be appended to: %s. Its directory must be "
                               "there, and the user this process runs as be allowed to write to it",
                               JSON_LINES_SHOWN_BYTES, options->path, strerror(errno));
    if (file >= 0)
        close(file);
    return CREST_OK;
}

crest_reporter *crest_json_lines_new(const crest_json_lines_options *options, crest_error *error)
{
    if (json_lines_check(options, error) != CREST_OK)
        return NULL;
    json_lines *self = calloc(1, sizeof *self);
    if (self != NULL && strcmp(options->path, "-") != 0 &&
        (self->path = json_lines_absolute(options->path)) == NULL) {
        free(self);
        self = NULL;
    }
    if (self == NULL) {
        crest_error_set(error, CREST_NO_MEMORY, "No memory for a reporter of JSON lines");
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
