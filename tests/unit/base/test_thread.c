/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads of the library's own: that no signal reaches them, and what the caller is left with.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/thread.h"

#include <semaphore.h>
#include <signal.h>
#include <time.h>

static sem_t done;
static int unblocked; /* signals that the thread could get */

static void *look(void *context)
{
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    for (int signal = 1; signal < __SIGRTMIN; signal++) /* above are those of the C library */
        if (signal != SIGKILL && signal != SIGSTOP && !sigismember(&mask, signal))
            __atomic_add_fetch(&unblocked, 1, __ATOMIC_RELAXED);
    sem_post(&done);
    return context;
}

/* One that the caller blocks, and one that he does not, are so afterwards. */
static void expect_own_mask(void)
{
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    assert_true(sigismember(&mask, SIGUSR1));
    assert_false(sigismember(&mask, SIGUSR2));
}

static void block_one(void)
{
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, SIGUSR1);
    pthread_sigmask(SIG_SETMASK, &one, NULL);
}

static void a_started_thread_blocks_signals_and_is_joined(void **state)
{
    (void)state;
    pthread_t thread;
    void *result = NULL;
    block_one();
    unblocked = 0;
    assert_int_equal(crest_thread_start(&thread, look, &thread), 0);
    assert_int_equal(pthread_join(thread, &result), 0);
    assert_ptr_equal(result, &thread);
    assert_int_equal(unblocked, 0);
    expect_own_mask();
}

static void a_detached_thread_blocks_signals(void **state)
{
    (void)state;
    pthread_t thread;
    block_one();
    unblocked = 0;
    sem_init(&done, 0, 0);
    assert_int_equal(crest_thread_detach(&thread, look, NULL), 0);
    assert_int_equal(crest_thread_detach(NULL, look, NULL), 0);
    for (int i = 0; i < 2; i++) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += 10;
        assert_int_equal(sem_timedwait(&done, &until), 0);
    }
    assert_int_equal(unblocked, 0);
    expect_own_mask();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_started_thread_blocks_signals_and_is_joined),
        cmocka_unit_test(a_detached_thread_blocks_signals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
