/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asks file systems how full they are, on threads of its own (workers). A mount that does not
 * answer, as when its server is gone, holds up one worker and nothing else. host_filesystems.c
 * chooses what to ask.
 *
 *     crest_sweep *sweep = crest_sweep_new(crest_mount_look);
 *     crest_sweep_begin(sweep);                    now and then: a new round
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

/* Mounts at a time, including those that do not answer. */
#define CREST_SWEEP_MOUNTS_MAX 256u
/* Bytes of a mount point, its NUL included. */
#define CREST_SWEEP_POINT_BYTES 256u
/* Workers, and so mounts that may hang before no further mounts are asked. */
#define CREST_SWEEP_WORKERS_MAX 4u

typedef struct crest_mount_space {
    char point[CREST_SWEEP_POINT_BYTES];
    int error;                       /* an errno: then all else is unknown */
    int none;                        /* no figures: not a folder, or no space at all */
    uint64_t total, free, available; /* bytes; available: to others than root */
    uint64_t inodes_total, inodes_free;
    int read_only;
} crest_mount_space;

/* Fills all but the point of a zeroed space; may block for as long as it wants. */
typedef void crest_mount_look_fn(crest_mount_space *space);

/* Asks the kernel, by stat and statvfs. */
void crest_mount_look(crest_mount_space *space);

typedef struct crest_sweep crest_sweep;

/* A sweep without mounts; NULL: no memory. */
crest_sweep *crest_sweep_new(crest_mount_look_fn *look);

/* Begins a round: nothing is wanted any more. A mount wanted again keeps its last answer until its
 * next answer. A mount that has not answered since the last beginning loses it. */
void crest_sweep_begin(crest_sweep *sweep);

typedef enum crest_sweep_answer {
    CREST_SWEEP_OK,
    CREST_SWEEP_HANGS,    /* it has not answered since an earlier round, and is not asked again */
    CREST_SWEEP_FULL,     /* no room for one more */
    CREST_SWEEP_TOO_LONG, /* its path */
    CREST_SWEEP_NO_THREAD
} crest_sweep_answer;

/* Adds a mount to be asked; a mount that is there already is there once. */
crest_sweep_answer crest_sweep_want(crest_sweep *sweep, const char *point);
/* Takes back that the mount is to be asked. */
void crest_sweep_unwant(crest_sweep *sweep, const char *point);

/*
 * Has the mounts asked. Waits until all have answered that did not hang before, at most so long for
 * each worker; later answers are kept for later. CREST_SWEEP_FULL: so many hang that some are not
 * asked yet.
 */
crest_sweep_answer crest_sweep_ask(crest_sweep *sweep, unsigned wait_ms);

/* The answer of the mount in place i; 0 when there is no mount, or no answer. */
int crest_sweep_space(crest_sweep *sweep, unsigned i, crest_mount_space *space);

/* Asks nothing more; the sweep is freed when the last worker has come back. NULL does nothing. The
 * child of a fork may do nothing else with its parent's sweep. */
void crest_sweep_drop(crest_sweep *sweep);

#endif
