/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What tests of the profiler at its edges share: parts of a test in a child of their own, a thread
 * that sleeps until it is cancelled, and what the profiler's thread has looked at.
 */
#ifndef CREST_TESTS_PROFILE_EDGES_H
#define CREST_TESTS_PROFILE_EDGES_H

#include "support/core_fixture.h"

#include "base/sync.h"
#include "profiling/profiler.h"
#include "profiling/thread_timers.h"

#include <crest/profile.h>

#include <errno.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/* Runs a test's part in a child of its own, and says how that ended. */
__attribute__((unused)) static int child_status(void (*part)(void))
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        part();
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

__attribute__((unused)) static void must(int holds, int otherwise)
{
    if (!holds)
        _exit(otherwise);
}

static uint32_t asleep; /* the number of that thread, once it is about to sleep */

__attribute__((unused)) static void *sleep_until_cancelled(void *ended)
{
    struct timespec left = {3600, 0};
    __atomic_store_n(&asleep, (uint32_t)gettid(), __ATOMIC_RELEASE);
    int failed = nanosleep(&left, NULL);
    *(int *)ended = failed ? errno : 0;
    return NULL;
}

__attribute__((unused)) static pthread_t sleeper(int *ended)
{
    pthread_t thread;
    *ended = -1;
    asleep = 0;
    pthread_create(&thread, NULL, sleep_until_cancelled, ended);
    while (!__atomic_load_n(&asleep, __ATOMIC_ACQUIRE))
        usleep(1000);
    return thread;
}

typedef struct folded_sum {
    char text[65536];
    size_t used;
} folded_sum;

__attribute__((unused)) static int folded_write(void *context, const void *bytes, size_t length)
{
    folded_sum *to = context;
    size_t room = sizeof to->text - 1 - to->used, part = length < room ? length : room;
    memcpy(to->text + to->used, bytes, part);
    to->used += part;
    to->text[to->used] = '\0';
    return 0;
}

/* The nanoseconds of the stacks with this function; -1: it could not be written. */
__attribute__((unused)) static double folded_ns(const crest_profile *profile, const char *function)
{
    static folded_sum made;
    double sum = 0;
    char *rest = made.text, *line;
    made.used = 0;
    made.text[0] = '\0';
    if (crest_profile_write(profile, CREST_PROFILE_FOLDED, folded_write, &made, NULL) != CREST_OK)
        return -1;
    while ((line = strsep(&rest, "\n")) != NULL)
        if (strstr(line, function) != NULL)
            sum += atof(strrchr(line, ' ') + 1);
    return sum;
}

/* When the profiler's thread looked at this one last, for a wall profile; 0: it is not sampled. */
__attribute__((unused)) static uint64_t looked_at(uint32_t thread)
{
    uint64_t when_ns = 0;
    crest_profiler_lock();
    for (unsigned i = 0; i < CREST_PROFILE_THREADS_MAX; i++)
        if (crest_thread_timers_at(i) != NULL && crest_thread_timers_at(i)->thread == (int)thread)
            when_ns = crest_thread_timers_at(i)->wall_ns;
    crest_profiler_unlock();
    return when_ns;
}

/* Waits until it has looked at the thread that sleeps, from now on. The test's watchdog ends it. */
__attribute__((unused)) static void wait_for_look(void)
{
    for (uint64_t begun_ns = crest_monotonic_ns(); looked_at(asleep) <= begun_ns;)
        usleep(1000);
}

__attribute__((unused)) static void restricted(void (*part)(void))
{
    int status = child_status(part);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77) {
        print_message("skipped: this machine does not let the child restrict itself\n");
        skip();
    }
    assert_int_equal(WEXITSTATUS(status), 0);
}

#endif
