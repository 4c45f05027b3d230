/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ptrace part of test_single_step.c. Steps a thread of a child process through an act, and
 * interrupts another child's thread by a signal at one instruction boundary of it. Knows nothing of
 * the act.
 *
 *     the child: ptrace(PTRACE_TRACEME) in a thread, SIGSTOP; its other thread sleeps meanwhile
 *     step_thread_stopped(child), then step_survey(thread), or step_reach(thread, boundary) and
 *     step_to_the_end(thread, the signal that it gets there, or 0)
 */
#ifndef CREST_TESTS_STEP_FIXTURE_H
#define CREST_TESTS_STEP_FIXTURE_H

#include "base/atomic.h"
#include "support/core_fixture.h"

#include <sched.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>

/* Boundaries of one act, which the survey and the interruptions choose from. */
#define STEP_BOUNDARIES_MAX 20000
#define STEP_SIGNAL_SET_BYTES 8

/* Shared with the child: 1 while its thread is in the act, then 2. */
static uint32_t *step_phase;

/* A boundary in the act: before the instruction at `pc`, when the thread comes there for the `nth`
 * time with signals let in, or blocked. */
typedef struct step_boundary {
    uint64_t pc;
    unsigned nth;
    int blocked;
} step_boundary;

static step_boundary step_boundaries[STEP_BOUNDARIES_MAX];
static unsigned step_boundary_count;

/* Lets the thread go on in this way until it stops again. Returns the signal of that, or 0 when the
 * thread has ended. */
static int step_on(enum __ptrace_request request, pid_t thread, int signal_number)
{
    int status;
    assert_int_equal(ptrace(request, thread, NULL, (void *)(intptr_t)signal_number), 0);
    assert_int_equal(waitpid(thread, &status, __WALL), thread);
    return WIFSTOPPED(status) ? WSTOPSIG(status) : 0;
}

/* Runs it to its end and lets it have the signal. A signal blocked now stops it again when let
 * in. */
static void step_to_the_end(pid_t thread, int give)
{
    for (int stopped = step_on(PTRACE_CONT, thread, give); stopped != 0;)
        stopped = step_on(PTRACE_CONT, thread, stopped == SIGUSR1 ? SIGUSR1 : 0);
}

static int step_is_blocked(pid_t thread)
{
    uint64_t blocked = 0;
    assert_int_equal(
        ptrace((enum __ptrace_request)PTRACE_GETSIGMASK, thread, STEP_SIGNAL_SET_BYTES, &blocked),
        0);
    return (blocked >> (SIGUSR1 - 1)) & 1;
}

static uint64_t step_pc(pid_t thread)
{
    return (uint64_t)ptrace(PTRACE_PEEKUSER, thread, offsetof(struct user, regs.rip), NULL);
}

static void step_set_pc(pid_t thread, uint64_t pc)
{
    assert_int_equal(ptrace(PTRACE_POKEUSER, thread, offsetof(struct user, regs.rip), pc), 0);
}

static uint64_t step_with_trap(uint64_t text)
{
    return (text & ~UINT64_C(0xff)) | 0xcc;
}

static void step_note(pid_t thread, int blocked)
{
    assert_true(step_boundary_count < STEP_BOUNDARIES_MAX);
    step_boundary *here = &step_boundaries[step_boundary_count++];
    *here = (step_boundary){step_pc(thread), 1, blocked};
    for (step_boundary *at = step_boundaries; at < here; at++)
        here->nth += at->pc == here->pc && at->blocked == blocked;
}

/* Steps the thread through the act and notes its boundaries. While signals are blocked it is
 * stepped from system call to system call, and only the first boundary counts. */
static void step_survey(pid_t thread)
{
    int was_blocked = 0;
    assert_int_equal(ptrace(PTRACE_SETOPTIONS, thread, NULL, PTRACE_O_TRACESYSGOOD), 0);
    step_boundary_count = 0;
    for (;;) {
        uint32_t phase = crest_atomic_load32(step_phase);
        int blocked = step_is_blocked(thread);
        if (phase == 2)
            break;
        if (phase == 1 && !(blocked && was_blocked))
            step_note(thread, blocked);
        was_blocked = blocked;
        if (step_on(blocked ? PTRACE_SYSCALL : PTRACE_SINGLESTEP, thread, 0) == 0)
            return;
    }
    step_to_the_end(thread, 0);
}

/* Runs the thread to the boundary, by a trap in the process's copy of the code, and leaves it
 * there. 0 when the thread came by less often, and has ended. Takes the trap away before another
 * thread can meet it. */
static int step_reach(pid_t thread, const step_boundary *boundary)
{
    void *pc = (void *)(uintptr_t)boundary->pc;
    uint64_t text = (uint64_t)ptrace(PTRACE_PEEKTEXT, thread, pc, NULL);
    assert_int_equal(ptrace(PTRACE_SETOPTIONS, thread, NULL, PTRACE_O_TRACEEXIT), 0);
    for (unsigned times = 0; times < boundary->nth;) {
        if (step_pc(thread) == boundary->pc)
            step_on(PTRACE_SINGLESTEP, thread, 0);
        assert_int_equal(ptrace(PTRACE_POKETEXT, thread, pc, step_with_trap(text)), 0);
        int stopped = step_on(PTRACE_CONT, thread, 0);
        assert_int_equal(stopped, SIGTRAP);
        assert_int_equal(ptrace(PTRACE_POKETEXT, thread, pc, text), 0);
        if (step_pc(thread) != boundary->pc + 1) { /* it ends, and came by less often */
            step_to_the_end(thread, 0);
            return 0;
        }
        step_set_pc(thread, boundary->pc);
        times +=
            crest_atomic_load32(step_phase) == 1 && step_is_blocked(thread) == boundary->blocked;
    }
    return 1;
}

/* Waits until the child's other thread sleeps: it must not meet the trap. */
static void step_wait_for_sleep(pid_t child)
{
    char path[64], text[128] = "";
    snprintf(path, sizeof path, "/proc/%d/stat", (int)child);
    for (const char *state = ""; *state != 'S'; sched_yield()) {
        FILE *file = fopen(path, "r");
        assert_non_null(file);
        assert_non_null(fgets(text, sizeof text, file));
        fclose(file);
        state = strrchr(text, ')') + 2;
    }
}

/* Returns the child's thread, once it has stopped to be stepped. */
static pid_t step_thread_stopped(pid_t child)
{
    int status;
    pid_t thread = waitpid(-1, &status, __WALL);
    assert_true(thread != child && WIFSTOPPED(status));
    step_wait_for_sleep(child);
    return thread;
}

/* Tracer and child take turns, which is quickest on one processor. */
static void step_stay_on_one_processor(void)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    sched_setaffinity(0, sizeof one, &one);
}

/* Whether this machine lets a process trace its child. */
static int step_may_trace(void)
{
    pid_t child = fork();
    if (child == 0)
        _exit(ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0 || raise(SIGSTOP) != 0);
    int status;
    if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status))
        return 0;
    uint64_t blocked;
    int may = ptrace((enum __ptrace_request)PTRACE_GETSIGMASK, child, STEP_SIGNAL_SET_BYTES,
                     &blocked) == 0 &&
              ptrace(PTRACE_SINGLESTEP, child, NULL, NULL) == 0;
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    return may;
}

#endif
