/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The process's own control group, version 2, as collectors see it: where it is, and its files and
 * those of the groups around it. What the files mean is cgroup_text.h's.
 *
 *     crest_cgroup_own own;                                 zeroed, in the collector's state
 *     if (!crest_cgroup_own_find(collect, &own)) return;
 *     for (unsigned level = 0; level < own.levels; level++)
 *         if (crest_cgroup_own_read(collect, &own, level, "memory.max", &text)) ...
 *
 * Level 0 is the own group; each further one is the group around it, up to what can be seen. With
 * version 1 only there is none, and a file that a group does not have is no failure.
 */
#ifndef CREST_CGROUP_OWN_H
#define CREST_CGROUP_OWN_H

#include "system/parse/cgroup_text.h"
#include "system/collector.h"

/* Bytes of a group's path below the root of /sys, its NUL included. */
#define CREST_CGROUP_PATH_BYTES 512u
/* Levels that are looked at; limits of those further up are not seen. */
#define CREST_CGROUP_LEVELS_MAX 16u

typedef struct crest_cgroup_own {
    char path[CREST_CGROUP_PATH_BYTES];   /* as /proc/self/cgroup has it; "": not looked yet */
    char folder[CREST_CGROUP_PATH_BYTES]; /* below the root of /sys; "": it cannot be seen */
    unsigned levels;
    unsigned lengths[CREST_CGROUP_LEVELS_MAX]; /* of the folder, by level */
    int moved;                                 /* this look found another group than the last one */
} crest_cgroup_own;

/* Looks where the group is; 0 when there is none that can be seen. */
int crest_cgroup_own_find(crest_collect *collect, crest_cgroup_own *own);

/* Reads a file of the group of that level; 0 when there is none. */
int crest_cgroup_own_read(crest_collect *collect, const crest_cgroup_own *own, unsigned level,
                          const char *file, crest_text *text);

/* The same for a file of one number, or max: CREST_CGROUP_NO_LIMIT. */
int crest_cgroup_own_value(crest_collect *collect, const crest_cgroup_own *own, unsigned level,
                           const char *file, uint64_t *value);

#endif
