/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the tests of polls share: time, waiting for a number, and the poller's threads. Tests
 * nothing itself.
 */
#ifndef CREST_TESTS_POLL_FIXTURE_H
#define CREST_TESTS_POLL_FIXTURE_H

#include <crest/crest.h>

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* A test that waits longer has failed; nothing takes it on a healthy machine. */
#define POLL_PATIENCE_MS 20000u

__attribute__((unused)) static uint64_t poll_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

__attribute__((unused)) static void poll_sleep_ms(unsigned ms)
{
    nanosleep(&(struct timespec){ms / 1000, (long)(ms % 1000) * 1000000}, NULL);
}

/* Sets what a callback on another thread reads with poll_get. */
#define poll_set(where, value)                                                                     \
    do {                                                                                           \
        __typeof__(where) poll_new = (value);                                                      \
        __atomic_store(&(where), &poll_new, __ATOMIC_RELAXED);                                     \
    } while (0)
#define poll_get(type, where)                                                                      \
    __extension__({                                                                                \
        type poll_now;                                                                             \
        __atomic_load((type *)(where), &poll_now, __ATOMIC_RELAXED);                               \
        poll_now;                                                                                  \
    })

/* The poll's state. */
__attribute__((unused)) static crest_poll_state poll_state(const crest_poll *poll)
{
    crest_poll_state state;
    crest_poll_read(poll, &state);
    return state;
}

/* Waits until the poll was called so often; 0 when that takes too long. */
__attribute__((unused)) static int poll_wait_calls(const crest_poll *poll, uint64_t calls)
{
    uint64_t start_ms = poll_now_ms();
    while (poll_state(poll).calls < calls) {
        if (poll_now_ms() - start_ms > POLL_PATIENCE_MS)
            return 0;
        poll_sleep_ms(1);
    }
    return 1;
}

/* How many threads of this process are, or were, the poller. */
__attribute__((unused)) static unsigned poll_threads(void)
{
    unsigned count = 0;
    DIR *tasks = opendir("/proc/self/task");
    for (struct dirent *task; tasks != NULL && (task = readdir(tasks)) != NULL;) {
        char path[300], name[32] = "";
        snprintf(path, sizeof path, "/proc/self/task/%s/comm", task->d_name);
        FILE *file = fopen(path, "r");
        if (file == NULL)
            continue;
        if (fgets(name, sizeof name, file) != NULL)
            count += strcmp(name, "crest-poller\n") == 0;
        fclose(file);
    }
    if (tasks != NULL)
        closedir(tasks);
    return count;
}

/* Waits until there are so many such threads; 0 when that takes too long. */
__attribute__((unused)) static int poll_wait_threads(unsigned count)
{
    uint64_t start_ms = poll_now_ms();
    while (poll_threads() != count) {
        if (poll_now_ms() - start_ms > POLL_PATIENCE_MS)
            return 0;
        poll_sleep_ms(1);
    }
    return 1;
}

#endif
