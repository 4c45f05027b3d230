/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lock of the slow path. It guards the arenas, the slots, the thread records' chunks, and the
 * making of metrics and series.
 *
 * A recording call in a signal handler may need it, so it is held with all signals blocked: the
 * handler can then only run while this thread does not hold it. Under it: arena memory only, no
 * malloc, no callback, nothing that blocks. Never held while a snapshot is taken.
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

/* In the child of a fork whose parent's thread held the lock across it: frees the child's copy. */
void crest_lock_forked(void);

#endif
