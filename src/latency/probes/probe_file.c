/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Probing a disk with a small file. See crest_probe_file in <crest/timed_io.h>.
 *
 * Each probe has a thread of its own, because a disk may take seconds, or for ever
 * (base/leavable.h). The caller that stops it does not wait, and what the thread finds then is not
 * recorded. Shared between the two, under the prober's lock: the probe's state, and whether it is
 * stopped (`left`).
 */
#define _GNU_SOURCE
#include "base/alloc.h"
#include "base/descriptor.h"
#include "base/error.h"
#include "base/forked.h"
#include "base/sync.h"
#include "latency/probes/prober.h"

#include <crest/timed_io.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* O_DIRECT needs memory, sizes and offsets on this boundary, at most. */
#define FILE_ALIGNMENT 4096u

typedef enum file_operation {
    FILE_CREATE,
    FILE_WRITE,
    FILE_SYNC,
    FILE_READ,
    FILE_ROUND,
    FILE_OPERATIONS
} file_operation;
static const char *const file_words[FILE_OPERATIONS] = {"create", "write", "fdatasync", "read",
                                                        "round"};

typedef struct crest_probe_file_part {
    crest_leavable leavable;
    crest_probe *probe;
    char *directory;
    crest_timer *time[FILE_OPERATIONS];
    pthread_cond_t wake; /* wakes the thread: it is stopped */
    int failing;         /* the log was told of a failure */
    unsigned char memory[FILE_ALIGNMENT + 2 * CREST_FILE_PROBE_BYTES];
} file_part;

/* A round: how far the thread came, and how long each operation took. */
typedef struct file_round {
    uint64_t took_ns[FILE_OPERATIONS];
    file_operation at; /* the failed operation, or FILE_ROUND */
    int failure;       /* an error number; 0: none */
    int corrupt;       /* what was read is not what was written */
    int direct;
} file_round;

/* Probes with a thread. Under the prober's lock. */
static unsigned file_count;

/* Fork handler: the child has no such thread. */
static void file_forked(void)
{
    file_count = 0;
}
CREST_FORKED(PROBE_FILE, file_forked)

/* ---- one round, without the lock ---- */

static int file_open_named(const char *directory, int flags)
{
    char path[4096];
    int length = snprintf(path, sizeof path, "%s/.crest-probe-%016llx", directory,
                          (unsigned long long)crest_prober_random());
    if (length < 0 || (size_t)length >= sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    int fd = crest_descriptor_high(
        open(path, O_CREAT | O_EXCL | O_NOFOLLOW | O_RDWR | O_CLOEXEC | flags, 0600));
    int failure = errno;
    /* some file systems make the file before they refuse O_DIRECT */
    if (fd >= 0 || failure == EINVAL)
        unlink(path);
    errno = failure;
    return fd;
}

static int file_open_with(const char *directory, int flags)
{
    int fd = crest_descriptor_high(open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC | flags, 0600));
    /* EISDIR from kernels, EOPNOTSUPP from file systems that do not know O_TMPFILE */
    if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR))
        fd = file_open_named(directory, flags);
    return fd;
}

static int file_open(const char *directory, int *direct)
{
    int fd = file_open_with(directory, O_DIRECT);
    *direct = fd >= 0;
    if (fd < 0 && errno == EINVAL)
        fd = file_open_with(directory, 0);
    return fd;
}

static ssize_t file_do(file_operation operation, int fd, unsigned char *block)
{
    switch (operation) {
    case FILE_WRITE: return pwrite(fd, block, CREST_FILE_PROBE_BYTES, 0);
    case FILE_SYNC: return fdatasync(fd);
    default: return pread(fd, block + CREST_FILE_PROBE_BYTES, CREST_FILE_PROBE_BYTES, 0);
    }
}

/* Does one operation on the open file; non-zero when the round goes on. */
static int file_step(file_round *round, file_operation operation, int fd, unsigned char *block)
{
    uint64_t start_ns = crest_now();
    ssize_t result;
    do
        result = file_do(operation, fd, block);
    while (result < 0 && errno == EINTR);
    round->took_ns[operation] = crest_now() - start_ns;
    round->at = operation;
    if (result < 0)
        round->failure = errno;
    else if (operation != FILE_SYNC && result != CREST_FILE_PROBE_BYTES)
        round->failure = operation == FILE_WRITE ? ENOSPC : EIO;
    return round->failure == 0;
}

