/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A futex lock of three states: free, held, held with waiters; and a fourth, set by fork and left
 * by the first waiter. See lock.h.
 *
 * Source: U. Drepper, "Futexes Are Tricky", mutex 2.
 */
#define _GNU_SOURCE
#include "base/lock.h"
#include "base/atomic.h"
#include "base/forked.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { LOCK_FREE, LOCK_HELD, LOCK_HELD_WAITERS, LOCK_HELD_FORKING };

static uint32_t lock_word;
static uint32_t lock_forking; /* from fork_before to fork_parent or fork_child */
static uint64_t lock_owner;   /* the holder's number, which only the holder can find equal to its
                               * own; or 0 */

static uint64_t lock_self(void)
{
    return (uint64_t)(uintptr_t)pthread_self();
}

static void lock_block_signals(crest_lock_saved *saved)
{
    saved->error_number = errno;
    sigset_t others;
    sigfillset(&others);
    /* A fault under the lock is a bug of Crest's and must not be hidden. A system call trapped by a
     * policy is the host's handler's to answer. */
    sigdelset(&others, SIGSEGV);
    sigdelset(&others, SIGBUS);
    sigdelset(&others, SIGFPE);
    sigdelset(&others, SIGILL);
    sigdelset(&others, SIGTRAP);
    sigdelset(&others, SIGSYS);
    /* added to the host's mask: the host may wait for a blocked signal in sigtimedwait */
    pthread_sigmask(SIG_BLOCK, &others, &saved->signals);
    crest_forked_check();
}

static void lock_open_signals(const crest_lock_saved *saved)
{
    pthread_sigmask(SIG_SETMASK, &saved->signals, NULL);
    errno = saved->error_number;
}

/* Non-zero when it was taken. Only a caller that does not wait for a fork can return without. */
static int lock_wait(int for_a_fork)
{
    /* acquire: partner of the exchange in crest_lock_drop */
    if (crest_atomic_cas32_acquire(&lock_word, LOCK_FREE, LOCK_HELD))
        return 1;
    /* a handler of a system call trapped under this thread's own lock would wait for itself */
    if (!for_a_fork && crest_atomic_load(&lock_owner) == lock_self())
        return 0;
    while (crest_atomic_exchange32(&lock_word, LOCK_HELD_WAITERS) != LOCK_FREE) {
        /* Order: the exchange first, then this load. A fork that sets the flag later exchanges
         * later; then the futex wait finds another word and returns at once. */
        if (!for_a_fork && crest_atomic_load32_acquire(&lock_forking))
            return 0;
        syscall(SYS_futex, &lock_word, FUTEX_WAIT_PRIVATE, LOCK_HELD_WAITERS, NULL, NULL, 0);
    }
    return 1;
}

void crest_lock_take(crest_lock_saved *saved)
{
    lock_block_signals(saved);
    lock_wait(1);
    crest_atomic_store(&lock_owner, lock_self());
}

int crest_lock_take_unless_forking(crest_lock_saved *saved)
{
    lock_block_signals(saved);
    if (lock_wait(0)) {
        crest_atomic_store(&lock_owner, lock_self());
        return 1;
    }
    lock_open_signals(saved);
    return 0;
}

void crest_lock_drop(const crest_lock_saved *saved)
{
    crest_atomic_store(&lock_owner, 0);
    /* release: partner of the compare-and-swap and the exchange in lock_wait */
    if (crest_atomic_exchange32(&lock_word, LOCK_FREE) != LOCK_HELD)
        syscall(SYS_futex, &lock_word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    lock_open_signals(saved);
}

void crest_lock_fork_before(crest_lock_saved *saved)
{
    crest_lock_take(saved);
    /* release: partner of the acquire load in lock_wait */
    crest_atomic_store32_release(&lock_forking, 1);
    crest_atomic_exchange32(&lock_word, LOCK_HELD_FORKING);
    syscall(SYS_futex, &lock_word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

void crest_lock_fork_parent(const crest_lock_saved *saved)
{
    crest_atomic_store32_release(&lock_forking, 0);
    crest_lock_drop(saved);
}

void crest_lock_fork_child(const crest_lock_saved *saved)
{
    lock_open_signals(saved);
}

void crest_lock_forked(void)
{
    crest_atomic_store32(&lock_forking, 0);
    crest_atomic_store(&lock_owner, 0);
    crest_atomic_exchange32(&lock_word, LOCK_FREE);
}
