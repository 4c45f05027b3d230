/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads' timers. See thread_timers.h.
 */
#define _GNU_SOURCE
#include "profiling/thread_timers.h"
#include "base/alloc.h"
#include "base/atomic.h"
#include "base/sync.h"

#include <dirent.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

/* Up to so many, all are looked at each time: some 50 µs, ten times a second. */
#define TIMERS_FEW 64u

static crest_sampled_thread timers_all[CREST_PROFILE_THREADS_MAX];
static uint32_t timers_count;
static uint64_t timers_refused;
static int timers_own, timers_signal;
static unsigned timers_hz;
static nlink_t timers_links; /* of /proc/self/task at the last look */
static uint64_t timers_random;

void crest_thread_timers_begin(int own, unsigned hz, int signal)
{
    timers_own = own;
    timers_hz = hz;
    timers_signal = signal;
    timers_links = 0;
    timers_random = crest_monotonic_ns() | 1;
    if (timers_count == 0)
        memset(timers_all, 0, sizeof timers_all);
}

/* xorshift: only so that threads' timers do not tick in step. */
static uint64_t timers_phase(uint64_t period_ns)
{
    timers_random ^= timers_random << 13;
    timers_random ^= timers_random >> 7;
    timers_random ^= timers_random << 17;
    return 1 + timers_random % period_ns;
}

static int timers_arm(crest_sampled_thread *at)
{
    struct sigevent event;
    uint64_t period_ns = CREST_NS_PER_S / timers_hz;
    memset(&event, 0, sizeof event);
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = timers_signal;
    event.sigev_notify_thread_id = at->thread;
    struct itimerspec spec = {crest_monotonic_timespec(period_ns),
                              crest_monotonic_timespec(timers_phase(period_ns))};
    at->timed = timer_create(crest_thread_clock(at->thread), &event, &at->timer) == 0;
    if (at->timed && timer_settime(at->timer, 0, &spec, NULL) != 0) {
        timer_delete(at->timer);
        at->timed = 0;
    }
    return at->timed;
}

static void timers_disarm(crest_sampled_thread *at)
{
    if (at->timed)
        timer_delete(at->timer);
    at->timed = 0;
}

/* Whether the timer is of a thread that has ended, whose number another thread may have got: such a
 * timer has no time left. */
static int timers_is_dead(const crest_sampled_thread *at)
{
    struct itimerspec left;
    return at->timed && timer_gettime(at->timer, &left) == 0 && left.it_value.tv_sec == 0 &&
           left.it_value.tv_nsec == 0;
}

static void timers_remove(crest_sampled_thread *at)
{
    timers_disarm(at);
    crest_alloc_free(at->capture);
    *at = (crest_sampled_thread){.thread = 0};
    crest_atomic_store32(&timers_count, timers_count - 1);
}

void crest_thread_timers_add(int thread)
{
    crest_sampled_thread *free_one = NULL;
    if (thread == timers_own)
        return;
    for (unsigned i = 0; i < CREST_PROFILE_THREADS_MAX; i++) {
        crest_sampled_thread *at = &timers_all[i];
        if (at->thread == thread) {
            at->seen = 1;
            if (!timers_is_dead(at))
                return;
            timers_remove(at);
        }
        if (at->thread == 0 && free_one == NULL)
            free_one = at;
    }
    if (free_one == NULL) {
        crest_atomic_add(&timers_refused, 1);
        return;
    }
    *free_one =
        (crest_sampled_thread){.thread = thread, .seen = 1, .wall_ns = crest_monotonic_ns()};
    crest_atomic_store32(&timers_count, timers_count + 1);
    if (timers_arm(free_one))
        return;
    if (syscall(SYS_tgkill, getpid(), thread, 0) != 0)
        timers_remove(free_one); /* it has ended since it was found */
    else
        crest_atomic_add(&timers_refused, 1);
}

void crest_thread_timers_look(int thorough)
{
    struct stat links;
    if (stat("/proc/self/task", &links) != 0 ||
        (!thorough && links.st_nlink == timers_links && timers_count > TIMERS_FEW))
        return;
    timers_links = links.st_nlink;
    DIR *tasks = opendir("/proc/self/task");
    if (tasks == NULL)
        return;
    for (unsigned i = 0; i < CREST_PROFILE_THREADS_MAX; i++)
        timers_all[i].seen = 0;
    for (struct dirent *task; (task = readdir(tasks)) != NULL;) {
        int thread = atoi(task->d_name);
        if (thread > 0)
            crest_thread_timers_add(thread);
    }
    closedir(tasks);
    for (unsigned i = 0; i < CREST_PROFILE_THREADS_MAX; i++)
        if (timers_all[i].thread != 0 && !timers_all[i].seen)
            timers_remove(&timers_all[i]);
}

void crest_thread_timers_end(void)
{
    for (unsigned i = 0; i < CREST_PROFILE_THREADS_MAX; i++)
        if (timers_all[i].thread != 0)
            timers_remove(&timers_all[i]);
}

void crest_thread_timers_forked(void)
{
    memset(timers_all, 0, sizeof timers_all);
    timers_count = 0;
}

crest_sampled_thread *crest_thread_timers_at(unsigned number)
{
    return timers_all[number].thread != 0 ? &timers_all[number] : NULL;
}

unsigned crest_thread_timers_count(void)
{
    return crest_atomic_load32(&timers_count);
}

uint64_t crest_thread_timers_refused(void)
{
    return crest_atomic_load(&timers_refused);
}
