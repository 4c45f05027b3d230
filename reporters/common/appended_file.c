/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file that reports are appended to. See appended_file.h.
 */
#define _GNU_SOURCE
#include "common/appended_file.h"

#include <crest/reporter.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define APPENDED_MODE 0644
/* Of a path in a message. */
#define APPENDED_SHOWN_BYTES 300

/* -1 with errno set. Non-blocking: a FIFO without a reader is an error. `flags`: O_CREAT or 0. */
static int appended_open(const char *path, int flags)
{
    return crest_reporter_descriptor(
        open(path, O_WRONLY | O_APPEND | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | flags, APPENDED_MODE));
}

/* Whether a file that is not there could be made, which is not tried: 0, or the errno that speaks
 * against it. */
static int appended_could_make(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (slash != NULL && slash[1] == '\0')
        return EISDIR;
    char *folder = slash == NULL ? strdup(".") : strndup(path, (size_t)(slash - path) + 1);
    int failed = folder == NULL                                              ? ENOMEM
                 : faccessat(AT_FDCWD, folder, W_OK | X_OK, AT_EACCESS) != 0 ? errno
                                                                             : 0;
    free(folder);
    return failed;
}

/* Whether the file can be appended to, or could be made: 0, or an errno. Changes nothing. */
static int appended_try(const char *path)
{
    int tried = appended_open(path, 0), failed = tried < 0 ? errno : 0;
    if (tried >= 0)
        close(tried);
    if (failed == ENXIO) /* a FIFO whose reader comes later */
        return 0;
    return failed == ENOENT ? appended_could_make(path) : failed;
}

/* The size of a file; -1 for what has none. */
static off_t appended_size(int file)
{
    struct stat about;
    return file >= 0 && fstat(file, &about) == 0 && S_ISREG(about.st_mode) ? about.st_size : -1;
}

/* Truncates away what a failed report has written, if it is still the end of the file. */
static void appended_take_back(crest_appended_file *file)
{
    off_t written = (off_t)file->output.written;
    if (written == 0)
        return;
    if (file->before < 0 || appended_size(file->file) != file->before + written ||
        ftruncate(file->file, file->before) != 0) {
        file->torn = 1;
        file->stays = (size_t)written - file->prefix;
    }
}

static crest_status appended_failed(const crest_appended_file *file, int failed, crest_error *error)
{
    const char *advice = failed == ENOSPC || failed == EDQUOT ? ". Make room there"
                         : failed == EFBIG
                             ? ": the process's limit on the size of files (ulimit -f) is smaller"
                         : failed == ENXIO ? ": no process reads this FIFO"
                                           : "";
    return crest_error_set(error, failed == ETIMEDOUT ? CREST_TIMED_OUT : CREST_IO,
                           "Not written to %.*s: %s%s", APPENDED_SHOWN_BYTES,
                           file->path != NULL       ? file->path
                           : file->stream == stderr ? "standard error"
                                                    : "standard output",
                           failed == ETIMEDOUT ? "it takes no more, and its reader is slow or hangs"
                                               : strerror(failed),
                           advice);
}

/* The path, made absolute; NULL without memory. */
static char *appended_absolute(const char *path)
{
    char *here = path[0] == '/' ? strdup("") : getcwd(NULL, 0), *absolute = NULL;
    if (here != NULL && asprintf(&absolute, "%s%s%s", here, path[0] == '/' ? "" : "/", path) < 0)
        absolute = NULL;
    free(here);
    return absolute;
}

crest_status crest_appended_file_init(crest_appended_file *file, const char *path,
                                      crest_error *error)
{
    file->path = NULL;
    file->stream = stdout;
    file->torn = 0;
    file->file = -1;
    if (strcmp(path, "-") == 0)
        return CREST_OK;
    int failed = appended_try(path);
    if (failed != 0)
        return crest_error_set(error, CREST_IO,
                               "The file %.*s cannot be appended to: %s. Its directory must be "
                               "there, and the user this process runs as be allowed to write to it",
                               APPENDED_SHOWN_BYTES, path, strerror(failed));
    file->path = appended_absolute(path);
    return file->path != NULL ? CREST_OK
                              : crest_error_set(error, CREST_NO_MEMORY, "No memory for a path");
}

void crest_appended_file_fini(crest_appended_file *file)
{
    free(file->path);
}

crest_status crest_appended_file_begin(crest_appended_file *file, uint64_t deadline_ns,
                                       crest_error *error)
{
    file->file = file->path != NULL ? appended_open(file->path, O_CREAT) : -1;
    if (file->path != NULL && file->file < 0)
        return appended_failed(file, errno, error);
    file->before = appended_size(file->file);
    crest_patient_output_begin(&file->output, file->path != NULL ? NULL : file->stream, file->file,
                               deadline_ns);
    file->prefix = file->torn != 0;
    file->stays = 0;
    if (file->torn)
        crest_patient_output_write(&file->output, "\n", 1);
    return CREST_OK;
}

/* Closes the file; 0, or the errno of the first failure. */
static int appended_close(crest_appended_file *file, int failed)
{
    if (failed)
        appended_take_back(file);
    else
        file->torn = 0;
    /* some file systems report only now that there was no room */
    if (file->file >= 0 && close(file->file) != 0 && failed == 0 && errno != EINTR)
        failed = errno;
    file->file = -1;
    return failed;
}

crest_status crest_appended_file_end(crest_appended_file *file, crest_error *error)
{
    int failed = appended_close(file, crest_patient_output_end(&file->output));
    return failed ? appended_failed(file, failed, error) : CREST_OK;
}

void crest_appended_file_abandon(crest_appended_file *file)
{
    int failed = crest_patient_output_end(&file->output);
    (void)appended_close(file, failed != 0 ? failed : ECANCELED);
}
