/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scrape endpoint through its public functions: when it serves and on which port, what of the
 * host's it leaves alone, and how it ends.
 */
#define _GNU_SOURCE
#include <crest/crest.h>
#include <crest/prometheus.h>

#include <dirent.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/wait.h>
#include <time.h>

#include <cmocka.h>

#include "support/core_fixture.h"
#include "support/http_get.h"

CREST_COUNTER(things, "test.things", "Counted here.");
CREST_RANGE_SAMPLER(depth, "test.depth", "Has extremes.");

static crest_reporter *make(const crest_prometheus_options *options)
{
    crest_error error = {0};
    crest_reporter *scrape = crest_prometheus_new(options, &error);
    if (scrape == NULL)
        fail_msg("%s", error.message);
    return scrape;
}

static void attach(crest_reporter *scrape, crest_registry *registry)
{
    crest_error error = {0};
    if (crest_reporter_attach(registry, scrape, NULL, &error) != CREST_OK)
        fail_msg("%s", error.message);
}

static void detach_and_free(crest_reporter *scrape)
{
    crest_error error = {0};
    if (crest_reporter_detach(scrape, 20000, &error) != CREST_OK)
        fail_msg("%s", error.message);
    assert_int_equal(crest_prometheus_port(scrape), 0);
    crest_reporter_free(scrape);
}

static char *page_of(crest_reporter *scrape, const char *path)
{
    size_t length;
    char *page = http_get(crest_prometheus_port(scrape), path, "", &length);
    assert_non_null(page);
    return page;
}

static int serves(crest_reporter *scrape, const char *text)
{
    char *page = page_of(scrape, "/metrics");
    int found = strstr(page, text) != NULL;
    free(page);
    return found;
}

static void it_serves_while_it_is_attached(void **state)
{
    (void)state;
    crest_reporter *scrape = make(&(crest_prometheus_options){.listen = "0"});
    assert_int_equal(crest_prometheus_port(scrape), 0);
    crest_counter_add(&things, 7);
    for (int round = 0; round < 3; round++) {
        crest_error error = {0};
        attach(scrape, NULL);
        unsigned port = crest_prometheus_port(scrape);
        assert_true(port > 0);
        assert_true(serves(scrape, "\ntest_things_total 7\n"));
        assert_int_equal(crest_reporter_detach(scrape, 20000, &error), CREST_OK);
        assert_int_equal(crest_prometheus_port(scrape), 0);
        assert_int_equal(http_connect(port), -1);
    }
    crest_reporter_free(scrape);
}

static void it_serves_the_registry_it_is_attached_to(void **state)
{
    (void)state;
    crest_registry *registry = crest_registry_new(NULL);
    crest_counter_add(
        crest_counter_get(registry, &(crest_metric_options){.name = "mine.own"}, NULL), 3);
    crest_reporter *scrape = make(&(crest_prometheus_options){.listen = "127.0.0.1:0"});
    attach(scrape, registry);
    char *page = page_of(scrape, "/metrics");
    assert_non_null(strstr(page, "\nmine_own_total 3\n"));
    assert_null(strstr(page, "test_things"));
    assert_null(strstr(page, "crest_target_info"));
    free(page);
    detach_and_free(scrape);
    crest_registry_free(registry);
}

static void who_it_is_can_be_said(void **state)
{
    (void)state;
    const crest_page_label labels[] = {{"region", "eu"}};
    const crest_resource resource = {
        .service = "s", .version = "", .instance = "i\"1", .labels = labels, .label_count = 1};
    crest_reporter *scrape =
        make(&(crest_prometheus_options){.listen = "0", .resource = &resource});
    attach(scrape, NULL);
    assert_true(
        serves(scrape, "\ncrest_target_info{service=\"s\",instance=\"i\\\"1\",region=\"eu\"} 1\n"));
    detach_and_free(scrape);
}

