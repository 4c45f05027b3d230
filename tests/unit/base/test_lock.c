/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lock.h: one holder at a time, never with signals open, and nothing of the caller's changed by it.
 */
#include "base/atomic.h"
#include "support/core_fixture.h"
#include "base/lock.h"

#include <errno.h>

static const int lock_blocked[] = {SIGUSR1, SIGUSR2, SIGALRM, SIGTERM, SIGINT, SIGPROF, SIGCHLD};
static const int lock_open[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};

static void test_signals_and_errno(void **state)
{
    (void)state;
    sigset_t before, held, after;
    sigemptyset(&before);
    sigaddset(&before, SIGUSR2);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = 4711;
    crest_lock_saved saved;
    crest_lock_take(&saved);
    pthread_sigmask(SIG_SETMASK, NULL, &held);
    errno = 5;
    crest_lock_drop(&saved);
    assert_int_equal(errno, 4711);
    pthread_sigmask(SIG_SETMASK, NULL, &after);
    for (size_t i = 0; i < LENGTH(lock_blocked); i++) {
        assert_int_equal(sigismember(&held, lock_blocked[i]), 1);
        assert_int_equal(sigismember(&after, lock_blocked[i]), lock_blocked[i] == SIGUSR2);
    }
    for (size_t i = 0; i < LENGTH(lock_open); i++)
        assert_int_equal(sigismember(&held, lock_open[i]), 0);
    assert_int_equal(crest_lock_take_unless_forking(&saved), 1);
    pthread_sigmask(SIG_SETMASK, NULL, &held);
    crest_lock_drop(&saved);
    assert_int_equal(sigismember(&held, SIGUSR1), 1);
    sigemptyset(&before);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* A host may wait for the signals of faults by sigtimedwait, with them blocked: under the lock they
 * stay so, and one that comes meanwhile is there afterwards. */
static void test_what_the_host_blocks_stays_blocked(void **state)
{
    (void)state;
    static const struct timespec at_once = {0, 0};
    for (size_t i = 0; i < LENGTH(lock_open); i++) {
        sigset_t one, held;
        sigemptyset(&one);
        sigaddset(&one, lock_open[i]);
        pthread_sigmask(SIG_SETMASK, &one, NULL);
        for (int unless = 0; unless < 2; unless++) {
            crest_lock_saved saved;
            if (unless)
                assert_int_equal(crest_lock_take_unless_forking(&saved), 1);
            else
                crest_lock_take(&saved);
            pthread_sigmask(SIG_SETMASK, NULL, &held);
            int blocked = sigismember(&held, lock_open[i]);
            /* by default it ends the process, so it is only sent where it must wait */
            if (blocked)
                pthread_kill(pthread_self(), lock_open[i]);
            crest_lock_drop(&saved);
            assert_int_equal(blocked, 1);
            assert_int_equal(sigtimedwait(&one, NULL, &at_once), lock_open[i]);
        }
        sigemptyset(&one);
        pthread_sigmask(SIG_SETMASK, &one, NULL);
    }
}

/* A handler that runs although this thread holds the lock, and records. */
static volatile sig_atomic_t lock_handled = -1;

static void lock_handler(int number)
{
    crest_lock_saved saved;
    (void)number;
    lock_handled = crest_lock_take_unless_forking(&saved);
}

static void test_a_handler_under_the_lock_goes_without(void **state)
{
    (void)state;
    struct sigaction handling = {.sa_handler = lock_handler}, before;
    crest_lock_saved saved;
    sigaction(SIGSYS, &handling, &before);
    crest_lock_take(&saved);
    raise(SIGSYS);
    crest_lock_drop(&saved);
    assert_int_equal(lock_handled, 0);
    sigaction(SIGSYS, &before, NULL);
    assert_int_equal(crest_lock_take_unless_forking(&saved), 1);
    crest_lock_drop(&saved);
}

#define LOCKERS 4
#define LOCKINGS FIXTURE_TIMES(50000)
static uint64_t guarded; /* not atomic: the lock is what keeps it right */

static void *lock_run(void *unused)
{
    for (int i = 0; i < LOCKINGS; i++) {
        crest_lock_saved saved;
        if (i % 2)
            crest_lock_take(&saved);
        else if (!crest_lock_take_unless_forking(&saved))
            return &guarded;
        guarded++;
        crest_lock_drop(&saved);
    }
    return unused;
}

static void test_one_holder(void **state)
{
    (void)state;
    pthread_t threads[LOCKERS];
    for (int i = 0; i < LOCKERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, lock_run, NULL), 0);
    for (int i = 0; i < LOCKERS; i++) {
        void *refused;
        pthread_join(threads[i], &refused);
        assert_null(refused);
    }
    assert_int_equal(guarded, LOCKERS * LOCKINGS);
}

static uint64_t waiting, came_back;

static void *wait_or_not(void *unless)
{
    crest_lock_saved saved;
    int got = 1;
    __atomic_fetch_add(&waiting, 1, __ATOMIC_SEQ_CST);
    if (unless != NULL)
        got = crest_lock_take_unless_forking(&saved);
    else
        crest_lock_take(&saved);
    __atomic_fetch_add(&came_back, 1, __ATOMIC_SEQ_CST);
    if (got)
        crest_lock_drop(&saved);
    return got ? NULL : &waiting;
}

/* Who waits unless there is a fork comes back without the lock when one begins, also out of the
 * wait; who waits for it in any case gets it afterwards. */
static void test_forking(void **state)
{
    (void)state;
    for (int round = 0; round < 50; round++) {
        pthread_t threads[4];
        crest_lock_saved saved, fork_saved;
        waiting = came_back = 0;
        crest_lock_take(&saved);
        for (uintptr_t i = 0; i < 4; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, wait_or_not, (void *)(i % 2)), 0);
        while (__atomic_load_n(&waiting, __ATOMIC_SEQ_CST) < 4)
            usleep(100);
        if (round % 2)
            usleep(1000); /* by now they sleep */
        crest_lock_drop(&saved);
        crest_lock_fork_before(&fork_saved);
        /* the two that do not wait for a fork come back, whether they got the lock before it or not
         */
        while (__atomic_load_n(&came_back, __ATOMIC_SEQ_CST) < 2)
            usleep(100);
        crest_lock_fork_parent(&fork_saved);
        for (int i = 0; i < 4; i++)
            pthread_join(threads[i], NULL);
        assert_int_equal(came_back, 4);
    }
    crest_lock_saved saved;
    crest_lock_take(&saved);
    crest_lock_drop(&saved);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_signals_and_errno),
        cmocka_unit_test(test_what_the_host_blocks_stays_blocked),
        cmocka_unit_test(test_a_handler_under_the_lock_goes_without),
        cmocka_unit_test(test_one_holder),
        cmocka_unit_test(test_forking),
    };
    fixture_watchdog(170);
    return cmocka_run_group_tests_name("lock", tests, NULL, NULL);
}
