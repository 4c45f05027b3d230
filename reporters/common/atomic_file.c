/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Temporary file, write, rename. See atomic_file.h.
 */
#define _GNU_SOURCE
#include "common/atomic_file.h"

#include <crest/clock.h>
#include <crest/reporter.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define REPLACED_FILE_TRIES 8
#define REPLACED_FILE_DIGITS 16u

/* ---- names ---- */

static uint64_t replaced_file_random(void)
{
    uint64_t random;
    if (getrandom(&random, sizeof random, GRND_NONBLOCK) == (ssize_t)sizeof random)
        return random;
    /* early in the boot of a machine: O_EXCL is what keeps others' files safe, this only has to
       differ from try to try */
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_nsec << 32 ^ (uint64_t)now.tv_sec ^ (uint64_t)getpid() << 40;
}

/* Whether `name` is that of a temporary file of `of`. */
static int replaced_file_is_temporary(const char *name, const char *of)
{
    size_t length = strlen(of);
    if (name[0] != '.' || strncmp(name + 1, of, length) != 0 || name[length + 1] != '.')
        return 0;
    const char *digits = name + length + 2;
    return strspn(digits, "0123456789abcdef") == REPLACED_FILE_DIGITS &&
           strcmp(digits + REPLACED_FILE_DIGITS, ".tmp") == 0;
}

/* The directory of the path, opened; -1 with errno set. */
static int replaced_file_directory(const crest_replaced_file *file)
{
    char *folder = strndup(file->path, (size_t)(file->name - file->path));
    if (folder == NULL)
        return -1;
    int opened = crest_reporter_descriptor(open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    int kept = errno;
    free(folder);
    errno = kept;
    return opened;
}

/* ---- making one ---- */

crest_replaced_file *crest_replaced_file_new(const char *path)
{
    crest_replaced_file *file = calloc(1, sizeof *file);
    if (file == NULL)
        return NULL;
    file->directory = file->file = -1;
    char *here = path[0] == '/' ? strdup("") : getcwd(NULL, 0);
    int known = here != NULL;
    if (known && asprintf(&file->path, "%s%s%s", here, path[0] == '/' ? "" : "/", path) < 0)
        file->path = NULL;
    free(here);
    if (file->path != NULL)
        file->temporary = calloc(1, strlen(file->path) + CREST_REPLACED_FILE_EXTRA_BYTES + 1);
    if (file->temporary == NULL) {
        int kept = known ? ENOMEM : errno;
        crest_replaced_file_free(file);
        errno = kept;
        return NULL;
    }
    file->name = strrchr(file->path, '/') + 1;
    return file;
}

void crest_replaced_file_free(crest_replaced_file *file)
{
    if (file == NULL)
        return;
    if (file->temporary != NULL)
        crest_replaced_file_abandon(file);
    free(file->temporary);
    free(file->path);
    free(file);
}

/* ---- writing ---- */

/* Notes the first failure, and removes the temporary file. */
static int replaced_file_fail(crest_replaced_file *file, const char *doing, int failed)
{
    if (file->failed == 0) {
        file->failed = failed != 0 ? failed : EIO;
        file->doing = doing;
    }
    crest_replaced_file_abandon(file);
    return file->failed;
}

int crest_replaced_file_begin(crest_replaced_file *file, uint64_t deadline_ns)
{
    crest_replaced_file_abandon(file);
    file->deadline_ns = deadline_ns;
    file->failed = 0;
    file->used = 0;
    file->directory = replaced_file_directory(file);
    if (file->directory < 0)
        return replaced_file_fail(file, "opening its directory", errno);
    for (int tries = 0; tries < REPLACED_FILE_TRIES && file->file < 0; tries++) {
        sprintf(file->temporary, ".%s.%016llx.tmp", file->name,
                (unsigned long long)replaced_file_random());
        file->file = crest_reporter_descriptor(
            openat(file->directory, file->temporary,
                   O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
        if (file->file < 0 && errno != EEXIST && errno != EINTR)
            break;
    }
    if (file->file >= 0)
        return 0;
    file->temporary[0] = '\0';
    return replaced_file_fail(file, "making a temporary file beside it", errno);
}

static int replaced_file_out(crest_replaced_file *file, const char *bytes, size_t length)
{
    while (length > 0) {
        if (crest_now() >= file->deadline_ns)
            return replaced_file_fail(file, "writing the temporary file", ETIMEDOUT);
        ssize_t written = write(file->file, bytes, length);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return replaced_file_fail(file, "writing the temporary file",
                                      written < 0 ? errno : ENOSPC);
        bytes += written;
        length -= (size_t)written;
    }
    return 0;
}

static int replaced_file_flush(crest_replaced_file *file)
{
    size_t used = file->used;
    file->used = 0;
    return replaced_file_out(file, file->buffer, used);
}

int crest_replaced_file_write(void *context, const void *bytes, size_t length)
{
    crest_replaced_file *file = context;
    if (file->failed != 0)
        return file->failed;
    if (length > sizeof file->buffer - file->used && replaced_file_flush(file) != 0)
        return file->failed;
    if (length > sizeof file->buffer)
        return replaced_file_out(file, bytes, length);
    memcpy(file->buffer + file->used, bytes, length);
    file->used += length;
    return 0;
}

int crest_replaced_file_commit(crest_replaced_file *file, mode_t mode, int sync)
{
    if (file->failed != 0 || replaced_file_flush(file) != 0)
        return file->failed;
    if (fchmod(file->file, mode) != 0)
        return replaced_file_fail(file, "letting others read the temporary file", errno);
    if (sync && fsync(file->file) != 0)
        return replaced_file_fail(file, "waiting for the temporary file to be on the disk", errno);
    /* some file systems report only at close that there was no room */
    int closed = close(file->file);
    file->file = -1;
    if (closed != 0 && errno != EINTR)
        return replaced_file_fail(file, "closing the temporary file", errno);
    if (renameat(file->directory, file->temporary, file->directory, file->name) != 0)
        return replaced_file_fail(file, "renaming the temporary file", errno);
    file->temporary[0] = '\0';
    if (sync && fsync(file->directory) != 0)
        return replaced_file_fail(file, "waiting for the rename to be on the disk", errno);
    crest_replaced_file_abandon(file);
    return 0;
}

void crest_replaced_file_abandon(crest_replaced_file *file)
{
    if (file->file >= 0)
        close(file->file);
    if (file->temporary[0] != '\0')
        unlinkat(file->directory, file->temporary, 0);
    if (file->directory >= 0)
        close(file->directory);
    file->file = file->directory = -1;
    file->temporary[0] = '\0';
}

/* ---- removing ---- */

int crest_replaced_file_remove(const crest_replaced_file *file)
{
    return unlink(file->path) == 0 ? 0 : errno;
}

void crest_replaced_file_sweep(const crest_replaced_file *file)
{
    int folder = replaced_file_directory(file);
    DIR *directory = folder >= 0 ? fdopendir(folder) : NULL;
    if (directory == NULL) {
        if (folder >= 0)
            close(folder);
        return;
    }
    const struct dirent *entry;
    while ((entry = readdir(directory)) != NULL) {
        struct stat about;
        if (replaced_file_is_temporary(entry->d_name, file->name) &&
            fstatat(folder, entry->d_name, &about, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISREG(about.st_mode) && about.st_uid == geteuid() &&
            time(NULL) - about.st_mtime >= CREST_REPLACED_FILE_STALE_S)
            unlinkat(folder, entry->d_name, 0);
    }
    closedir(directory);
}
