/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A call that may hang, on a thread that can be left behind: its owner goes on when it likes, and
 * what the two share is freed by the last of them. It does not end the call: nothing can.
 *
 *     struct lookup { crest_leavable leavable; char host[256]; int answer; };
 *     static void lookup_run(crest_leavable *self)       the thread, under the lock
 *     {
 *         crest_leavable_out(self);
 *         answer = getaddrinfo(…);                       without it, for as long as it takes
 *         if (crest_leavable_back(self)) …               under it; zero: the owner has left
 *     }
 *     static const crest_leavable_kind lookup_kind = {"crest-resolver", lookup_run, lookup_free};
 *
 *     crest_leavable_init(&lookup->leavable, &lookup_kind, &lock);
 *     int failed = crest_leavable_start(&lookup->leavable);
 *     …
 *     crest_leavable_leave(&lookup->leavable);
 *
 * The proof that it is freed once, and that none of the parties uses it afterwards.
 *
 * State, under `lock`: `threads`, `left`.
 *
 *     step                  by       changes                   allowed when
 *     start                 owner    threads + 1               not left
 *     leave                 owner    left                      not left
 *     end, of one thread    thread   threads - 1               it has not ended
 *
 * Free happens in the step that makes "left and threads = 0" true, by that step's party, after it
 * has given up the lock.
 *
 *   1. Both terms stay true together: nothing clears `left`; after `left` no thread is added, and
 *      a thread ends once. So one step makes the conjunction true: it is freed at most once.
 *   2. It is freed once the owner has left and each call has ended. A call that hangs for ever
 *      keeps what it uses for ever, which is what it is for.
 *   3. When the conjunction becomes true every other party has taken its last step: a thread counts
 *      until the end of its last time under the lock, and touches nothing of it after that; the
 *      owner counts by `left` being unset, and has none but its pointer, which leave takes away.
 *      The lock orders those last steps before the step that frees: no use after the free.
 *   4. A mutex inside what is freed is unlocked before; another thread may still be inside its own
 *      unlock of it then, which POSIX allows (pthread_mutex_destroy).
 *   5. In the child of a fork the threads do not exist and the lock may never be opened: leave
 *      takes no lock there, and frees at once. `process` tells it.
 *
 * Stress test: tests/concurrency/test_leavable_stress.c.
 */
#ifndef CREST_BASE_LEAVABLE_H
#define CREST_BASE_LEAVABLE_H

#include <pthread.h>
#include <sys/types.h>

typedef struct crest_leavable crest_leavable;

typedef struct crest_leavable_kind {
    const char *name; /* of its threads; 15 bytes */
    /* What a thread does: called under the lock, which it gives up by crest_leavable_out, and
       returns under it. */
    void (*run)(crest_leavable *self);
    /* Frees what it is part of. No party but the caller has it. */
    void (*free)(crest_leavable *self);
} crest_leavable_kind;

/* Part of what the owner and the threads share. */
struct crest_leavable {
    const crest_leavable_kind *kind;
    pthread_mutex_t *lock; /* guards the rest, and what owner and threads share */
    unsigned threads;      /* threads that have not ended */
    int left;
    pid_t process; /* the process that started them */
};

/* Owner, before all else. The lock may lie in the block that is freed, or in another. */
void crest_leavable_init(crest_leavable *leavable, const crest_leavable_kind *kind,
                         pthread_mutex_t *lock);

/* Owner, under the lock: starts one more thread, which blocks all signals. 0, or an error number
 * and none was started. */
int crest_leavable_start(crest_leavable *leavable);

/* In `run`: releases the lock for the call that may hang. */
void crest_leavable_out(crest_leavable *leavable);
/* In `run`: takes the lock again; 0 when the owner left meanwhile. */
int crest_leavable_back(crest_leavable *leavable);

/* Owner, not under the lock: its last step. Frees the block, or the last thread will. */
void crest_leavable_leave(crest_leavable *leavable);

/* The same under the lock, in the process that started the threads. Non-zero when no thread is
 * left: then the caller frees the block. */
int crest_leavable_leave_locked(crest_leavable *leavable);

#endif