static file_round file_go_round(file_part *part)
{
    file_round round = {.at = FILE_CREATE};
    unsigned char *block =
        part->memory + (FILE_ALIGNMENT - (uintptr_t)part->memory % FILE_ALIGNMENT) % FILE_ALIGNMENT;
    uint64_t stamp = crest_prober_random(), start_ns = crest_now();
    for (size_t i = 0; i < CREST_FILE_PROBE_BYTES; i += sizeof stamp)
        memcpy(block + i, &stamp, sizeof stamp);
    int fd = file_open(part->directory, &round.direct);
    round.took_ns[FILE_CREATE] = crest_now() - start_ns;
    if (fd < 0)
        round.failure = errno;
    if (fd >= 0 && file_step(&round, FILE_WRITE, fd, block) &&
        file_step(&round, FILE_SYNC, fd, block)) {
        if (!round.direct)
            posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
        memset(block + CREST_FILE_PROBE_BYTES, 0, CREST_FILE_PROBE_BYTES);
        if (file_step(&round, FILE_READ, fd, block))
            round.corrupt =
                memcmp(block, block + CREST_FILE_PROBE_BYTES, CREST_FILE_PROBE_BYTES) != 0;
    }
    if (fd >= 0)
        close(fd);
    round.took_ns[FILE_ROUND] = crest_now() - start_ns;
    if (round.failure == 0 && !round.corrupt)
        round.at = FILE_ROUND;
    return round;
}

/* ---- what becomes of it, under the lock ---- */

static const char *file_advice(int failure)
{
    switch (failure) {
    case ENOSPC:
    case EDQUOT: return "; make room there";
    case EROFS: return "; mount it for writing, or name another directory";
    case ENOENT:
    case ENOTDIR: return "; make the directory again, or name another one";
    case EACCES:
    case EPERM: return "; give this user the right to write there";
    case EIO: return "; the disk may be failing: look into the kernel's log";
    default: return "";
    }
}

static void file_record(crest_probe *probe, const file_round *round)
{
    file_part *part = probe->part.file;
    int failed = round->failure != 0 || round->corrupt;
    probe->state.tries++;
    probe->state.direct = round->direct;
    for (file_operation i = FILE_CREATE; i <= FILE_READ && i <= round->at; i++)
        crest_timer_record(part->time[i], (int64_t)round->took_ns[i],
                           failed && i == round->at ? CREST_OUTCOME_ERROR : CREST_OUTCOME_OK);
    crest_timer_record(part->time[FILE_ROUND], (int64_t)round->took_ns[FILE_ROUND],
                       failed ? CREST_OUTCOME_ERROR : CREST_OUTCOME_OK);
    if (!failed)
        crest_probe_answered(probe, round->took_ns[FILE_ROUND]);
    else
        crest_probe_failed(probe, CREST_IO, "probing the disk of %s with a file in %s: %s: %s%s",
                           probe->peer, part->directory, file_words[round->at],
                           round->corrupt ? "what was read is not what was written"
                                          : strerror(round->failure),
                           file_advice(round->corrupt ? EIO : round->failure));
}

/* Tells the log of the first failure of a streak and of its end. Gives up the lock meanwhile. */
static void file_tell(crest_probe *probe, int failed)
{
    file_part *part = probe->part.file;
    if (failed == part->failing || !crest_log_wanted())
        return;
    crest_error last = probe->state.last_error;
    char store[CREST_PROBE_PEER_BYTES_MAX + 1];
    snprintf(store, sizeof store, "%s", probe->peer);
    part->failing = failed;
    crest_prober_unlock();
    if (failed)
        crest_log_write(CREST_LOG_WARNING, "crest: %s", last.message);
    else
        crest_log_write(CREST_LOG_INFO, "crest: probing the disk of %s works again", store);
    crest_prober_lock();
}

/* ---- the thread ---- */

static void file_free(crest_probe *probe)
{
    file_part *part = probe->part.file;
    if (part != NULL) {
        pthread_cond_destroy(&part->wake);
        crest_alloc_free(part->directory);
        crest_alloc_free(part);
    }
    crest_probe_free(probe);
}

static void file_run(crest_leavable *self)
{
    file_part *part = (file_part *)self;
    crest_probe *probe = part->probe;
    while (!self->left) {
        uint64_t now_ns = crest_prober_now_ns();
        if (probe->due_ns > now_ns) {
            struct timespec until = crest_monotonic_timespec(probe->due_ns);
            crest_prober_wait_for(&part->wake, &until);
            continue;
        }
        crest_leavable_out(self);
        file_round round = file_go_round(part);
        if (!crest_leavable_back(self))
            break;
        file_record(probe, &round);
        crest_prober_next_point(probe, crest_prober_now_ns());
        file_tell(probe, round.at != FILE_ROUND);
    }
    file_count--;
}

static void file_left_free(crest_leavable *self)
{
    file_free(((file_part *)self)->probe);
}

static const crest_leavable_kind file_kind = {"crest-diskprobe", file_run, file_left_free};

