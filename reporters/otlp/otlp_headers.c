/* SPDX-License-Identifier: Apache-2.0 */
/* Further headers of OTLP requests. See otlp_headers.h. */
#define _GNU_SOURCE
#include "otlp/otlp_headers.h"

#include <crest/reporter.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#define OTLP_HEADERS_OPTION "otlp.headers-file"

/* RFC 9110's token. */
static int otlp_headers_name_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c != '\0' && strchr("!#$%&'*+-.^_`|~", c) != NULL);
}

/* What is wrong with a header, or NULL. Those that say how the body is sent are the transport's. */
static const char *otlp_headers_problem(const char *name, size_t length, const char *value)
{
    static const char *const ours[] = {
        "Host",       "Content-Length", "Content-Type", "Content-Encoding", "Transfer-Encoding",
        "Connection", "Expect"};
    if (length == 0)
        return "has no name before a colon";
    for (size_t i = 0; i < length; i++)
        if (!otlp_headers_name_byte(name[i]))
            return "has a name that HTTP does not allow";
    for (unsigned i = 0; i < sizeof ours / sizeof ours[0]; i++)
        if (strlen(ours[i]) == length && strncasecmp(name, ours[i], length) == 0)
            return "is a header that the request has of itself";
    for (; *value != '\0'; value++)
        if ((unsigned char)*value < ' ' && *value != '\t')
            return "has a control character in its value";
    return NULL;
}

/* ---- the list ---- */

static crest_status otlp_headers_keep(crest_otlp_headers *headers, const crest_page_label *header,
                                      crest_error *error)
{
    const char *problem = otlp_headers_problem(header->key, strlen(header->key), header->value);
    if (headers->kept_count == CREST_OTLP_HEADERS_MAX)
        problem = "is one too many";
    if (problem != NULL)
        return crest_error_set(error, CREST_INVALID_ARGUMENT, "The OTLP header \"%.60s\" %s",
                               header->key, problem);
    char *line = NULL;
    if (asprintf(&line, "%s: %s", header->key, header->value) < 0)
        return crest_error_set(error, CREST_NO_MEMORY, "No memory for an OTLP reporter");
    headers->kept[headers->kept_count++] = line;
    return CREST_OK;
}

/* ---- the file ---- */

