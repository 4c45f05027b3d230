/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Secrets from files. See http_secret.h.
 */
#define _GNU_SOURCE
#include "http/http_secret.h"

#include <crest/reporter.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What is wrong with it, or NULL. */
static const char *http_secret_problem(const char *text, size_t length)
{
    if (length == 0)
        return "is empty";
    if (length > CREST_HTTP_SECRET_BYTES_MAX)
        return "is too large for a secret";
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)text[i] < ' ' || text[i] == 0x7f)
            return "has more than one line, or a control character; it must be the secret alone";
    return NULL;
}

crest_status crest_http_secret_check(const char *text, const char *option, const char *name,
                                     crest_error *error)
{
    const char *problem = http_secret_problem(text, strlen(text));
    if (problem == NULL)
        return CREST_OK;
    return crest_error_set(error, CREST_INVALID_ARGUMENT, "%s: %s %s (at most %u bytes)", option,
                           name, problem, CREST_HTTP_SECRET_BYTES_MAX);
}

/* Opens a regular file; NULL, or what is wrong with it. Non-blocking, in case it is a pipe. */
static const char *http_secret_open(const char *path, int *fd, mode_t *mode)
{
    struct stat about;
    *fd = crest_reporter_descriptor(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (*fd < 0 || fstat(*fd, &about) != 0)
        return strerror(errno);
    *mode = about.st_mode;
    return S_ISREG(about.st_mode) ? NULL : "it is not a regular file";
}

/* All of it, and a byte more if there is more; -1 when it cannot be read. */
static ssize_t http_secret_fill(int fd, char *text, size_t size)
{
    size_t used = 0;
    while (used < size) {
        ssize_t got = read(fd, text + used, size - used);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -1;
        if (got == 0)
            break;
        used += (size_t)got;
    }
    return (ssize_t)used;
}

static size_t http_secret_trim(const char *text, size_t length)
{
    if (length > 0 && text[length - 1] == '\n')
        length--;
    else
        return length;
    return length > 0 && text[length - 1] == '\r' ? length - 1 : length;
}

crest_status crest_http_secret_read(crest_http_secret *secret, const char *option, const char *path,
                                    mode_t *mode, crest_error *error)
{
    /* Room for the line's end, and for one byte over the limit. */
    char bytes[CREST_HTTP_SECRET_BYTES_MAX + 3];
    int fd;
    size_t length = 0;
    secret->text[0] = '\0';
    const char *problem = http_secret_open(path, &fd, mode);
    if (problem == NULL) {
        ssize_t got = http_secret_fill(fd, bytes, sizeof bytes);
        if (got < 0)
            problem = strerror(errno);
        else
            length = http_secret_trim(bytes, (size_t)got);
    }
    if (fd >= 0)
        close(fd);
    crest_status status = CREST_OK;
    if (problem != NULL)
        status = crest_error_set(error, CREST_IO, "%s: the file %s cannot be read: %s", option,
                                 path, problem);
    else if ((problem = http_secret_problem(bytes, length)) != NULL)
        status = crest_error_set(error, CREST_IO, "%s: the file %s %s (at most %u bytes)", option,
                                 path, problem, CREST_HTTP_SECRET_BYTES_MAX);
    else {
        memcpy(secret->text, bytes, length);
        secret->text[length] = '\0';
    }
    explicit_bzero(bytes, sizeof bytes);
    return status;
}

void crest_http_secret_wipe(crest_http_secret *secret)
{
    explicit_bzero(secret, sizeof *secret);
}

void crest_http_secret_free(char *text)
{
    if (text != NULL)
        explicit_bzero(text, strlen(text));
    free(text);
}
