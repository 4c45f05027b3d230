/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stacks of other threads. See captures.h.
 */
#define _GNU_SOURCE
#include "profiling/captures.h"
#include "base/atomic.h"
#include "base/sync.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { CAPTURE_IDLE, CAPTURE_ASKED, CAPTURE_ANSWERING, CAPTURE_DONE };

/* How much of a sleeping thread's stack is looked at. */
#define CAPTURE_STACK_BYTES 65536u
/* Tries to see a thread asleep at the same place before and after its stack was copied. */
#define CAPTURE_TRIES 3u
/* How long a running thread has to answer, and in which steps that is waited for. */
#define CAPTURE_PATIENCE_NS (100 * CREST_NS_PER_MS)
#define CAPTURE_STEP_NS (20 * CREST_NS_PER_US)

static crest_capture *capture_asked; /* the one that is being taken */
static uint32_t capture_thread;      /* whose */
static char capture_stack[CAPTURE_STACK_BYTES];

/* What is seen of a thread. */
typedef enum capture_sight { CAPTURE_UNSEEN, CAPTURE_RUNS, CAPTURE_SLEEPS } capture_sight;

/* Where a thread sleeps, if it does. Unseen: without /proc, or as root's in a process that has
 * changed its user (PR_SET_DUMPABLE). */
static capture_sight capture_where(int thread, uint64_t *rsp, uint64_t *rip)
{
    char path[64], text[256];
    snprintf(path, sizeof path, "/proc/self/task/%d/syscall", thread);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return CAPTURE_UNSEEN;
    ssize_t bytes = read(file, text, sizeof text - 1);
    close(file);
    text[bytes > 0 ? bytes : 0] = '\0';
    /* "running", or "NUMBER … STACK INSTRUCTION"; source: proc(5) */
    if (text[0] == 'r')
        return CAPTURE_RUNS;
    char *last = strrchr(text, ' ');
    if (last == NULL || (text[0] != '-' && (text[0] < '0' || text[0] > '9')))
        return CAPTURE_UNSEEN;
    *rip = strtoull(last + 1, NULL, 16);
    *last = '\0';
    last = strrchr(text, ' ');
    *rsp = last != NULL ? strtoull(last + 1, NULL, 16) : 0;
    return *rsp != 0 && *rip != 0 ? CAPTURE_SLEEPS : CAPTURE_UNSEEN;
}

/* Copies the thread's stack while it sleeps. CAPTURE_RUNS: it may be asked by a signal, which would
 * interrupt the system calls of a thread that only cannot be seen. */
static capture_sight capture_sleeping(crest_capture *capture, int thread)
{
    for (unsigned i = 0; i < CAPTURE_TRIES; i++) {
        uint64_t rsp, rip, rsp_after, rip_after;
        capture_sight sight = capture_where(thread, &rsp, &rip);
        if (sight != CAPTURE_SLEEPS)
            return sight;
        struct iovec to = {capture_stack, sizeof capture_stack};
        struct iovec from = {(void *)(uintptr_t)rsp, sizeof capture_stack};
        /* by the caller's own number: that of the process names no thread once main() has ended by
           pthread_exit */
        ssize_t bytes = process_vm_readv(gettid(), &to, 1, &from, 1, 0);
        capture->in_operation = crest_operations_of(thread, &capture->operation);
        if (bytes <= 0)
            return CAPTURE_UNSEEN;
        sight = capture_where(thread, &rsp_after, &rip_after);
        if (sight != CAPTURE_SLEEPS)
            return sight;
        if (rsp != rsp_after || rip != rip_after)
            continue;
        crest_checked_memory stack = {rsp, rsp + (uint64_t)bytes,
                                      (uint64_t)(uintptr_t)capture_stack - rsp, 0};
        crest_walk_state state;
        memset(&state, 0, sizeof state);
        state.reg[CREST_REGISTER_RSP] = rsp;
        state.reg[CREST_REGISTER_RIP] = rip;
        state.known = 1u << CREST_REGISTER_RSP | 1u << CREST_REGISTER_RIP;
        capture->depth = (unsigned)crest_stack_walk(
            &state, &stack, crest_modules_now(), capture->frames, CREST_FRAMES_MAX, &capture->end);
        return CAPTURE_SLEEPS;
    }
    return CAPTURE_RUNS;
}

void crest_capture_answer(const void *ucontext)
{
    crest_capture *capture = crest_atomic_load_ptr_acquire(CREST_PTR(&capture_asked));
    if (capture == NULL || crest_atomic_load32(&capture_thread) != (uint32_t)gettid() ||
        !crest_atomic_cas32_acquire(&capture->state, CAPTURE_ASKED, CAPTURE_ANSWERING))
        return;
    crest_walk_state state;
    crest_checked_memory stack = CREST_CHECKED_DIRECT;
    crest_profile_scope *scope;
    crest_walk_from_context(&state, ucontext);
    capture->in_operation =
        crest_operations_here(state.reg[CREST_REGISTER_RSP], &stack, &scope, 1) != 0;
    if (capture->in_operation)
        capture->operation = *scope;
    capture->depth = (unsigned)crest_stack_walk(&state, &stack, crest_modules_now(),
                                                capture->frames, CREST_FRAMES_MAX, &capture->end);
    /* partner: the acquire load in capture_running */
    crest_atomic_store32_release(&capture->state, CAPTURE_DONE);
}

static int capture_running(crest_capture *capture, int thread, int signal)
{
    siginfo_t info;
    memset(&info, 0, sizeof info);
    info.si_signo = signal;
    info.si_code = SI_QUEUE;
    info.si_pid = getpid();
    info.si_uid = getuid();
    crest_atomic_store32(&capture_thread, (uint32_t)thread);
    crest_atomic_store32_release(&capture->state, CAPTURE_ASKED);
    /* partner: the acquire load in crest_capture_answer */
    crest_atomic_store_ptr_release(CREST_PTR(&capture_asked), capture);
    int answered = 0;
    if (syscall(SYS_rt_tgsigqueueinfo, getpid(), thread, signal, &info) == 0) {
        uint64_t until_ns = crest_monotonic_ns() + CAPTURE_PATIENCE_NS;
        do {
            struct timespec step = crest_monotonic_timespec(CAPTURE_STEP_NS);
            /* acquire: partner of the release store in crest_capture_answer */
            answered = crest_atomic_load32_acquire(&capture->state) == CAPTURE_DONE;
            if (!answered)
                nanosleep(&step, NULL);
        } while (!answered && crest_monotonic_ns() < until_ns);
        /* a handler that is at it already finishes soon */
        while (!answered &&
               !crest_atomic_cas32_acquire(&capture->state, CAPTURE_ASKED, CAPTURE_IDLE))
            answered = crest_atomic_load32_acquire(&capture->state) == CAPTURE_DONE;
    }
    crest_atomic_store_ptr_release(CREST_PTR(&capture_asked), NULL);
    return answered;
}

crest_capture_how crest_capture_take(crest_capture *capture, int thread, int signal)
{
    capture->depth = 0;
    capture->in_operation = 0;
    capture->how = CREST_CAPTURE_NONE;
    capture_sight sight = capture_sleeping(capture, thread);
    if (sight == CAPTURE_SLEEPS)
        capture->how = CREST_CAPTURE_SLEEPING;
    else if (sight == CAPTURE_RUNS && capture_running(capture, thread, signal))
        capture->how = CREST_CAPTURE_RUNNING;
    return capture->how;
}
