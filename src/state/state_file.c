/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opening the file, and its extents. See state_file.h.
 */
#define _GNU_SOURCE
#include "state/state_file.h"
#include "base/arena.h"
#include "base/atomic.h"
#include "base/error.h"
#include "base/forked.h"
#include "clock/clock_inside.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef CREST_BUILD_VERSION
#define CREST_BUILD_VERSION "0"
#endif

/* Written at the start and under the lock. `header` is NULL without a file; a child forgets it. */
static struct {
    crest_state_header *header; /* and behind it the table of extents */
    uint64_t bytes;
    int descriptor;
    dev_t device;
    ino_t inode;
    crest_state_place place;
    crest_state_found found;
} state_own;

crest_state_header *crest_state_header_own(void)
{
    return state_own.header;
}

const crest_state_place *crest_state_place_own(void)
{
    return state_own.header != NULL ? &state_own.place : NULL;
}

const crest_state_found *crest_state_found_own(void)
{
    return state_own.header != NULL ? &state_own.found : NULL;
}

uint64_t crest_state_bytes(void)
{
    return crest_atomic_load(&state_own.bytes);
}

/* ---- extents ---- */

/* Whether the number is still that of our file: a daemon may have closed all it did not know. */
static int state_has_file(void)
{
    struct stat found;
    return fstat(state_own.descriptor, &found) == 0 && found.st_dev == state_own.device &&
           found.st_ino == state_own.inode;
}

/* Allocates so many bytes at the file's end; 0 without room. Under the lock, signals blocked. */
static int state_allocate(uint64_t bytes)
{
    return state_own.header->extents < CREST_STATE_EXTENTS_MAX && state_has_file() &&
           posix_fallocate(state_own.descriptor, (off_t)state_own.bytes, (off_t)bytes) == 0;
}

/* Writes what is in use of the piece, so that the mapping has it. */
static int state_copy(const char *piece, uint64_t used, uint64_t offset)
{
    while (used > 0) {
        ssize_t written = pwrite(state_own.descriptor, piece, used, (off_t)offset);
        if (written <= 0)
            return 0;
        piece += written;
        offset += (uint64_t)written;
        used -= (uint64_t)written;
    }
    return 1;
}

/* Enters an extent behind the others: its entry first, then their number. */
static crest_state_extent *state_enter(uint64_t address, uint64_t bytes,
                                       crest_state_extent_kind kind)
{
    crest_state_header *header = state_own.header;
    crest_state_extent *extent =
        (crest_state_extent *)((char *)header + CREST_STATE_PAGE) + header->extents;
    *extent = (crest_state_extent){
        .address = address, .offset = state_own.bytes, .bytes = bytes, .kind = (uint32_t)kind};
    crest_atomic_store(&state_own.bytes, state_own.bytes + bytes);
    /* release: a reader in another process that counts the extent finds its entry */
    crest_atomic_store32_release(&header->extents, header->extents + 1);
    return extent;
}

/* A crest_arena_file_map. */
static int state_map(void *piece, uint64_t bytes, uint64_t used)
{
    uint64_t offset = state_own.bytes;
    if (state_allocate(bytes) && state_copy(piece, used, offset) &&
        mmap(piece, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, state_own.descriptor,
             (off_t)offset) != MAP_FAILED) {
        madvise(piece, bytes, MADV_NOHUGEPAGE);
        state_enter((uint64_t)(uintptr_t)piece, bytes, CREST_STATE_CELLS);
        return 1;
    }
    crest_atomic_add(&state_own.header->refused_bytes, bytes);
    return 0;
}

crest_state_extent *crest_state_extend(crest_state_extent_kind kind, uint64_t bytes, char **memory)
{
    if (!state_allocate(bytes))
        return NULL;
    /* the pages are there already: mapping them at once spares a fault for each 43 series */
    void *mapped = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
                        state_own.descriptor, (off_t)state_own.bytes);
    if (mapped == MAP_FAILED)
        return NULL;
    *memory = mapped;
    return state_enter(0, bytes, kind);
}

/* ---- opening ---- */

