/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where state files lie: the directory, its lock, and the names of living and dead files
 * (docs/state-format.md). It trusts nothing in the directory: symbolic links are not followed, and
 * what another user owns is refused.
 *
 *     crest_state_place_take      before a file is made: directory, lock, name
 *     crest_state_place_make      moves the last file out of the way, makes the new one
 *     crest_state_place_left      the dead files that wait for adoption, oldest first
 *     crest_state_place_done      one of them is done with: it becomes NAME.crest.previous
 *
 * Calls are made by one thread at a time: at load, and by crest_start. They block on the file
 * system.
 */
#ifndef CREST_STATE_PLACE_H
#define CREST_STATE_PLACE_H

#include "state/state_format.h"

#include <crest/status.h>
#include <limits.h>
#include <sys/types.h>

#define CREST_STATE_NAME_BYTES 64u
/* Processes of one name in one directory, at most; and dead files that are kept. */
#define CREST_STATE_TWINS_MAX 16u
#define CREST_STATE_PREVIOUS_KEPT 3u

/* What the options ask for. */
typedef struct crest_state_wish {
    const char *dir;
    const char *name;   /* NULL: that of the executable */
    int disk;           /* a file system on disk will do */
    const char *option; /* that asks, for errors; NULL: "state" */
} crest_state_wish;

typedef struct crest_state_place {
    char dir[PATH_MAX];
    char name[CREST_STATE_NAME_BYTES];
    unsigned twin; /* 1, or the number of the process among those of its name */
    int lock;      /* descriptor that holds the lock; -1: none */
    int disk;      /* on a disk after all */
    const char *option;
} crest_state_place;

/* How the run before ended. */
typedef enum crest_state_end {
    CREST_STATE_END_NONE,     /* there was none */
    CREST_STATE_END_FAREWELL, /* cleanly */
    CREST_STATE_END_KILLED,   /* without a farewell */
    CREST_STATE_END_REBOOT,   /* the machine started again meanwhile (state.disk=on) */
    CREST_STATE_END_UNREADABLE
} crest_state_end;

/* What was found of it. */
typedef struct crest_state_found {
    crest_state_end end;
    uint64_t file_id, pid, opened_wall_ns, beat_wall_ns;
    char file[CREST_STATE_NAME_BYTES + 32]; /* its name in the directory now; "": none */
} crest_state_found;

/* A text for an error: what was tried, on what, what came back, what to do. */
crest_status crest_state_place_take(const crest_state_wish *wish, crest_state_place *place,
                                    crest_error *error);
/* Lets go of the lock. */
void crest_state_place_drop(crest_state_place *place);

/* A descriptor of the new, empty file, or -1 with *error. */
int crest_state_place_make(const crest_state_place *place, crest_state_found *found,
                           crest_error *error);

/* The same for another file of the process, NAME and the suffix; the last one becomes .previous. */
int crest_state_place_make_other(const crest_state_place *place, const char *suffix,
                                 crest_error *error);

/* Reads a header with pread; 0 if it is none of this version and layout. */
int crest_state_header_read(int descriptor, crest_state_header *header);

typedef struct crest_state_left {
    uint64_t number;
    char file[CREST_STATE_NAME_BYTES + 32];
} crest_state_left;

/* The dead files, oldest first; at most CREST_STATE_CHAIN_MAX, the newest ones. Returns how many;
 * *more: how many older ones there are. */
unsigned crest_state_place_left(const crest_state_place *place,
                                crest_state_left left[CREST_STATE_CHAIN_MAX], unsigned *more);

/* Opens one of them as `flags` say; -1. */
int crest_state_place_open(const crest_state_place *place, const char *file, int flags);

/* The file becomes the newest .previous, and the oldest kept one goes. */
void crest_state_place_done(const crest_state_place *place, const char *file);

/* The path of a file of the directory. */
void crest_state_place_path(const crest_state_place *place, const char *file, char *path,
                            size_t bytes);

/* The start of a process in clock ticks since boot; 0: there is no such process. */
uint64_t crest_state_pid_start(uint64_t pid);
void crest_state_boot_id(char boot_id[40]);

/* The executable's path, cut to its room; "" where /proc does not tell. */
void crest_state_program(char *path, size_t room);

#endif
