/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How Crest answers: a status for programs, an error text for operators, and a log callback for
 * events that no call returns. The library itself never prints.
 *
 *     crest_error error;
 *     if (crest_start("pushgateway=http://127.0.0.1:9091", &error) != CREST_OK)
 *         fprintf(stderr, "%s\n", error.message);
 */
#ifndef CREST_STATUS_H
#define CREST_STATUS_H

#include <crest/abi.h>

/* One table for code, meaning and text. */
#define CREST_STATUS_TABLE(X)                                                                      \
    X(OK, "ok")                                                                                    \
    X(INVALID_ARGUMENT, "an argument is missing or out of range")                                  \
    X(INVALID_NAME, "the metric name is not valid")                                                \
    X(INVALID_LABEL, "a label key or value is not valid")                                          \
    X(INVALID_TEXT, "a text is not valid UTF-8")                                                   \
    X(TYPE_CLASH, "the name is in use for another kind of metric or with other labels")            \
    X(NAME_CLASH, "the exported name is in use by another metric")                                 \
    X(SPLIT_NAME, "the name differs from another metric's only in case or separators")             \
    X(LIMIT, "a limit of the library is reached")                                                  \
    X(NO_MEMORY, "no memory")                                                                      \
    X(ABI_MISMATCH, "compiled against headers of another ABI")                                     \
    X(MISMATCH, "the timing belongs to another operation")                                         \
    X(NOT_RUNNING, "the timing is not running")                                                    \
    X(NEGATIVE, "a negative amount is not applied")                                                \
    X(INVALID_OPTIONS, "an option is unknown or its value is not valid")                           \
    X(NOT_FOUND, "there is no such thing")                                                         \
    X(ALREADY, "it is done already")                                                               \
    X(REFUSED, "the server refused")                                                               \
    X(UNREACHABLE, "the server could not be reached")                                              \
    X(TIMED_OUT, "not done before the deadline")                                                   \
    X(IO, "reading or writing failed")                                                             \
    X(SYSTEM, "the operating system refused")                                                      \
    X(LATE, "the series has been retired")                                                         \
    X(PARTIAL, "a part of what was asked for could not be started")

#define CREST_STATUS_ENUM_(name, text) CREST_##name,
typedef enum crest_status {
    CREST_STATUS_TABLE(CREST_STATUS_ENUM_) CREST_STATUS_COUNT
} crest_status;
#undef CREST_STATUS_ENUM_

/* Bytes of an error text, its final NUL included; longer texts are cut at a character. */
#define CREST_ERROR_BYTES 768

/* An error fit to show an operator: what was tried, on what, what came back, what to do. */
typedef struct crest_error {
    crest_status status;
    char message[CREST_ERROR_BYTES];
} crest_error;

typedef enum crest_log_level { CREST_LOG_INFO, CREST_LOG_WARNING, CREST_LOG_ERROR } crest_log_level;

/* Receives one message, NUL-terminated, borrowed for the call. Called from Crest's own threads and
 * from functions documented to log, never from a recording call or under a lock of the library. */
typedef void crest_log_fn(crest_log_level level, const char *message, void *context);

CREST_BEGIN_C

/* The text of a status, never NULL, static. Any thread, any handler. */
CREST_API const char *crest_status_text(crest_status status);

/* Fills *error (NULL: nothing is filled) with the status and a message made as by printf, cut at a
 * character to fit, and returns the status, so that a failing function can end with it. For the
 * program's own reporters. Thread-safe. */
CREST_API crest_status crest_error_set(crest_error *error, crest_status status, const char *format,
                                       ...) __attribute__((format(printf, 3, 4)));

/* Sets the process-wide log callback; NULL for silence. In a program that never calls it, what
 * Crest has to say goes to standard error, a line each, from crest_start on, if that is a terminal
 * or with the option log=stderr; with log=off nowhere. context is passed through. It must stay
 * valid until another callback is set and the calls that had begun by then have returned. Any
 * thread; not for signal handlers. */
CREST_API void crest_log_to(crest_log_fn *log, void *context);

/* Hands a message made as by printf, cut at a character to CREST_ERROR_BYTES, to the log callback;
 * without one it does nothing. For the program's own reporters: log what no call returns, and
 * nothing twice. Thread-safe; calls the callback, so not under a lock that the callback might
 * take. */
CREST_API void crest_log_write(crest_log_level level, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

CREST_END_C

#ifdef CREST_DISABLE
#include <crest/off/status_off.h>
#endif

#endif
