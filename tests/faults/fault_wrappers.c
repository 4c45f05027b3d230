/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the libraries import of the system and what can fail, a row each: how it fails. See
 * faults.h. The build reads the names from the rows; check_faults compares them, and those of
 * never_fails.txt, with what the libraries import.
 */
#define _GNU_SOURCE
#include "fault_rows.h"

#include <dirent.h>
#include <fcntl.h>
#include <locale.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/timerfd.h>
#include <sys/timex.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

/* ---- memory ---- */

ROW_MAKES(void *, malloc, (size_t n), (n), SAYS(ENOMEM, NULL))
ROW_MAKES(void *, calloc, (size_t n, size_t size), (n, size), SAYS(ENOMEM, NULL))
ROW_MAKES(char *, strdup, (const char *s), (s), SAYS(ENOMEM, NULL))
ROW_MAKES(char *, strndup, (const char *s, size_t n), (s, n), SAYS(ENOMEM, NULL))
GOES(void, free, void *)
ROW(void *, mmap, (void *at, size_t n, int protection, int flags, int fd, off_t offset),
    (at, n, protection, flags, fd, offset), SAYS(ENOMEM, MAP_FAILED))
ROW(int, madvise, (void *at, size_t n, int advice), (at, n, advice), SAYS(EINVAL, -1))

FAULT_DECLARE(void *, realloc, (void *block, size_t n))
void *__wrap_realloc(void *block, size_t n)
{
    if (faults_now(&fault_realloc)) {
        SAYS(ENOMEM, NULL);
    }
    void *moved = __real_realloc(block, n);
    faults_live(block == NULL && moved != NULL);
    return moved;
}

FAULT_DECLARE(int, asprintf, (char **text, const char *format, ...))
int __wrap_asprintf(char **text, const char *format, ...)
{
    if (faults_now(&fault_asprintf)) {
        *text = (char *)1; /* POSIX leaves it undefined */
        SAYS(ENOMEM, -1);
    }
    va_list list;
    va_start(list, format);
    int length = vasprintf(text, format, list);
    va_end(list);
    faults_live(length >= 0);
    return length;
}

ROW(int, munmap, (void *at, size_t n), (at, n), SAYS(EINVAL, -1))

/* What _FORTIFY_SOURCE makes of it. */
FAULT_DECLARE(int, __asprintf_chk, (char **text, int level, const char *format, ...))
int __wrap___asprintf_chk(char **text, int level, const char *format, ...)
{
    (void)level;
    if (faults_now(&fault___asprintf_chk)) {
        *text = (char *)1;
        SAYS(ENOMEM, -1);
    }
    va_list list;
    va_start(list, format);
    int length = vasprintf(text, format, list);
    va_end(list);
    faults_live(length >= 0);
    return length;
}

/* ---- files ---- */

static mode_t fault_mode(int flags, va_list list)
{
    return flags & (O_CREAT | O_TMPFILE) ? va_arg(list, mode_t) : 0;
}

FAULT_DECLARE(int, open, (const char *path, int flags, ...))
int __wrap_open(const char *path, int flags, ...)
{
    if (faults_now(&fault_open)) {
        SAYS(EMFILE, -1);
    }
    va_list list;
    va_start(list, flags);
    mode_t mode = fault_mode(flags, list);
    va_end(list);
    return __real_open(path, flags, mode);
}

FAULT_DECLARE(int, openat, (int at, const char *path, int flags, ...))
int __wrap_openat(int at, const char *path, int flags, ...)
{
    if (faults_now(&fault_openat)) {
        SAYS(ENFILE, -1);
    }
    va_list list;
    va_start(list, flags);
    mode_t mode = fault_mode(flags, list);
    va_end(list);
    return __real_openat(at, path, flags, mode);
}

FAULT_DECLARE(int, fcntl, (int fd, int what, ...))
int __wrap_fcntl(int fd, int what, ...)
{
    if (faults_now(&fault_fcntl)) {
        SAYS(EMFILE, -1);
    }
    va_list list;
    va_start(list, what);
    long value = va_arg(list, long);
    va_end(list);
    return __real_fcntl(fd, what, value);
}

FAULT_DECLARE(int, ioctl, (int fd, unsigned long what, ...))
int __wrap_ioctl(int fd, unsigned long what, ...)
{
    if (faults_now(&fault_ioctl)) {
        SAYS(ENOTTY, -1);
    }
    va_list list;
    va_start(list, what);
    void *value = va_arg(list, void *);
    va_end(list);
    return __real_ioctl(fd, what, value);
}

