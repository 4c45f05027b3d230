/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finding files of events. See events_find.h.
 */
#define _GNU_SOURCE
#include "events/events_find.h"

#include <crest/event_reader.h>

#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EVENTS_SUFFIX ".events"
#define EVENTS_MEMFD "/memfd:crest-events"

void events_die(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fflush(stdout);
    fputs("crest events: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(1);
}

static void events_append(char path[PATH_MAX], const char *text)
{
    size_t used = strlen(path), length = strlen(text);
    if (length >= PATH_MAX - used)
        events_die("%s%s is longer than a path may be", path, text);
    memcpy(path + used, text, length + 1);
}

static int events_ends(const char *text, const char *end)
{
    size_t length = strlen(text), bytes = strlen(end);
    return length > bytes && strcmp(text + length - bytes, end) == 0;
}

/* The only file of a living or last run in a directory. */
static void events_in_directory(char path[PATH_MAX])
{
    char found[PATH_MAX] = "";
    DIR *folder = opendir(path);
    if (folder == NULL)
        return;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        if (!events_ends(entry->d_name, EVENTS_SUFFIX))
            continue;
        if (found[0] != '\0')
            events_die("%s has several nodes' files, as %s and %s: name one", path, found,
                       entry->d_name);
        snprintf(found, sizeof found, "%s", entry->d_name);
    }
    closedir(folder);
    if (found[0] == '\0')
        events_die("%s has no file NAME%s", path, EVENTS_SUFFIX);
    events_append(path, "/");
    events_append(path, found);
}

/* The descriptor of the memory that a process keeps its events in. */
static void events_of_descriptors(const char *pid, char path[PATH_MAX])
{
    char folder[64], target[64];
    snprintf(folder, sizeof folder, "/proc/%.20s/fd", pid);
    DIR *open = opendir(folder);
    if (open == NULL)
        events_die("the descriptors of process %s cannot be looked at: %s", pid, strerror(errno));
    for (struct dirent *entry; path[0] == '\0' && (entry = readdir(open)) != NULL;) {
        ssize_t length = readlinkat(dirfd(open), entry->d_name, target, sizeof target - 1);
        if (length < (ssize_t)strlen(EVENTS_MEMFD) ||
            memcmp(target, EVENTS_MEMFD, strlen(EVENTS_MEMFD)) != 0)
            continue;
        events_append(path, folder);
        events_append(path, "/");
        events_append(path, entry->d_name);
    }
    closedir(open);
}

/* The file that a process has mapped, or its memory. */
static void events_of_process(const char *pid, char path[PATH_MAX])
{
    char maps[64], line[PATH_MAX + 200];
    snprintf(maps, sizeof maps, "/proc/%.20s/maps", pid);
    FILE *file = fopen(maps, "re");
    if (file == NULL)
        events_die("there is no process %s to look at: %s. Name its file, which outlives it", pid,
                   strerror(errno));
    path[0] = '\0';
    while (path[0] == '\0' && fgets(line, sizeof line, file) != NULL) {
        char *name = strchr(line, '/'), *end = strchr(line, '\n');
        if (name == NULL || end == NULL)
            continue;
        *end = '\0';
        if (events_ends(name, EVENTS_SUFFIX))
            snprintf(path, PATH_MAX, "%s", name);
    }
    fclose(file);
    if (path[0] == '\0')
        events_of_descriptors(pid, path);
    if (path[0] == '\0')
        events_die("process %s has no events: it was not started with events=on", pid);
}

/* Whether the process of a file has ended. */
static int events_has_ended(const char *path)
{
    crest_event_reader *reader;
    crest_event_reader_about about;
    if (crest_event_reader_open(path, &reader, NULL) != CREST_OK)
        return 0;
    crest_event_reader_tell(reader, &about);
    int ended = !about.alive || about.farewell_wall_ns != 0;
    crest_event_reader_free(reader);
    return ended;
}

void events_find(const char *named, int dead, char path[PATH_MAX])
{
    size_t digits = strspn(named, "0123456789");
    path[0] = '\0';
    if (digits > 0 && named[digits] == '\0' && access(named, F_OK) != 0)
        events_of_process(named, path);
    else
        events_append(path, named);
    events_in_directory(path);
    if (!dead || events_has_ended(path))
        return;
    events_append(path, ".previous");
    if (access(path, R_OK) != 0)
        events_die("there is no run that has ended: the last one runs, and there is no %s", path);
}
