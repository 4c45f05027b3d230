/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that ask file systems how full they are. See mount_sweep.h.
 */
#define _GNU_SOURCE
#include "system/host/mount_sweep.h"

#include "base/alloc.h"
#include "base/leavable.h"
#include "base/sync.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

/* OLD: answered in an earlier round; in this round not wanted, or not wanted yet. */
typedef enum sweep_status {
    SWEEP_EMPTY,
    SWEEP_OLD,
    SWEEP_WAITS,
    SWEEP_ASKED,
    SWEEP_ANSWERED
} sweep_status;

typedef struct sweep_place {
    sweep_status status;
    int wanted;
    int hangs; /* asked before the last crest_sweep_begin, and not answered */
    int known; /* `space` is an answer, perhaps of an earlier round */
    crest_mount_space space;
} sweep_place;

/* Its threads are the workers; crest_sweep_drop leaves it (base/leavable.h). */
struct crest_sweep {
    crest_leavable leavable;
    pthread_mutex_t lock; /* guards everything but look */
    pthread_cond_t changed;
    crest_mount_look_fn *look;
    sweep_place places[CREST_SWEEP_MOUNTS_MAX];
};

void crest_mount_look(crest_mount_space *space)
{
    struct stat folder;
    struct statvfs told;
    if (stat(space->point, &folder) != 0 || statvfs(space->point, &told) != 0) {
        space->error = errno;
        return;
    }
    uint64_t unit = told.f_frsize != 0 ? told.f_frsize : told.f_bsize;
    /* a file mounted over another, as containers have them, shows what its disk shows */
    space->none = !S_ISDIR(folder.st_mode) || told.f_blocks == 0 ||
                  __builtin_mul_overflow((uint64_t)told.f_blocks, unit, &space->total) ||
                  told.f_bfree > told.f_blocks || told.f_bavail > told.f_bfree;
    space->free = told.f_bfree * unit;
    space->available = told.f_bavail * unit;
    space->inodes_total = told.f_files;
    space->inodes_free = told.f_ffree;
    space->read_only = (told.f_flag & ST_RDONLY) != 0;
}

/* ---- what is wanted ---- */

void crest_sweep_begin(crest_sweep *sweep)
{
    pthread_mutex_lock(&sweep->lock);
    for (unsigned i = 0; i < CREST_SWEEP_MOUNTS_MAX; i++) {
        sweep_place *place = &sweep->places[i];
        place->wanted = 0;
        place->hangs = place->status == SWEEP_ASKED;
        if (place->hangs)
            place->known = 0;
        else
            place->status = place->known ? SWEEP_OLD : SWEEP_EMPTY;
    }
    pthread_mutex_unlock(&sweep->lock);
}

/* Under the lock: the place of this mount point; NULL: none. */
static sweep_place *sweep_find(crest_sweep *sweep, const char *point)
{
    for (unsigned i = 0; i < CREST_SWEEP_MOUNTS_MAX; i++) {
        sweep_place *place = &sweep->places[i];
        if (place->status != SWEEP_EMPTY && strcmp(place->space.point, point) == 0)
            return place;
    }
    return NULL;
}

/* Under the lock: a place for another mount; an old mount's when none is empty. NULL: there is
 * none. */
static sweep_place *sweep_room(crest_sweep *sweep)
{
    sweep_place *old = NULL;
    for (unsigned i = 0; i < CREST_SWEEP_MOUNTS_MAX; i++) {
        sweep_place *place = &sweep->places[i];
        if (place->status == SWEEP_EMPTY)
            return place;
        if (place->status == SWEEP_OLD)
            old = place;
    }
    return old;
}

crest_sweep_answer crest_sweep_want(crest_sweep *sweep, const char *point)
{
    if (strlen(point) >= CREST_SWEEP_POINT_BYTES)
        return CREST_SWEEP_TOO_LONG;
    pthread_mutex_lock(&sweep->lock);
    sweep_place *place = sweep_find(sweep, point);
    if (place == NULL && (place = sweep_room(sweep)) != NULL) {
        *place = (sweep_place){.status = SWEEP_OLD};
        memcpy(place->space.point, point, strlen(point) + 1);
    }
    crest_sweep_answer answer = place == NULL ? CREST_SWEEP_FULL : CREST_SWEEP_OK;
    if (place != NULL) {
        place->wanted = 1;
        if (place->status == SWEEP_OLD)
            place->status = SWEEP_WAITS;
        answer = place->hangs ? CREST_SWEEP_HANGS : CREST_SWEEP_OK;
    }
    pthread_mutex_unlock(&sweep->lock);
    return answer;
}

