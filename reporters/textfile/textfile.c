/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The textfile reporter: a page into a file for node_exporter. See <crest/textfile.h>.
 *
 * The encoder (crest_snapshot_write) makes the page, textfile_page.c adapts it to node_exporter,
 * atomic_file.c writes the file; this file has the options, and checks the labels of all lines.
 */
#define _GNU_SOURCE
#include <crest/textfile.h>

#include "kinds.h"
#include "common/shown_text.h"
#include "common/write_signals.h"
#include "common/atomic_file.h"
#include "textfile/textfile_page.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TEXTFILE_NAME "textfile"
#define TEXTFILE_LABEL_PREFIX "textfile.label."
#define TEXTFILE_SUFFIX ".prom"
#define TEXTFILE_MODE 0644
/* Of a path in a message. */
#define TEXTFILE_SHOWN_BYTES 300
/* Of crest_target_info, the reporter's own included; as many as a page takes. */
#define TEXTFILE_TARGETS_MAX 64u

typedef struct textfile {
    crest_reporter reporter; /* first: what the caller holds */
    crest_replaced_file *file;
    char *labels; /* as on a line */
    char **keys;
    unsigned key_count;
    int windows, sync, remove_on_stop;
    int written; /* the file is ours */
} textfile;

/* ---- a report ---- */

static int textfile_has_key(const textfile *self, const char *key)
{
    for (unsigned i = 0; i < self->key_count; i++)
        if (strcmp(self->keys[i], key) == 0)
            return 1;
    return 0;
}

/* A line with one label twice is invalid, and node_exporter would refuse the whole file. */
static crest_status textfile_check_clashes(const textfile *self, const crest_snapshot *snapshot,
                                           crest_error *error)
{
    const char *const *checked = NULL;
    size_t size = self->key_count != 0 ? crest_snapshot_size(snapshot) : 0;
    for (size_t i = 0; i < size; i++) {
        crest_series_view series;
        if (crest_snapshot_series(snapshot, i, &series) != CREST_OK)
            break;
        /* series of one metric are adjacent and share their keys */
        if (series.label_keys == checked)
            continue;
        checked = series.label_keys;
        for (unsigned k = 0; k < series.label_count; k++)
            if (textfile_has_key(self, series.label_keys[k]))
                return crest_error_set(
                    error, CREST_INVALID_LABEL,
                    "Not written to %.*s: the metric %s has a label \"%s\" of its own, and every "
                    "line is to have one too. Rename %s%s, or the metric's",
                    TEXTFILE_SHOWN_BYTES, self->file->path, series.name, series.label_keys[k],
                    TEXTFILE_LABEL_PREFIX, series.label_keys[k]);
    }
    return CREST_OK;
}

/* What crest_target_info says: no instance, which is node_exporter's; no label that every line has
 * anyway. */
static unsigned textfile_target(const textfile *self, const crest_resource *resource,
                                crest_page_label target[TEXTFILE_TARGETS_MAX])
{
    const crest_page_label own[] = {{"service", resource->service}, {"version", resource->version}};
    unsigned count = 0;
    for (unsigned i = 0; i < 2; i++)
        if (own[i].value != NULL && own[i].value[0] != '\0' && !textfile_has_key(self, own[i].key))
            target[count++] = own[i];
    for (unsigned i = 0; i < resource->label_count && count < TEXTFILE_TARGETS_MAX; i++) {
        const char *key = resource->labels[i].key;
        if (!textfile_has_key(self, key) && strcmp(key, "instance") != 0 && strcmp(key, "job") != 0)
            target[count++] = resource->labels[i];
    }
    return count;
}

/* What an operator can do about it. */
static const char *textfile_advice(int failed)
{
    switch (failed) {
    case ENOSPC:
    case EDQUOT: return ". Make room there";
    case EFBIG: return ": the process's limit on the size of files (ulimit -f) is smaller";
    case EACCES:
    case EPERM: return ". The user this process runs as must be allowed to write there";
    case ENOENT: return ". Make the directory again";
    case EISDIR: return ". There is a directory of this name";
    default: return "";
    }
}

static crest_status textfile_failed(const textfile *self, crest_error *error)
{
    const crest_replaced_file *file = self->file;
    return crest_error_set(error, file->failed == ETIMEDOUT ? CREST_TIMED_OUT : CREST_IO,
                           "Not written to %.*s: %s: %s%s. %s", TEXTFILE_SHOWN_BYTES, file->path,
                           file->doing, strerror(file->failed), textfile_advice(file->failed),
                           self->written ? "The page before stays there"
                                         : "No page was written yet");
}