static void options_out_of_range_are_refused(void **state)
{
    (void)state;
    const crest_prometheus_options wrong[] = {
        {.listen = ""},
        {.listen = "nowhere"},
        {.listen = "0", .concurrency = CREST_PROMETHEUS_CONCURRENCY_MAX + 1},
        {.listen = "0", .connections = CREST_PROMETHEUS_CONNECTIONS_MAX + 1},
        {.listen = "0", .timeout_ms = CREST_PROMETHEUS_TIMEOUT_MS_MAX + 1},
        {.listen = "0", .windows = 2},
        {.listen = "0", .windows = -2},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        crest_error error = {0};
        assert_null(crest_prometheus_new(&wrong[i], &error));
        assert_int_equal(error.status, CREST_INVALID_ARGUMENT);
        assert_true(strlen(error.message) > 20);
        assert_null(crest_prometheus_new(&wrong[i], NULL));
    }
    assert_int_equal(crest_prometheus_port(NULL), 0);
}

static void a_taken_port_fails_the_attach(void **state)
{
    (void)state;
    crest_reporter *first = make(&(crest_prometheus_options){.listen = "0"});
    attach(first, NULL);
    char list[64];
    snprintf(list, sizeof list, "127.0.0.1:%u", crest_prometheus_port(first));
    crest_reporter *second = make(&(crest_prometheus_options){.listen = list});
    crest_error error = {0};
    assert_int_equal(crest_reporter_attach(NULL, second, NULL, &error), CREST_UNREACHABLE);
    assert_non_null(strstr(error.message, "Another program listens there"));
    assert_int_equal(crest_prometheus_port(second), 0);
    detach_and_free(first);
    attach(second, NULL); /* now it is free */
    assert_true(serves(second, "test_things_total"));
    detach_and_free(second);
}

/* ---- what is the host's ---- */

static unsigned entries(const char *path)
{
    unsigned count = 0;
    DIR *all = opendir(path);
    assert_non_null(all);
    while (readdir(all) != NULL)
        count++;
    closedir(all);
    return count;
}

/* How many threads there are once it stays the same for 20 ms: one that was joined, by the test
 * before as well, may still be listed for a moment. */
static unsigned settled_threads(void)
{
    unsigned threads = entries("/proc/self/task");
    for (int same = 0; same < 20; same++) {
        usleep(1000);
        unsigned now = entries("/proc/self/task");
        if (now != threads)
            same = 0;
        threads = now;
    }
    return threads;
}

static void nothing_is_left_behind(void **state)
{
    (void)state;
    crest_reporter *scrape = make(&(crest_prometheus_options){.listen = "0"});
    unsigned files = entries("/proc/self/fd"), threads = settled_threads();
    for (int round = 0; round < 5; round++) {
        crest_error error = {0};
        attach(scrape, NULL);
        for (int i = 0; i < 5; i++)
            assert_true(serves(scrape, "test_things_total"));
        assert_int_equal(crest_reporter_detach(scrape, 20000, &error), CREST_OK);
    }
    assert_int_equal(entries("/proc/self/fd"), files);
    assert_int_equal(settled_threads(), threads);
    crest_reporter_free(scrape);
}

static volatile sig_atomic_t handled_elsewhere;
static pthread_t main_thread;

static void handle(int signal)
{
    (void)signal;
    if (!pthread_equal(pthread_self(), main_thread))
        handled_elsewhere = 1;
}

