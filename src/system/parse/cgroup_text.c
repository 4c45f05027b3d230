/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the own control group is, and its files as figures. See cgroup_text.h.
 */
#include "system/parse/cgroup_text.h"

#include <string.h>

static const char *const cgroup_text_cpu_keys[CREST_CGROUP_CPU_KEYS] = {
    [CREST_CGROUP_CPU_USAGE] = "usage_usec",
    [CREST_CGROUP_CPU_USER] = "user_usec",
    [CREST_CGROUP_CPU_SYSTEM] = "system_usec",
    [CREST_CGROUP_CPU_PERIODS] = "nr_periods",
    [CREST_CGROUP_CPU_THROTTLED_PERIODS] = "nr_throttled",
    [CREST_CGROUP_CPU_THROTTLED] = "throttled_usec"};

static const char *const cgroup_text_memory_keys[CREST_CGROUP_MEMORY_KEYS] = {
    [CREST_CGROUP_MEMORY_ANONYMOUS] = "anon",
    [CREST_CGROUP_MEMORY_FILE] = "file",
    [CREST_CGROUP_MEMORY_SLAB] = "slab",
    [CREST_CGROUP_MEMORY_SOCKETS] = "sock",
    [CREST_CGROUP_MEMORY_STACKS] = "kernel_stack",
    [CREST_CGROUP_MEMORY_PAGE_TABLES] = "pagetables",
    [CREST_CGROUP_MEMORY_INACTIVE_FILE] = "inactive_file",
    [CREST_CGROUP_MEMORY_FAULTS] = "pgfault",
    [CREST_CGROUP_MEMORY_FAULTS_MAJOR] = "pgmajfault"};

static const char *const cgroup_text_events[CREST_CGROUP_EVENTS] = {
    [CREST_CGROUP_EVENT_HIGH] = "high",
    [CREST_CGROUP_EVENT_MAX] = "max",
    [CREST_CGROUP_EVENT_OOM] = "oom",
    [CREST_CGROUP_EVENT_OOM_KILL] = "oom_kill"};

static const char *const cgroup_text_io_keys[CREST_CGROUP_IO_KEYS] = {
    [CREST_CGROUP_IO_READ_BYTES] = "rbytes",
    [CREST_CGROUP_IO_WRITTEN_BYTES] = "wbytes",
    [CREST_CGROUP_IO_READS] = "rios",
    [CREST_CGROUP_IO_WRITES] = "wios"};

int crest_cgroup_path(crest_text text, char *path, size_t size, crest_fault *fault)
{
    crest_text line;
    while (crest_text_line(&text, &line)) {
        if (!crest_table_begins(line, "0::"))
            continue;
        crest_text rest = {line.at + 3, line.end};
        if (crest_table_begins(rest, "/") && crest_text_copy(rest, path, size))
            return 1;
        crest_fault_set(fault, "a path that fits was expected after 0::", line);
        return 0;
    }
    return 0;
}

/* The part of the path below the root; NULL when the path is elsewhere. */
static const char *cgroup_text_below(const char *path, const char *root)
{
    size_t length = strlen(root);
    if (strcmp(root, "/") == 0)
        length = 0;
    if (strncmp(path, root, length) != 0 || (path[length] != '/' && path[length] != '\0'))
        return NULL;
    return strcmp(path + length, "/") == 0 ? "" : path + length;
}

/* Whether the path climbs ("/../"), out of what can be seen. */
static int cgroup_text_climbs(const char *path)
{
    for (const char *at = strstr(path, "/.."); at != NULL; at = strstr(at + 1, "/.."))
        if (at[3] == '/' || at[3] == '\0')
            return 1;
    return 0;
}

