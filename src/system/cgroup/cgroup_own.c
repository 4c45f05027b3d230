/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the own control group is, and its files. See cgroup_own.h.
 */
#include "system/cgroup/cgroup_own.h"

#include "system/collect_fault.h"

#include <stdio.h>
#include <string.h>

#define CGROUP_OWN_SYS "/sys/"
#define CGROUP_OWN_FILE_BYTES 40u

/* Finds the group's folder and those around it, up to the mount. */
static int cgroup_own_place(crest_collect *collect, crest_cgroup_own *own,
                            const crest_cgroup_place *place)
{
    if (strncmp(place->mount, CGROUP_OWN_SYS, strlen(CGROUP_OWN_SYS)) != 0) {
        crest_collect_fail(collect, CREST_CAUSE_MISSING, place->mount,
                           "control groups are mounted there, and read only below /sys");
        return 0;
    }
    const char *mount = place->mount + strlen(CGROUP_OWN_SYS);
    int length = snprintf(own->folder, sizeof own->folder, "%s%s", mount, place->path);
    if (length < 0 || (size_t)length >= sizeof own->folder) {
        own->folder[0] = '\0';
        crest_collect_fail(collect, CREST_CAUSE_LIMIT, place->path, "the path is too long");
        return 0;
    }
    size_t top = strlen(mount);
    for (size_t at = (size_t)length;; at--) {
        if (at == (size_t)length || at == top || own->folder[at] == '/')
            own->lengths[own->levels++] = (unsigned)at;
        if (at == top || own->levels == CREST_CGROUP_LEVELS_MAX)
            return 1;
    }
}

int crest_cgroup_own_find(crest_collect *collect, crest_cgroup_own *own)
{
    char path[CREST_CGROUP_PATH_BYTES];
    crest_cgroup_place place;
    crest_text text;
    crest_fault fault = {0};
    own->moved = 0;
    if (!crest_collect_read(collect, CREST_ROOT_PROC, "self/cgroup", CREST_READ_OPTIONAL, &text))
        return 0;
    int found = crest_cgroup_path(text, path, sizeof path, &fault);
    crest_collect_blame(collect, "/proc/self/cgroup", &fault);
    if (!found)
        return 0;
    if (strcmp(path, own->path) == 0)
        return own->levels > 0;
    if (own->path[0] != '\0')
        crest_collect_moved(collect);
    *own = (crest_cgroup_own){.moved = 1};
    if (!crest_collect_read(collect, CREST_ROOT_PROC, "self/mountinfo", 0, &text))
        return 0;
    memcpy(own->path, path, sizeof own->path);
    found = crest_cgroup_find(text, path, &place, &fault);
    crest_collect_blame(collect, "/proc/self/mountinfo", &fault);
    return found && cgroup_own_place(collect, own, &place);
}

int crest_cgroup_own_read(crest_collect *collect, const crest_cgroup_own *own, unsigned level,
                          const char *file, crest_text *text)
{
    char path[CREST_CGROUP_PATH_BYTES + CGROUP_OWN_FILE_BYTES];
    snprintf(path, sizeof path, "%.*s/%s", (int)own->lengths[level], own->folder, file);
    return crest_collect_read(collect, CREST_ROOT_SYS, path, CREST_READ_OPTIONAL, text);
}

int crest_cgroup_own_value(crest_collect *collect, const crest_cgroup_own *own, unsigned level,
                           const char *file, uint64_t *value)
{
    crest_text text;
    crest_fault fault = {0};
    if (!crest_cgroup_own_read(collect, own, level, file, &text))
        return 0;
    int valid = crest_cgroup_value(text, value, &fault);
    crest_collect_blame(collect, file, &fault);
    return valid;
}