/* Also SIGPIPE: clients go while they are answered, and the process does not notice. */
static void signals_are_left_to_the_host(void **state)
{
    (void)state;
    struct sigaction before, mine = {.sa_handler = handle};
    sigset_t usr1, kept;
    main_thread = pthread_self();
    sigaction(SIGUSR1, &mine, &before);
    crest_reporter *scrape = make(&(crest_prometheus_options){.listen = "0"});
    attach(scrape, NULL);
    sigemptyset(&usr1);
    sigaddset(&usr1, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &usr1, &kept);
    for (int i = 0; i < 50; i++) {
        kill(getpid(), SIGUSR1);
        int client = http_connect(crest_prometheus_port(scrape));
        assert_true(client >= 0);
        static const char request[] = "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n";
        const struct linger at_once = {1, 0};
        assert_true(send(client, request, sizeof request - 1, MSG_NOSIGNAL) > 0);
        if (i % 2)
            setsockopt(client, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
        close(client);
        assert_true(serves(scrape, "test_things_total"));
    }
    assert_false(handled_elsewhere);
    detach_and_free(scrape);
    pthread_sigmask(SIG_SETMASK, &kept, NULL);
    sigaction(SIGUSR1, &before, NULL);
}

static void a_forked_child_does_not_serve(void **state)
{
    (void)state;
    fixture_skip_child_with_threads();
    crest_reporter *scrape = make(&(crest_prometheus_options){.listen = "0"});
    attach(scrape, NULL);
    unsigned port = crest_prometheus_port(scrape);
    int held = http_connect(port);
    assert_true(held >= 0);
    assert_true(serves(scrape, "test_things_total"));
    int to_child[2];
    assert_int_equal(pipe(to_child), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        char byte;
        close(to_child[1]);
        int wrong = crest_prometheus_port(scrape) != 0;
        /* and may serve by itself, through the parent's reporter too */
        crest_error error;
        wrong |= crest_reporter_attach(NULL, scrape, NULL, &error) != CREST_OK;
        wrong |= crest_prometheus_port(scrape) == 0;
        wrong |= crest_reporter_detach(scrape, 20000, &error) != CREST_OK;
        crest_reporter_free(scrape);
        crest_reporter *own =
            crest_prometheus_new(&(crest_prometheus_options){.listen = "0"}, &error);
        wrong |= own == NULL || crest_reporter_attach(NULL, own, NULL, &error) != CREST_OK;
        size_t length;
        char *page = wrong ? NULL : http_get(crest_prometheus_port(own), "/metrics", "", &length);
        wrong |= page == NULL || strstr(page, "\ntest_things_total 0\n") == NULL;
        free(page);
        wrong |= crest_reporter_detach(own, 20000, &error) != CREST_OK;
        crest_reporter_free(own);
        wrong |= read(to_child[0], &byte, 1) != 0; /* until the parent has looked */
        _exit(wrong);
    }
    close(to_child[0]);
    assert_true(serves(scrape, "test_things_total"));
    detach_and_free(scrape);
    assert_int_equal(http_connect(port), -1);
    char byte;
    assert_int_equal(recv(held, &byte, 1, 0), 0); /* closed, though the child had a copy */
    close(held);
    close(to_child[1]);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* Children that are forked again and again while pages are served have no port of the parent's. */
static void forks_while_it_serves(void **state)
{
    (void)state;
    crest_reporter *scrape = make(&(crest_prometheus_options){.listen = "0"});
    attach(scrape, NULL);
    for (int i = 0; i < 30; i++) {
        int client = http_connect(crest_prometheus_port(scrape));
        static const char request[] = "GET /metrics HTTP/1.0\r\n\r\n";
        assert_true(send(client, request, sizeof request - 1, MSG_NOSIGNAL) > 0);
        pid_t child = fork();
        if (child == 0)
            _exit(crest_prometheus_port(scrape) != 0);
        size_t length;
        char *answer = http_rest(client, &length);
        assert_non_null(strstr(answer, "\ntest_things_total "));
        free(answer);
        close(client);
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
    detach_and_free(scrape);
}

static void pages_are_filtered(void **state)
{
    (void)state;
    crest_reporter *scrape =
        make(&(crest_prometheus_options){.listen = "0", .include = "test.*", .exclude = "*.depth"});
    attach(scrape, NULL);
    char *page = page_of(scrape, "/metrics");
    assert_non_null(strstr(page, "test_things_total"));
    assert_null(strstr(page, "test_depth"));
    assert_null(strstr(page, "crest_"));
    free(page);
    detach_and_free(scrape);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_serves_while_it_is_attached),
        cmocka_unit_test(it_serves_the_registry_it_is_attached_to),
        cmocka_unit_test(who_it_is_can_be_said),
        cmocka_unit_test(options_out_of_range_are_refused),
        cmocka_unit_test(a_taken_port_fails_the_attach),
        cmocka_unit_test(nothing_is_left_behind),
        cmocka_unit_test(signals_are_left_to_the_host),
        cmocka_unit_test(a_forked_child_does_not_serve),
        cmocka_unit_test(forks_while_it_serves),
        cmocka_unit_test(pages_are_filtered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
