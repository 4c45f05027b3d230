/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pipe of a page: what goes in comes out, it never holds more than its size, its reader never
 * waits and is woken when it should, and its writer gives up when nobody reads.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/random_numbers.h"
#include "scrape/scrape_pipe.h"

#include <poll.h>
#include <sys/eventfd.h>

#define SECOND UINT64_C(1000000000)
#define LONG_BYTES ((size_t)5 << 20)

typedef struct pipe_test {
    crest_scrape_pipe pipe;
    int wake;
    const unsigned char *bytes; /* what the writer writes, in pieces of growing size */
    size_t length;
    int failed;
    pthread_t thread;
} pipe_test;

static void *pipe_test_write(void *argument)
{
    pipe_test *test = argument;
    crest_status status = crest_scrape_pipe_open(&test->pipe);
    size_t piece = 1, at = 0;
    while (status == CREST_OK && at < test->length && !test->failed) {
        if (piece > test->length - at)
            piece = test->length - at;
        test->failed = crest_scrape_pipe_write(&test->pipe, test->bytes + at, piece);
        at += piece;
        piece = piece * 3 % 100003 + 1;
    }
    crest_scrape_pipe_close(&test->pipe, test->failed ? CREST_IO : status);
    return NULL;
}

static pipe_test *pipe_test_begin(int gzip, uint64_t left_ns, const void *bytes, size_t length)
{
    pipe_test *test = calloc(1, sizeof *test);
    assert_non_null(test);
    test->wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    test->bytes = bytes;
    test->length = length;
    crest_scrape_pipe_init(&test->pipe, gzip, 0, crest_scrape_now_ns() + left_ns, test->wake);
    assert_int_equal(pthread_create(&test->thread, NULL, pipe_test_write, test), 0);
    return test;
}

static void pipe_test_end(pipe_test *test)
{
    assert_int_equal(pthread_join(test->thread, NULL), 0);
    crest_scrape_pipe_fini(&test->pipe);
    close(test->wake);
    free(test);
}

static void pipe_test_await_wake(pipe_test *test)
{
    uint64_t count;
    struct pollfd woken = {.fd = test->wake, .events = POLLIN};
    while (!crest_scrape_pipe_due(&test->pipe)) {
        assert_int_equal(poll(&woken, 1, 20000), 1);
        assert_int_equal(read(test->wake, &count, sizeof count), sizeof count);
    }
}

/* Reads to the end into `bytes`; the result is how many, or CREST_SCRAPE_PIPE_BROKEN. */
static ssize_t pipe_test_read(pipe_test *test, char *bytes, size_t size, size_t piece)
{
    size_t used = 0;
    for (;;) {
        assert_true(used + piece <= size);
        ssize_t length = crest_scrape_pipe_read(&test->pipe, bytes + used, piece);
        if (length == CREST_SCRAPE_PIPE_END)
            return (ssize_t)used;
        if (length < 0)
            return length;
        if (length == 0)
            pipe_test_await_wake(test);
        used += (size_t)length;
    }
}

static unsigned char *pipe_test_bytes(void)
{
    unsigned char *bytes = malloc(LONG_BYTES);
    assert_non_null(bytes);
    uint64_t seed = 1;
    for (size_t i = 0; i < LONG_BYTES; i++)
        bytes[i] = (unsigned char)("0123456789 abc_\n"[random_next(&seed) % 16]);
    return bytes;
}

static void what_goes_in_comes_out(void **state)
{
    (void)state;
    unsigned char *bytes = pipe_test_bytes();
    char *out = malloc(LONG_BYTES + CREST_PROMETHEUS_BUFFER_BYTES);
    static const size_t pieces[] = {7, 1000, 16384, CREST_PROMETHEUS_BUFFER_BYTES};
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        size_t length = pieces[i] < 1000 ? LONG_BYTES / 100 : LONG_BYTES;
        pipe_test *test = pipe_test_begin(0, 60 * SECOND, bytes, length);
        ssize_t got = pipe_test_read(test, out, LONG_BYTES + pieces[i], pieces[i]);
        assert_int_equal(got, length);
        assert_memory_equal(out, bytes, length);
        assert_int_equal(test->pipe.taken, length);
        pipe_test_end(test);
    }
    free(out);
    free(bytes);
}

static void gzip_comes_out_as_gzip(void **state)
{
    (void)state;
    unsigned char *bytes = pipe_test_bytes(), *again = malloc(LONG_BYTES + 1);
    char *out = malloc(LONG_BYTES + CREST_PROMETHEUS_BUFFER_BYTES);
    static const size_t lengths[] = {0, 1, 100000, LONG_BYTES};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        pipe_test *test = pipe_test_begin(1, 60 * SECOND, bytes, lengths[i]);
        ssize_t got = pipe_test_read(test, out, LONG_BYTES + 5000, 5000);
        assert_true(got > 0);
        z_stream inflater = {.next_in = (Bytef *)out,
                             .avail_in = (uInt)got,
                             .next_out = again,
                             .avail_out = (uInt)LONG_BYTES + 1};
        assert_int_equal(inflateInit2(&inflater, 15 + 16), Z_OK);
        assert_int_equal(inflate(&inflater, Z_FINISH), Z_STREAM_END);
        assert_int_equal(inflater.total_out, lengths[i]);
        assert_int_equal(inflater.avail_in, 0);
        assert_memory_equal(again, bytes, lengths[i]);
        inflateEnd(&inflater);
        pipe_test_end(test);
    }
    free(again);
    free(out);
    free(bytes);
}

