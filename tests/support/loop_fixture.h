/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the tests of the host's own loop share: a clock that is stepped, how many threads there are,
 * and whether the loop's descriptor asks for a run. Tests nothing itself.
 *
 * clock_gettime is the program's own here, so the library's schedules go by it.
 */
#ifndef CREST_TESTS_LOOP_FIXTURE_H
#define CREST_TESTS_LOOP_FIXTURE_H

#include <crest/crest.h>
#include <crest/testing.h>

#include <dirent.h>
#include <poll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static uint64_t loop_stepped_ns;

/* The kernel's time, and so much later. */
int clock_gettime(clockid_t clock, struct timespec *now)
{
    int failed = (int)syscall(SYS_clock_gettime, clock, now);
    if (failed != 0 || clock != CLOCK_MONOTONIC)
        return failed;
    uint64_t ns = (uint64_t)now->tv_nsec + __atomic_load_n(&loop_stepped_ns, __ATOMIC_RELAXED);
    now->tv_sec += (time_t)(ns / 1000000000u);
    now->tv_nsec = (long)(ns % 1000000000u);
    return 0;
}

/* Steps the schedules' clock. */
__attribute__((unused)) static void loop_step_schedules_ms(unsigned ms)
{
    __atomic_add_fetch(&loop_stepped_ns, ms * UINT64_C(1000000), __ATOMIC_RELAXED);
}

/* Steps that, and crest_now's clock, which stands otherwise. */
__attribute__((unused)) static void loop_step_ms(unsigned ms)
{
    loop_step_schedules_ms(ms);
    crest_testing_clock_advance(ms * UINT64_C(1000000));
}

/* Threads of this process; a sanitizer may have one of its own from the start. */
__attribute__((unused)) static unsigned loop_threads(void)
{
    unsigned count = 0;
    DIR *tasks = opendir("/proc/self/task");
    for (struct dirent *task; tasks != NULL && (task = readdir(tasks)) != NULL;)
        count += task->d_name[0] != '.';
    if (tasks != NULL)
        closedir(tasks);
    return count;
}

__attribute__((unused)) static int loop_readable(int descriptor, int wait_ms)
{
    struct pollfd event = {.fd = descriptor, .events = POLLIN};
    return poll(&event, 1, wait_ms) == 1;
}

/* Runs turns until nothing is due. Returns how many, or 0 when it does not end. */
__attribute__((unused)) static unsigned loop_drain(void)
{
    int wait_ms = 0;
    for (unsigned runs = 1; runs < 100; runs++)
        if (crest_loop_run(&wait_ms) != CREST_OK || wait_ms != 0)
            return runs;
    return 0;
}

#endif
