/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading a state file. See state_view.h.
 */
#define _GNU_SOURCE
#include "state/state_view.h"
#include "base/alloc.h"
#include "base/error.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Bytes of each type of record before what lies behind it. */
static const size_t view_struct_bytes[] = {
    [CREST_STATE_FREE] = sizeof(crest_state_record),
    [CREST_STATE_METRIC] = sizeof(crest_state_metric),
    [CREST_STATE_SERIES] = sizeof(crest_state_series),
    [CREST_STATE_THREAD] = sizeof(crest_state_thread),
    [CREST_STATE_SHARED_CHUNK] = sizeof(crest_state_shared_chunk),
    [CREST_STATE_KEYED] = sizeof(crest_state_keyed),
    [CREST_STATE_IN_FLIGHT] = sizeof(crest_state_in_flight),
    [CREST_STATE_SPAN] = sizeof(crest_state_span),
};
#define VIEW_TYPES (sizeof view_struct_bytes / sizeof *view_struct_bytes)

/* ---- reading ---- */

static crest_status view_slurp(int descriptor, char *memory, uint64_t bytes, crest_error *error)
{
    for (uint64_t at = 0; at < bytes;) {
        ssize_t read = pread(descriptor, memory + at, bytes - at, (off_t)at);
        if (read < 0 && errno == EINTR)
            continue;
        if (read < 0)
            return crest_error_set(error, CREST_IO, "the state file cannot be read: %s",
                                   strerror(errno));
        if (read == 0)
            return crest_error_set(error, CREST_IO,
                                   "the state file became shorter while it was read");
        at += (uint64_t)read;
    }
    return CREST_OK;
}

/* Texts of the header end, whatever the file says. */
static void view_end_texts(crest_state_header *header)
{
    header->boot_id[sizeof header->boot_id - 1] = '\0';
    header->name[sizeof header->name - 1] = '\0';
    header->program[sizeof header->program - 1] = '\0';
    header->service[sizeof header->service - 1] = '\0';
    header->instance[sizeof header->instance - 1] = '\0';
    header->service_version[sizeof header->service_version - 1] = '\0';
    header->library[sizeof header->library - 1] = '\0';
}

static crest_status view_check(const crest_state_header *header, uint64_t bytes, crest_error *error)
{
    if (bytes < CREST_STATE_HEADER_BYTES ||
        memcmp(header->magic, CREST_STATE_MAGIC, sizeof header->magic) != 0)
        return crest_error_set(error, CREST_IO, "it is no state file");
    if (header->byte_order != CREST_STATE_BYTE_ORDER)
        return crest_error_set(error, CREST_IO,
                               "it is the state file of a machine with another byte order");
    if (header->version != CREST_STATE_VERSION)
        return crest_error_set(error, CREST_IO,
                               "it is a state file of format %u, and this library reads format %u",
                               header->version, CREST_STATE_VERSION);
    if (header->layout != CREST_STATE_LAYOUT)
        return crest_error_set(error, CREST_IO,
                               "it is the state file of a library with another layout of cells");
    if (header->extents > CREST_STATE_EXTENTS_MAX || header->file_id == 0)
        return crest_error_set(error, CREST_IO, "its header is damaged");
    return CREST_OK;
}

/* Extents that lead out of the file have no bytes for readers; counts them. */
static void view_clip_extents(crest_state_view *view)
{
    crest_state_extent *extents = (crest_state_extent *)(uintptr_t)view->extents;
    for (uint32_t i = 0; i < view->extent_count; i++) {
        crest_state_extent *extent = &extents[i];
        int inside = extent->offset >= CREST_STATE_HEADER_BYTES &&
                     extent->offset % CREST_STATE_PAGE == 0 && extent->offset <= view->bytes &&
                     extent->bytes <= view->bytes - extent->offset &&
                     extent->address <= UINT64_MAX - extent->bytes;
        view->lost += !inside;
        if (!inside)
            extent->bytes = 0;
        if (extent->used > extent->bytes)
            extent->used = extent->bytes;
    }
}

