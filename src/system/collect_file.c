/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of /proc and /sys, read whole or not at all, and what is told of files that cannot be read.
 * See collector.h.
 */
#define _GNU_SOURCE
#include "base/alloc.h"
#include "base/descriptor.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/utf8.h"
#include "system/system_inside.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define COLLECT_FILE_FIRST_BYTES 4096u
/* Bytes of a malformed text that are shown. */
#define COLLECT_FILE_SHOWN_BYTES 40u

static const char *const collect_file_causes[] = {
#define COLLECT_FILE_CAUSE(name, text) text,
    CREST_COLLECT_CAUSES(COLLECT_FILE_CAUSE)
#undef COLLECT_FILE_CAUSE
};

/* ---- failures ---- */

static void collect_file_count(const crest_collector *collector, crest_cause cause)
{
    static const char *const keys[] = {"collector", "cause"};
    static const crest_metric_options options = {
        .name = "crest.collect-failures",
        .description = "Sources of collectors that could not be read, or read without doubt."};
    const char *values[] = {collector->kind->name, collect_file_causes[cause]};
    crest_status status;
    crest_counter_family family =
        crest_counter_family_new(collector->system->registry, &options, keys, 2, &status);
    if (status == CREST_OK)
        crest_counter_inc(crest_counter_family_get(&family, values, 2));
}

void crest_collect_fail(crest_collect *collect, crest_cause cause, const char *what,
                        const char *came_back)
{
    crest_collector *collector = crest_collector_of(collect);
    char text[2 * CREST_SYSTEM_WHY_BYTES];
    snprintf(text, sizeof text, "%s: %s", what, came_back);
    crest_utf8_copy(text, collector->failure, sizeof collector->failure, NULL);
    collector->failed++;
    collect_file_count(collector, cause);
    if (((collector->told | collector->tell) & 1u << cause) != 0)
        return;
    collector->tell |= 1u << cause;
    memcpy(collector->to_tell[cause], collector->failure, sizeof collector->failure);
}

void crest_collect_tell(crest_collector *collector)
{
    uint32_t tell = collector->tell;
    collector->tell = 0; /* without a log callback, a cause is told when it happens again */
    for (unsigned cause = 0; tell != 0 && cause < CREST_CAUSE_COUNT; cause++) {
        if ((tell & 1u << cause) == 0 || !crest_log_wanted())
            continue;
        collector->told |= 1u << cause;
        crest_log_write(CREST_LOG_WARNING,
                        "crest: the collector %s: %s; what comes from there is not exported "
                        "(crest_collect_failures_total{collector=\"%s\",cause=\"%s\"} counts on)",
                        collector->kind->name, collector->to_tell[cause], collector->kind->name,
                        collect_file_causes[cause]);
    }
}

/* The source's place among the denied sources, or their end. */
static unsigned collect_file_denied(const crest_collector *collector, uint64_t source)
{
    unsigned i = 0;
    while (i < collector->denied_count && collector->denied[i] != source)
        i++;
    return i;
}

/* A source that may not be read, as by a daemon that gave up root, is likely to stay so. It is a
 * failure once, not at each collection, which an alert would take for trouble. Returns whether to
 * count it. */
static int collect_file_newly_denied(crest_collector *collector, const char *what)
{
    uint64_t source = crest_hash_text(crest_hash_seed(), what);
    if (collect_file_denied(collector, source) < collector->denied_count)
        return 0;
    if (collector->denied_count < CREST_COLLECT_DENIED_MAX)
        collector->denied[collector->denied_count++] = source;
    return 1;
}

/* Forgets that the source was denied: it can be read, so a later denial is news. */
static void collect_file_allowed(crest_collector *collector, const char *what)
{
    if (collector->denied_count == 0)
        return;
    unsigned at = collect_file_denied(collector, crest_hash_text(crest_hash_seed(), what));
    if (at < collector->denied_count)
        collector->denied[at] = collector->denied[--collector->denied_count];
}

void crest_collect_fail_errno(crest_collect *collect, const char *what, int error)
{
    crest_cause cause = CREST_CAUSE_UNREADABLE;
    if (error == ENOENT || error == ENOTDIR || error == ESRCH || error == ENODEV)
        cause = CREST_CAUSE_MISSING;
    else if (error == EACCES || error == EPERM)
        cause = CREST_CAUSE_DENIED;
    else if (error == ENOMEM)
        cause = CREST_CAUSE_NO_MEMORY;
    if (cause == CREST_CAUSE_DENIED &&
        !collect_file_newly_denied(crest_collector_of(collect), what))
        return;
    crest_collect_fail(collect, cause, what, strerror(error));
}

