/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long the disk takes: by timing the node's own calls, and by a small file that a probe writes,
 * synchronises and reads at intervals.
 *
 *     static crest_timed_io blocks;
 *     crest_timed_io_init(&blocks, "blocks", NULL, &error);
 *     ssize_t written = crest_timed_pwrite(&blocks, fd, bytes, count, offset);
 *     int failed = crest_timed_fdatasync(&blocks, fd);
 *
 *     crest_probe *disk = crest_probe_file("data", "/var/lib/node", NULL, &error);
 *
 * A call that is timed returns what the system's own returns, with its errno. Metrics, each with
 * the labels `store` and `operation`:
 *
 *   disk.call-time     timer: read, write, fsync, fdatasync. Short reads and writes are `ok`; a
 *                      call that a signal interrupted before anything was done (EINTR) is
 *                      `cancelled`, every other failure `error`
 *   disk.call-size     histogram, bytes, with .sizes: what reads and writes moved
 *   probe.disk-time    timer of crest_probe_file: create, write, fdatasync, read, and `round` for
 *                      all of them
 *
 * A call that the page cache answers is measured as what it is: fast. Whether the disk behind the
 * cache is slow is in `fdatasync`, and in the probe's file, which goes past the cache where it can.
 */
#ifndef CREST_TIMED_IO_H
#define CREST_TIMED_IO_H

#include <crest/probe.h>

#include <sys/types.h>
#include <sys/uio.h>

/* Bytes of a store's name. */
#define CREST_TIMED_STORE_BYTES_MAX 255u
/* Probes of files at a time; each has a thread. */
#define CREST_FILE_PROBES_MAX 16u
/* Bytes that a file's probe writes and reads. */
#define CREST_FILE_PROBE_BYTES 4096u
/* Its shortest interval. */
#define CREST_FILE_PROBE_INTERVAL_MS_MIN 100u
#define CREST_FILE_PROBE_INTERVAL_MS_DEFAULT 10000u

typedef enum crest_timed_operation {
    CREST_TIMED_READ,
    CREST_TIMED_WRITE,
    CREST_TIMED_FSYNC,
    CREST_TIMED_FDATASYNC,
    CREST_TIMED_COUNT
} crest_timed_operation;

/* Public so that it can be static; only the library looks inside. All zero, never initialised, it
 * makes the calls and records nothing. */
typedef struct crest_timed_io {
    crest_timer *time[CREST_TIMED_COUNT];
    crest_histogram *size[2]; /* of reads and of writes; NULL: not kept */
} crest_timed_io;

typedef struct crest_timed_io_options {
    /* NULL: the default registry. Borrowed while calls are made */
    crest_registry *registry CREST_DEFAULT_(NULL);
    /* stands in place of `disk` in the names; copied. NULL: "disk" */
    const char *prefix CREST_DEFAULT_(NULL);
    /* non-zero: disk.call-size too */
    int sizes CREST_DEFAULT_(0);
} crest_timed_io_options;

CREST_BEGIN_C

/*
 * Finds or makes the series of a store: `store` is the label's value, copied; options NULL for
 * defaults. CREST_OK; CREST_INVALID_ARGUMENT without a name, or with a name longer than
 * CREST_TIMED_STORE_BYTES_MAX, counted in crest_misuse_total{cause="invalid-probe"}; or why a
 * metric cannot be had, as crest_counter_family_new says. After a failure the calls are made and
 * recorded nowhere. error may be NULL. Thread-safe for distinct `io`; one `io` is initialised by
 * one thread, before the calls. Not for signal handlers; locks, allocates.
 */
CREST_API crest_status crest_timed_io_init(crest_timed_io *io, const char *store,
                                           const crest_timed_io_options *options,
                                           crest_error *error);

/*
 * The system's calls without the `crest_timed_`, which have their manual pages; io NULL does not
 * time. Any thread, any handler, as the calls themselves. Cost: two crest_now and a record.
 */
CREST_API int crest_timed_fsync(crest_timed_io *io, int fd);
CREST_API int crest_timed_fdatasync(crest_timed_io *io, int fd);
CREST_API ssize_t crest_timed_pread(crest_timed_io *io, int fd, void *bytes, size_t count,
                                    off_t offset);
CREST_API ssize_t crest_timed_pwrite(crest_timed_io *io, int fd, const void *bytes, size_t count,
                                     off_t offset);
CREST_API ssize_t crest_timed_preadv(crest_timed_io *io, int fd, const struct iovec *parts,
                                     int count, off_t offset);
CREST_API ssize_t crest_timed_pwritev(crest_timed_io *io, int fd, const struct iovec *parts,
                                      int count, off_t offset);

/*
 * Probes the disk that `directory` is on. A round, at each interval:
 *
 * 1. Make a file there without a name (O_TMPFILE; where that is not supported, a file that is
 *    unlinked at once; mode 0600).
 * 2. Write CREST_FILE_PROBE_BYTES to it, and synchronise.
 * 3. Read them back and compare, and close the file.
 *
 * So it never takes up more than that, for as long as a round lasts, and leaves nothing behind,
 * however the process is killed. Reads and writes go past the page cache (O_DIRECT) where the file
 * system lets them. Where it does not, the cache is asked to drop the block before the read; a file
 * system in memory then answers at the speed of memory. crest_probe_state.direct says which.
 *
 * `store` is the label's value. The metrics are probe.disk-time, or under .prefix as of other
 * probes; interval 0 is CREST_FILE_PROBE_INTERVAL_MS_DEFAULT. .timeout_ms is not used: a call that
 * hangs takes as long as it takes. The probe has a thread of its own, "crest-diskprobe", which
 * blocks all signals. A failure is outcome `error` of the operation that failed, and of the round;
 * the log is told of the first of a streak and of its end: what failed, on what, and why.
 *
 * The probe is stopped with crest_probe_stop, which does not wait for the disk. It is owned, and
 * fails, as crest_probe_connect; CREST_INVALID_ARGUMENT too if `directory` is no directory. Whether
 * it can be written to, its rounds show. Thread-safe; not for signal handlers.
 */
CREST_API crest_probe *crest_probe_file(const char *store, const char *directory,
                                        const crest_probe_options *options, crest_error *error);

CREST_END_C

#ifdef CREST_DISABLE
#include <crest/off/timed_io_off.h>
#endif

#endif