static crest_status textfile_write(textfile *self, const crest_report *report, crest_error *error)
{
    crest_page_label target[TEXTFILE_TARGETS_MAX];
    crest_page_options options = {
        .windows = report->final   ? CREST_PAGE_WINDOWS_NONE
                   : self->windows ? CREST_PAGE_WINDOWS_ALL
                                   : CREST_PAGE_WINDOWS_RANGES,
        .target = target,
        .target_count = textfile_target(self, report->resource, target),
    };
    if (crest_replaced_file_begin(self->file, report->deadline_ns) != 0)
        return textfile_failed(self, error);
    crest_textfile_page page;
    crest_textfile_page_init(&page, self->labels, crest_replaced_file_write, self->file);
    crest_status status = crest_snapshot_write(report->snapshot, CREST_FORMAT_PROMETHEUS_TEXT,
                                               &options, crest_textfile_page_write, &page, error);
    if (self->file->failed == 0 && status == CREST_OK &&
        crest_replaced_file_commit(self->file, TEXTFILE_MODE, self->sync) == 0)
        self->written = 1;
    if (self->file->failed != 0)
        return textfile_failed(self, error);
    if (status != CREST_OK)
        crest_replaced_file_abandon(self->file);
    return status;
}

static crest_status textfile_report(crest_reporter *reporter, const crest_report *report,
                                    crest_error *error)
{
    textfile *self = reporter->state;
    crest_status status = textfile_check_clashes(self, report->snapshot, error);
    if (status != CREST_OK)
        return status;
    crest_quiet_signals quiet;
    crest_quiet_signals_begin(&quiet);
    status = textfile_write(self, report, error);
    crest_quiet_signals_end(&quiet);
    return status;
}

static crest_status textfile_stop(crest_reporter *reporter, uint64_t deadline_ns,
                                  crest_error *error)
{
    (void)deadline_ns;
    textfile *self = reporter->state;
    if (!self->remove_on_stop || !self->written)
        return CREST_OK;
    int failed = crest_replaced_file_remove(self->file);
    if (failed != 0 && failed != ENOENT)
        return crest_error_set(error, CREST_IO, "%.*s was not removed: %s%s", TEXTFILE_SHOWN_BYTES,
                               self->file->path, strerror(failed), textfile_advice(failed));
    self->written = 0;
    return CREST_OK;
}

static void textfile_free(crest_reporter *reporter)
{
    textfile *self = reporter->state;
    for (unsigned i = 0; self->keys != NULL && i < self->key_count; i++)
        free(self->keys[i]);
    free(self->keys);
    free(self->labels);
    crest_replaced_file_free(self->file);
    free(self);
}

/* ---- making one ---- */

static crest_status textfile_check_path(const char *path, crest_error *error)
{
    const size_t suffix = strlen(TEXTFILE_SUFFIX);
    if (path == NULL || path[0] == '\0')
        return crest_error_set(error, CREST_INVALID_ARGUMENT,
                               "A textfile needs a path, as in textfile=/var/lib/x/node.prom");
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    size_t length = strlen(name);
    if (length <= suffix || strcmp(name + length - suffix, TEXTFILE_SUFFIX) != 0)
        return crest_error_set(error, CREST_INVALID_ARGUMENT,
                               "The textfile %.*s must have a name that ends in %s: node_exporter "
                               "reads no others",
                               TEXTFILE_SHOWN_BYTES, path, TEXTFILE_SUFFIX);
    if (length + CREST_REPLACED_FILE_EXTRA_BYTES > NAME_MAX)
        return crest_error_set(error, CREST_INVALID_ARGUMENT,
                               "The name of the textfile %.*s has %zu bytes; %u leave room for the "
                               "temporary file's",
                               TEXTFILE_SHOWN_BYTES, path, length,
                               NAME_MAX - CREST_REPLACED_FILE_EXTRA_BYTES);
    return CREST_OK;
}

/* The directory must be there, and be one we may write to. */
static crest_status textfile_check_directory(const char *path, crest_error *error)
{
    char folder[PATH_MAX];
    struct stat about;
    size_t length = (size_t)(strrchr(path, '/') - path) + 1;
    if (length >= sizeof folder)
        return crest_error_set(error, CREST_INVALID_ARGUMENT,
                               "The path of the textfile %.*s... is too long", 80, path);
    memcpy(folder, path, length);
    folder[length] = '\0';
    int failed = stat(folder, &about) != 0                                   ? errno
                 : !S_ISDIR(about.st_mode)                                   ? ENOTDIR
                 : faccessat(AT_FDCWD, folder, W_OK | X_OK, AT_EACCESS) != 0 ? errno
                                                                             : 0;
    if (failed == 0 && stat(path, &about) == 0 && S_ISDIR(about.st_mode))
        return crest_error_set(error, CREST_INVALID_ARGUMENT, "The textfile %.*s is a directory",
                               TEXTFILE_SHOWN_BYTES, path);
    if (failed == 0)
        return CREST_OK;
    return crest_error_set(
        error, CREST_IO,
        "No textfile can be written to the directory %.*s: %s. It must be "
        "there, and the user this process runs as must be allowed to write to it",
        TEXTFILE_SHOWN_BYTES, folder, strerror(failed));
}

