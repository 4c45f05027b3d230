/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Timing the node's own calls. See <crest/timed_io.h>; the probe's file is probe_file.c.
 */
#define _GNU_SOURCE
#include <crest/family.h>
#include <crest/timed_io.h>

#include "base/error.h"
#include "base/misuse.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *const timed_operations[CREST_TIMED_COUNT] = {"read", "write", "fsync",
                                                                "fdatasync"};

/* ---- the calls ---- */

/* Records a call by its result, and keeps errno as the call left it. */
static void timed_record(crest_timed_io *io, crest_timed_operation operation, uint64_t start_ns,
                         ssize_t result)
{
    int failure = errno;
    crest_outcome outcome = result >= 0        ? CREST_OUTCOME_OK
                            : failure == EINTR ? CREST_OUTCOME_CANCELLED
                                               : CREST_OUTCOME_ERROR;
    if (io == NULL || io->time[operation] == NULL)
        return;
    crest_timer_record(io->time[operation], (int64_t)(crest_now() - start_ns), outcome);
    if (operation <= CREST_TIMED_WRITE && io->size[operation] != NULL && result >= 0)
        crest_histogram_record(io->size[operation], result);
    errno = failure;
}

int crest_timed_fsync(crest_timed_io *io, int fd)
{
    uint64_t start_ns = crest_now();
    int result = fsync(fd);
    timed_record(io, CREST_TIMED_FSYNC, start_ns, result);
    return result;
}

int crest_timed_fdatasync(crest_timed_io *io, int fd)
{
    uint64_t start_ns = crest_now();
    int result = fdatasync(fd);
    timed_record(io, CREST_TIMED_FDATASYNC, start_ns, result);
    return result;
}

ssize_t crest_timed_pread(crest_timed_io *io, int fd, void *bytes, size_t count, off_t offset)
{
    uint64_t start_ns = crest_now();
    ssize_t result = pread(fd, bytes, count, offset);
    timed_record(io, CREST_TIMED_READ, start_ns, result);
    return result;
}

ssize_t crest_timed_pwrite(crest_timed_io *io, int fd, const void *bytes, size_t count,
                           off_t offset)
{
    uint64_t start_ns = crest_now();
    ssize_t result = pwrite(fd, bytes, count, offset);
    timed_record(io, CREST_TIMED_WRITE, start_ns, result);
    return result;
}

ssize_t crest_timed_preadv(crest_timed_io *io, int fd, const struct iovec *parts, int count,
                           off_t offset)
{
    uint64_t start_ns = crest_now();
    ssize_t result = preadv(fd, parts, count, offset);
    timed_record(io, CREST_TIMED_READ, start_ns, result);
    return result;
}

ssize_t crest_timed_pwritev(crest_timed_io *io, int fd, const struct iovec *parts, int count,
                            off_t offset)
{
    uint64_t start_ns = crest_now();
    ssize_t result = pwritev(fd, parts, count, offset);
    timed_record(io, CREST_TIMED_WRITE, start_ns, result);
    return result;
}

/* ---- its series ---- */

static crest_status timed_families(crest_timed_io *io, const char *store,
                                   const crest_timed_io_options *options)
{
    static const char *const keys[] = {"store", "operation"};
    char name[CREST_NAME_BYTES_MAX + 1];
    crest_status status, sizes = CREST_OK;
    const char *prefix = options->prefix != NULL ? options->prefix : "disk";
    snprintf(name, sizeof name, "%s.call-time", prefix);
    crest_metric_options metric = {.name = name,
                                   .description = "Calls that read, write or synchronise files.",
                                   .buckets = CREST_BUCKETS_FAST};
    crest_timer_family times = crest_timer_family_new(options->registry, &metric, keys, 2, &status);
    for (unsigned i = 0; status == CREST_OK && i < CREST_TIMED_COUNT; i++)
        io->time[i] =
            crest_timer_family_get(&times, (const char *const[]){store, timed_operations[i]}, 2);
    if (status != CREST_OK || !options->sizes)
        return status;
    snprintf(name, sizeof name, "%s.call-size", prefix);
    metric = (crest_metric_options){
        .name = name, .description = "What these calls read or wrote.", .unit = CREST_BYTES};
    crest_histogram_family family =
        crest_histogram_family_new(options->registry, &metric, keys, 2, &sizes);
    for (unsigned i = 0; sizes == CREST_OK && i < 2; i++)
        io->size[i] = crest_histogram_family_get(
            &family, (const char *const[]){store, timed_operations[i]}, 2);
    return sizes;
}

crest_status crest_timed_io_init(crest_timed_io *io, const char *store,
                                 const crest_timed_io_options *options, crest_error *error)
{
    static const crest_timed_io_options defaults = {.registry = NULL};
    crest_error_clear(error);
    memset(io, 0, sizeof *io);
    if (options == NULL)
        options = &defaults;
    if (store == NULL || store[0] == '\0' || strlen(store) > CREST_TIMED_STORE_BYTES_MAX) {
        crest_misuse_count(CREST_MISUSE_PROBE, "crest_timed_io_init");
        return crest_error_set(error, CREST_INVALID_ARGUMENT,
                               "a store whose calls are timed needs a name of 1 to %u bytes, the "
                               "value of its label",
                               CREST_TIMED_STORE_BYTES_MAX);
    }
    crest_status status = timed_families(io, store, options);
    if (status == CREST_OK)
        return status;
    memset(io, 0, sizeof *io);
    return crest_error_set(
        error, status, "the calls of the store %s cannot have their metrics %s.call-…: %s", store,
        options->prefix != NULL ? options->prefix : "disk", crest_status_text(status));
}
