/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks the two signals of a failing write, and consumes those that it raised. See
 * write_signals.h. */
#include "common/write_signals.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <time.h>

static const int quiet_signals_all[] = {SIGPIPE, SIGXFSZ};
#define QUIET_SIGNALS_COUNT (sizeof quiet_signals_all / sizeof *quiet_signals_all)

void crest_quiet_signals_begin(crest_quiet_signals *quiet)
{
    sigset_t ours;
    sigemptyset(&ours);
    sigemptyset(&quiet->pending);
    for (size_t i = 0; i < QUIET_SIGNALS_COUNT; i++)
        sigaddset(&ours, quiet_signals_all[i]);
    sigpending(&quiet->pending);
    pthread_sigmask(SIG_BLOCK, &ours, &quiet->before);
}

/* A write's signal is sent to the writing thread, so it is pending here; one that was pending
 * before stays. */
void crest_quiet_signals_end(const crest_quiet_signals *quiet)
{
    static const struct timespec at_once = {0, 0};
    int kept = errno;
    for (size_t i = 0; i < QUIET_SIGNALS_COUNT; i++) {
        sigset_t one, now;
        if (sigismember(&quiet->pending, quiet_signals_all[i]) || sigpending(&now) != 0 ||
            !sigismember(&now, quiet_signals_all[i]))
            continue;
        sigemptyset(&one);
        sigaddset(&one, quiet_signals_all[i]);
        while (sigtimedwait(&one, NULL, &at_once) == -1 && errno == EINTR)
            continue;
    }
    pthread_sigmask(SIG_SETMASK, &quiet->before, NULL);
    errno = kept;
}
