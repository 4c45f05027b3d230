/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which thread has which ring. See event_rings.h.
 */
#define _GNU_SOURCE
#include "events/event_rings.h"
#include "base/arena.h"
#include "base/forked.h"
#include "base/lock.h"
#include "cells/cells.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A thread's word: bit 31, the table has another owner; 16 bits of epoch; 15 of the ring's number,
 * from 1, or CLAIM_NONE. */
#define CLAIM_NUMBER 0x7fffu
#define CLAIM_NONE CLAIM_NUMBER
#define CLAIM_EPOCH(epoch) ((uint32_t)((epoch)&0xffffu) << 15)
_Static_assert(CREST_EVENT_RINGS_MAX < CLAIM_NONE, "a ring's number has no room");

static void *claim_place;    /* crest_event_mapping *; NULL before the first one */
static uint64_t claim_epoch; /* of the last mapping, this process's or its parent's */

static uint64_t claim_begin_position, claim_begin_events;

/* In a child the mapping's words are zero already, so only the pages are left to be given back. */
static void *claim_mapped_at;
static uint64_t claim_mapped_bytes;
static struct stat claim_file;
static int claim_descriptor = -1;

/* A host may have closed the descriptor, and have another file by that number. */
static void claim_forked(void)
{
    struct stat found;
    if (claim_mapped_at == NULL)
        return;
    munmap(claim_mapped_at, claim_mapped_bytes);
    claim_mapped_at = NULL;
    if (fstat(claim_descriptor, &found) == 0 && found.st_dev == claim_file.st_dev &&
        found.st_ino == claim_file.st_ino)
        close(claim_descriptor);
}
CREST_FORKED(EVENTS, claim_forked)

crest_event_mapping *crest_event_mapping_now(void)
{
    /* acquire: partner of the release store in claim_room; of those in crest_event_rings_map */
    crest_event_mapping *mapping = crest_atomic_load_ptr_acquire(&claim_place);
    return CREST_LIKELY(mapping != NULL) &&
                   crest_atomic_load_ptr_acquire(CREST_PTR(&mapping->header)) != NULL
               ? mapping
               : NULL;
}

static crest_event_mapping *claim_room(void)
{
    crest_lock_saved saved;
    crest_lock_take(&saved);
    crest_event_mapping *mapping = claim_place;
    if (mapping == NULL) {
        mapping = crest_arena_take(CREST_ARENA_WIPED, sizeof *mapping, CREST_LINE_BYTES);
        /* partner: the acquire load in crest_event_mapping_now */
        crest_atomic_store_ptr_release(&claim_place, mapping);
    }
    crest_lock_drop(&saved);
    return mapping;
}

int crest_event_rings_map(int file, uint64_t bytes)
{
    crest_event_mapping *mapping = claim_room();
    if (mapping == NULL || fstat(file, &claim_file) != 0)
        return 0;
    char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED)
        return 0;
    crest_event_file_header *header = (crest_event_file_header *)(void *)memory;
    claim_mapped_at = memory;
    claim_mapped_bytes = bytes;
    claim_descriptor = file;
    mapping->offset = header->rings_offset;
    mapping->stride = header->ring_stride;
    mapping->size = header->ring_bytes;
    mapping->epoch = ++claim_epoch;
    mapping->file = file;
    /* partner: the acquire load in crest_event_mapping_now */
    crest_atomic_store_ptr_release(CREST_PTR(&mapping->header), header);
    return 1;
}

crest_event_ring *crest_event_ring_of(const crest_event_mapping *mapping, uint64_t number)
{
    return (crest_event_ring *)(void *)((char *)mapping->header + mapping->offset +
                                        number * mapping->stride);
}

/* ---- claiming ---- */