static int textfile_key_is_valid(const char *key)
{
    static const char *const reserved[] = {"le", "quantile", "outcome", "job", "instance"};
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
    static const char rest[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
    for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++)
        if (strcmp(key, reserved[i]) == 0)
            return 0;
    return strspn(key, letters) != 0 && strncmp(key, "__", 2) != 0 &&
           key[strspn(key, rest)] == '\0';
}

static crest_status textfile_check_labels(const crest_textfile_options *options, crest_error *error)
{
    if (options->label_count > CREST_TEXTFILE_LABELS_MAX)
        return crest_error_set(error, CREST_LIMIT,
                               "A textfile has at most %u labels on every line; these are %u",
                               CREST_TEXTFILE_LABELS_MAX, options->label_count);
    for (unsigned i = 0; i < options->label_count; i++) {
        const crest_page_label *label = &options->labels[i];
        int valid = label->key != NULL && textfile_key_is_valid(label->key) &&
                    label->value != NULL && crest_push_text_valid(label->value);
        for (unsigned other = 0; valid && other < i; other++)
            valid = strcmp(options->labels[other].key, label->key) != 0;
        if (!valid)
            return crest_error_set(
                error, CREST_INVALID_LABEL,
                "The label \"%.100s\" cannot be on every line of a textfile: a key is letters, "
                "digits and _, only once there, and none of le, quantile, outcome, job, instance; "
                "a value is UTF-8",
                label->key != NULL && crest_push_text_valid(label->key) ? label->key : "");
    }
    return CREST_OK;
}

/* 0, or -1 when there is no memory. */
static int textfile_copy_labels(textfile *self, const crest_textfile_options *options)
{
    size_t length = 1;
    for (unsigned i = 0; i < options->label_count; i++)
        length +=
            1 + crest_textfile_page_label(options->labels[i].key, options->labels[i].value, NULL);
    self->labels = calloc(1, length);
    self->keys = calloc(options->label_count + 1, sizeof *self->keys);
    if (self->labels == NULL || self->keys == NULL)
        return -1;
    self->key_count = options->label_count;
    char *at = self->labels;
    for (unsigned i = 0; i < options->label_count; i++) {
        if (i > 0)
            *at++ = ',';
        at += crest_textfile_page_label(options->labels[i].key, options->labels[i].value, at);
        self->keys[i] = strdup(options->labels[i].key);
        if (self->keys[i] == NULL)
            return -1;
    }
    return 0;
}

crest_reporter *crest_textfile_new(const crest_textfile_options *options, crest_error *error)
{
    if (textfile_check_path(options != NULL ? options->path : NULL, error) != CREST_OK ||
        textfile_check_labels(options, error) != CREST_OK)
        return NULL;
    textfile *self = calloc(1, sizeof *self);
    if (self == NULL || (self->file = crest_replaced_file_new(options->path)) == NULL ||
        textfile_copy_labels(self, options) != 0) {
        crest_error_set(error, CREST_NO_MEMORY, "No memory for a textfile reporter");
        if (self != NULL) {
            self->reporter.state = self;
            textfile_free(&self->reporter);
        }
        return NULL;
    }
    self->reporter = (crest_reporter){
        .name = TEXTFILE_NAME,
        .report = textfile_report,
        .stop = textfile_stop,
        .free = textfile_free,
        .state = self,
    };
    self->windows = options->windows;
    self->sync = options->sync;
    self->remove_on_stop = options->remove_on_stop;
    if (textfile_check_directory(self->file->path, error) != CREST_OK) {
        textfile_free(&self->reporter);
        return NULL;
    }
    crest_replaced_file_sweep(self->file);
    return &self->reporter;
}

/* ---- from options ---- */

static crest_reporter *textfile_create(const char *value, const crest_options *options,
                                       const crest_resource *resource, crest_error *error)
{
    (void)resource; /* comes with each report */
    crest_page_label labels[CREST_TEXTFILE_LABELS_MAX + 1];
    crest_textfile_options made = {.path = value, .labels = labels};
    if (crest_option_switch(options, "textfile.windows", &made.windows, error) != CREST_OK ||
        crest_option_switch(options, "textfile.sync", &made.sync, error) != CREST_OK ||
        crest_option_switch(options, "textfile.remove-on-stop", &made.remove_on_stop, error) !=
            CREST_OK)
        return NULL;
    size_t cursor = 0;
    const char *key, *text;
    while (made.label_count <= CREST_TEXTFILE_LABELS_MAX &&
           crest_option_next(options, TEXTFILE_LABEL_PREFIX, &cursor, &key, &text))
        labels[made.label_count++] = (crest_page_label){key + strlen(TEXTFILE_LABEL_PREFIX), text};
    return crest_textfile_new(&made, error);
}

static const char *const textfile_keys[] = {
    "textfile.windows", "textfile.sync", "textfile.remove-on-stop", TEXTFILE_LABEL_PREFIX, NULL,
};

const crest_reporter_kind crest_textfile_kind = {
    .name = TEXTFILE_NAME,
    .keys = textfile_keys,
    .create = textfile_create,
};
