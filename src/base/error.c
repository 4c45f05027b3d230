/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Statuses, error texts and the log callback. See <crest/status.h> and error.h.
 */
#include "base/error.h"
#include "base/atomic.h"
#include "base/uncancelled.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define STATUS_TEXT(name, text) text,
static const char *const status_texts[] = {CREST_STATUS_TABLE(STATUS_TEXT)};

/* Seqlock: a reader must never pair one sink's function with another's context.
 *   writer: version odd; function, context; version even.
 *   reader: version, function, context, version again; retries when it was odd or has changed. */
typedef struct log_sink {
    crest_log_fn *log;
    void *context;
} log_sink;

static log_sink log_current;
static uint64_t log_version;
static uint32_t log_standard_error; /* non-zero: without a sink of the program's, there */
static uint32_t log_chosen;         /* non-zero: the program has called crest_log_to */

static log_sink log_read(void)
{
    log_sink sink;
    uint64_t version;
    do {
        /* acquire: partner of the release stores in crest_log_to; all three loads are acquire, so
         * that the second look at the version stays behind them */
        version = crest_atomic_load_acquire(&log_version);
        sink.log =
            (crest_log_fn *)(uintptr_t)crest_atomic_load_ptr_acquire(CREST_PTR(&log_current.log));
        sink.context = crest_atomic_load_ptr_acquire(CREST_PTR(&log_current.context));
    } while (version % 2 != 0 || crest_atomic_load(&log_version) != version);
    return sink;
}

const char *crest_status_text(crest_status status)
{
    return (unsigned)status < CREST_STATUS_COUNT ? status_texts[status] : "no such status";
}

/* Cuts an over-long text before the character that did not fit whole. */
static void error_cut(char *text, size_t size)
{
    size_t end = size - 1;
    while (end > 0 && ((unsigned char)text[end - 1] & 0xc0) == 0x80)
        end--;
    if (end > 0 && (unsigned char)text[end - 1] >= 0xc0)
        end--;
    text[end] = '\0';
}

static void error_format(char *text, size_t size, const char *format, va_list arguments)
{
    int length = vsnprintf(text, size, format, arguments);
    if (length < 0)
        text[0] = '\0';
    else if ((size_t)length >= size)
        error_cut(text, size);
}

crest_status crest_error_set(crest_error *error, crest_status status, const char *format, ...)
{
    if (error == NULL)
        return status;
    error->status = status;
    va_list arguments;
    va_start(arguments, format);
    error_format(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    return status;
}

void crest_error_add(crest_error *all, const char *name, const crest_error *one)
{
    crest_error before = *all;
    int first = before.status == CREST_OK;
    crest_error_set(all, first ? one->status : before.status, "%s%s%s%s%s",
                    first ? "" : before.message, first ? "" : "; ", name != NULL ? name : "",
                    name != NULL ? ": " : "", one->message);
}

void crest_error_clear(crest_error *error)
{
    if (error == NULL)
        return;
    error->status = CREST_OK;
    error->message[0] = '\0';
}

void crest_log_to(crest_log_fn *log, void *context)
{
    static uint32_t lock;
    while (!crest_atomic_cas32_acquire(&lock, 0, 1))
        continue;
    uint64_t version = crest_atomic_load(&log_version);
    crest_atomic_exchange(&log_version, version + 1);
    crest_atomic_store32(&log_chosen, 1);
    crest_atomic_store_ptr_release(CREST_PTR(&log_current.log), (void *)(uintptr_t)log);
    crest_atomic_store_ptr_release(CREST_PTR(&log_current.context), context);
    crest_atomic_store_release(&log_version, version + 2); /* partner: the load in log_read */
    crest_atomic_store32_release(&lock, 0);                /* partner: the swap above */
}

void crest_log_standard_error(int on)
{
    crest_atomic_store32(&log_standard_error, on != 0);
}

static int log_to_standard_error(void)
{
    return crest_atomic_load32(&log_standard_error) && !crest_atomic_load32(&log_chosen);
}

int crest_log_wanted(void)
{
    return log_read().log != NULL || log_to_standard_error();
}

/* A line, in one write: what other threads write does not come in between. The message has room for
 * the line's end. */
static void log_write_line(char *message, size_t length)
{
    message[length] = '\n';
    ssize_t wrote;
    do
        wrote = write(STDERR_FILENO, message, length + 1);
    while (wrote < 0 && errno == EINTR);
}

void crest_log_write(crest_log_level level, const char *format, ...)
{
    CREST_UNCANCELLED;
    log_sink sink = log_read();
    if (sink.log == NULL && !log_to_standard_error())
        return;
    char message[CREST_ERROR_BYTES + 1];
    va_list arguments;
    va_start(arguments, format);
    error_format(message, CREST_ERROR_BYTES, format, arguments);
    va_end(arguments);
    if (sink.log != NULL)
        sink.log(level, message, sink.context);
    else
        log_write_line(message, strlen(message));
}
