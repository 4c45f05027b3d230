/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A futex lock of three states: free, held, held with waiters. See lock.h.
 *
 * Source: U. Drepper, "Futexes Are Tricky", mutex 2.
 */
#define _GNU_SOURCE
#include "lock.h"
#include "atomic.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { LOCK_FREE, LOCK_HELD, LOCK_HELD_WAITERS };

static uint32_t lock_word;

void crest_lock_take(crest_lock_saved *saved)
{
    saved->error_number = errno;
    sigset_t all;
    sigfillset(&all);
    /* a synchronous fault under the lock is a bug of ours and must not be hidden */
    sigdelset(&all, SIGSEGV);
    sigdelset(&all, SIGBUS);
    sigdelset(&all, SIGFPE);
    sigdelset(&all, SIGILL);
    sigdelset(&all, SIGTRAP);
    pthread_sigmask(SIG_SETMASK, &all, &saved->signals);
    /* acquire: partner of the exchange in crest_lock_drop */
    if (crest_atomic_cas32_acquire(&lock_word, LOCK_FREE, LOCK_HELD))
        return;
    while (crest_atomic_exchange32(&lock_word, LOCK_HELD_WAITERS) != LOCK_FREE)
        syscall(SYS_futex, &lock_word, FUTEX_WAIT_PRIVATE, LOCK_HELD_WAITERS, NULL, NULL, 0);
}

void crest_lock_drop(const crest_lock_saved *saved)
{
    /* release: partner of the compare-and-swap and the exchange in crest_lock_take */
    if (crest_atomic_exchange32(&lock_word, LOCK_FREE) == LOCK_HELD_WAITERS)
        syscall(SYS_futex, &lock_word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    pthread_sigmask(SIG_SETMASK, &saved->signals, NULL);
    errno = saved->error_number;
}

void crest_lock_forked(void)
{
    crest_atomic_store32(&lock_word, LOCK_FREE);
}
