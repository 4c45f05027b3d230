/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The process's own control group, version 2: where it is, and its files and those of the groups
 * around it. cgroup_text.h knows what the files mean.
 *
 *     crest_cgroup_own own;                                 zeroed, in the collector's state
 *     if (!crest_cgroup_own_find(collect, &own)) return;
 *     for (unsigned level = 0; level < own.levels; level++)
 *         if (crest_cgroup_own_read(collect, &own, level, "memory.max", &text)) ...
 *
 * Level 0 is the own group; each further level is the group around it, up to what can be seen. With
 * version 1 only there is none. A file that a group lacks is no failure.
 */
#ifndef CREST_CGROUP_OWN_H
#define CREST_CGROUP_OWN_H

#include "system/parse/cgroup_text.h"
#include "system/collector.h"

/* Bytes of a group's path below the root of /sys, its NUL included. */
#define CREST_CGROUP_PATH_BYTES 512u
/* Levels that are looked at; limits further up are not seen. */
#define CREST_CGROUP_LEVELS_MAX 16u

typedef struct crest_cgroup_own {
    char path[CREST_CGROUP_PATH_BYTES];   /* as /proc/self/cgroup has it; "": not read yet */
    char folder[CREST_CGROUP_PATH_BYTES]; /* below the root of /sys; "": not visible */
    unsigned levels;
    unsigned lengths[CREST_CGROUP_LEVELS_MAX]; /* of the folder, by level */
    int moved;                                 /* this look found another group than before */
} crest_cgroup_own;

/* Finds the group; 0 when none can be seen. */
int crest_cgroup_own_find(crest_collect *collect, crest_cgroup_own *own);

/* Reads a file of the group of that level; 0 when it is missing. */
int crest_cgroup_own_read(crest_collect *collect, const crest_cgroup_own *own, unsigned level,
                          const char *file, crest_text *text);

/* The same for a file of one number, or max: CREST_CGROUP_NO_LIMIT. */
int crest_cgroup_own_value(crest_collect *collect, const crest_cgroup_own *own, unsigned level,
                           const char *file, uint64_t *value);

#endif
