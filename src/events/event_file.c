/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Making the file of events. See event_file.h.
 */
#define _GNU_SOURCE
#include "events/event_file.h"
#include "base/descriptor.h"
#include "base/error.h"
#include "base/forked.h"
#include "base/uncancelled.h"
#include "clock/clock_inside.h"
#include "events/event_directory.h"
#include "events/event_rings.h"
#include "state/state_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

/* Under the list's lock. */
static struct {
    crest_event_file_header *header; /* NULL: no file; a child forgets it */
    int descriptor;
    crest_state_place place; /* own lock; lock -1: the state file's, or none */
    char path[PATH_MAX];
} event_file_own = {.descriptor = -1, .place = {.lock = -1}};

/* The mapping is gone, and the descriptor closed (event_rings.c). Events are off in the child. */
static void event_file_forked(void)
{
    if (event_file_own.header == NULL)
        return;
    event_file_own.header = NULL;
    event_file_own.descriptor = -1;
    crest_event_directory_of(NULL);
    crest_events_running_set(0);
    crest_state_place_drop(&event_file_own.place);
    event_file_own.path[0] = '\0';
    crest_event_words_again();
}
CREST_FORKED(EVENTS_FILE, event_file_forked)

int crest_events_descriptor(void)
{
    return event_file_own.descriptor;
}

const char *crest_events_path(void)
{
    return event_file_own.path;
}

/* ---- making it ---- */

static void event_file_describe(crest_event_known *known, void *context)
{
    (void)context;
    crest_event_directory_add(known->number, &known->declaration);
}

static void event_file_fill(crest_event_file_header *header, const crest_events_wish *wish)
{
    memcpy(header->magic, CREST_EVENT_MAGIC, sizeof header->magic);
    header->version = CREST_EVENT_VERSION;
    header->byte_order = CREST_EVENT_BYTE_ORDER;
    while (getrandom(&header->file_id, sizeof header->file_id, 0) < 0 && errno == EINTR)
        continue;
    header->pid = (uint64_t)getpid();
    header->pid_start = crest_state_pid_start(header->pid);
    crest_state_boot_id(header->boot_id);
    header->opened_ns = header->beat_ns = crest_now();
    header->opened_wall_ns = header->beat_wall_ns = crest_clock_wall_ns();
    header->directory_bytes = CREST_EVENT_DIRECTORY_BYTES;
    header->rings_offset = CREST_EVENT_PAGE + CREST_EVENT_DIRECTORY_BYTES;
    header->ring_bytes = wish->ring_bytes != 0 ? wish->ring_bytes : CREST_EVENT_RING_BYTES_DEFAULT;
    header->ring_stride = CREST_EVENT_RING_HEADER_BYTES + header->ring_bytes;
    header->rings_max = wish->rings != 0 ? wish->rings : CREST_EVENT_RINGS_DEFAULT;
    header->phase = CREST_EVENT_LIVE;
    snprintf(header->name, sizeof header->name, "%s", event_file_own.place.name);
    crest_state_program(header->program, sizeof header->program);
}

/* A descriptor of a new, empty file where the options want it; -1. */
static int event_file_open(const crest_events_wish *wish, crest_error *error)
{
    crest_state_wish place = wish->place;
    place.option = "events";
    const crest_state_place *state = crest_state_place_own();
    char resolved[PATH_MAX];
    event_file_own.place = (crest_state_place){.lock = -1};
    event_file_own.path[0] = '\0';
    if (place.dir == NULL && state == NULL) {
        int made = crest_descriptor_high(memfd_create("crest-events", MFD_CLOEXEC));
        if (made < 0)
            crest_error_set(error, CREST_SYSTEM, "events=on: no memory file can be made: %s",
                            strerror(errno));
        return made;
    }
    if (state != NULL && (place.dir == NULL || (realpath(place.dir, resolved) != NULL &&
                                                strcmp(resolved, state->dir) == 0))) {
        event_file_own.place = *state;
        event_file_own.place.lock = -1;
        event_file_own.place.option = "events";
    } else if (crest_state_place_take(&place, &event_file_own.place, error) != CREST_OK) {
        return -1;
    }
    int made = crest_state_place_make_other(&event_file_own.place, CREST_EVENT_SUFFIX, error);
    char name[CREST_STATE_NAME_BYTES + sizeof CREST_EVENT_SUFFIX];
    snprintf(name, sizeof name, "%s" CREST_EVENT_SUFFIX, event_file_own.place.name);
    crest_state_place_path(&event_file_own.place, name, event_file_own.path,
                           sizeof event_file_own.path);
    if (made < 0)
        crest_state_place_drop(&event_file_own.place);
    return made;
}

