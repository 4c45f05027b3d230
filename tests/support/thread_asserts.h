/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Assertions for functions that threads run. cmocka's belong on the main thread: elsewhere a
 * failure ends the program, or leaves it hanging, and no message names the test. fixture_holds and
 * fixture_equal do as cmocka on the main thread. On another thread they print the failure at once,
 * remember it and end the thread. fixture_join, called on the main thread, then fails the test.
 * tests/checks/check_thread_asserts.py refuses cmocka's assertions elsewhere.
 *
 *     static void *reader(void *unused)
 *     {
 *         fixture_holds(crest_snapshot_size(snapshot) > 0);
 *         return unused;
 *     }
 *     ...
 *     fixture_join(thread, NULL);
 */
#ifndef CREST_TESTS_THREAD_ASSERTS_H
#define CREST_TESTS_THREAD_ASSERTS_H

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

/* Failures of threads that no join has reported yet. */
static unsigned thread_failures;

__attribute__((unused)) static void thread_failed(const char *what, const char *file, int line)
{
    if (getpid() == (pid_t)syscall(SYS_gettid))
        _fail(file, line);
    __atomic_fetch_add(&thread_failures, 1, __ATOMIC_RELAXED);
    fprintf(stderr, "%s:%d: in a thread: %s\n", file, line, what);
    pthread_exit(NULL);
}

#define fixture_holds(condition)                                                                   \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            print_error("does not hold: %s\n", #condition);                                        \
            thread_failed("does not hold: " #condition, __FILE__, __LINE__);                       \
        }                                                                                          \
    } while (0)

#define fixture_equal(found, wanted)                                                               \
    do {                                                                                           \
        long long fixture_found = (long long)(found), fixture_wanted = (long long)(wanted);        \
        if (fixture_found != fixture_wanted) {                                                     \
            print_error("%s is %lld, not %lld\n", #found, fixture_found, fixture_wanted);          \
            thread_failed(#found " is not " #wanted, __FILE__, __LINE__);                          \
        }                                                                                          \
    } while (0)

/* Joins; `result` may be NULL. Fails the test if a thread has failed since the last join. */
__attribute__((unused)) static void fixture_join(pthread_t thread, void **result)
{
    fixture_equal(pthread_join(thread, result), 0);
    if (getpid() == (pid_t)syscall(SYS_gettid) &&
        __atomic_exchange_n(&thread_failures, 0, __ATOMIC_RELAXED) != 0)
        fail_msg("a thread of this test has failed");
}

/* Reports failures that no join has, as of a detached thread. */
__attribute__((destructor, unused)) static void thread_failures_end(void)
{
    if (__atomic_load_n(&thread_failures, __ATOMIC_RELAXED) != 0)
        _exit(1);
}

#endif
