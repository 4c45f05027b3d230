/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A directory for state files on tmpfs, gone at the end. Tests nothing itself.
 */
#ifndef CREST_TESTS_STATE_DIR_H
#define CREST_TESTS_STATE_DIR_H

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

static char state_dir[64];
static pid_t state_dir_owner;

/* Removes what is in it, and it; by the process that made it. */
static void state_dir_remove(void)
{
    char path[512];
    DIR *dir = state_dir[0] != '\0' && state_dir_owner == getpid() ? opendir(state_dir) : NULL;
    for (const struct dirent *entry; dir != NULL && (entry = readdir(dir)) != NULL;) {
        snprintf(path, sizeof path, "%s/%s", state_dir, entry->d_name);
        unlink(path);
    }
    if (dir != NULL) {
        closedir(dir);
        rmdir(state_dir);
    }
}

/* Removes what is in it. */
__attribute__((unused)) static void state_dir_empty(void)
{
    char path[512];
    DIR *dir = opendir(state_dir);
    for (const struct dirent *entry; dir != NULL && (entry = readdir(dir)) != NULL;) {
        snprintf(path, sizeof path, "%s/%s", state_dir, entry->d_name);
        unlink(path);
    }
    if (dir != NULL)
        closedir(dir);
}

/* ThreadSanitizer has a thread of its own, so that no file can be opened after load, and refuses
 * children that start threads. */
__attribute__((unused)) static void state_dir_skip_tsan(void)
{
#if defined(CREST_THREAD_SANITIZER)
    printf("skipped: ThreadSanitizer takes no children that start threads\n");
    exit(77);
#endif
}

/* Makes it; a program without tmpfs at /dev/shm ends here, skipped. */
static void state_dir_make(void)
{
    struct statfs found;
    if (statfs("/dev/shm", &found) != 0 || found.f_type != 0x01021994) {
        printf("skipped: /dev/shm is no tmpfs here\n");
        exit(77);
    }
    snprintf(state_dir, sizeof state_dir, "/dev/shm/crest-test-XXXXXX");
    if (mkdtemp(state_dir) == NULL) {
        printf("skipped: no directory can be made in /dev/shm\n");
        exit(77);
    }
    state_dir_owner = getpid();
    atexit(state_dir_remove);
}

/* The path of a file in it; overwritten by the next call. */
static const char *state_dir_path(const char *file)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", state_dir, file);
    return path;
}

/* Options with the directory in front: "state=DIR" and what follows. */
__attribute__((unused)) static const char *state_dir_options(const char *more)
{
    static char options[512];
    snprintf(options, sizeof options, "state=%s%s", state_dir, more);
    return options;
}

__attribute__((unused)) static int state_dir_has(const char *file)
{
    struct stat found;
    return lstat(state_dir_path(file), &found) == 0;
}

#endif