void crest_collect_garbage(crest_collect *collect, const char *what, crest_text text)
{
    char shown[COLLECT_FILE_SHOWN_BYTES + 8], why[COLLECT_FILE_SHOWN_BYTES + 64];
    char where[2 * CREST_SYSTEM_WHY_BYTES];
    size_t length = crest_text_length(text), at = 0;
    for (; at < length && at < COLLECT_FILE_SHOWN_BYTES && text.at[at] != '\n'; at++)
        shown[at] = text.at[at] >= ' ' && text.at[at] <= '~' ? text.at[at] : '?';
    shown[at] = '\0';
    snprintf(why, sizeof why, "not what was expected there: \"%s\"", shown);
    int whole =
        crest_collect_path(collect, crest_collector_of(collect)->root, what, where, sizeof where);
    crest_collect_fail(collect, CREST_CAUSE_GARBAGE, whole ? where : what, why);
}

/* ---- files ---- */

/* Whether the error means that the file, its subject or that part of the kernel is missing. */
static int collect_file_missing(int error)
{
    return error == ENOENT || error == ENOTDIR || error == ENODEV || error == EOPNOTSUPP;
}

int crest_collect_path(const crest_collect *collect, crest_root root, const char *path, char *whole,
                       size_t room)
{
    const char *base = root == CREST_ROOT_PROC ? collect->settings->proc : collect->settings->sys;
    int length = snprintf(whole, room, "%s/%s", base, path);
    return length >= 0 && (size_t)length < room;
}

static int collect_file_grow(crest_collector *collector, size_t bytes)
{
    char *larger = crest_alloc_resize(collector->buffer, bytes, 1);
    if (larger == NULL)
        return 0;
    collector->buffer = larger;
    collector->buffer_bytes = bytes;
    return 1;
}

/* Reads the whole file. 0, or why not: an errno, or -1 when it is longer than the bound. */
static int collect_file_fill(crest_collector *collector, int file, size_t *length)
{
    *length = 0;
    for (;;) {
        if (*length == collector->buffer_bytes) {
            size_t bytes = 2 * collector->buffer_bytes;
            if (*length > CREST_COLLECT_FILE_BYTES_MAX)
                return -1;
            if (!collect_file_grow(collector, bytes ? bytes : COLLECT_FILE_FIRST_BYTES))
                return ENOMEM;
        }
        ssize_t got = read(file, collector->buffer + *length, collector->buffer_bytes - *length);
        if (got > 0)
            *length += (size_t)got;
        else if (got == 0)
            return *length > CREST_COLLECT_FILE_BYTES_MAX ? -1 : 0;
        else if (errno != EINTR)
            return errno;
    }
}

DIR *crest_collect_folder(const char *path)
{
    int file = crest_descriptor_high(open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK));
    DIR *folder = file >= 0 ? fdopendir(file) : NULL;
    if (folder == NULL && file >= 0) {
        int why = errno;
        close(file);
        errno = why;
    }
    return folder;
}

int crest_collect_read(crest_collect *collect, crest_root root, const char *path, unsigned flags,
                       crest_text *text)
{
    crest_collector *collector = crest_collector_of(collect);
    char whole[CREST_SYSTEM_PATH_BYTES_MAX + CREST_COLLECT_DEVICE_BYTES + 64];
    if (!crest_collect_path(collect, root, path, whole, sizeof whole)) {
        crest_collect_fail(collect, CREST_CAUSE_LIMIT, path, "the path is too long");
        return 0;
    }
    size_t length = 0;
    collector->root = root;
    /* non-blocking: a pipe may stand in the file's place */
    int file = crest_descriptor_high(open(whole, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    int error = file < 0 ? errno : collect_file_fill(collector, file, &length);
    if (file >= 0)
        close(file);
    if (error == 0) {
        collect_file_allowed(collector, whole);
        *text = crest_text_of(collector->buffer, length);
        return 1;
    }
    if (error == -1) {
        char why[96];
        snprintf(why, sizeof why, "it is longer than %u bytes", CREST_COLLECT_FILE_BYTES_MAX);
        crest_collect_fail(collect, CREST_CAUSE_TRUNCATED, whole, why);
    } else if (!collect_file_missing(error) || (flags & CREST_READ_OPTIONAL) == 0) {
        crest_collect_fail_errno(collect, whole, error);
    }
    return 0;
}
