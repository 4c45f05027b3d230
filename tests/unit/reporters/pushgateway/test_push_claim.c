/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Claims of groups across real forks: children and grandchildren of a process that pushes are
 * refused its groups, until it gives them up or ends.
 *
 * GCC 12's sanitizers do not support children that allocate, see tests/concurrency/test_fork.c.
 * crest-test: sanitizers=none
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pushgateway/push_claim.h"

#define GROUP "http://gw:9091/metrics/job/j/instance/i"
#define OTHER "http://gw:9091/metrics/job/j/instance/k"

#define CHILD_WANTS(condition)                                                                     \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "child: %s:%d: %s\n", __FILE__, __LINE__, #condition);                 \
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

static crest_status take(crest_push_claim **claim, const char *group)
{
    return crest_push_claim_take(claim, group, "SHOWN", NULL);
}

static void one_process_may_claim_again(void **state)
{
    (void)state;
    crest_push_claim *claim = NULL, *second = NULL;
    assert_int_equal(take(&claim, GROUP), CREST_OK);
    crest_push_claim *first = claim;
    assert_int_equal(take(&claim, GROUP), CREST_OK);
    assert_ptr_equal(claim, first);
    /* Two reporters of one process are its own affair. */
    assert_int_equal(take(&second, GROUP), CREST_OK);
    assert_int_equal(take(&claim, OTHER), CREST_OK);
    crest_push_claim_release(&claim);
    assert_null(claim);
    crest_push_claim_release(&claim);
    crest_push_claim_release(&second);
}

static void children_are_refused_their_parents_group(void **state)
{
    (void)state;
    crest_push_claim *claim = NULL;
    assert_int_equal(take(&claim, GROUP), CREST_OK);
    pid_t parent = getpid(), child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        crest_push_claim *mine = NULL;
        crest_error error;
        char wanted[64];
        CHILD_WANTS(crest_push_claim_take(&mine, GROUP, "SHOWN", &error) == CREST_REFUSED);
        CHILD_WANTS(mine == NULL);
        snprintf(wanted, sizeof wanted, "SHOWN: the process %ld,", (long)parent);
        CHILD_WANTS(strstr(error.message, wanted) != NULL);
        CHILD_WANTS(strstr(error.message, "pushgateway.instance=${HOST}-${PID}") != NULL);
        CHILD_WANTS(take(&mine, OTHER) == CREST_OK);
        pid_t grandchild = fork();
        if (grandchild == 0) {
            crest_push_claim *its = NULL;
            CHILD_WANTS(take(&its, GROUP) == CREST_REFUSED);
            CHILD_WANTS(take(&its, OTHER) == CREST_REFUSED);
            CHILD_WANTS(take(&its, GROUP "2") == CREST_OK);
            crest_push_claim_release(&its);
            _exit(0);
        }
        int status;
        CHILD_WANTS(waitpid(grandchild, &status, 0) == grandchild && status == 0);
        /* What the parent claimed is not the child's to give up. */
        crest_push_claim_release(&claim);
        CHILD_WANTS(take(&claim, GROUP) == CREST_REFUSED);
        crest_push_claim_release(&mine);
        _exit(0);
    }
    wait_for_child(child);
    crest_push_claim_release(&claim);
}

static void a_group_given_up_before_the_fork_is_free(void **state)
{
    (void)state;
    crest_push_claim *claim = NULL;
    assert_int_equal(take(&claim, GROUP), CREST_OK);
    crest_push_claim_release(&claim);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        CHILD_WANTS(take(&claim, GROUP) == CREST_OK);
        crest_push_claim_release(&claim);
        _exit(0);
    }
    wait_for_child(child);
}

/* As a daemon does: the process that started ends, its child goes on. */
static void a_group_of_a_process_that_ended_is_free(void **state)
{
    (void)state;
    int ends[2], looked[2];
    /* Its orphan becomes ours, so that we can wait for it. */
    assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(pipe(looked), 0);
    pid_t first = fork();
    assert_true(first >= 0);
    if (first == 0) {
        crest_push_claim *claim = NULL;
        CHILD_WANTS(take(&claim, GROUP) == CREST_OK);
        char byte;
        pid_t daemon = fork();
        if (daemon == 0) {
            crest_push_claim *mine = NULL;
            CHILD_WANTS(take(&mine, GROUP) == CREST_REFUSED);
            CHILD_WANTS(write(looked[1], "x", 1) == 1);
            close(ends[1]);
            /* The parent has ended and been waited for. */
            CHILD_WANTS(read(ends[0], &byte, 1) == 1);
            CHILD_WANTS(take(&mine, GROUP) == CREST_OK);
            crest_push_claim_release(&mine);
            _exit(0);
        }
        /* It goes on until its child has been refused, or has ended before. */
        close(looked[1]);
        _exit(daemon > 0 && read(looked[0], &byte, 1) == 1 ? 0 : 1);
    }
    wait_for_child(first);
    assert_int_equal(write(ends[1], "x", 1), 1);
    int status;
    assert_true(waitpid(-1, &status, 0) > 0);
    assert_int_equal(status, 0);
    for (int i = 0; i < 2; i++) {
        close(ends[i]);
        close(looked[i]);
    }
    assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 0), 0);
}

static volatile int stop_claiming;

static void *claim_and_release(void *context)
{
    (void)context;
    while (!__atomic_load_n(&stop_claiming, __ATOMIC_RELAXED)) {
        crest_push_claim *claim = NULL;
        take(&claim, OTHER);
        crest_push_claim_release(&claim);
    }
    return NULL;
}

static void a_fork_between_leaves_a_whole_list(void **state)
{
    (void)state;
    crest_push_claim *claim = NULL;
    assert_int_equal(take(&claim, GROUP), CREST_OK);
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, claim_and_release, NULL), 0);
    for (int i = 0; i < 50; i++) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            crest_push_claim *mine = NULL;
            alarm(120);
            CHILD_WANTS(take(&mine, GROUP) == CREST_REFUSED);
            CHILD_WANTS(take(&mine, GROUP "3") == CREST_OK);
            _exit(0);
        }
        wait_for_child(child);
    }
    __atomic_store_n(&stop_claiming, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    crest_push_claim_release(&claim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_process_may_claim_again),
        cmocka_unit_test(children_are_refused_their_parents_group),
        cmocka_unit_test(a_group_given_up_before_the_fork_is_free),
        cmocka_unit_test(a_group_of_a_process_that_ended_is_free),
        cmocka_unit_test(a_fork_between_leaves_a_whole_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
