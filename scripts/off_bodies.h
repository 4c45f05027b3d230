/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions that do something in a program that is compiled with CREST_DISABLE, because the
 * program would not work without them, or would get an answer that it does not expect. They are no
 * measuring: telling the time, locking, reading and writing, naming an operation.
 *
 * scripts/make-off takes each part into the twin of the header that the part is named after.
 * No file includes this one.
 */

/* ==== status ==== */
#include <stdarg.h>
#include <stdio.h>

/* What a function that cannot fail leaves in an error. */
CREST_API void crest_off_fine(crest_error *error)
{
    if (error != NULL) {
        error->status = CREST_OK;
        error->message[0] = '\0';
    }
}

#define CREST_OFF_TEXT_(name, text) text,
CREST_API const char *crest_status_text(crest_status status)
{
    static const char *const texts[] = {CREST_STATUS_TABLE(CREST_OFF_TEXT_)};
    return (unsigned)status < CREST_STATUS_COUNT ? texts[status] : "no status";
}
#undef CREST_OFF_TEXT_

CREST_API crest_status crest_error_set(crest_error *error, crest_status status, const char *format,
                                       ...)
{
    if (error != NULL) {
        va_list arguments;
        va_start(arguments, format);
        error->status = status;
        vsnprintf(error->message, sizeof error->message, format, arguments);
        va_end(arguments);
    }
    return status;
}

/* ==== clock ==== */
#include <time.h>

/* Strict C hides what POSIX has, and C99 even struct timespec: both by names of our own. */
struct crest_off_time {
    time_t s;
    long ns;
};
extern int crest_off_clock_gettime(int clock, struct crest_off_time *now) __asm__("clock_gettime");

CREST_API uint64_t crest_off_clock(int clock)
{
    struct crest_off_time now = {0, 0};
    crest_off_clock_gettime(clock, &now);
    return (uint64_t)now.s * 1000000000u + (uint64_t)now.ns;
}

/* Kernel numbers, for strict C has no names: 1 is CLOCK_MONOTONIC, 0 CLOCK_REALTIME. */
CREST_API uint64_t crest_now(void)
{
    return crest_off_clock(1);
}

CREST_API uint64_t crest_now_slow(void)
{
    return crest_off_clock(1);
}

CREST_API uint64_t crest_wall_now(void)
{
    return crest_off_clock(0);
}

CREST_API uint64_t crest_wall_error(void)
{
    return CREST_WALL_ERROR_UNKNOWN;
}

CREST_API crest_clock_source crest_clock_source_now(void)
{
    return CREST_CLOCK_KERNEL;
}

/* ==== op ==== */
#include <stdio.h>

/* Pure: one that only goes to a function that does nothing is not even made. */
#define CREST_OFF_PURE_ __attribute__((pure))

/* Identities stay identities, since programs compare them. Of a long one the hash is another than
 * the library's, which is nowhere but in one process. */
CREST_API CREST_OFF_PURE_ crest_op crest_off_op(const void *bytes, size_t length,
                                                crest_op_kind kind)
{
    crest_op op = {{0, 0, 0, 0}, (uint32_t)length, (uint32_t)kind};
    const unsigned char *from = (const unsigned char *)bytes;
    if (bytes == NULL || length > UINT32_MAX)
        return crest_op_none();
    if (length <= CREST_OP_EXACT_BYTES) {
        __builtin_memcpy(op.word, bytes, length);
        return op;
    }
    __builtin_memcpy(op.word, bytes, CREST_OP_PREFIX_BYTES);
    op.word[2] = UINT64_C(14695981039346656037); /* FNV-1a, and the same of other constants */
    op.word[3] = UINT64_C(0x9e3779b97f4a7c15);
    for (size_t i = 0; i < length; i++) {
        op.word[2] = (op.word[2] ^ from[i]) * UINT64_C(1099511628211);
        op.word[3] = (op.word[3] ^ from[i]) * UINT64_C(0xbf58476d1ce4e5b9);
    }
    return op;
}

