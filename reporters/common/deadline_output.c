/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waits for room, writes a piece, waits again. See deadline_output.h.
 */
#define _GNU_SOURCE
#include "common/deadline_output.h"

#include <crest/clock.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PATIENT_OUTPUT_NS_PER_MS UINT64_C(1000000)
/* Pause before a stream that another thread has locked is tried again. */
#define PATIENT_OUTPUT_PAUSE_NS 2000000

/* ---- waiting ---- */

/* Milliseconds left, rounded up; 0: none. */
static int patient_output_left_ms(const crest_patient_output *output)
{
    uint64_t now_ns = crest_now();
    if (now_ns >= output->deadline_ns)
        return 0;
    uint64_t left_ms = (output->deadline_ns - now_ns - 1) / PATIENT_OUTPUT_NS_PER_MS + 1;
    return left_ms < INT_MAX ? (int)left_ms : INT_MAX;
}

/* Another thread may hold the lock while it waits for the stream's reader itself. */
static int patient_output_lock(crest_patient_output *output)
{
    static const struct timespec pause = {0, PATIENT_OUTPUT_PAUSE_NS};
    if (output->stream == NULL || output->locked)
        return 0;
    while (ftrylockfile(output->stream) != 0) {
        if (patient_output_left_ms(output) == 0)
            return ETIMEDOUT;
        nanosleep(&pause, NULL);
    }
    output->locked = 1;
    return 0;
}

static void patient_output_unlock(crest_patient_output *output)
{
    if (output->locked)
        funlockfile(output->stream);
    output->locked = 0;
}

/* Until a piece can be written, the lock being held afterwards. */
static int patient_output_room(crest_patient_output *output)
{
    int failed = patient_output_lock(output);
    struct pollfd room = {.fd = output->file, .events = POLLOUT};
    while (failed == 0 && output->file >= 0 && poll(&room, 1, 0) == 0) {
        patient_output_unlock(output);
        int left_ms = patient_output_left_ms(output);
        if (left_ms == 0)
            return ETIMEDOUT;
        poll(&room, 1, left_ms);
        failed = patient_output_lock(output);
    }
    return failed;
}

/* ---- writing ---- */

/* Output of the host that stdio still buffers goes first. */
static int patient_output_host(crest_patient_output *output)
{
    errno = 0;
    if (output->stream == NULL || fflush(output->stream) == 0)
        return 0;
    return errno != 0 ? errno : EIO;
}

static int patient_output_piece(crest_patient_output *output, const char *bytes, size_t length,
                                size_t *done)
{
    *done = 0;
    if (output->file < 0) {
        errno = 0;
        *done = fwrite(bytes, 1, length, output->stream);
        return *done == length ? patient_output_host(output) : errno != 0 ? errno : EIO;
    }
    ssize_t written = write(output->file, bytes, length);
    if (written > 0)
        *done = (size_t)written;
    if (written >= 0 || errno == EINTR || errno == EAGAIN)
        return 0;
    return errno;
}

static int patient_output_out(crest_patient_output *output, const char *bytes, size_t length)
{
    while (length > 0 && output->failed == 0) {
        size_t piece = length < output->piece ? length : output->piece, done = 0;
        output->failed = patient_output_room(output);
        if (output->failed == 0)
            output->failed = patient_output_host(output);
        if (output->failed == 0)
            output->failed = patient_output_piece(output, bytes, piece, &done);
        bytes += done;
        length -= done;
        output->written += done;
    }
    return output->failed;
}

void crest_patient_output_begin(crest_patient_output *output, FILE *stream, int file,
                                uint64_t deadline_ns)
{
    struct stat about;
    output->stream = stream;
    output->file = stream != NULL ? fileno(stream) : file;
    output->locked = output->failed = 0;
    output->deadline_ns = deadline_ns;
    output->written = 0;
    output->used = 0;
    /* a pipe that poll reports writable takes so much (PIPE_BUF) without waiting */
    int plain = output->file >= 0 && fstat(output->file, &about) == 0 && S_ISREG(about.st_mode);
    output->piece = plain || output->file < 0 ? CREST_PATIENT_OUTPUT_BYTES : PIPE_BUF;
    crest_quiet_signals_begin(&output->quiet);
}

int crest_patient_output_write(void *context, const void *bytes, size_t length)
{
    crest_patient_output *output = context;
    while (length > sizeof output->buffer - output->used && output->failed == 0) {
        const char *feed = memrchr(output->buffer, '\n', output->used);
        size_t whole = feed != NULL ? (size_t)(feed + 1 - output->buffer) : output->used;
        if (output->used == 0)
            return patient_output_out(output, bytes, length);
        if (patient_output_out(output, output->buffer, whole) != 0)
            break;
        output->used -= whole;
        memmove(output->buffer, output->buffer + whole, output->used);
    }
    if (output->failed != 0)
        return output->failed;
    memcpy(output->buffer + output->used, bytes, length);
    output->used += length;
    return 0;
}

int crest_patient_output_end(crest_patient_output *output)
{
    patient_output_out(output, output->buffer, output->used);
    output->used = 0;
    patient_output_unlock(output);
    crest_quiet_signals_end(&output->quiet);
    return output->failed;
}
