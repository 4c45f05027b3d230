/* SPDX-License-Identifier: Apache-2.0 */
/*
 * forked.h: what a child calls, in which order, by the kind of its fork. Places of parts that this
 * test does not use are taken for it, and given in another order than they stand.
 */
#define _GNU_SOURCE
#include "base/forked.h"
#include "base/lock.h"
#include "support/core_fixture.h"

#include <sys/syscall.h>
#include <sys/wait.h>

static char called[16];

static void note(char letter)
{
    size_t length = strlen(called);
    if (length + 1 < sizeof called)
        called[length] = letter;
}

static void prober(void)
{
    note('p');
}

/* Takes the lock: a child finds it free, whatever the parent's threads had. */
static void hiccups(void)
{
    crest_lock_saved saved;
    crest_lock_take(&saved);
    crest_lock_drop(&saved);
    note('h');
}

static void run(void)
{
    note('r');
}

static void own(void)
{
    note('o');
}

static void check_child(pid_t child)
{
    int status;
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void test_order(void **state)
{
    (void)state;
    crest_forked_call(CREST_FORKED_OWN_HOST_LOOP, own);
    crest_forked_call(CREST_FORKED_RUN, run);
    crest_forked_call(CREST_FORKED_PROBER, prober);
    crest_forked_call(CREST_FORKED_HICCUPS, hiccups);
    pid_t child = fork();
    if (child == 0)
        _exit(strcmp(called, "phro") != 0);
    check_child(child);
    assert_string_equal(called, "");
    /* the C library's handlers do not hear of this one; the first to take the lock does */
    child = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
    if (child == 0) {
        crest_lock_saved saved;
        int early = called[0] != '\0';
        crest_lock_take(&saved);
        crest_lock_drop(&saved);
        _exit(early || strcmp(called, "phr") != 0);
    }
    check_child(child);
}

/* A place is of one call: the same one again is made once. */
static void test_once(void **state)
{
    (void)state;
    crest_forked_call(CREST_FORKED_RUN, run);
    crest_forked_call(CREST_FORKED_RUN, run);
    pid_t child = fork();
    if (child == 0)
        _exit(strcmp(called, "phro") != 0);
    check_child(child);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_once),
    };
    return cmocka_run_group_tests_name("forked", tests, NULL, NULL);
}