/* Linux has closed the descriptor whatever it says. */
ROW(int, close, (int fd), (fd), __real_close(fd); SAYS(EIO, -1))
ROW(ssize_t, read, (int fd, void *to, size_t n), (fd, to, n), SAYS(EIO, -1))
ROW(ssize_t, pread, (int fd, void *to, size_t n, off_t at), (fd, to, n, at), SAYS(EIO, -1))
ROW(ssize_t, preadv, (int fd, const struct iovec *to, int n, off_t at), (fd, to, n, at),
    SAYS(EIO, -1))
ROW(ssize_t, write, (int fd, const void *from, size_t n), (fd, from, n), SAYS(ENOSPC, -1))
ROW(ssize_t, pwrite, (int fd, const void *from, size_t n, off_t at), (fd, from, n, at),
    SAYS(ENOSPC, -1))
ROW(ssize_t, pwritev, (int fd, const struct iovec *from, int n, off_t at), (fd, from, n, at),
    SAYS(ENOSPC, -1))
ROW(int, fsync, (int fd), (fd), SAYS(EIO, -1))
ROW(int, fdatasync, (int fd), (fd), SAYS(EIO, -1))
ROW(int, ftruncate, (int fd, off_t n), (fd, n), SAYS(EIO, -1))
ROW(int, posix_fallocate, (int fd, off_t at, off_t n), (fd, at, n), return ENOSPC)
ROW(int, flock, (int fd, int what), (fd, what), SAYS(ENOLCK, -1))
ROW(int, mkdir, (const char *path, mode_t mode), (path, mode), SAYS(EROFS, -1))
ROW(int, fstatfs, (int fd, struct statfs *to), (fd, to), SAYS(EIO, -1))
ROW(int, posix_fadvise, (int fd, off_t at, off_t n, int advice), (fd, at, n, advice),
    return EINVAL)
ROW(int, fstat, (int fd, struct stat *to), (fd, to), SAYS(EIO, -1))
ROW(int, stat, (const char *path, struct stat *to), (path, to), SAYS(EACCES, -1))
ROW(int, fstatat, (int at, const char *path, struct stat *to, int flags), (at, path, to, flags),
    SAYS(EACCES, -1))
ROW(int, statfs, (const char *path, struct statfs *to), (path, to), SAYS(EACCES, -1))
ROW(int, statvfs, (const char *path, struct statvfs *to), (path, to), SAYS(EACCES, -1))
ROW(int, access, (const char *path, int mode), (path, mode), SAYS(EACCES, -1))
ROW(int, faccessat, (int at, const char *path, int mode, int flags), (at, path, mode, flags),
    SAYS(EACCES, -1))
ROW(int, fchmod, (int fd, mode_t mode), (fd, mode), SAYS(EPERM, -1))
ROW(int, renameat, (int from, const char *old, int to, const char *path), (from, old, to, path),
    SAYS(EACCES, -1))
ROW(int, rename, (const char *old, const char *path), (old, path), SAYS(EACCES, -1))
ROW(int, unlink, (const char *path), (path), SAYS(EACCES, -1))
ROW(int, unlinkat, (int at, const char *path, int flags), (at, path, flags), SAYS(EACCES, -1))
ROW(ssize_t, readlink, (const char *path, char *to, size_t n), (path, to, n), SAYS(EACCES, -1))
ROW(char *, getcwd, (char *to, size_t n), (to, n), SAYS(ENOENT, NULL))
ROW_MAKES(DIR *, opendir, (const char *path), (path), SAYS(EMFILE, NULL))
ROW_MAKES(DIR *, fdopendir, (int fd), (fd), SAYS(ENOMEM, NULL))
GOES(int, closedir, DIR *)
ROW(struct dirent *, readdir, (DIR *from), (from), SAYS(EIO, NULL))
ROW(FILE *, fdopen, (int fd, const char *mode), (fd, mode), SAYS(ENOMEM, NULL))
ROW(int, fclose, (FILE *stream), (stream), __real_fclose(stream); SAYS(ENOSPC, EOF))
ROW(int, fflush, (FILE *stream), (stream), SAYS(ENOSPC, EOF))

FAULT_DECLARE(int, fprintf, (FILE *stream, const char *format, ...))
int __wrap_fprintf(FILE *stream, const char *format, ...)
{
    if (faults_now(&fault_fprintf)) {
        SAYS(ENOSPC, -1);
    }
    va_list list;
    va_start(list, format);
    int length = vfprintf(stream, format, list);
    va_end(list);
    return length;
}

ROW(size_t, fwrite, (const void *from, size_t size, size_t n, FILE *stream),
    (from, size, n, stream), SAYS(ENOSPC, 0))