CREST_API CREST_OFF_PURE_ crest_op crest_op_bytes(const void *bytes, size_t length)
{
    return crest_off_op(bytes, length, CREST_OP_BYTES);
}

CREST_API CREST_OFF_PURE_ crest_op crest_op_text(const char *text)
{
    return crest_off_op(text, text != NULL ? __builtin_strlen(text) : 0, CREST_OP_TEXT);
}

CREST_API CREST_OFF_PURE_ int crest_off_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* Of more than CREST_OP_EXACT_BYTES bytes there is no buffer for them all, and so no operation. */
CREST_API CREST_OFF_PURE_ crest_op crest_op_hex(const char *digits)
{
    unsigned char bytes[CREST_OP_EXACT_BYTES];
    size_t length = digits != NULL ? __builtin_strlen(digits) : 1;
    if (length % 2 != 0 || length > 2 * sizeof bytes)
        return crest_op_none();
    for (size_t i = 0; i < length; i++) {
        int digit = crest_off_digit(digits[i]);
        if (digit < 0)
            return crest_op_none();
        bytes[i / 2] = (unsigned char)(i % 2 == 0 ? digit << 4 : bytes[i / 2] | digit);
    }
    return crest_off_op(bytes, length / 2, CREST_OP_BYTES);
}

CREST_API size_t crest_op_format(const crest_op *op, char *text, size_t size)
{
    char whole[CREST_OP_TEXT_BYTES] = "";
    const unsigned char *bytes = (const unsigned char *)op->word;
    size_t kept = op->length < CREST_OP_EXACT_BYTES ? op->length : CREST_OP_EXACT_BYTES;
    size_t used = 0;
    if (op->kind == CREST_OP_U64 || op->kind == CREST_OP_U64X2) {
        used = (size_t)snprintf(whole, sizeof whole, "%llu", (unsigned long long)op->word[0]);
        if (op->kind == CREST_OP_U64X2)
            used += (size_t)snprintf(whole + used, sizeof whole - used, ":%llu",
                                     (unsigned long long)op->word[1]);
    } else if (op->kind == CREST_OP_TEXT) {
        used = kept;
        __builtin_memcpy(whole, bytes, kept);
    } else if (op->kind == CREST_OP_BYTES) {
        used = (size_t)snprintf(whole, sizeof whole, "0x");
        for (size_t i = 0; i < kept; i++)
            used += (size_t)snprintf(whole + used, sizeof whole - used, "%02x", bytes[i]);
    }
    if (size == 0)
        return 0;
    used = used < size ? used : size - 1;
    __builtin_memcpy(text, whole, used);
    text[used] = '\0';
    return used;
}

/* ==== timer ==== */
CREST_API const char *crest_outcome_text(crest_outcome outcome)
{
    switch (outcome) {
    case CREST_OUTCOME_OK: return "ok";
    case CREST_OUTCOME_ERROR: return "error";
    case CREST_OUTCOME_TIMEOUT: return "timeout";
    case CREST_OUTCOME_CANCELLED: return "cancelled";
    default: return NULL;
    }
}

/* ==== mutex ==== */
#if defined(__STRICT_ANSI__) && !defined(__cplusplus)
extern int pthread_mutex_timedlock(pthread_mutex_t *, const struct timespec *);
extern int pthread_mutex_consistent(pthread_mutex_t *);
#endif

CREST_API crest_status crest_mutex_init(crest_mutex *mutex, crest_registry *registry,
                                        const char *name, const pthread_mutexattr_t *attributes)
{
    (void)registry, (void)name;
    __builtin_memset(mutex, 0, sizeof *mutex);
    return pthread_mutex_init(&mutex->mutex, attributes) == 0 ? CREST_OK : CREST_SYSTEM;
}

CREST_API int crest_mutex_fini(crest_mutex *mutex)
{
    return pthread_mutex_destroy(&mutex->mutex);
}

