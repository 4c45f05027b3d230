/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Spans as lines into a pipe whose reader is slow: reports end early, and in the end each span has
 * come once.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <crest/crest.h>
#include <crest/json_lines.h>
#include <crest/span.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define MS UINT64_C(1000000)
#define SPANS 512u
#define ROUNDS 64u
/* More than SPANS lines have, which is more than a pipe holds. */
#define PIPE_TEXT_BYTES (1u << 20)

static char pipe_text[PIPE_TEXT_BYTES];
static size_t pipe_bytes;

static void drain(int reader)
{
    ssize_t got;
    while ((got = read(reader, pipe_text + pipe_bytes, sizeof pipe_text - 1 - pipe_bytes)) > 0)
        pipe_bytes += (size_t)got;
}

/* How often the span's line has come, whole. */
static unsigned came(unsigned number)
{
    char id[48];
    unsigned count = 0;
    snprintf(id, sizeof id, "\"spanId\":\"%016x\"", number);
    for (const char *at = pipe_text; (at = strstr(at, id)) != NULL; at++)
        count += strchr(at, '\n') != NULL && strchr(at, '\n')[-1] == '}';
    return count;
}

static void test_slow_reader(void **state)
{
    static crest_span spans[SPANS];
    char folder[] = "/tmp/crest-span-lines-XXXXXX", path[64];
    crest_error error;
    crest_status status;
    unsigned rounds = 0, late = 0;
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/pipe", folder);
    assert_int_equal(mkfifo(path, 0600), 0);
    int reader = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    assert_true(reader >= 0);
    crest_reporter *lines = crest_span_lines_new(path, &error);
    assert_non_null(lines);
    assert_int_equal(lines->start(lines, NULL, &error), CREST_OK);
    for (unsigned i = 0; i < SPANS; i++)
        spans[i] = (crest_span){.trace = {{1}},
                                .id = i + 1,
                                .name = "slow.work-time",
                                .end_unix_ns = i,
                                .tracestate = ""};
    assert_int_equal(crest_spans_give(spans, SPANS), CREST_OK);
    do {
        const crest_report report = {.deadline_ns = crest_now() + 50 * MS};
        status = lines->report(lines, &report, &error);
        late += status == CREST_TIMED_OUT;
        drain(reader);
    } while (status != CREST_OK && ++rounds < ROUNDS);
    assert_int_equal(status, CREST_OK);
    assert_true(late > 0);
    for (unsigned i = 0; i < SPANS; i++)
        assert_int_equal(came(i + 1), 1);
    assert_int_equal(lines->stop(lines, crest_now(), &error), CREST_OK);
    crest_reporter_free(lines);
    close(reader);
    unlink(path);
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_slow_reader)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
