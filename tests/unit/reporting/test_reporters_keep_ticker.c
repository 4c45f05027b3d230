/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ticker watches reports, so reporters with threads keep it, whether or not windows do.
 */
#define _GNU_SOURCE
#include "support/core_fixture.h"
#include "support/fake_reporter.h"

#include <dirent.h>

static const crest_schedule often = {.interval_ms = 100, .jitter = -1};
static const crest_schedule seldom = {.interval_ms = 3600000, .jitter = -1};

static int ticker_runs(void)
{
    char name[32];
    int runs = 0;
    DIR *tasks = opendir("/proc/self/task");
    assert_non_null(tasks);
    for (struct dirent *task; (task = readdir(tasks)) != NULL;) {
        char path[300];
        snprintf(path, sizeof path, "/proc/self/task/%s/comm", task->d_name);
        FILE *file = fopen(path, "r");
        if (file == NULL)
            continue;
        runs += fgets(name, sizeof name, file) != NULL && strcmp(name, "crest-ticker\n") == 0;
        fclose(file);
    }
    closedir(tasks);
    return runs;
}

/* A thread that has been joined is in /proc a moment longer. */
static void ticker_ends(void)
{
    uint64_t start_ms = fake_now_ms();
    while (ticker_runs() != 0) {
        assert_true(fake_now_ms() - start_ms < FAKE_PATIENCE_MS);
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    }
}

/* Once, as long as the last of them is attached; one that is left behind keeps it no more. */
static void test_keeps_the_ticker(void **state)
{
    (void)state;
    fake_reporter one, two, hung;
    fake_init(&one, "one");
    fake_init(&two, "two");
    fake_init(&hung, "hung");
    assert_int_equal(ticker_runs(), 0);
    assert_int_equal(crest_reporter_attach(NULL, &one.reporter, &seldom, NULL), CREST_OK);
    assert_int_equal(crest_reporter_attach(NULL, &two.reporter, &seldom, NULL), CREST_OK);
    assert_int_equal(ticker_runs(), 1);
    assert_int_equal(crest_reporter_attach(NULL, &two.reporter, &seldom, NULL), CREST_ALREADY);
    assert_int_equal(crest_reporter_detach(&one.reporter, 0, NULL), CREST_OK);
    assert_int_equal(ticker_runs(), 1);
    assert_int_equal(crest_reporter_detach(&two.reporter, 0, NULL), CREST_OK);
    ticker_ends();
    fake_set(&hung, &hung.hang, 1);
    assert_int_equal(crest_reporter_attach(NULL, &hung.reporter, &often, NULL), CREST_OK);
    assert_true(fake_wait(&hung, &hung.reports, 1));
    assert_int_equal(ticker_runs(), 1);
    assert_int_equal(crest_reporter_detach(&hung.reporter, 20, NULL), CREST_TIMED_OUT);
    ticker_ends();
    fake_set(&hung, &hung.hang, 0);
    assert_int_not_equal(crest_reporter_detach(&hung.reporter, FAKE_PATIENCE_MS, NULL),
                         CREST_TIMED_OUT);
}

/* With windows it is one and the same, and stays as long as either wants it. */
static void test_shares_it_with_windows(void **state)
{
    (void)state;
    fake_reporter one;
    fake_init(&one, "one");
    assert_int_equal(crest_ticker_attach(NULL), CREST_OK);
    assert_int_equal(crest_reporter_attach(NULL, &one.reporter, &seldom, NULL), CREST_OK);
    assert_int_equal(ticker_runs(), 1);
    assert_int_equal(crest_ticker_detach(NULL), CREST_OK);
    assert_int_equal(ticker_runs(), 1);
    assert_int_equal(crest_ticker_attach(NULL), CREST_OK);
    assert_int_equal(crest_reporter_detach(&one.reporter, 0, NULL), CREST_OK);
    assert_int_equal(ticker_runs(), 1);
    assert_int_equal(crest_ticker_detach(NULL), CREST_OK);
    ticker_ends();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keeps_the_ticker),
        cmocka_unit_test(test_shares_it_with_windows),
    };
    fixture_watchdog(60);
    return cmocka_run_group_tests_name("reporters keep the ticker", tests, NULL, NULL);
}
