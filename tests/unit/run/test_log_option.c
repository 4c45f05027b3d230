/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The option log=: what Crest has to say is on standard error if that is a terminal, in a pipe only
 * when asked for, and never where the program takes messages itself. Each program is a child, since
 * its standard error is taken.
 */
#include "support/child_fixture.h"

#include <pty.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define DEADLINE_MS 20000u

CREST_COUNTER_FAMILY(orders, "log.orders", "Orders.", side);
CREST_GAUGE(orders_again, "log.orders", "Orders.");

/* The reader's and the program's end. */
static void log_pipe(int ends[2])
{
    assert_int_equal(pipe(ends), 0);
}

static void log_terminal(int ends[2])
{
    assert_int_equal(openpty(&ends[0], &ends[1], NULL, NULL, NULL), 0);
}

static void log_program(const char *options, int quiet)
{
    if (quiet)
        crest_log_to(NULL, NULL);
    crest_status status = crest_start(options, NULL);
    if (status == CREST_OK)
        crest_stop(DEADLINE_MS, NULL);
    _exit(status == CREST_OK ? 0 : 1);
}

/* What a program with these options wrote; its exit status is returned. */
static int log_heard(void make(int ends[2]), const char *options, int quiet, char *text,
                     size_t size)
{
    int ends[2];
    make(ends);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        log_program(options, quiet);
    }
    close(ends[1]);
    size_t length = 0;
    ssize_t got;
    /* a terminal whose other end is closed answers EIO */
    while (length < size - 1 && (got = read(ends[0], text + length, size - 1 - length)) > 0)
        length += (size_t)got;
    text[length] = '\0';
    close(ends[0]);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static unsigned lines_with(const char *text, const char *part)
{
    unsigned count = 0;
    for (const char *at = text; (at = strstr(at, part)) != NULL; at += strlen(part))
        count++;
    return count;
}

static void assert_told(const char *text)
{
    if (lines_with(text, "log.orders") == 0 || lines_with(text, "test_log_option.c:") != 2)
        fail_msg("neither the metric nor both of its places: \"%s\"", text);
    assert_int_equal(lines_with(text, "crest: "), 1);
    assert_int_equal(lines_with(text, "\n"), 1);
}

static void test_a_terminal_is_told(void **state)
{
    (void)state;
    char text[8192];
    assert_int_equal(log_heard(log_terminal, "threads=off", 0, text, sizeof text), 0);
    assert_told(text);
    assert_int_equal(log_heard(log_terminal, "threads=off,log=off", 0, text, sizeof text), 0);
    assert_string_equal(text, "");
}

static void test_a_pipe_is_told_when_asked_for(void **state)
{
    (void)state;
    char text[8192];
    assert_int_equal(log_heard(log_pipe, "threads=off", 0, text, sizeof text), 0);
    assert_string_equal(text, "");
    assert_int_equal(log_heard(log_pipe, "threads=off,log=stderr", 0, text, sizeof text), 0);
    assert_told(text);
}

static void test_a_program_that_chose_is_not_overruled(void **state)
{
    (void)state;
    char text[8192];
    assert_int_equal(log_heard(log_pipe, "threads=off,log=stderr", 1, text, sizeof text), 0);
    assert_string_equal(text, "");
    assert_int_equal(log_heard(log_terminal, "threads=off", 1, text, sizeof text), 0);
    assert_string_equal(text, "");
}

/* The start itself refused: only the terminal is left to say it. */
static void test_refused_options_are_told(void **state)
{
    (void)state;
    char text[8192];
    assert_int_equal(log_heard(log_terminal, "windos=off", 0, text, sizeof text), 1);
    assert_int_equal(lines_with(text, "windos"), 1);
    assert_int_equal(log_heard(log_pipe, "log=syslog", 0, text, sizeof text), 1);
    assert_string_equal(text, "");
    assert_int_equal(log_heard(log_terminal, "log=syslog", 0, text, sizeof text), 1);
    assert_int_equal(lines_with(text, "write log=stderr or log=off"), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_terminal_is_told),
        cmocka_unit_test(test_a_pipe_is_told_when_asked_for),
        cmocka_unit_test(test_a_program_that_chose_is_not_overruled),
        cmocka_unit_test(test_refused_options_are_told),
    };
    return cmocka_run_group_tests_name("log_option", tests, NULL, NULL);
}
