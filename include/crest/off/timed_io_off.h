/* SPDX-License-Identifier: Apache-2.0 */
/* What timed_io.h has with CREST_DISABLE; made by scripts/make-off, not by hand. */
#ifndef CREST_TIMED_IO_OFF_H
#define CREST_TIMED_IO_OFF_H

#pragma GCC system_header

#include <unistd.h>

CREST_BEGIN_C

#if defined(__STRICT_ANSI__) && !defined(__cplusplus)
extern int fsync(int);
extern int fdatasync(int);
extern ssize_t pread(int, void *, size_t, off_t);
extern ssize_t pwrite(int, const void *, size_t, off_t);
extern ssize_t preadv(int, const struct iovec *, int, off_t);
extern ssize_t pwritev(int, const struct iovec *, int, off_t);
#endif

CREST_API int crest_timed_fsync(crest_timed_io *io, int fd)
{
    (void)io;
    return fsync(fd);
}

CREST_API int crest_timed_fdatasync(crest_timed_io *io, int fd)
{
    (void)io;
    return fdatasync(fd);
}

CREST_API ssize_t crest_timed_pread(crest_timed_io *io, int fd, void *bytes, size_t count,
                                    off_t offset)
{
    (void)io;
    return pread(fd, bytes, count, offset);
}

CREST_API ssize_t crest_timed_pwrite(crest_timed_io *io, int fd, const void *bytes, size_t count,
                                     off_t offset)
{
    (void)io;
    return pwrite(fd, bytes, count, offset);
}

CREST_API ssize_t crest_timed_preadv(crest_timed_io *io, int fd, const struct iovec *parts,
                                     int count, off_t offset)
{
    (void)io;
    return preadv(fd, parts, count, offset);
}

CREST_API ssize_t crest_timed_pwritev(crest_timed_io *io, int fd, const struct iovec *parts,
                                      int count, off_t offset)
{
    (void)io;
    return pwritev(fd, parts, count, offset);
}

CREST_API crest_status crest_timed_io_init(crest_timed_io *io, const char *store,
        const crest_timed_io_options *options, crest_error *error)
{
    (void)store, (void)options;
    if (io != NULL)
        __builtin_memset((void *)io, 0, sizeof *io);
    crest_off_fine(error);
    return CREST_OK;
}

CREST_API crest_probe *crest_probe_file(const char *store, const char *directory,
        const crest_probe_options *options, crest_error *error)
{
    (void)store, (void)directory, (void)options;
    crest_off_fine(error);
    return CREST_NOTHING_(crest_probe);
}

CREST_END_C

#endif