int crest_cgroup_find(crest_text mountinfo, const char *path, crest_cgroup_place *place,
                      crest_fault *fault)
{
    crest_mount_row row;
    int found = 0;
    if (cgroup_text_climbs(path))
        return 0;
    while (crest_mountinfo_next(&mountinfo, &row, fault)) {
        const char *below = strcmp(row.type, "cgroup2") == 0 && !cgroup_text_climbs(row.root)
                                ? cgroup_text_below(path, row.root)
                                : NULL;
        if (below == NULL)
            continue;
        found = 1;
        memcpy(place->mount, row.point, sizeof place->mount);
        memcpy(place->path, below, strlen(below) + 1);
    }
    return found;
}

/* Reads the next word as a number, or "max". */
static int cgroup_text_limit(crest_text *rest, uint64_t *value)
{
    crest_text after = *rest, word;
    if (!crest_text_word(&after, &word))
        return 0;
    if (crest_text_is(word, "max"))
        *value = CREST_CGROUP_NO_LIMIT;
    else if (!crest_table_number(word, value))
        return 0;
    *rest = after;
    return 1;
}

int crest_cgroup_value(crest_text text, uint64_t *value, crest_fault *fault)
{
    crest_text line = text, rest, word;
    uint64_t read;
    if (crest_text_line(&text, &line) && (rest = line, cgroup_text_limit(&rest, &read)) &&
        !crest_text_word(&rest, &word)) {
        *value = read;
        return 1;
    }
    crest_fault_set(fault, "a whole number or max was expected", line);
    return 0;
}

int crest_cgroup_cpu_max(crest_text text, uint64_t *quota_us, uint64_t *period_us,
                         crest_fault *fault)
{
    crest_text line = text, rest;
    uint64_t quota, period;
    if (crest_text_line(&text, &line) && (rest = line, cgroup_text_limit(&rest, &quota)) &&
        crest_text_u64(&rest, &period) && period != 0) {
        *quota_us = quota;
        *period_us = period;
        return 1;
    }
    crest_fault_set(fault, "a quota or max, and a period were expected", line);
    return 0;
}

uint64_t crest_cgroup_cpu_stat(crest_text text, uint64_t values[CREST_CGROUP_CPU_KEYS],
                               crest_fault *fault)
{
    return crest_table_lines(text, cgroup_text_cpu_keys, CREST_CGROUP_CPU_KEYS, values, fault);
}

uint64_t crest_cgroup_memory_stat(crest_text text, uint64_t values[CREST_CGROUP_MEMORY_KEYS],
                                  crest_fault *fault)
{
    return crest_table_lines(text, cgroup_text_memory_keys, CREST_CGROUP_MEMORY_KEYS, values,
                             fault);
}

uint64_t crest_cgroup_memory_events(crest_text text, uint64_t values[CREST_CGROUP_EVENTS],
                                    crest_fault *fault)
{
    return crest_table_lines(text, cgroup_text_events, CREST_CGROUP_EVENTS, values, fault);
}

static int cgroup_text_device(crest_text word, crest_cgroup_io_row *row)
{
    crest_text major;
    return crest_text_until(&word, ':', &major) && crest_table_number(major, &row->major) &&
           crest_table_number(word, &row->minor);
}

int crest_cgroup_io_next(crest_text *text, crest_cgroup_io_row *row, crest_fault *fault)
{
    crest_text line, word;
    while (crest_text_line(text, &line)) {
        crest_text rest = line;
        if (!crest_text_word(&rest, &word))
            continue;
        if (!cgroup_text_device(word, row)) {
            crest_fault_set(fault, "a device as MAJOR:MINOR was expected", line);
            continue;
        }
        /* some kernels omit the line feed of a device without figures: the last device has them */
        crest_text pairs = rest;
        while (crest_text_word(&rest, &word) && cgroup_text_device(word, row))
            pairs = rest;
        row->found =
            crest_table_pairs(pairs, cgroup_text_io_keys, CREST_CGROUP_IO_KEYS, row->values, fault);
        if (row->found != 0)
            return 1;
    }
    return 0;
}
