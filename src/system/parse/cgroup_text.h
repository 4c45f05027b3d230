/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Control groups, version 2: where the process's own group is, and what its files say. Text in,
 * figures out; pure.
 *
 *     crest_cgroup_path(cgroup_text, path, sizeof path, &fault);           "/system.slice/x"
 *     crest_cgroup_find(mountinfo_text, path, &place, &fault);             "/sys/fs/cgroup" + "/x"
 *
 * Files of single values may say "max": no limit. Source: the kernel's
 * Documentation/admin-guide/cgroup-v2.rst.
 */
#ifndef CREST_SYSTEM_CGROUP_TEXT_H
#define CREST_SYSTEM_CGROUP_TEXT_H

#include "system/parse/mount_text.h"

/* What "max" is read as. */
#define CREST_CGROUP_NO_LIMIT UINT64_MAX

/* Where the own group can be seen: `mount`, and below it `path`. That is "" for the topmost visible
 * folder, and otherwise begins with a slash. */
typedef struct crest_cgroup_place {
    char mount[CREST_MOUNT_PATH_BYTES];
    char path[CREST_MOUNT_PATH_BYTES];
} crest_cgroup_place;

/* The own path in version 2, of /proc/self/cgroup's line "0::"; 0 when there is none. */
int crest_cgroup_path(crest_text text, char *path, size_t size, crest_fault *fault);

/*
 * Finds where that path is mounted, of /proc/self/mountinfo: the last mount of type cgroup2 that
 * mounts the path's folder, or a folder above it. 0 when none can be seen, as from a namespace with
 * a root that the process has left ("/../x").
 */
int crest_cgroup_find(crest_text mountinfo, const char *path, crest_cgroup_place *place,
                      crest_fault *fault);

/* One number, or "max" as CREST_CGROUP_NO_LIMIT; 0 when it is neither. */
int crest_cgroup_value(crest_text text, uint64_t *value, crest_fault *fault);

/* cpu.max: microseconds that may be used in each period, and the period; CREST_CGROUP_NO_LIMIT. */
int crest_cgroup_cpu_max(crest_text text, uint64_t *quota_us, uint64_t *period_us,
                         crest_fault *fault);

typedef enum crest_cgroup_cpu_key {
    CREST_CGROUP_CPU_USAGE, /* these and throttled: microseconds */
    CREST_CGROUP_CPU_USER,
    CREST_CGROUP_CPU_SYSTEM,
    CREST_CGROUP_CPU_PERIODS,
    CREST_CGROUP_CPU_THROTTLED_PERIODS,
    CREST_CGROUP_CPU_THROTTLED,
    CREST_CGROUP_CPU_KEYS
} crest_cgroup_cpu_key;

uint64_t crest_cgroup_cpu_stat(crest_text text, uint64_t values[CREST_CGROUP_CPU_KEYS],
                               crest_fault *fault);

/* Bytes: first disjoint parts, then totals. */
typedef enum crest_cgroup_memory_key {
    CREST_CGROUP_MEMORY_ANONYMOUS,
    CREST_CGROUP_MEMORY_FILE,
    CREST_CGROUP_MEMORY_SLAB,
    CREST_CGROUP_MEMORY_SOCKETS,
    CREST_CGROUP_MEMORY_STACKS,
    CREST_CGROUP_MEMORY_PAGE_TABLES,
    CREST_CGROUP_MEMORY_PARTS,
    CREST_CGROUP_MEMORY_INACTIVE_FILE = CREST_CGROUP_MEMORY_PARTS, /* part of file */
    CREST_CGROUP_MEMORY_FAULTS,                                    /* major faults included */
    CREST_CGROUP_MEMORY_FAULTS_MAJOR,
    CREST_CGROUP_MEMORY_KEYS
} crest_cgroup_memory_key;

uint64_t crest_cgroup_memory_stat(crest_text text, uint64_t values[CREST_CGROUP_MEMORY_KEYS],
                                  crest_fault *fault);

typedef enum crest_cgroup_event {
    CREST_CGROUP_EVENT_HIGH,
    CREST_CGROUP_EVENT_MAX,
    CREST_CGROUP_EVENT_OOM,
    CREST_CGROUP_EVENT_OOM_KILL,
    CREST_CGROUP_EVENTS
} crest_cgroup_event;

uint64_t crest_cgroup_memory_events(crest_text text, uint64_t values[CREST_CGROUP_EVENTS],
                                    crest_fault *fault);

typedef enum crest_cgroup_io_key {
    CREST_CGROUP_IO_READ_BYTES,
    CREST_CGROUP_IO_WRITTEN_BYTES,
    CREST_CGROUP_IO_READS,
    CREST_CGROUP_IO_WRITES,
    CREST_CGROUP_IO_KEYS
} crest_cgroup_io_key;

typedef struct crest_cgroup_io_row {
    uint64_t major, minor;
    uint64_t values[CREST_CGROUP_IO_KEYS];
    uint64_t found;
} crest_cgroup_io_row;

/* The next device of io.stat; 0 at the end. Devices without figures are skipped. */
int crest_cgroup_io_next(crest_text *text, crest_cgroup_io_row *row, crest_fault *fault);

#endif
