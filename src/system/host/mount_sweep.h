/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asking file systems how full they are, on threads of its own: one that does not answer, as a
 * mount whose server is gone, holds up that thread and nobody else. It does not choose what to ask;
 * that is host_filesystems.c.
 *
 *     crest_sweep *sweep = crest_sweep_new(crest_mount_look);
 *     crest_sweep_begin(sweep);                    now and then: who is asked again
 *     crest_sweep_want(sweep, "/home");
 *     crest_sweep_ask(sweep, 5);
 *     for (unsigned i = 0; i < CREST_SWEEP_MOUNTS_MAX; i++)
 *         if (crest_sweep_space(sweep, i, &space)) ...space.point, space.free...
 *     crest_sweep_drop(sweep);
 *
 * The threads are named "crest-mounts", block all signals, and end when nothing is left to ask. A
 * sweep belongs to one thread; its workers keep what they need until they come back.
 */
#ifndef CREST_MOUNT_SWEEP_H
#define CREST_MOUNT_SWEEP_H

#include <stdint.h>

/* Mounts at a time, those included that do not answer. */
#define CREST_SWEEP_MOUNTS_MAX 256u
/* Bytes of a mount point, its NUL included. */
#define CREST_SWEEP_POINT_BYTES 256u
/* Threads, and so mounts that may hang before no others are asked any more. */
#define CREST_SWEEP_WORKERS_MAX 4u

typedef struct crest_mount_space {
    char point[CREST_SWEEP_POINT_BYTES];
    int error;                       /* an errno: nothing else is known */
    int none;                        /* nothing to tell: no folder, or no space at all */
    uint64_t total, free, available; /* bytes; available: to others than root */
    uint64_t inodes_total, inodes_free;
    int read_only;
} crest_mount_space;

/* Fills everything but the point of what is otherwise zero; may block for as long as it wants. */
typedef void crest_mount_look_fn(crest_mount_space *space);

/* Asks the kernel, by stat and statvfs. */
void crest_mount_look(crest_mount_space *space);

typedef struct crest_sweep crest_sweep;

/* NULL: no memory. */
crest_sweep *crest_sweep_new(crest_mount_look_fn *look);

/* Nothing is wanted any more. Of what is wanted again, what was known stays known until it has
 * answered; of what has not answered since the last beginning nothing is. */
void crest_sweep_begin(crest_sweep *sweep);

typedef enum crest_sweep_answer {
    CREST_SWEEP_OK,
    CREST_SWEEP_HANGS,    /* it has not answered since an earlier time, and is not asked again */
    CREST_SWEEP_FULL,     /* no room for one more */
    CREST_SWEEP_TOO_LONG, /* its path */
    CREST_SWEEP_NO_THREAD
} crest_sweep_answer;

/* A mount that is to be asked; one that is there already is there once. */
crest_sweep_answer crest_sweep_want(crest_sweep *sweep, const char *point);
/* It is not to be asked after all. */
void crest_sweep_unwant(crest_sweep *sweep, const char *point);

/*
 * Has them asked, and waits until all have answered that did not hang before, at most so long for
 * each thread; who has not answered may do so later. CREST_SWEEP_FULL: so many hang that some are
 * not asked yet.
 */
crest_sweep_answer crest_sweep_ask(crest_sweep *sweep, unsigned wait_ms);

/* What the mount in place i answered; 0 when there is none, or it has not. */
int crest_sweep_space(crest_sweep *sweep, unsigned i, crest_mount_space *space);

/* Nothing more is asked; freed when the last worker has come back. NULL does nothing. It is all
 * that the child of a fork may do with its parent's. */
void crest_sweep_drop(crest_sweep *sweep);

#endif
