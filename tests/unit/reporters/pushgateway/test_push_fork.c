/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process that pushes, and its forks: they are refused its group and its reporter, push to groups
 * of their own, and leave its connection as it was.
 *
 * GCC 12's sanitizers do not support children that allocate, see tests/concurrency/test_fork.c.
 * crest-test: sanitizers=none
 */
#include "support/push_fixture.h"

#include <sys/wait.h>

#define CHILD_WANTS(condition)                                                                     \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "child: %s:%d: %s: %s\n", __FILE__, __LINE__, #condition,              \
                    error.message);                                                                \
            _exit(1);                                                                              \
        }                                                                                          \
    } while (0)

static void wait_for_child(pid_t child)
{
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void a_child_is_refused_what_is_its_parents(void **state)
{
    (void)state;
    /* It serves one connection at a time: none is kept. */
    fake_server_say(&server, FAKE_ANSWER_CLOSE, FAKE_OK);
    crest_reporter *reporter = make((crest_pushgateway_options){.delete_on_stop = 1});
    assert_int_equal(push(reporter), CREST_OK);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(100);
        CHILD_WANTS(push(reporter) == CREST_REFUSED);
        CHILD_WANTS(strstr(error.message, "this reporter and its connection are those of") != NULL);
        CHILD_WANTS(reporter->stop(reporter, crest_now() + FAKE_SERVER_MS * PUSH_MS, &error) ==
                    CREST_REFUSED);
        crest_reporter_free(reporter);
        char same[128];
        /* The same gateway by another spelling is the same group. */
        snprintf(same, sizeof same, "HTTP://us:er@127.0.0.1:%u/", server.port);
        crest_reporter *again = make((crest_pushgateway_options){.url = same, .delete_on_stop = 1});
        CHILD_WANTS(push(again) == CREST_REFUSED);
        CHILD_WANTS(strstr(error.message, "pushgateway.instance=${HOST}-${PID}") != NULL);
        CHILD_WANTS(strstr(error.message, "us:er") == NULL);
        /* It was refused: not its group to delete. */
        CHILD_WANTS(again->stop(again, crest_now() + FAKE_SERVER_MS * PUSH_MS, &error) == CREST_OK);
        crest_reporter_free(again);
        crest_reporter *own = make((crest_pushgateway_options){.instance = "child"});
        CHILD_WANTS(push(own) == CREST_OK);
        crest_reporter_free(own);
        _exit(0);
    }
    wait_for_child(child);
    assert_int_equal(fake_server_requests(&server), 2);
    assert_true(fake_server_got(&server, "PUT /metrics/job/rnode/instance/child HTTP"));
    assert_int_equal(push(reporter), CREST_OK);
    crest_reporter_free(reporter);
}

/* A node forks long before the first push of its reporter, which crest_start has made. */
static void a_child_is_refused_before_its_parents_first_push(void **state)
{
    (void)state;
    const crest_schedule seldom = {.interval_ms = 3600000, .jitter = -1};
    crest_reporter *reporter = create("");
    assert_int_equal(crest_reporter_attach(registry, reporter, &seldom, &error), CREST_OK);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(100);
        CHILD_WANTS(push(create("")) == CREST_REFUSED);
        CHILD_WANTS(push(create("pushgateway.instance=child")) == CREST_OK);
        _exit(0);
    }
    wait_for_child(child);
    assert_int_equal(fake_server_requests(&server), 1);
    fake_server_say(&server, FAKE_ANSWER_CLOSE, FAKE_OK);
    assert_int_equal(crest_reporter_detach(reporter, FAKE_SERVER_MS, &error), CREST_OK);
    assert_true(fake_server_got(&server, "PUT /metrics/job/rnode/instance/node-1 HTTP"));
    crest_reporter_free(reporter);
}

static void what_was_stopped_before_the_fork_is_free(void **state)
{
    (void)state;
    fake_server_say(&server, FAKE_ANSWER_CLOSE, FAKE_OK);
    crest_reporter *reporter = make((crest_pushgateway_options){.job = "j"});
    assert_int_equal(push(reporter), CREST_OK);
    assert_int_equal(reporter->stop(reporter, crest_now() + FAKE_SERVER_MS * PUSH_MS, &error),
                     CREST_OK);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(100);
        crest_reporter *own = make((crest_pushgateway_options){.job = "j"});
        CHILD_WANTS(push(own) == CREST_OK);
        crest_reporter_free(own);
        _exit(0);
    }
    wait_for_child(child);
    /* Freed without a stop, the same. */
    assert_int_equal(push(reporter), CREST_OK);
    crest_reporter_free(reporter);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(100);
        crest_reporter *own = make((crest_pushgateway_options){.job = "j"});
        CHILD_WANTS(push(own) == CREST_OK);
        _exit(0);
    }
    wait_for_child(child);
    assert_int_equal(fake_server_requests(&server), 4);
}

static void a_kept_connection_survives_a_childs_free(void **state)
{
    (void)state;
    crest_reporter *reporter = make((crest_pushgateway_options){.job = "j"});
    assert_int_equal(push(reporter), CREST_OK);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        crest_reporter_free(reporter);
        _exit(0);
    }
    wait_for_child(child);
    assert_int_equal(push(reporter), CREST_OK);
    assert_int_equal(fake_server_connections(&server), 1);
    crest_reporter_free(reporter);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PUSH_WITH_SERVER(a_child_is_refused_what_is_its_parents),
        PUSH_WITH_SERVER(a_child_is_refused_before_its_parents_first_push),
        PUSH_WITH_SERVER(what_was_stopped_before_the_fork_is_free),
        PUSH_WITH_SERVER(a_kept_connection_survives_a_childs_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
