/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The profiler's signal handler. See sample_signal.h.
 */
#define _GNU_SOURCE
#include "profiling/sample_signal.h"
#include "base/atomic.h"
#include "base/error.h"
#include "base/sync.h"
#include "profiling/captures.h"
#include "profiling/named_frames.h"
#include "profiling/sample_label.h"
#include "profiling/sample_store.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>

static uint32_t signal_wanted; /* 0: handlers do nothing */
static uint64_t signal_inside; /* handlers at work */
static uint64_t signal_zero_ns;

/* Whether another runtime samples this: the code is in no module, or such code was interrupted by a
 * signal before this one, by which that runtime looks at the thread. */
static int signal_is_elsewhere(const crest_walk_state *state, const uint64_t *frames, size_t depth)
{
    if (!crest_named_frames_cover() || depth == 0)
        return 0;
    const crest_modules *modules = crest_modules_now();
    return crest_modules_find(modules, frames[0]) == NULL ||
           (state->interrupted != 0 && crest_modules_find(modules, state->interrupted) == NULL);
}

static void signal_sample(const void *ucontext, uint64_t weight)
{
    uint64_t frames[CREST_FRAMES_MAX];
    crest_profile_scope *scopes[CREST_SAMPLE_OPERATIONS];
    crest_checked_memory stack = CREST_CHECKED_DIRECT;
    crest_walk_state state;
    crest_walk_end end;
    crest_cpu_sample sample = {.frames = frames, .weight = weight};
    crest_walk_from_context(&state, ucontext);
    unsigned count = crest_operations_here(state.reg[CREST_REGISTER_RSP], &stack, scopes,
                                           CREST_SAMPLE_OPERATIONS);
    for (unsigned i = 0; i < count; i++) {
        crest_atomic_store32(&scopes[i]->sampled, crest_atomic_load32(&scopes[i]->sampled) + 1);
        sample.operation[i] = crest_operations_number(scopes[i]);
    }
    if (count > 0) {
        uint64_t now_ns = crest_now();
        sample.label = crest_sample_label(scopes[0]->metric, scopes[0]->stage);
        sample.when_ms =
            now_ns > signal_zero_ns ? (uint32_t)((now_ns - signal_zero_ns) / CREST_NS_PER_MS) : 0;
    }
    sample.depth = (unsigned)crest_stack_walk(&state, &stack, crest_modules_now(), frames,
                                              CREST_FRAMES_MAX, &end);
    if (signal_is_elsewhere(&state, frames, sample.depth)) {
        crest_samples_elsewhere(weight);
        return;
    }
    crest_samples_walked(end == CREST_WALK_BROKEN, end == CREST_WALK_LONG, weight);
    crest_samples_add(&sample);
}

/* Saves errno, although nothing here sets it but the clock's system call might. */
static void signal_handle(int signal, siginfo_t *info, void *ucontext)
{
    int before = errno;
    (void)signal;
    crest_atomic_add(&signal_inside, 1);
    /* acquire: partner of the release store in crest_sample_signal_take */
    if (crest_atomic_load32_acquire(&signal_wanted) != 0) {
        if (info->si_code == SI_TIMER)
            signal_sample(ucontext, 1 + (uint64_t)(info->si_overrun > 0 ? info->si_overrun : 0));
        else if (info->si_code == SI_QUEUE)
            crest_capture_answer(ucontext);
    }
    /* release: what it has read; partner: the acquire load in crest_sample_signal_busy */
    crest_atomic_add_release(&signal_inside, UINT64_MAX);
    errno = before;
}

/* ---- which signal ---- */

static int signal_is_free(int signal)
{
    struct sigaction now;
    if (sigaction(signal, NULL, &now) != 0)
        return 0;
    if ((now.sa_flags & SA_SIGINFO) != 0)
        return now.sa_sigaction == signal_handle; /* a parent's */
    return now.sa_handler == SIG_DFL || now.sa_handler == SIG_IGN;
}

int crest_sample_signal_may_be(int signal)
{
    return signal == SIGPROF || signal == SIGVTALRM || signal == SIGUSR1 || signal == SIGUSR2 ||
           (signal >= SIGRTMIN && signal <= SIGRTMAX);
}

static int signal_choose(int wanted)
{
    if (wanted != 0)
        return signal_is_free(wanted) ? wanted : 0;
    if (signal_is_free(SIGPROF))
        return SIGPROF;
    for (int signal = SIGRTMAX; signal >= SIGRTMIN; signal--)
        if (signal_is_free(signal))
            return signal;
    return 0;
}

int crest_sample_signal_take(int wanted, uint64_t zero_ns, crest_error *error)
{
    struct sigaction ours;
    int signal = signal_choose(wanted);
    memset(&ours, 0, sizeof ours);
    ours.sa_sigaction = signal_handle;
    ours.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
    /* each one: sigfillset leaves out what pthread_cancel sends, and a thread that is cancelled
       within the handler would never leave it */
    memset(&ours.sa_mask, 0xff, sizeof ours.sa_mask);
    if (signal == 0 || sigaction(signal, &ours, NULL) != 0) {
        crest_error_set(error, CREST_SYSTEM,
                        "The profiler needs a signal of its own, and %s is not free: the program "
                        "handles it. Name another with profile.signal, or leave it out to let one "
                        "be found",
                        wanted != 0 ? strsignal(wanted) : "none");
        return 0;
    }
    signal_zero_ns = zero_ns;
    /* partner: the acquire load in signal_handle */
    crest_atomic_store32_release(&signal_wanted, 1);
    return signal;
}

int crest_sample_signal_busy(void)
{
    /* acquire: partner of the release add in signal_handle */
    return crest_atomic_load_acquire(&signal_inside) != 0;
}

void crest_sample_signal_leave(int signal)
{
    crest_atomic_store32_release(&signal_wanted,
                                 0); /* partner: the acquire load in signal_handle */
    if (crest_sample_signal_is_ours(signal)) {
        struct sigaction ignored;
        memset(&ignored, 0, sizeof ignored);
        ignored.sa_handler = SIG_IGN;
        sigaction(signal, &ignored, NULL);
    }
    while (crest_sample_signal_busy())
        sched_yield();
}

int crest_sample_signal_is_ours(int signal)
{
    struct sigaction now;
    return sigaction(signal, NULL, &now) == 0 && (now.sa_flags & SA_SIGINFO) != 0 &&
           now.sa_sigaction == signal_handle;
}

void crest_sample_signal_forked(void)
{
    crest_atomic_store32(&signal_wanted, 0);
    crest_atomic_store(&signal_inside, 0);
}