ROW(int, fileno, (FILE *stream), (stream), SAYS(EBADF, -1))
ROW(int, isatty, (int fd), (fd), SAYS(ENOTTY, 0))

FAULT_DECLARE(char *, realpath, (const char *path, char *to))
char *__wrap_realpath(const char *path, char *to)
{
    if (faults_now(&fault_realpath)) {
        SAYS(EACCES, NULL);
    }
    char *found = __real_realpath(path, to);
    faults_live(to == NULL && found != NULL);
    return found;
}

/* ---- sockets, waiting ---- */

ROW(int, socket, (int domain, int type, int protocol), (domain, type, protocol), SAYS(EMFILE, -1))
ROW(int, connect, (int fd, const struct sockaddr *to, socklen_t n), (fd, to, n),
    SAYS(ENETUNREACH, -1))
ROW(int, bind, (int fd, const struct sockaddr *to, socklen_t n), (fd, to, n), SAYS(EADDRINUSE, -1))
ROW(int, listen, (int fd, int n), (fd, n), SAYS(EADDRINUSE, -1))
ROW(int, accept4, (int fd, struct sockaddr *from, socklen_t *n, int flags), (fd, from, n, flags),
    SAYS(EMFILE, -1))
ROW(int, shutdown, (int fd, int how), (fd, how), SAYS(ENOTCONN, -1))
ROW(ssize_t, send, (int fd, const void *from, size_t n, int flags), (fd, from, n, flags),
    SAYS(ECONNREFUSED, -1))
ROW(ssize_t, recv, (int fd, void *to, size_t n, int flags), (fd, to, n, flags),
    SAYS(ECONNRESET, -1))
ROW(int, getpeername, (int fd, struct sockaddr *to, socklen_t *n), (fd, to, n), SAYS(ENOTCONN, -1))
ROW(int, getsockname, (int fd, struct sockaddr *to, socklen_t *n), (fd, to, n), SAYS(ENOBUFS, -1))
ROW(int, getsockopt, (int fd, int level, int what, void *to, socklen_t *n),
    (fd, level, what, to, n), SAYS(ENOPROTOOPT, -1))
ROW(int, setsockopt, (int fd, int level, int what, const void *from, socklen_t n),
    (fd, level, what, from, n), SAYS(ENOPROTOOPT, -1))
ROW(int, getnameinfo,
    (const struct sockaddr *of, socklen_t n, char *host, socklen_t host_n, char *service,
     socklen_t service_n, int flags), (of, n, host, host_n, service, service_n, flags),
    return EAI_AGAIN)
ROW(int, gethostname, (char *to, size_t n), (to, n), SAYS(ENAMETOOLONG, -1))
ROW(int, poll, (struct pollfd *fds, nfds_t n, int ms), (fds, n, ms), SAYS(EINTR, -1))
ROW(int, ppoll,
    (struct pollfd *fds, nfds_t n, const struct timespec *until, const sigset_t *mask),
    (fds, n, until, mask), SAYS(ENOMEM, -1))
ROW(int, epoll_create1, (int flags), (flags), SAYS(EMFILE, -1))
ROW(int, epoll_ctl, (int fd, int what, int of, struct epoll_event *event), (fd, what, of, event),
    SAYS(ENOSPC, -1))
ROW(int, memfd_create, (const char *name, unsigned flags), (name, flags), SAYS(EMFILE, -1))
ROW(int, eventfd, (unsigned value, int flags), (value, flags), SAYS(EMFILE, -1))
ROW(int, eventfd_read, (int fd, eventfd_t *value), (fd, value), SAYS(EAGAIN, -1))
ROW(int, eventfd_write, (int fd, eventfd_t value), (fd, value), SAYS(EAGAIN, -1))
ROW(int, timerfd_create, (int clock, int flags), (clock, flags), SAYS(EMFILE, -1))
ROW(int, timerfd_settime,
    (int fd, int flags, const struct itimerspec *value, struct itimerspec *old),
    (fd, flags, value, old), SAYS(EINVAL, -1))

FAULT_DECLARE(int, getaddrinfo,
              (const char *host, const char *service, const struct addrinfo *hints,
               struct addrinfo **found))
int __wrap_getaddrinfo(const char *host, const char *service, const struct addrinfo *hints,
                       struct addrinfo **found)
{
    if (faults_now(&fault_getaddrinfo))
        return EAI_MEMORY;
    int failed = __real_getaddrinfo(host, service, hints, found);
    faults_live(failed == 0);
    return failed;
}
GOES(void, freeaddrinfo, struct addrinfo *)

/* ---- threads and the process ---- */