static void a_small_page_is_known_whole(void **state)
{
    (void)state;
    pipe_test *test = pipe_test_begin(0, 60 * SECOND, "a page\n", 7);
    crest_scrape_pipe_await(&test->pipe);
    pipe_test_await_wake(test);
    size_t used;
    crest_status status;
    assert_true(crest_scrape_pipe_whole(&test->pipe, &used, &status));
    assert_int_equal(used, 7);
    char out[100];
    assert_int_equal(pipe_test_read(test, out, sizeof out, 50), 7);
    pipe_test_end(test);
}

static void a_long_page_wakes_when_the_pipe_is_full(void **state)
{
    (void)state;
    unsigned char *bytes = pipe_test_bytes();
    pipe_test *test = pipe_test_begin(0, 60 * SECOND, bytes, LONG_BYTES);
    crest_scrape_pipe_await(&test->pipe);
    pipe_test_await_wake(test);
    size_t used;
    crest_status status;
    assert_false(crest_scrape_pipe_whole(&test->pipe, &used, &status));
    assert_int_equal(status, CREST_OK);
    assert_int_equal(used, CREST_PROMETHEUS_BUFFER_BYTES);
    crest_scrape_pipe_cancel(&test->pipe);
    char out[10];
    assert_int_equal(crest_scrape_pipe_read(&test->pipe, out, sizeof out),
                     CREST_SCRAPE_PIPE_BROKEN);
    pipe_test_end(test);
    free(bytes);
}

/* Without a reader the writer ends at the deadline, and what it wrote is not handed out as if it
 * were a page. */
static void a_writer_gives_up_at_its_deadline(void **state)
{
    (void)state;
    unsigned char *bytes = pipe_test_bytes();
    for (int gzip = 0; gzip < 2; gzip++) {
        pipe_test *test = pipe_test_begin(gzip, SECOND / 20, bytes, LONG_BYTES);
        while (!crest_scrape_pipe_closed(&test->pipe))
            usleep(1000);
        size_t used;
        crest_status status;
        assert_false(crest_scrape_pipe_whole(&test->pipe, &used, &status));
        assert_int_equal(status, CREST_TIMED_OUT);
        char out[10];
        assert_int_equal(crest_scrape_pipe_read(&test->pipe, out, sizeof out),
                         CREST_SCRAPE_PIPE_BROKEN);
        pipe_test_end(test);
    }
    free(bytes);
}

/* Also where there is room: a scraper that has given up wants no more of it. */
static void nothing_is_written_past_the_deadline(void **state)
{
    (void)state;
    for (int gzip = 0; gzip < 2; gzip++) {
        crest_scrape_pipe *pipe = malloc(sizeof *pipe);
        assert_non_null(pipe);
        int wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
        static char noise[1 << 16];
        uint64_t seed = 1;
        for (size_t i = 0; i < sizeof noise; i++)
            noise[i] = (char)random_next(&seed);
        crest_scrape_pipe_init(pipe, gzip, 0, crest_scrape_now_ns(), wake);
        assert_int_equal(crest_scrape_pipe_open(pipe), CREST_OK);
        int stopped = 0;
        for (unsigned i = 0; i < 4 && !stopped; i++)
            stopped = crest_scrape_pipe_write(pipe, noise, gzip ? sizeof noise : 100);
        assert_int_not_equal(stopped, 0);
        crest_scrape_pipe_close(pipe, CREST_IO);
        size_t used;
        crest_status status;
        assert_false(crest_scrape_pipe_whole(pipe, &used, &status));
        assert_int_equal(status, CREST_TIMED_OUT);
        crest_scrape_pipe_fini(pipe);
        free(pipe);
        close(wake);
    }
}

static void cancelling_ends_a_writer_that_waits(void **state)
{
    (void)state;
    unsigned char *bytes = pipe_test_bytes();
    for (int i = 0; i < 20; i++) {
        pipe_test *test = pipe_test_begin(i % 2, 60 * SECOND, bytes, LONG_BYTES);
        if (i % 3 == 0)
            usleep(3000);
        crest_scrape_pipe_cancel(&test->pipe);
        uint64_t began_ns = crest_scrape_now_ns();
        pipe_test_end(test);
        assert_true(crest_scrape_now_ns() - began_ns < 30 * SECOND);
    }
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_goes_in_comes_out),
        cmocka_unit_test(gzip_comes_out_as_gzip),
        cmocka_unit_test(a_small_page_is_known_whole),
        cmocka_unit_test(a_long_page_wakes_when_the_pipe_is_full),
        cmocka_unit_test(a_writer_gives_up_at_its_deadline),
        cmocka_unit_test(nothing_is_written_past_the_deadline),
        cmocka_unit_test(cancelling_ends_a_writer_that_waits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