static crest_status file_start(crest_probe *probe, crest_error *error)
{
    int failed = crest_leavable_start(&probe->part.file->leavable);
    if (failed)
        return crest_error_set(error, CREST_SYSTEM,
                               "the probe of %s needs a thread: %s; make room for it (ulimit -u)",
                               probe->peer, strerror(failed));
    return CREST_OK;
}

/* ---- the probe ---- */

static void file_stop(crest_probe *probe)
{
    /* without a thread yet, its maker frees it */
    (void)crest_leavable_leave_locked(&probe->part.file->leavable);
    pthread_cond_signal(&probe->part.file->wake);
}

static void file_release(crest_probe *probe)
{
    for (unsigned i = 0; i < FILE_OPERATIONS; i++)
        crest_timer_release(probe->part.file->time[i]);
}

static const crest_probe_work file_work = {
    .stop = file_stop, .release = file_release, .own_thread = 1};

static crest_status file_series(crest_probe *probe)
{
    static const char *const keys[] = {"store", "operation"};
    char text[CREST_PROBE_NAME_BYTES];
    crest_status status;
    crest_metric_options metric = crest_probe_metric(
        probe, "disk-time", "Operations on a small file, past the page cache.", CREST_NONE, text);
    metric.buckets = CREST_BUCKETS_FAST;
    crest_timer_family family = crest_timer_family_new(probe->registry, &metric, keys, 2, &status);
    for (unsigned i = 0; i < FILE_OPERATIONS; i++)
        probe->part.file->time[i] =
            crest_timer_family_get(&family, (const char *const[]){probe->peer, file_words[i]}, 2);
    return status;
}

static crest_status file_set_up(crest_probe *probe, const char *directory, crest_error *error)
{
    struct stat about;
    int failure = EINVAL;
    if (directory != NULL)
        failure = stat(directory, &about) != 0 ? errno : !S_ISDIR(about.st_mode) ? ENOTDIR : 0;
    if (failure)
        return crest_error_set(error, CREST_INVALID_ARGUMENT,
                               "a probe of the disk of %s needs a directory on it; %s: %s",
                               probe->peer, directory != NULL ? directory : "NULL",
                               strerror(failure));
    if (probe->interval_ns == 0 ||
        probe->interval_ns < CREST_FILE_PROBE_INTERVAL_MS_MIN * CREST_NS_PER_MS)
        return crest_error_set(error, CREST_INVALID_ARGUMENT,
                               "a probe of the disk of %s is made every %u ms or less often",
                               probe->peer, CREST_FILE_PROBE_INTERVAL_MS_MIN);
    file_part *part = probe->part.file = crest_alloc(1, sizeof *probe->part.file);
    if (part != NULL) {
        crest_leavable_init(&part->leavable, &file_kind, crest_prober_mutex());
        part->probe = probe;
        crest_monotonic_condition(&part->wake);
        part->directory = crest_alloc_text(directory);
    }
    if (part == NULL || part->directory == NULL)
        return crest_error_set(error, CREST_NO_MEMORY, "no memory for a probe of %s", probe->peer);
    crest_status status = file_series(probe);
    if (status != CREST_OK)
        crest_error_set(error, status, "a probe of %s cannot have its metric %s.disk-time: %s",
                        probe->peer, probe->prefix, crest_status_text(status));
    return status;
}

/* Takes the probe into the list and starts its thread, which waits for the lock meanwhile. */
static crest_status file_add(crest_probe *probe, crest_error *error)
{
    crest_status status = crest_prober_add(probe, error);
    if (status != CREST_OK)
        return status;
    crest_prober_lock();
    if (file_count >= CREST_FILE_PROBES_MAX)
        status = crest_error_set(error, CREST_LIMIT, "there are %u probes of disks already",
                                 CREST_FILE_PROBES_MAX);
    else
        status = file_start(probe, error);
    if (status == CREST_OK)
        file_count++;
    crest_prober_unlock();
    if (status != CREST_OK)
        crest_probe_stop(probe);
    return status;
}

crest_probe *crest_probe_file(const char *store, const char *directory,
                              const crest_probe_options *options, crest_error *error)
{
    crest_error unwanted;
    crest_probe_options all = {.interval_ms = 0};
    if (options != NULL)
        all = *options;
    if (all.interval_ms == 0)
        all.interval_ms = CREST_FILE_PROBE_INTERVAL_MS_DEFAULT;
    all.timeout_ms = 0;
    if (error == NULL)
        error = &unwanted;
    crest_error_clear(error);
    crest_probe *probe = crest_probe_new(CREST_PROBE_FILE, &file_work, store, &all, error);
    if (probe == NULL)
        return NULL;
    if (file_set_up(probe, directory, error) == CREST_OK) {
        crest_prober_first_point(probe);
        if (file_add(probe, error) == CREST_OK)
            return probe;
    }
    crest_probe_refuse(NULL, error);
    file_free(probe);
    return NULL;
}