crest_status crest_state_view_read(int descriptor, crest_state_view **made, crest_error *error)
{
    struct stat found;
    *made = NULL;
    if (fstat(descriptor, &found) != 0)
        return crest_error_set(error, CREST_IO, "the state file cannot be looked at: %s",
                               strerror(errno));
    if (!S_ISREG(found.st_mode))
        return crest_error_set(error, CREST_IO, "it is no file");
    uint64_t bytes = (uint64_t)found.st_size;
    if (bytes > CREST_STATE_VIEW_MAX)
        return crest_error_set(error, CREST_IO, "it is larger than any state file");
    if (bytes < CREST_STATE_HEADER_BYTES)
        return crest_error_set(error, CREST_IO, "it is no state file, or was cut: %llu bytes",
                               (unsigned long long)bytes);
    crest_state_view *view = crest_alloc(1, sizeof *view);
    /* a page more, so that blocks of cells lie on cache lines as they did in the process */
    char *memory = crest_alloc(1, (size_t)bytes + CREST_STATE_PAGE), *start = memory;
    start += CREST_STATE_PAGE - (uintptr_t)memory % CREST_STATE_PAGE;
    crest_status status = CREST_OK;
    if (view == NULL || memory == NULL)
        status = crest_error_set(error, CREST_NO_MEMORY, "no memory to read the state file");
    if (status == CREST_OK)
        status = view_slurp(descriptor, start, bytes, error);
    if (status == CREST_OK)
        status = view_check((const crest_state_header *)(void *)start, bytes, error);
    if (status != CREST_OK) {
        crest_alloc_free(memory);
        crest_alloc_free(view);
        return status;
    }
    view_end_texts((crest_state_header *)(void *)start);
    *view = (crest_state_view){.header = (const crest_state_header *)(void *)start,
                               .extents =
                                   (const crest_state_extent *)(void *)(start + CREST_STATE_PAGE),
                               .bytes = bytes,
                               .start = start,
                               .memory = memory};
    view->extent_count = view->header->extents;
    view_clip_extents(view);
    if (fstat(descriptor, &found) == 0 && (uint64_t)found.st_size > bytes)
        view->lost = 0; /* its process gave it more room meanwhile */
    *made = view;
    return CREST_OK;
}

void crest_state_view_free(crest_state_view *view)
{
    if (view == NULL)
        return;
    crest_alloc_free(view->memory);
    crest_alloc_free(view);
}

/* ---- addresses ---- */

static int view_has(const crest_state_extent *extent, uint64_t address, uint64_t bytes)
{
    return extent->kind == CREST_STATE_CELLS && address >= extent->address &&
           address - extent->address < extent->bytes &&
           bytes <= extent->bytes - (address - extent->address);
}

const void *crest_state_at(crest_state_view *view, uint64_t address, uint64_t bytes)
{
    for (uint32_t i = 0; i < view->extent_count; i++) {
        uint32_t at = (view->last + i) % view->extent_count;
        const crest_state_extent *extent = &view->extents[at];
        if (!view_has(extent, address, bytes))
            continue;
        view->last = at;
        return view->start + extent->offset + (address - extent->address);
    }
    return NULL;
}

uint64_t crest_state_word(crest_state_view *view, uint64_t address)
{
    uint64_t value = 0;
    const void *at = crest_state_at(view, address, sizeof value);
    if (at != NULL)
        memcpy(&value, at, sizeof value);
    return value;
}

/* ---- records ---- */

static int view_is_whole(const crest_state_record *record)
{
    return record->type < VIEW_TYPES && record->bytes >= view_struct_bytes[record->type] &&
           crest_state_check(record->type, record + 1, record->bytes - sizeof *record) ==
               record->check;
}

const crest_state_record *crest_state_next(const crest_state_view *view, crest_state_cursor *cursor)
{
    uint32_t kind = cursor->spans ? CREST_STATE_SPANS : CREST_STATE_DIRECTORY;
    for (; cursor->extent < view->extent_count; cursor->extent++, cursor->at = 0) {
        const crest_state_extent *extent = &view->extents[cursor->extent];
        while (extent->kind == kind && cursor->at + sizeof(crest_state_record) <= extent->used) {
            const crest_state_record *record =
                (const crest_state_record *)(const void *)(view->start + extent->offset +
                                                           cursor->at);
            if (record->bytes < sizeof *record || record->bytes % sizeof(uint64_t) != 0 ||
                record->bytes > extent->used - cursor->at) {
                cursor->damaged++;
                break;
            }
            cursor->at += record->bytes;
            if (record->type == CREST_STATE_FREE)
                continue;
            if (view_is_whole(record))
                return record;
            cursor->damaged++;
        }
    }
    return NULL;
}

int crest_state_texts(const crest_state_record *record, size_t skip, const char **texts,
                      size_t count)
{
    size_t before = view_struct_bytes[record->type];
    if (skip > record->bytes - before)
        return 0;
    const char *at = (const char *)record + before + skip,
               *end = (const char *)record + record->bytes;
    for (size_t i = 0; i < count; i++) {
        const char *stop = memchr(at, '\0', (size_t)(end - at));
        if (stop == NULL)
            return 0;
        texts[i] = at;
        at = stop + 1;
    }
    return 1;
}