ROW(int, pthread_create,
    (pthread_t * thread, const pthread_attr_t *attributes, void *(*run)(void *), void *context),
    (thread, attributes, run, context), return EAGAIN)
ROW(int, pthread_attr_init, (pthread_attr_t * attributes), (attributes), return ENOMEM)
ROW(int, pthread_attr_setstacksize, (pthread_attr_t * attributes, size_t n), (attributes, n),
    return EINVAL)
ROW(int, pthread_mutex_init, (pthread_mutex_t * mutex, const pthread_mutexattr_t *attributes),
    (mutex, attributes), return ENOMEM)
ROW(int, pthread_mutex_timedlock, (pthread_mutex_t * mutex, const struct timespec *until),
    (mutex, until), return ETIMEDOUT)
ROW(int, pthread_key_create, (pthread_key_t * key, void (*end)(void *)), (key, end), return EAGAIN)
ROW(int, pthread_setspecific, (pthread_key_t key, const void *value), (key, value), return ENOMEM)
ROW(int, pthread_setname_np, (pthread_t thread, const char *name), (thread, name), return ERANGE)
ROW(int, sched_getaffinity, (pid_t process, size_t n, cpu_set_t *to), (process, n, to),
    SAYS(EINVAL, -1))
ROW(int, getrusage, (int of, struct rusage *to), (of, to), SAYS(EINVAL, -1))
ROW(int, adjtimex, (struct timex * to), (to), SAYS(EPERM, -1))
ROW(long, sysconf, (int what), (what), SAYS(EINVAL, -1))
ROW(ssize_t, getrandom, (void *to, size_t n, unsigned flags), (to, n, flags), SAYS(ENOSYS, -1))
ROW(char *, secure_getenv, (const char *name), (name), return NULL)
ROW(char *, getenv, (const char *name), (name), return NULL)
ROW(int, kill, (pid_t process, int number), (process, number), SAYS(ESRCH, -1))
ROW(int, sigaction, (int number, const struct sigaction *what, struct sigaction *was),
    (number, what, was), SAYS(EINVAL, -1))
ROW(int, timer_create, (clockid_t clock, struct sigevent * event, timer_t *timer),
    (clock, event, timer), SAYS(EAGAIN, -1))
ROW(int, timer_settime,
    (timer_t timer, int flags, const struct itimerspec *value, struct itimerspec *old),
    (timer, flags, value, old), SAYS(EINVAL, -1))
ROW(int, timer_gettime, (timer_t timer, struct itimerspec * to), (timer, to), SAYS(EINVAL, -1))
ROW(ssize_t, process_vm_readv,
    (pid_t process, const struct iovec *to, unsigned long n, const struct iovec *from,
     unsigned long of, unsigned long flags), (process, to, n, from, of, flags), SAYS(EPERM, -1))
ROW(int, sigpending, (sigset_t * to), (to), SAYS(EFAULT, -1))
ROW(int, sigtimedwait, (const sigset_t *set, siginfo_t *info, const struct timespec *most),
    (set, info, most), SAYS(EAGAIN, -1))
ROW(int, nanosleep, (const struct timespec *time, struct timespec *left), (time, left),
    SAYS(EINTR, -1))
ROW(struct tm *, gmtime_r, (const time_t *time, struct tm *to), (time, to),
    memset(to, 0, sizeof *to);
    SAYS(EOVERFLOW, NULL))
ROW_MAKES(locale_t, newlocale, (int mask, const char *name, locale_t base), (mask, name, base),
          SAYS(ENOMEM, (locale_t)0))
GOES(void, freelocale, locale_t)

FAULT_DECLARE(int, prctl, (int what, ...))
int __wrap_prctl(int what, ...)
{
    if (faults_now(&fault_prctl)) {
        SAYS(EINVAL, -1);
    }
    va_list list;
    va_start(list, what);
    unsigned long a = va_arg(list, unsigned long), b = va_arg(list, unsigned long),
                  c = va_arg(list, unsigned long), d = va_arg(list, unsigned long);
    va_end(list);
    return __real_prctl(what, a, b, c, d);
}

/* futex, gettid, tgkill. */
FAULT_DECLARE(long, syscall, (long number, ...))
long __wrap_syscall(long number, ...)
{
    if (faults_now(&fault_syscall)) {
        SAYS(ENOSYS, -1);
    }
    va_list list;
    va_start(list, number);
    long a = va_arg(list, long), b = va_arg(list, long), c = va_arg(list, long),
         d = va_arg(list, long), e = va_arg(list, long), f = va_arg(list, long);
    va_end(list);
    return __real_syscall(number, a, b, c, d, e, f);
}