static crest_status event_file_make(const crest_events_wish *wish, crest_error *error)
{
    crest_event_file_header head = {.version = 0};
    int descriptor = event_file_open(wish, error);
    if (descriptor < 0)
        return CREST_SYSTEM;
    event_file_fill(&head, wish);
    uint64_t fixed = head.rings_offset, bytes = fixed + head.rings_max * head.ring_stride;
    int failed = ftruncate(descriptor, (off_t)bytes) != 0 ? errno : 0;
    if (failed == 0)
        failed = posix_fallocate(descriptor, 0, (off_t)fixed);
    if (failed == 0 && pwrite(descriptor, &head, sizeof head, 0) != (ssize_t)sizeof head)
        failed = errno;
    if (failed == 0 && !crest_event_rings_map(descriptor, bytes))
        failed = ENOMEM;
    if (failed != 0) {
        close(descriptor);
        crest_state_place_drop(&event_file_own.place);
        return crest_error_set(
            error, CREST_SYSTEM, "events: there is no room for %s, of %llu bytes at most: %s",
            event_file_own.path[0] != '\0' ? event_file_own.path : "a file in memory",
            (unsigned long long)bytes, strerror(failed));
    }
    event_file_own.descriptor = descriptor;
    event_file_own.header = crest_event_mapping_now()->header;
    crest_event_directory_of(event_file_own.header);
    crest_event_list_each(event_file_describe, NULL);
    return CREST_OK;
}

crest_status crest_events_begin(const crest_events_wish *wish, crest_error *error)
{
    CREST_UNCANCELLED;
    crest_status status = CREST_OK;
    crest_event_list_lock();
    if (crest_events_running())
        status = crest_error_set(error, CREST_ALREADY, "events are written already");
    else if (event_file_own.header == NULL)
        status = event_file_make(wish, error);
    if (status == CREST_OK) {
        crest_events_running_set(1);
        crest_atomic_store(&event_file_own.header->farewell_wall_ns, 0);
        crest_atomic_store32(&event_file_own.header->phase, CREST_EVENT_LIVE);
        crest_event_words_again();
    }
    crest_event_list_unlock();
    return status;
}

static void event_file_beat(crest_event_file_header *header)
{
    crest_atomic_store(&header->beat_ns, crest_now());
    crest_atomic_store(&header->beat_wall_ns, crest_clock_wall_ns());
}

void crest_events_beat(void)
{
    CREST_UNCANCELLED;
    crest_event_list_lock();
    if (event_file_own.header != NULL && crest_events_running())
        event_file_beat(event_file_own.header);
    crest_event_list_unlock();
}

void crest_events_end(void)
{
    CREST_UNCANCELLED;
    crest_event_list_lock();
    if (event_file_own.header != NULL && crest_events_running()) {
        crest_events_running_set(0);
        crest_event_words_again();
        event_file_beat(event_file_own.header);
        crest_atomic_store(&event_file_own.header->farewell_wall_ns, crest_clock_wall_ns());
        crest_atomic_store32_release(&event_file_own.header->phase, CREST_EVENT_FAREWELL);
    }
    crest_event_list_unlock();
}

/* ---- totals ---- */

void crest_event_totals_read(crest_event_totals *totals)
{
    const crest_event_mapping *mapping = crest_event_mapping_now();
    *totals = (crest_event_totals){.declared = crest_event_count_known()};
    if (mapping == NULL)
        return;
    const crest_event_file_header *header = mapping->header;
    totals->rings = crest_atomic_load_acquire(&header->rings_given);
    totals->rings_refused = crest_atomic_load(&header->rings_refused);
    totals->refused = crest_atomic_load(&header->refused);
    totals->refused_bytes = crest_atomic_load(&header->refused_bytes);
    for (uint64_t i = 0; i < totals->rings; i++) {
        const crest_event_ring *ring = crest_event_ring_of(mapping, i);
        totals->written += crest_atomic_load(&ring->head.events);
        totals->written_bytes += crest_atomic_load(&ring->head.position);
        totals->refused += crest_atomic_load(&ring->refused);
        totals->refused_bytes += crest_atomic_load(&ring->refused_bytes);
    }
}