/* Reads the whole file; what is wrong, or NULL. */
static const char *otlp_headers_load(crest_otlp_headers *headers, mode_t *mode)
{
    struct stat about;
    const char *problem = NULL;
    int fd = crest_reporter_descriptor(
        open(headers->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (fd < 0)
        return strerror(errno);
    if (fstat(fd, &about) != 0)
        problem = strerror(errno);
    else if (!S_ISREG(about.st_mode))
        problem = "it is not a regular file";
    *mode = problem == NULL ? about.st_mode : 0;
    while (problem == NULL && headers->bytes <= CREST_OTLP_HEADERS_FILE_BYTES_MAX) {
        ssize_t got = read(fd, headers->file + headers->bytes,
                           CREST_OTLP_HEADERS_FILE_BYTES_MAX + 1 - headers->bytes);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            problem = strerror(errno);
        if (got <= 0)
            break;
        headers->bytes += (size_t)got;
    }
    close(fd);
    if (problem == NULL && headers->bytes > CREST_OTLP_HEADERS_FILE_BYTES_MAX)
        problem = "it has more than 16 KiB";
    if (problem == NULL && memchr(headers->file, '\0', headers->bytes) != NULL)
        problem = "it has a NUL in it";
    headers->file[headers->bytes] = '\0';
    return problem;
}

/* Adds a header of the file, in place of one of the list that has its name. What is wrong, or NULL.
 */
static const char *otlp_headers_take(crest_otlp_headers *headers, char *line)
{
    char *colon = strchr(line, ':');
    if (colon == NULL)
        return "has no colon";
    size_t length = (size_t)(colon - line);
    const char *problem = otlp_headers_problem(line, length, colon + 1);
    if (problem != NULL)
        return problem;
    unsigned at = 0;
    while (at < headers->count && strncasecmp(headers->lines[at], line, length + 1) != 0)
        at++;
    if (at == CREST_OTLP_HEADERS_MAX)
        return "is one too many; there may be 32 headers";
    headers->lines[at] = line;
    headers->count += at == headers->count;
    return NULL;
}

static crest_status otlp_headers_parse(crest_otlp_headers *headers, crest_error *error)
{
    unsigned number = 0;
    for (char *line = headers->file; line != NULL;) {
        char *next = strchr(line, '\n'), *end = next != NULL ? next : line + strlen(line);
        number++;
        if (next != NULL)
            *next++ = '\0';
        if (end > line && end[-1] == '\r')
            end[-1] = '\0';
        const char *problem = line[strspn(line, " \t")] == '\0' || line[0] == '#'
                                  ? NULL
                                  : otlp_headers_take(headers, line);
        if (problem != NULL)
            return crest_error_set(error, CREST_IO,
                                   OTLP_HEADERS_OPTION ": line %u of %s %s; a line is \"Name: "
                                                       "value\"",
                                   number, headers->path, problem);
        line = next;
    }
    return CREST_OK;
}

static void otlp_headers_tell(crest_otlp_headers *headers, mode_t mode)
{
    if ((mode & S_IROTH) == 0 || headers->told)
        return;
    headers->told = 1;
    crest_log_write(CREST_LOG_WARNING,
                    "crest: otlp: the file %s holds headers, often a secret, and everybody on this "
                    "machine can read it (mode %04o); chmod o-rwx it",
                    headers->path, (unsigned)mode & 07777u);
}

crest_status crest_otlp_headers_read(crest_otlp_headers *headers, crest_error *error)
{
    mode_t mode = 0;
    headers->count = headers->kept_count;
    for (unsigned i = 0; i < headers->kept_count; i++)
        headers->lines[i] = headers->kept[i];
    if (headers->path == NULL)
        return CREST_OK;
    headers->bytes = 0;
    headers->file = malloc(CREST_OTLP_HEADERS_FILE_BYTES_MAX + 2);
    if (headers->file == NULL)
        return crest_error_set(error, CREST_NO_MEMORY, "No memory for the headers of %s",
                               headers->path);
    const char *problem = otlp_headers_load(headers, &mode);
    crest_status status = CREST_OK;
    if (problem != NULL)
        status =
            crest_error_set(error, CREST_IO, OTLP_HEADERS_OPTION ": the file %s cannot be read: %s",
                            headers->path, problem);
    else
        status = otlp_headers_parse(headers, error);
    if (status == CREST_OK)
        otlp_headers_tell(headers, mode);
    else
        crest_otlp_headers_wipe(headers);
    return status;
}

void crest_otlp_headers_wipe(crest_otlp_headers *headers)
{
    if (headers->file != NULL)
        explicit_bzero(headers->file, headers->bytes);
    free(headers->file);
    headers->file = NULL;
    headers->count = 0;
}

/* ---- making and ending ---- */

crest_status crest_otlp_headers_init(crest_otlp_headers *headers, const char *path,
                                     const crest_page_label *list, unsigned count,
                                     crest_error *error)
{
    for (unsigned i = 0; i < count; i++) {
        crest_status status = otlp_headers_keep(headers, &list[i], error);
        if (status != CREST_OK)
            return status;
    }
    if (path == NULL)
        return CREST_OK;
    headers->path = strdup(path);
    if (headers->path == NULL)
        return crest_error_set(error, CREST_NO_MEMORY, "No memory for an OTLP reporter");
    crest_status status = crest_otlp_headers_read(headers, error);
    crest_otlp_headers_wipe(headers);
    if (status == CREST_IO)
        status = CREST_INVALID_ARGUMENT;
    if (error != NULL && status != CREST_OK)
        error->status = status;
    return status;
}

void crest_otlp_headers_fini(crest_otlp_headers *headers)
{
    crest_otlp_headers_wipe(headers);
    for (unsigned i = 0; i < headers->kept_count; i++) {
        explicit_bzero(headers->kept[i], strlen(headers->kept[i]));
        free(headers->kept[i]);
    }
    headers->kept_count = 0;
    free(headers->path);
    headers->path = NULL;
}