CREST_API int crest_mutex_lock(crest_mutex *mutex)
{
    return pthread_mutex_lock(&mutex->mutex);
}

CREST_API int crest_mutex_trylock(crest_mutex *mutex)
{
    return pthread_mutex_trylock(&mutex->mutex);
}

CREST_API int crest_mutex_timedlock(crest_mutex *mutex, const struct timespec *until)
{
    return pthread_mutex_timedlock(&mutex->mutex, until);
}

CREST_API int crest_mutex_unlock(crest_mutex *mutex)
{
    return pthread_mutex_unlock(&mutex->mutex);
}

CREST_API int crest_mutex_consistent(crest_mutex *mutex)
{
    return pthread_mutex_consistent(&mutex->mutex);
}

CREST_API int crest_mutex_cond_wait(crest_mutex *mutex, pthread_cond_t *condition)
{
    return pthread_cond_wait(condition, &mutex->mutex);
}

CREST_API int crest_mutex_cond_timedwait(crest_mutex *mutex, pthread_cond_t *condition,
                                         const struct timespec *until)
{
    return pthread_cond_timedwait(condition, &mutex->mutex, until);
}

CREST_API crest_mutex_scope crest_mutex_scope_begin(crest_mutex *mutex)
{
    crest_mutex_scope scope = {crest_mutex_lock(mutex) == 0 ? mutex : NULL};
    return scope;
}

CREST_API void crest_mutex_scope_end(crest_mutex_scope *scope)
{
    if (scope->held != NULL)
        crest_mutex_unlock(scope->held);
}

/* ==== timed_io ==== */
#include <unistd.h>

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

/* ==== page ==== */
CREST_API const char *crest_format_content_type(crest_format format)
{
    return format == CREST_FORMAT_PROMETHEUS_PROTOBUF
               ? "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; "
                 "encoding=delimited"
           : format == CREST_FORMAT_OPENMETRICS
               ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
               : "text/plain; version=0.0.4; charset=utf-8";
}

CREST_API crest_format crest_format_negotiate(const char *accept, const char **content_type)
{
    (void)accept;
    if (content_type != NULL)
        *content_type = crest_format_content_type(CREST_FORMAT_PROMETHEUS_TEXT);
    return CREST_FORMAT_PROMETHEUS_TEXT;
}

CREST_API size_t crest_exported_name(const char *canonical, crest_kind kind, crest_unit unit,
                                     const char *qualifier, char *text, size_t size)
{
    (void)canonical, (void)kind, (void)unit, (void)qualifier;
    if (size > 0)
        text[0] = '\0';
    return 0;
}

/* ==== run ==== */
CREST_API const char *crest_version(void)
{
    return "disabled";
}

/* ==== reporter ==== */
CREST_API int crest_reporter_descriptor(int descriptor)
{
    return descriptor;
}

/* Started all the same, or who joins it would wait for nothing. */
CREST_API int crest_reporter_thread(pthread_t *thread, void *(*run)(void *), void *context)
{
    pthread_t unseen;
    int failed = pthread_create(thread != NULL ? thread : &unseen, NULL, run, context);
    if (failed == 0 && thread == NULL)
        pthread_detach(unseen);
    return failed;
}

CREST_API void crest_reporter_free(crest_reporter *reporter)
{
    if (reporter != NULL && reporter->free != NULL)
        reporter->free(reporter);
}

/* ==== loop ==== */
/* No descriptor and nothing that will be due: a host's loop goes on as if there were no Crest. */
CREST_API int crest_loop_fd(crest_error *error)
{
    crest_off_fine(error);
    return -1;
}

CREST_API crest_status crest_loop_run(int *wait_ms)
{
    if (wait_ms != NULL)
        *wait_ms = -1;
    return CREST_OK;
}

/* ==== trace_context ==== */
/* A header without a text is sent empty. */
CREST_API size_t crest_traceparent_write(const crest_span_context *context, char *text, size_t size)
{
    (void)context;
    if (size != 0)
        text[0] = '\0';
    return 0;
}
