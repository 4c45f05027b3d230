/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The directory of state files, their lock and names. See state_place.h.
 */
#define _GNU_SOURCE
#include "state/state_place.h"
#include "base/descriptor.h"
#include "base/error.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define PLACE_TMPFS 0x01021994
#define PLACE_RAMFS 0x858458f6
#define PLACE_LEFT CREST_STATE_SUFFIX ".left."
#define PLACE_PREVIOUS ".previous"
#define PLACE_DIGITS 18

/* ---- what /proc says ---- */

static ssize_t place_slurp(const char *path, char *text, size_t bytes)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = file >= 0 ? read(file, text, bytes - 1) : -1;
    if (file >= 0)
        close(file);
    text[length > 0 ? length : 0] = '\0';
    return length;
}

uint64_t crest_state_pid_start(uint64_t pid)
{
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%llu/stat", (unsigned long long)pid);
    if (place_slurp(path, text, sizeof text) <= 0)
        return 0;
    const char *at = strrchr(text, ')'); /* the name may have spaces and brackets */
    for (int field = 2; at != NULL && field < 22; field++) {
        at = strchr(at, ' ');
        at = at != NULL ? at + 1 : NULL;
    }
    return at != NULL ? strtoull(at, NULL, 10) : 0;
}

void crest_state_boot_id(char boot_id[40])
{
    char text[64];
    place_slurp("/proc/sys/kernel/random/boot_id", text, sizeof text);
    text[strcspn(text, "\n")] = '\0';
    snprintf(boot_id, 40, "%.39s", text);
}

void crest_state_program(char *path, size_t room)
{
    /* the thread's: that of the process is gone once main() has ended by pthread_exit */
    ssize_t length = readlink("/proc/thread-self/exe", path, room - 1);
    path[length > 0 ? length : 0] = '\0';
}

/* ---- the directory ---- */

static crest_status place_refuse(crest_error *error, const char *option, const char *dir,
                                 const char *what)
{
    return crest_error_set(error, CREST_SYSTEM, "%s=%s: %s: %s", option, dir, what,
                           strerror(errno));
}

static const char *place_option(const crest_state_wish *wish)
{
    return wish->option != NULL ? wish->option : "state";
}

/* Whether the directory is this user's alone, and in memory. */
static crest_status place_check_dir(int dir, const crest_state_wish *wish, int *disk,
                                    crest_error *error)
{
    struct stat found;
    struct statfs system;
    if (fstat(dir, &found) != 0 || fstatfs(dir, &system) != 0)
        return place_refuse(error, place_option(wish), wish->dir,
                            "the directory cannot be looked at");
    if (found.st_uid != geteuid() || (found.st_mode & (S_IWGRP | S_IWOTH)) != 0)
        return crest_error_set(error, CREST_SYSTEM,
                               "%s=%s: the directory must belong to this process's user (%u) "
                               "alone, and belongs to %u with mode %04o; name one that can be made "
                               "in it, as %s/crest",
                               place_option(wish), wish->dir, (unsigned)geteuid(),
                               (unsigned)found.st_uid, (unsigned)(found.st_mode & 07777),
                               wish->dir);
    unsigned long type = (unsigned long)system.f_type & 0xffffffffu;
    *disk = type != PLACE_TMPFS && type != PLACE_RAMFS;
    if (*disk && !wish->disk)
        return crest_error_set(error, CREST_SYSTEM,
                               "%s=%s is on a disk (file system %#lx), whose writes stall the "
                               "threads that count; name a directory on tmpfs, as /dev/shm/%s, or "
                               "write %s.disk=on to take the stalls",
                               place_option(wish), wish->dir, type,
                               wish->name != NULL ? wish->name : program_invocation_short_name,
                               place_option(wish));
    return CREST_OK;
}

