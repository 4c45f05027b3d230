/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lock of the slow path. It guards the arenas, the slots, the thread records' chunks, and the
 * making of metrics and series.
 *
 * A recording call in a signal handler may need it, so it is held with all signals blocked but
 * those of faults and of trapped system calls, which stay as the host has them: a handler of any
 * other can only run while this thread does not hold it. Under it: arena memory only, no malloc, no
 * callback, nothing that blocks. Never held while a snapshot is taken.
 */
#ifndef CREST_BASE_LOCK_H
#define CREST_BASE_LOCK_H

#include <signal.h>

/* What crest_lock_take puts aside and crest_lock_drop puts back. */
typedef struct crest_lock_saved {
    sigset_t signals;
    int error_number;
} crest_lock_saved;

void crest_lock_take(crest_lock_saved *saved);
void crest_lock_drop(const crest_lock_saved *saved);

/*
 * As crest_lock_take, but 0 with nothing taken while a fork holds the lock, or the calling thread
 * itself does. A forking thread waits for the locks of malloc and stdio; a thread that may have
 * been interrupted in one of these must not wait for the forking thread. And a thread holds the
 * lock itself where a handler interrupted it under it: a seccomp policy trapped its mmap, and the
 * handler of SIGSYS counts that.
 */
int crest_lock_take_unless_forking(crest_lock_saved *saved);

/* Before a fork: takes the lock and tells those who wait. After it: gives it back in the parent,
 * and lets signals in in the child, where crest_lock_forked has freed the copy. */
void crest_lock_fork_before(crest_lock_saved *saved);
void crest_lock_fork_parent(const crest_lock_saved *saved);
void crest_lock_fork_child(const crest_lock_saved *saved);

/* In the child of a fork, of any kind, before another thread of it can take the lock: nobody holds
 * it, for a thread that did is not there. */
void crest_lock_forked(void);

#endif
