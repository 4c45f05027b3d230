/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lock of the slow path. It guards the arenas, the slots, the thread records' chunks, and the
 * making of metrics and series.
 *
 * A recording call in a signal handler may need it. So the holder blocks all signals, except those
 * of faults and of trapped system calls, which stay as the host has them. No other handler runs on
 * the holder's thread. Under it: arena memory only, no malloc, no callback, nothing that blocks.
 * Never held while a snapshot is taken.
 */
#ifndef CREST_BASE_LOCK_H
#define CREST_BASE_LOCK_H

#include <signal.h>

/* The signal mask that crest_lock_take saves and crest_lock_drop restores. */
typedef struct crest_lock_saved {
    sigset_t signals;
    int error_number;
} crest_lock_saved;

void crest_lock_take(crest_lock_saved *saved);
void crest_lock_drop(const crest_lock_saved *saved);

/*
 * As crest_lock_take, but returns 0, nothing taken, when waiting could deadlock:
 *
 *  1. A fork holds the lock. The forking thread waits for the locks of malloc and stdio; the caller
 *     may be a handler that interrupted a holder of one of these.
 *  2. The calling thread holds the lock itself. A handler interrupted it there: a seccomp policy
 *     trapped its mmap, and the handler of SIGSYS counts that.
 */
int crest_lock_take_unless_forking(crest_lock_saved *saved);

/* before: takes the lock and tells the waiters that a fork has it. parent: gives it back. child:
 * restores the signal mask; crest_lock_forked has freed the child's copy. */
void crest_lock_fork_before(crest_lock_saved *saved);
void crest_lock_fork_parent(const crest_lock_saved *saved);
void crest_lock_fork_child(const crest_lock_saved *saved);

/* In the child of a fork, of any kind, before another thread of it can take the lock: frees it. Its
 * holder, if it had one, does not exist in the child. */
void crest_lock_forked(void);

#endif