/* Under the lock: pages for one more ring; its number from 1, or CLAIM_NONE. */
static uint32_t claim_give(crest_event_mapping *mapping)
{
    crest_event_file_header *header = mapping->header;
    uint64_t given = crest_atomic_load(&header->rings_given);
    /* the call itself, for the C library's is no call for handlers */
    if (given < header->rings_max &&
        syscall(SYS_fallocate, mapping->file, 0, (off_t)(mapping->offset + given * mapping->stride),
                (off_t)mapping->stride) == 0) {
        crest_event_ring *ring = crest_event_ring_of(mapping, given);
        ring->reserved = ring->head.position = claim_begin_position;
        ring->made = ring->head.events = claim_begin_events;
        ring->head.sum = claim_begin_position ^ claim_begin_events;
        /* partner: readers, in other processes */
        crest_atomic_store_release(&header->rings_given, given + 1);
        return (uint32_t)given + 1;
    }
    crest_atomic_add(&header->rings_refused, 1);
    return CLAIM_NONE;
}

/* Notes that the ring is this thread's from now on. */
static void claim_sign(crest_event_ring *ring)
{
    uint64_t count = crest_atomic_load(&ring->owners);
    crest_event_owner *owner = &ring->owner[count % CREST_EVENT_OWNERS];
    char name[16] = "";
    uint64_t words[2];
    syscall(SYS_prctl, PR_GET_NAME, name);
    memcpy(words, name, sizeof words);
    uint64_t from = crest_atomic_load(&ring->reserved), thread = (uint64_t)syscall(SYS_gettid);
    crest_atomic_store(&owner->from, from);
    crest_atomic_store(&owner->thread, thread);
    crest_atomic_store(&owner->name[0], words[0]);
    crest_atomic_store(&owner->name[1], words[1]);
    crest_atomic_store(&owner->sum, from ^ thread ^ words[0] ^ words[1]);
    /* partner: readers, in other processes */
    crest_atomic_store_release(&ring->owners, count + 1);
}

/* Under the lock: gives this thread a ring, or notes that the one of its table is its now. */
static uint32_t claim_ring(crest_event_mapping *mapping)
{
    crest_thread_table *table = crest_cells_table_make();
    if (table == NULL || mapping->header == NULL)
        return 0;
    uint32_t epoch = CLAIM_EPOCH(mapping->epoch);
    uint32_t number = table->event_ring & CLAIM_NUMBER;
    if ((table->event_ring & ~(CLAIM_NUMBER | CREST_CELLS_PASSED)) != epoch || number == 0)
        number = claim_give(mapping);
    if (number != CLAIM_NONE)
        claim_sign(crest_event_ring_of(mapping, number - 1));
    crest_atomic_store32(&table->event_ring, epoch | number);
    return number;
}

static __attribute__((noinline, cold)) uint32_t claim_first(crest_event_mapping *mapping)
{
    crest_lock_saved saved;
    int error_number = errno;
    uint32_t number = 0;
    if (crest_lock_take_unless_forking(&saved)) {
        number = claim_ring(mapping);
        crest_lock_drop(&saved);
    }
    errno = error_number;
    return number;
}

crest_event_ring *crest_event_ring_own(uint64_t *size, const crest_thread_table **table)
{
    crest_event_mapping *mapping = crest_event_mapping_now();
    if (CREST_UNLIKELY(mapping == NULL))
        return NULL;
    const crest_thread_table *own = crest_cells_table();
    uint32_t number =
        own != NULL ? crest_atomic_load32(&own->event_ring) - CLAIM_EPOCH(mapping->epoch) : 0;
    if (CREST_UNLIKELY(number - 1 >= CLAIM_NONE)) {
        number = claim_first(mapping);
        own = crest_cells_table();
    }
    *table = own;
    *size = mapping->size;
    return CREST_LIKELY(number - 1 < CLAIM_NONE - 1) ? crest_event_ring_of(mapping, number - 1)
                                                     : NULL;
}

void crest_event_rings_begin_at(uint64_t position, uint64_t events)
{
    claim_begin_position = position;
    claim_begin_events = events;
}

void crest_event_ring_refused(uint64_t bytes)
{
    crest_event_mapping *mapping = crest_event_mapping_now();
    if (mapping == NULL)
        return;
    crest_atomic_add(&mapping->header->refused, 1);
    crest_atomic_add(&mapping->header->refused_bytes, bytes);
}