static void state_fill(crest_state_header *header)
{
    memcpy(header->magic, CREST_STATE_MAGIC, sizeof header->magic);
    header->version = CREST_STATE_VERSION;
    header->byte_order = CREST_STATE_BYTE_ORDER;
    header->layout = CREST_STATE_LAYOUT;
    while (getrandom(&header->file_id, sizeof header->file_id, 0) < 0 && errno == EINTR)
        continue;
    header->opened_ns = header->beat_ns = crest_now();
    header->opened_wall_ns = header->beat_wall_ns = crest_clock_wall_ns();
    if (header->file_id == 0)
        header->file_id = header->opened_wall_ns | 1;
    header->pid = (uint64_t)getpid();
    header->pid_start = crest_state_pid_start(header->pid);
    crest_state_boot_id(header->boot_id);
    header->previous_id = state_own.found.file_id;
    snprintf(header->name, sizeof header->name, "%s", state_own.place.name);
    crest_state_program(header->program, sizeof header->program);
    snprintf(header->library, sizeof header->library, "%s", CREST_BUILD_VERSION);
    header->phase = CREST_STATE_BUILDING;
}

static crest_status state_open(crest_error *error)
{
    struct stat found;
    state_own.descriptor = crest_state_place_make(&state_own.place, &state_own.found, error);
    if (state_own.descriptor < 0)
        return CREST_SYSTEM;
    int failed = posix_fallocate(state_own.descriptor, 0, CREST_STATE_HEADER_BYTES);
    void *header = MAP_FAILED;
    if (failed == 0 && fstat(state_own.descriptor, &found) == 0)
        header = mmap(NULL, CREST_STATE_HEADER_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
                      state_own.descriptor, 0);
    if (header == MAP_FAILED) {
        crest_error_set(error, CREST_SYSTEM, "state=%s: there is no room for a file: %s",
                        state_own.place.dir, strerror(failed != 0 ? failed : errno));
        close(state_own.descriptor);
        return CREST_SYSTEM;
    }
    state_own.device = found.st_dev;
    state_own.inode = found.st_ino;
    state_own.bytes = CREST_STATE_HEADER_BYTES;
    state_fill(header);
    state_own.header = header;
    return CREST_OK;
}

crest_status crest_state_prepare(const crest_state_wish *wish, crest_error *error)
{
    if (state_own.header != NULL)
        return CREST_ALREADY;
    crest_status status = crest_state_place_take(wish, &state_own.place, error);
    if (status != CREST_OK)
        return status;
    status = state_open(error);
    if (status != CREST_OK)
        crest_state_place_drop(&state_own.place);
    return status;
}

uint64_t crest_state_begin(void)
{
    if (state_own.header == NULL)
        return 0;
    crest_arena_back(state_map);
    return crest_atomic_load(&state_own.header->refused_bytes);
}

/* ---- life ---- */

void crest_state_live(void)
{
    if (state_own.header == NULL)
        return;
    crest_atomic_store(&state_own.header->farewell_wall_ns, 0);
    /* release: a reader that sees LIVE sees the directory */
    crest_atomic_store32_release(&state_own.header->phase, CREST_STATE_LIVE);
}

void crest_state_beat(void)
{
    crest_state_header *header = state_own.header;
    if (header == NULL)
        return;
    crest_atomic_store(&header->beat_ns, crest_now());
    crest_atomic_store(&header->beat_wall_ns, crest_clock_wall_ns());
    crest_atomic_add(&header->beats, 1);
}

void crest_state_farewell(void)
{
    if (state_own.header == NULL)
        return;
    crest_state_beat();
    crest_atomic_store(&state_own.header->farewell_wall_ns, crest_clock_wall_ns());
    crest_atomic_store32_release(&state_own.header->phase, CREST_STATE_FAREWELL);
}

void crest_state_describe(const char *service, const char *instance, const char *version)
{
    crest_state_header *header = state_own.header;
    if (header == NULL)
        return;
    snprintf(header->service, sizeof header->service, "%s", service != NULL ? service : "");
    snprintf(header->instance, sizeof header->instance, "%s", instance != NULL ? instance : "");
    snprintf(header->service_version, sizeof header->service_version, "%s",
             version != NULL ? version : "");
}

/* ---- forks ---- */

/* The child's cells are its own memory by now. It closes its copies of the descriptors, so that the
 * parent's lock is free when the parent ends; unless the numbers are others' by now. */
static void state_forked(void)
{
    if (state_own.header == NULL)
        return;
    munmap(state_own.header, CREST_STATE_HEADER_BYTES);
    if (state_has_file()) {
        close(state_own.descriptor);
        crest_state_place_drop(&state_own.place);
    }
    state_own.header = NULL;
    state_own.bytes = 0;
}
CREST_FORKED(STATE, state_forked)