void crest_sweep_unwant(crest_sweep *sweep, const char *point)
{
    pthread_mutex_lock(&sweep->lock);
    sweep_place *place = sweep_find(sweep, point);
    if (place != NULL) {
        place->wanted = 0;
        if (place->status == SWEEP_WAITS)
            place->status = place->known ? SWEEP_OLD : SWEEP_EMPTY;
    }
    pthread_mutex_unlock(&sweep->lock);
}

/* ---- asking ---- */

/* Under the lock: the next place that waits; NULL when none does. */
static sweep_place *sweep_next(crest_sweep *sweep)
{
    for (unsigned i = 0; i < CREST_SWEEP_MOUNTS_MAX && !sweep->leavable.left; i++)
        if (sweep->places[i].status == SWEEP_WAITS)
            return &sweep->places[i];
    return NULL;
}

static void sweep_run(crest_leavable *self)
{
    crest_sweep *sweep = (crest_sweep *)self;
    sweep_place *place;
    while ((place = sweep_next(sweep)) != NULL) {
        place->status = SWEEP_ASKED;
        crest_mount_space answer = {.error = 0};
        memcpy(answer.point, place->space.point, sizeof answer.point);
        crest_leavable_out(self);
        sweep->look(&answer);
        (void)crest_leavable_back(self); /* sweep_next looks for the next place */
        place->space = answer;
        place->status = SWEEP_ANSWERED;
        place->known = 1;
        place->hangs = 0;
    }
    pthread_cond_broadcast(&sweep->changed);
}

/* The child of a fork does not destroy them: the mutex may be locked there, and the condition
 * waited for. Destroying frees nothing in known C libraries. */
static void sweep_free(crest_leavable *self)
{
    crest_sweep *sweep = (crest_sweep *)self;
    if (self->process == getpid()) {
        pthread_cond_destroy(&sweep->changed);
        pthread_mutex_destroy(&sweep->lock);
    }
    crest_alloc_free(sweep);
}

static const crest_leavable_kind sweep_kind = {"crest-mounts", sweep_run, sweep_free};

crest_sweep *crest_sweep_new(crest_mount_look_fn *look)
{
    crest_sweep *sweep = crest_alloc(1, sizeof *sweep);
    if (sweep == NULL)
        return NULL;
    pthread_mutex_init(&sweep->lock, NULL);
    crest_monotonic_condition(&sweep->changed);
    crest_leavable_init(&sweep->leavable, &sweep_kind, &sweep->lock);
    sweep->look = look;
    return sweep;
}

/* Under the lock: whether a mount is still to be asked, or is being asked that did not hang
 * before. */
static int sweep_at_work(const crest_sweep *sweep)
{
    for (unsigned i = 0; i < CREST_SWEEP_MOUNTS_MAX; i++) {
        const sweep_place *place = &sweep->places[i];
        if (place->status == SWEEP_WAITS || (place->status == SWEEP_ASKED && !place->hangs))
            return 1;
    }
    return 0;
}

/* Under the lock: waits until no such mount is left, at most so long. */
static void sweep_wait(crest_sweep *sweep, unsigned wait_ms)
{
    struct timespec until =
        crest_monotonic_timespec(crest_monotonic_ns() + wait_ms * CREST_NS_PER_MS);
    while (sweep_at_work(sweep) &&
           pthread_cond_timedwait(&sweep->changed, &sweep->lock, &until) != ETIMEDOUT)
        continue;
}

crest_sweep_answer crest_sweep_ask(crest_sweep *sweep, unsigned wait_ms)
{
    crest_sweep_answer answer = CREST_SWEEP_OK;
    pthread_mutex_lock(&sweep->lock);
    while (answer == CREST_SWEEP_OK && sweep_next(sweep) != NULL) {
        if (sweep->leavable.threads >= CREST_SWEEP_WORKERS_MAX)
            answer = CREST_SWEEP_FULL;
        else if (crest_leavable_start(&sweep->leavable) != 0)
            answer = CREST_SWEEP_NO_THREAD;
        else
            sweep_wait(sweep, wait_ms);
    }
    pthread_mutex_unlock(&sweep->lock);
    return answer;
}

int crest_sweep_space(crest_sweep *sweep, unsigned i, crest_mount_space *space)
{
    pthread_mutex_lock(&sweep->lock);
    const sweep_place *place = &sweep->places[i];
    int known = place->wanted && place->known;
    if (known)
        *space = place->space;
    pthread_mutex_unlock(&sweep->lock);
    return known;
}

void crest_sweep_drop(crest_sweep *sweep)
{
    if (sweep != NULL)
        crest_leavable_leave(&sweep->leavable);
}