static int place_open_dir(const char *dir)
{
    return open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* ---- the name ---- */

static crest_status place_name(const crest_state_wish *wish, char name[CREST_STATE_NAME_BYTES],
                               crest_error *error)
{
    const char *from = wish->name != NULL ? wish->name : program_invocation_short_name;
    size_t length = strlen(from), room = CREST_STATE_NAME_BYTES - 4; /* of ".16" */
    if (wish->name != NULL &&
        (length == 0 || length >= room || from[0] == '.' || strchr(from, '/') != NULL))
        return crest_error_set(error, CREST_INVALID_OPTIONS,
                               "%s.name=%.100s is not a file's name of 1 to %zu bytes without "
                               "\"/\", that does not begin with \".\"",
                               place_option(wish), wish->name, room - 1);
    snprintf(name, room, "%s", length != 0 ? from : "node");
    for (char *at = name; *at != '\0'; at++)
        if (!isalnum((unsigned char)*at) && strchr("._-+", *at) == NULL)
            *at = '_';
    if (name[0] == '.')
        name[0] = '_';
    return CREST_OK;
}

/* ---- the lock ---- */

/* Whether the file is of a process that still runs, and has lost its lock's descriptor. */
static int place_lives(int dir, const char *name)
{
    char file[CREST_STATE_NAME_BYTES + 32], boot_id[40];
    crest_state_header header;
    snprintf(file, sizeof file, "%s" CREST_STATE_SUFFIX, name);
    int descriptor = openat(dir, file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    int read = descriptor >= 0 && crest_state_header_read(descriptor, &header);
    if (descriptor >= 0)
        close(descriptor);
    crest_state_boot_id(boot_id);
    return read && (header.phase == CREST_STATE_BUILDING || header.phase == CREST_STATE_LIVE) &&
           strcmp(header.boot_id, boot_id) == 0 && header.pid != (uint64_t)getpid() &&
           header.pid_start != 0 && crest_state_pid_start(header.pid) == header.pid_start;
}

/* A descriptor that holds the lock of this name; -1: another process does, or errno says. */
static int place_lock(int dir, const char *name)
{
    char file[CREST_STATE_NAME_BYTES + 32];
    struct stat found;
    snprintf(file, sizeof file, "%s.lock", name);
    int lock = crest_descriptor_high(
        openat(dir, file, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600));
    if (lock < 0)
        return -1;
    errno = EWOULDBLOCK;
    if (fstat(lock, &found) == 0 && S_ISREG(found.st_mode) && found.st_uid == geteuid() &&
        flock(lock, LOCK_EX | LOCK_NB) == 0) {
        if (!place_lives(dir, name))
            return lock;
        errno = EWOULDBLOCK;
    }
    int error_number = errno;
    close(lock);
    errno = error_number;
    return -1;
}

static crest_status place_lock_some(int dir, const char *name, crest_state_place *place,
                                    crest_error *error)
{
    for (unsigned twin = 1; twin <= CREST_STATE_TWINS_MAX; twin++) {
        if (twin == 1)
            snprintf(place->name, sizeof place->name, "%s", name);
        else
            snprintf(place->name, sizeof place->name, "%.58s.%u", name, twin);
        place->twin = twin;
        place->lock = place_lock(dir, place->name);
        if (place->lock >= 0)
            return CREST_OK;
        if (errno != EWOULDBLOCK)
            return place_refuse(error, place->option, place->dir, "its lock cannot be taken");
    }
    return crest_error_set(error, CREST_SYSTEM,
                           "%s=%s: %u processes of the name %s have their files there already; "
                           "give each node a name (%s.name=) or a directory of its own",
                           place->option, place->dir, CREST_STATE_TWINS_MAX, name, place->option);
}

crest_status crest_state_place_take(const crest_state_wish *wish, crest_state_place *place,
                                    crest_error *error)
{
    char name[CREST_STATE_NAME_BYTES];
    place->lock = -1;
    place->option = place_option(wish);
    if (getauxval(AT_SECURE))
        return crest_error_set(error, CREST_SYSTEM,
                               "%s=%s: a set-user-ID or set-group-ID program keeps no such file, "
                               "for its caller could choose where it writes",
                               place->option, wish->dir);
    crest_status status = place_name(wish, name, error);
    if (status != CREST_OK)
        return status;
    if (mkdir(wish->dir, 0700) != 0 && errno != EEXIST)
        return place_refuse(error, place_option(wish), wish->dir, "the directory cannot be made");
    if (realpath(wish->dir, place->dir) == NULL)
        return place_refuse(error, place_option(wish), wish->dir, "the directory cannot be found");
    int dir = place_open_dir(place->dir);
    if (dir < 0)
        return place_refuse(error, place_option(wish), wish->dir, "the directory cannot be opened");
    status = place_check_dir(dir, wish, &place->disk, error);
    if (status == CREST_OK)
        status = place_lock_some(dir, name, place, error);
    close(dir);
    return status;
}

void crest_state_place_drop(crest_state_place *place)
{
    if (place->lock >= 0)
        close(place->lock);
    place->lock = -1;
}

/* ---- dead files ---- */

int crest_state_header_read(int descriptor, crest_state_header *header)
{
    struct stat found;
    return fstat(descriptor, &found) == 0 && S_ISREG(found.st_mode) &&
           pread(descriptor, header, sizeof *header, 0) == (ssize_t)sizeof *header &&
           memcmp(header->magic, CREST_STATE_MAGIC, sizeof header->magic) == 0 &&
           header->version == CREST_STATE_VERSION && header->byte_order == CREST_STATE_BYTE_ORDER &&
           header->layout == CREST_STATE_LAYOUT;
}

int crest_state_place_open(const crest_state_place *place, const char *file, int flags)
{
    struct stat found;
    int dir = place_open_dir(place->dir);
    if (dir < 0)
        return -1;
    int descriptor = openat(dir, file, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    close(dir);
    if (descriptor >= 0 &&
        (fstat(descriptor, &found) != 0 || !S_ISREG(found.st_mode) || found.st_uid != geteuid())) {
        close(descriptor);
        return -1;
    }
    return descriptor;
}

/* Of NAME.crest.left.N in this place the number N; 0: it is another file. */
static uint64_t place_number(const crest_state_place *place, const char *file)
{
    size_t length = strlen(place->name), mark = strlen(PLACE_LEFT);
    if (strncmp(file, place->name, length) != 0 || strncmp(file + length, PLACE_LEFT, mark) != 0)
        return 0;
    const char *digits = file + length + mark;
    size_t count = strspn(digits, "0123456789");
    return count != 0 && count <= PLACE_DIGITS && digits[count] == '\0' ? strtoull(digits, NULL, 10)
                                                                        : 0;
}

/* Inserts a number into an ascending list of the highest so many; returns its length. */
static unsigned place_insert(uint64_t number, uint64_t numbers[CREST_STATE_CHAIN_MAX],
                             unsigned count)
{
    if (count == CREST_STATE_CHAIN_MAX) {
        if (number < numbers[0])
            return count;
        memmove(numbers, numbers + 1, --count * sizeof *numbers);
    }
    unsigned at = count;
    for (; at > 0 && numbers[at - 1] > number; at--)
        numbers[at] = numbers[at - 1];
    numbers[at] = number;
    return count + 1;
}

unsigned crest_state_place_left(const crest_state_place *place,
                                crest_state_left left[CREST_STATE_CHAIN_MAX], unsigned *more)
{
    uint64_t numbers[CREST_STATE_CHAIN_MAX];
    unsigned count = 0, all = 0;
    DIR *dir = opendir(place->dir);
    for (const struct dirent *entry; dir != NULL && (entry = readdir(dir)) != NULL;) {
        uint64_t number = place_number(place, entry->d_name);
        if (number == 0)
            continue;
        count = place_insert(number, numbers, count);
        all++;
    }
    if (dir != NULL)
        closedir(dir);
    for (unsigned i = 0; i < count; i++) {
        left[i].number = numbers[i];
        snprintf(left[i].file, sizeof left[i].file, "%s" PLACE_LEFT "%llu", place->name,
                 (unsigned long long)numbers[i]);
    }
    *more = all - count;
    return count;
}

static void place_previous(const crest_state_place *place, const char *suffix, unsigned number,
                           char *file, size_t bytes)
{
    if (number == 1)
        snprintf(file, bytes, "%s%s" PLACE_PREVIOUS, place->name, suffix);
    else
        snprintf(file, bytes, "%s%s" PLACE_PREVIOUS ".%u", place->name, suffix, number);
}

static void place_done(const crest_state_place *place, const char *suffix, const char *file)
{
    char from[CREST_STATE_NAME_BYTES + 32], to[CREST_STATE_NAME_BYTES + 32];
    int dir = place_open_dir(place->dir);
    if (dir < 0)
        return;
    for (unsigned kept = CREST_STATE_PREVIOUS_KEPT; kept > 1; kept--) {
        place_previous(place, suffix, kept - 1, from, sizeof from);
        place_previous(place, suffix, kept, to, sizeof to);
        renameat(dir, from, dir, to);
    }
    place_previous(place, suffix, 1, to, sizeof to);
    renameat(dir, file, dir, to);
    close(dir);
}

void crest_state_place_done(const crest_state_place *place, const char *file)
{
    place_done(place, CREST_STATE_SUFFIX, file);
}

void crest_state_place_path(const crest_state_place *place, const char *file, char *path,
                            size_t bytes)
{
    size_t length = strlen(place->dir);
    snprintf(path, bytes, "%s%s%s", place->dir,
             length > 0 && place->dir[length - 1] == '/' ? "" : "/", file);
}

/* ---- making the new one ---- */

static crest_state_end place_end(const crest_state_header *header, int read)
{
    char boot_id[40];
    crest_state_boot_id(boot_id);
    if (!read)
        return CREST_STATE_END_UNREADABLE;
    if (header->phase == CREST_STATE_FAREWELL)
        return CREST_STATE_END_FAREWELL;
    return strncmp(header->boot_id, boot_id, sizeof boot_id) == 0 ? CREST_STATE_END_KILLED
                                                                  : CREST_STATE_END_REBOOT;
}

/* Puts the file of the run before out of the way: it waits for adoption, or is done with. */
static void place_put_aside(const crest_state_place *place, const char *file,
                            crest_state_found *found)
{
    crest_state_left left[CREST_STATE_CHAIN_MAX];
    crest_state_header header;
    unsigned more, count = crest_state_place_left(place, left, &more);
    int descriptor = crest_state_place_open(place, file, O_RDONLY);
    if (descriptor < 0 && errno == ENOENT)
        return;
    int read = descriptor >= 0 && crest_state_header_read(descriptor, &header);
    if (descriptor >= 0)
        close(descriptor);
    found->end = place_end(&header, read);
    if (read) {
        found->file_id = header.file_id;
        found->pid = header.pid;
        found->opened_wall_ns = header.opened_wall_ns;
        found->beat_wall_ns = header.beat_wall_ns;
    }
    char to[CREST_STATE_NAME_BYTES + 32];
    snprintf(to, sizeof to, "%s" PLACE_LEFT "%llu", place->name,
             (unsigned long long)(count != 0 ? left[count - 1].number + 1 : 1));
    int dir = place_open_dir(place->dir);
    if (dir >= 0 && renameat(dir, file, dir, to) == 0)
        snprintf(found->file, sizeof found->file, "%s", to);
    if (dir >= 0)
        close(dir);
}

static int place_make(const crest_state_place *place, const char *file, crest_error *error)
{
    int dir = place_open_dir(place->dir);
    int descriptor =
        dir < 0 ? -1
                : crest_descriptor_high(
                      openat(dir, file, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (descriptor < 0)
        place_refuse(error, place->option, place->dir, "a file cannot be made");
    if (dir >= 0)
        close(dir);
    return descriptor;
}

int crest_state_place_make(const crest_state_place *place, crest_state_found *found,
                           crest_error *error)
{
    char file[CREST_STATE_NAME_BYTES + 32];
    memset(found, 0, sizeof *found);
    snprintf(file, sizeof file, "%s" CREST_STATE_SUFFIX, place->name);
    place_put_aside(place, file, found);
    return place_make(place, file, error);
}

int crest_state_place_make_other(const crest_state_place *place, const char *suffix,
                                 crest_error *error)
{
    char file[CREST_STATE_NAME_BYTES + 32];
    snprintf(file, sizeof file, "%s%s", place->name, suffix);
    int last = crest_state_place_open(place, file, O_RDONLY);
    if (last >= 0)
        close(last);
    if (last >= 0 || errno != ENOENT)
        place_done(place, suffix, file);
    return place_make(place, file, error);
}
