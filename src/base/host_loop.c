/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which thread runs the host's event loop for Crest, and the descriptor that asks for runs. See
 * host_loop.h.
 */
#define _GNU_SOURCE
#include "base/host_loop.h"
#include "base/descriptor.h"
#include "base/error.h"
#include "base/forked.h"
#include "base/sync.h"
#include "base/thread.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

/* Guards all that follows. Taken under the locks of the modules that do work in runs; it takes
 * none. */
static pthread_mutex_t loop_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t loop_once = PTHREAD_ONCE_INIT;
static pthread_cond_t loop_released;
static int loop_busy;         /* a run is under way, or the loop is held */
static pthread_t loop_runner; /* by this thread */
static int loop_owned;
static pthread_t loop_owner;
static int loop_woken; /* since the last run began */
static int loop_epoll = -1, loop_timer = -1;
static uint64_t loop_armed_ns = UINT64_MAX; /* when the timer fires */
static int loop_inherited[2] = {-1, -1};    /* the parent's descriptors, in the child of a fork */

/* ---- the forked child ---- */

/* The descriptors are shared with the parent: what the child did to them would change the parent's.
 */
static void loop_forked(void)
{
    crest_mutex_fresh(&loop_lock);
    crest_monotonic_condition(&loop_released);
    crest_threads_allow(1);
    loop_inherited[0] = loop_epoll;
    loop_inherited[1] = loop_timer;
    loop_epoll = loop_timer = -1;
    loop_armed_ns = UINT64_MAX;
    loop_busy = loop_owned = loop_woken = 0;
}

/* Only in the child of fork(), where the host cannot have closed these numbers and reused them yet.
 */
static void loop_forked_close(void)
{
    for (int i = 0; i < 2; i++) {
        if (loop_inherited[i] >= 0)
            close(loop_inherited[i]);
        loop_inherited[i] = -1;
    }
}

static void loop_prepare_once(void)
{
    crest_monotonic_condition(&loop_released);
    crest_forked_call(CREST_FORKED_HOST_LOOP, loop_forked);
    crest_forked_call(CREST_FORKED_OWN_HOST_LOOP, loop_forked_close);
}

/* ---- the descriptor, under the lock ---- */

/* Arms the timer for this time; UINT64_MAX: never. */
static void loop_arm(uint64_t when_ns)
{
    if (loop_timer < 0 || when_ns == loop_armed_ns)
        return;
    struct itimerspec at = {.it_value = {0, 0}};
    if (when_ns != UINT64_MAX) {
        at.it_value.tv_sec = (time_t)(when_ns / CREST_NS_PER_S);
        at.it_value.tv_nsec = (long)(when_ns % CREST_NS_PER_S);
        if (when_ns == 0)
            at.it_value.tv_nsec = 1; /* 0 would be never */
    }
    timerfd_settime(loop_timer, TFD_TIMER_ABSTIME, &at, NULL);
    loop_armed_ns = when_ns;
}

static int loop_add(int descriptor)
{
    struct epoll_event event = {.events = EPOLLIN, .data.fd = descriptor};
    return epoll_ctl(loop_epoll, EPOLL_CTL_ADD, descriptor, &event);
}

/* 0, or -1 with errno. */
static int loop_open(void)
{
    if (loop_epoll >= 0)
        return 0;
    loop_epoll = crest_descriptor_high(epoll_create1(EPOLL_CLOEXEC));
    loop_timer = crest_descriptor_high(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
    if (loop_epoll >= 0 && loop_timer >= 0 && loop_add(loop_timer) == 0) {
        loop_arm(0); /* the first run finds out what is due */
        return 0;
    }
    int failed = errno;
    if (loop_timer >= 0)
        close(loop_timer);
    if (loop_epoll >= 0)
        close(loop_epoll);
    loop_epoll = loop_timer = -1;
    errno = failed;
    return -1;
}

int crest_loop_descriptor(void)
{
    pthread_once(&loop_once, loop_prepare_once);
    pthread_mutex_lock(&loop_lock);
    int failed = loop_open() == 0 ? 0 : errno, descriptor = loop_epoll;
    if (!failed) {
        loop_owned = 1;
        loop_owner = pthread_self();
    }
    pthread_mutex_unlock(&loop_lock);
    errno = failed;
    return descriptor;
}

int crest_loop_wait_for(int descriptor, int wanted)
{
    pthread_once(&loop_once, loop_prepare_once);
    pthread_mutex_lock(&loop_lock);
    int failed = loop_open();
    if (!failed)
        failed =
            wanted ? loop_add(descriptor) : epoll_ctl(loop_epoll, EPOLL_CTL_DEL, descriptor, NULL);
    int reason = errno;
    pthread_mutex_unlock(&loop_lock);
    errno = reason;
    return failed;
}

/* ---- wake and hold ---- */

void crest_loop_wake(void)
{
    pthread_once(&loop_once, loop_prepare_once);
    pthread_mutex_lock(&loop_lock);
    loop_woken = 1;
    loop_arm(0);
    pthread_mutex_unlock(&loop_lock);
}

/* Under the lock. */
static int loop_is_callers(void)
{
    return loop_busy && pthread_equal(loop_runner, pthread_self());
}

int crest_loop_inside(void)
{
    pthread_mutex_lock(&loop_lock);
    int inside = loop_is_callers();
    pthread_mutex_unlock(&loop_lock);
    return inside;
}

/* Under the lock. */
static void loop_take(void)
{
    loop_busy = 1;
    loop_runner = pthread_self();
}

crest_status crest_loop_hold(uint64_t until_ns, crest_error *error)
{
    struct timespec until = crest_monotonic_timespec(until_ns);
    pthread_once(&loop_once, loop_prepare_once);
    pthread_mutex_lock(&loop_lock);
    int inside = loop_is_callers(), failed = 0;
    while (loop_busy && !inside && failed != ETIMEDOUT)
        failed = pthread_cond_timedwait(&loop_released, &loop_lock, &until);
    int taken = !loop_busy;
    if (taken)
        loop_take();
    pthread_mutex_unlock(&loop_lock);
    if (taken)
        return CREST_OK;
    if (inside)
        return crest_error_set(error, CREST_INVALID_ARGUMENT,
                               "this is called from within crest_loop_run, for whose end it would "
                               "have to wait; call it when that has returned");
    return crest_error_set(error, CREST_TIMED_OUT,
                           "the host's loop was still in crest_loop_run at the deadline");
}

void crest_loop_release(void)
{
    pthread_mutex_lock(&loop_lock);
    loop_busy = 0;
    pthread_cond_broadcast(&loop_released);
    pthread_mutex_unlock(&loop_lock);
}

/* ---- a run ---- */

crest_status crest_loop_begin(void)
{
    crest_forked_check();
    pthread_once(&loop_once, loop_prepare_once);
    pthread_mutex_lock(&loop_lock);
    crest_status status = CREST_OK;
    if (loop_busy)
        status = CREST_ALREADY;
    else if (loop_owned && !pthread_equal(loop_owner, pthread_self()))
        status = CREST_INVALID_ARGUMENT;
    if (status == CREST_OK) {
        loop_take();
        loop_owned = 1;
        loop_owner = loop_runner;
        loop_woken = 0;
    }
    pthread_mutex_unlock(&loop_lock);
    return status;
}

uint64_t crest_loop_end(uint64_t next_ns)
{
    pthread_mutex_lock(&loop_lock);
    if (loop_woken)
        next_ns = 0;
    loop_arm(next_ns);
    loop_busy = 0;
    pthread_cond_broadcast(&loop_released);
    pthread_mutex_unlock(&loop_lock);
    return next_ns;
}
