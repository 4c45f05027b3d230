/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file that each report is appended to whole, or standard output. It is opened for each report,
 * so that it may be renamed meanwhile; what a failed report has written is truncated away, if it is
 * still the end of the file.
 *
 *     crest_status status = crest_appended_file_begin(file, report->deadline_ns, error);
 *     if (status != CREST_OK)
 *         return status;
 *     write_lines(crest_patient_output_write, &file->output);
 *     return crest_appended_file_end(file, error);
 */
#ifndef CREST_REPORTERS_APPENDED_FILE_H
#define CREST_REPORTERS_APPENDED_FILE_H

#include "common/deadline_output.h"

#include <crest/status.h>

#include <sys/types.h>

typedef struct crest_appended_file {
    char *path;      /* absolute; NULL: the stream */
    FILE *stream;    /* standard output; its owner may have standard error instead */
    int torn;        /* the last line is incomplete, and could not be truncated away */
    int file;        /* of the report under way; -1: none */
    off_t before;    /* the file's size when the report began; -1: it has none */
    unsigned prefix; /* bytes of the report under way that are not its caller's */
    size_t
        stays; /* bytes of the last report, which failed, that are there; 0: none, or it did not */
    crest_patient_output output;
} crest_appended_file;

/* `path` is copied; "-": standard output. Makes no file: the first report does. CREST_IO when the
 * file cannot be opened, or made; CREST_NO_MEMORY. */
crest_status crest_appended_file_init(crest_appended_file *file, const char *path,
                                      crest_error *error);
void crest_appended_file_fini(crest_appended_file *file);

/* CREST_IO. Every begin that succeeds needs its end. */
crest_status crest_appended_file_begin(crest_appended_file *file, uint64_t deadline_ns,
                                       crest_error *error);
/* CREST_OK: all that was written to file->output is in the file. CREST_IO, CREST_TIMED_OUT. */
crest_status crest_appended_file_end(crest_appended_file *file, crest_error *error);
/* Gives the report up: what it wrote is taken back. */
void crest_appended_file_abandon(crest_appended_file *file);

#endif
