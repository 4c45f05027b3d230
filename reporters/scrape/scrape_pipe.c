/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A bounded pipe with gzip in it. See scrape_pipe.h.
 */
#include "scrape/scrape_pipe.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SCRAPE_PIPE_NS_PER_S UINT64_C(1000000000)
/* zlib's largest window, and 16 more for a gzip header and trailer. */
#define SCRAPE_PIPE_WINDOW_BITS (15 + 16)
#define SCRAPE_PIPE_MEMORY_LEVEL 8
/* Bytes compressed at a time, on the writer's stack. */
#define SCRAPE_PIPE_PIECE_BYTES 8192u

uint64_t crest_scrape_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * SCRAPE_PIPE_NS_PER_S + (uint64_t)now.tv_nsec;
}

void crest_scrape_pipe_init(crest_scrape_pipe *pipe, int gzip, int grows, uint64_t deadline_ns,
                            int wake)
{
    pthread_condattr_t monotonic;
    memset(pipe, 0, offsetof(crest_scrape_pipe, own));
    pipe->bytes = pipe->own;
    pipe->size = sizeof pipe->own;
    pipe->grows = grows;
    pipe->gzip = gzip;
    pipe->deadline_ns = deadline_ns;
    pipe->wake = wake;
    pthread_mutex_init(&pipe->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&pipe->room, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

void crest_scrape_pipe_fini(crest_scrape_pipe *pipe)
{
    if (pipe->bytes != pipe->own)
        free(pipe->bytes);
    pthread_cond_destroy(&pipe->room);
    pthread_mutex_destroy(&pipe->lock);
}

/* ---- the writer ---- */

/* Under the lock: wakes the reader when what it waits for has come, or at the end. */
static void scrape_pipe_wake(crest_scrape_pipe *pipe)
{
    static const uint64_t one = 1;
    if (!pipe->closed && (!pipe->awaited || pipe->used < pipe->enough))
        return;
    pipe->due = pipe->due || pipe->awaited;
    pipe->awaited = 0;
    /* Fails only when the counter is full; the reader is being woken then anyway. */
    while (write(pipe->wake, &one, sizeof one) < 0 && errno == EINTR)
        continue;
}

/* Enlarges a pipe from which nothing has been read; 0 without memory. */
static int scrape_pipe_grow(crest_scrape_pipe *pipe)
{
    char *more = malloc(2 * pipe->size);
    if (more == NULL)
        return 0;
    memcpy(more, pipe->bytes, pipe->used);
    if (pipe->bytes != pipe->own)
        free(pipe->bytes);
    pipe->bytes = more;
    pipe->size *= 2;
    return 1;
}

/* Under the lock, given up meanwhile: the writer waits for room; non-zero when there is some. */
static int scrape_pipe_wait(crest_scrape_pipe *pipe)
{
    if (pipe->grows && pipe->used == pipe->size)
        return scrape_pipe_grow(pipe);
    const struct timespec until = {(time_t)(pipe->deadline_ns / SCRAPE_PIPE_NS_PER_S),
                                   (long)(pipe->deadline_ns % SCRAPE_PIPE_NS_PER_S)};
    while (pipe->used == pipe->size && !pipe->cancelled)
        if (pthread_cond_timedwait(&pipe->room, &pipe->lock, &until) == ETIMEDOUT)
            return 0;
    return !pipe->cancelled;
}

static int scrape_pipe_put(crest_scrape_pipe *pipe, const char *bytes, size_t length)
{
    int failed = 0;
    pthread_mutex_lock(&pipe->lock);
    while (length > 0 && !failed) {
        if (!scrape_pipe_wait(pipe)) {
            failed = 1;
            break;
        }
        size_t end = (pipe->start + pipe->used) % pipe->size;
        size_t part = (end < pipe->start ? pipe->start : pipe->size) - end;
        if (part > length)
            part = length;
        memcpy(pipe->bytes + end, bytes, part);
        pipe->used += part;
        bytes += part;
        length -= part;
        scrape_pipe_wake(pipe);
    }
    failed = failed || pipe->cancelled;
    pthread_mutex_unlock(&pipe->lock);
    return failed || crest_scrape_now_ns() >= pipe->deadline_ns ? -1 : 0;
}

static int scrape_pipe_deflate(crest_scrape_pipe *pipe, const void *bytes, size_t length, int flush)
{
    unsigned char piece[SCRAPE_PIPE_PIECE_BYTES];
    z_stream *deflater = &pipe->deflater;
    deflater->next_in = (Bytef *)(uintptr_t)bytes;
    deflater->avail_in = (uInt)length;
    do {
        deflater->next_out = piece;
        deflater->avail_out = sizeof piece;
        (void)deflate(deflater, flush); /* fails only on misuse */
        size_t made = sizeof piece - deflater->avail_out;
        if (made > 0 && scrape_pipe_put(pipe, (const char *)piece, made) != 0)
            return -1;
    } while (deflater->avail_out == 0);
    return 0;
}

crest_status crest_scrape_pipe_open(crest_scrape_pipe *pipe)
{
    if (pipe->gzip &&
        deflateInit2(&pipe->deflater, Z_BEST_SPEED, Z_DEFLATED, SCRAPE_PIPE_WINDOW_BITS,
                     SCRAPE_PIPE_MEMORY_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK)
        return CREST_NO_MEMORY;
    return CREST_OK;
}

int crest_scrape_pipe_write(void *context, const void *bytes, size_t length)
{
    crest_scrape_pipe *pipe = context;
    return pipe->gzip ? scrape_pipe_deflate(pipe, bytes, length, Z_NO_FLUSH)
                      : scrape_pipe_put(pipe, bytes, length);
}

void crest_scrape_pipe_close(crest_scrape_pipe *pipe, crest_status status)
{
    if (pipe->gzip && status == CREST_OK && scrape_pipe_deflate(pipe, "", 0, Z_FINISH) != 0)
        status = CREST_IO;
    if (pipe->gzip)
        (void)deflateEnd(&pipe->deflater); /* also of a deflater that was never opened */
    pthread_mutex_lock(&pipe->lock);
    if (status == CREST_IO)
        status = pipe->cancelled ? CREST_IO : CREST_TIMED_OUT;
    pipe->status = status;
    pipe->closed = 1;
    scrape_pipe_wake(pipe);
    pthread_mutex_unlock(&pipe->lock);
}

/* ---- the reader ---- */

ssize_t crest_scrape_pipe_read(crest_scrape_pipe *pipe, char *bytes, size_t size)
{
    pthread_mutex_lock(&pipe->lock);
    ssize_t result = 0;
    /* A broken page is not handed out to its end: the client is to notice. */
    if (pipe->cancelled || (pipe->closed && pipe->status != CREST_OK)) {
        result = CREST_SCRAPE_PIPE_BROKEN;
    } else if (pipe->used > 0) {
        size_t part = pipe->size - pipe->start;
        if (part > pipe->used)
            part = pipe->used;
        if (part > size)
            part = size;
        memcpy(bytes, pipe->bytes + pipe->start, part);
        pipe->start = (pipe->start + part) % pipe->size;
        pipe->used -= part;
        pipe->taken += part;
        result = (ssize_t)part;
        /* Not for each piece: writer and reader would wake each other all the time. */
        if (pipe->used <= pipe->size / 2)
            pthread_cond_signal(&pipe->room);
    } else if (pipe->closed) {
        result = CREST_SCRAPE_PIPE_END;
    } else {
        pipe->enough = pipe->size / 2;
        pipe->awaited = 1;
    }
    pthread_mutex_unlock(&pipe->lock);
    return result;
}

void crest_scrape_pipe_await(crest_scrape_pipe *pipe)
{
    pthread_mutex_lock(&pipe->lock);
    pipe->enough = pipe->size;
    pipe->awaited = 1;
    scrape_pipe_wake(pipe);
    pthread_mutex_unlock(&pipe->lock);
}

int crest_scrape_pipe_due(crest_scrape_pipe *pipe)
{
    pthread_mutex_lock(&pipe->lock);
    int due = pipe->due;
    pipe->due = 0;
    pthread_mutex_unlock(&pipe->lock);
    return due;
}

int crest_scrape_pipe_whole(crest_scrape_pipe *pipe, size_t *used, crest_status *status)
{
    pthread_mutex_lock(&pipe->lock);
    *used = pipe->used;
    *status = pipe->cancelled ? CREST_IO : pipe->closed ? pipe->status : CREST_OK;
    int whole = pipe->closed && *status == CREST_OK;
    pthread_mutex_unlock(&pipe->lock);
    return whole;
}

int crest_scrape_pipe_closed(crest_scrape_pipe *pipe)
{
    pthread_mutex_lock(&pipe->lock);
    int closed = pipe->closed;
    pthread_mutex_unlock(&pipe->lock);
    return closed;
}

/* The writer, which ends now, wakes a waiting reader. */
int crest_scrape_pipe_wanted(crest_scrape_pipe *pipe)
{
    pthread_mutex_lock(&pipe->lock);
    int wanted = !pipe->cancelled && crest_scrape_now_ns() < pipe->deadline_ns;
    pthread_mutex_unlock(&pipe->lock);
    return wanted;
}

void crest_scrape_pipe_cancel(crest_scrape_pipe *pipe)
{
    pthread_mutex_lock(&pipe->lock);
    pipe->cancelled = 1;
    pthread_cond_signal(&pipe->room);
    pthread_mutex_unlock(&pipe->lock);
}
