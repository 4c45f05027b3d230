/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading a file of events. See event_source.h.
 */
#define _GNU_SOURCE
#include "events/event_source.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/utf8.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* U+FFFD for each byte makes a text three times as long. */
#define SOURCE_GROWTH 3u
#define SOURCE_RECORD_BYTES_MAX 4096u

/* All of the bytes; 0 when there are not so many. */
static int source_pread(int file, void *into, uint64_t bytes, uint64_t offset)
{
    char *at = into;
    while (bytes > 0) {
        ssize_t read = pread(file, at, bytes, (off_t)offset);
        if (read < 0 && errno == EINTR)
            continue;
        if (read <= 0)
            return 0;
        at += read;
        offset += (uint64_t)read;
        bytes -= (uint64_t)read;
    }
    return 1;
}

static void source_end_texts(crest_event_file_header *header)
{
    header->boot_id[sizeof header->boot_id - 1] = '\0';
    header->name[sizeof header->name - 1] = '\0';
    header->program[sizeof header->program - 1] = '\0';
    header->name[crest_utf8_valid_length(header->name, strlen(header->name))] = '\0';
    header->program[crest_utf8_valid_length(header->program, strlen(header->program))] = '\0';
}

static int source_bounds(const crest_event_file_header *header)
{
    uint64_t size = header->ring_bytes;
    return header->file_id != 0 && header->directory_bytes <= CREST_EVENT_DIRECTORY_BYTES &&
           header->rings_offset == CREST_EVENT_PAGE + header->directory_bytes &&
           size >= CREST_EVENT_RING_BYTES_MIN && size <= CREST_EVENT_RING_BYTES_MAX &&
           (size & (size - 1)) == 0 &&
           header->ring_stride == CREST_EVENT_RING_HEADER_BYTES + size &&
           header->rings_max <= CREST_EVENT_RINGS_MAX;
}

static crest_status source_check(const crest_event_file_header *header, crest_error *error)
{
    if (memcmp(header->magic, CREST_EVENT_MAGIC, sizeof header->magic) != 0)
        return crest_error_set(error, CREST_IO, "it is no file of events");
    if (header->byte_order != CREST_EVENT_BYTE_ORDER)
        return crest_error_set(error, CREST_IO,
                               "it is the file of a machine with another byte order");
    if (header->version != CREST_EVENT_VERSION)
        return crest_error_set(error, CREST_IO,
                               "it is a file of events of format %u, and this library reads "
                               "format %u",
                               header->version, CREST_EVENT_VERSION);
    if (!source_bounds(header))
        return crest_error_set(error, CREST_IO, "its header is damaged");
    return CREST_OK;
}

crest_status crest_event_source_open(int file, crest_event_source *source, crest_error *error)
{
    struct stat found;
    crest_status status = CREST_OK;
    *source = (crest_event_source){.file = file};
    if (fstat(file, &found) != 0)
        status = crest_error_set(error, CREST_IO, "it cannot be looked at: %s", strerror(errno));
    else if (!S_ISREG(found.st_mode))
        status = crest_error_set(error, CREST_IO, "it is no file");
    else if (!source_pread(file, &source->header, sizeof source->header, 0))
        status = crest_error_set(error, CREST_IO, "it is no file of events, or was cut: %llu bytes",
                                 (unsigned long long)found.st_size);
    else
        status = source_check(&source->header, error);
    if (status != CREST_OK) {
        close(file);
        source->file = -1;
        return status;
    }
    source_end_texts(&source->header);
    return CREST_OK;
}

void crest_event_source_close(crest_event_source *source)
{
    if (source->file >= 0)
        close(source->file);
    for (size_t i = 0; i < source->entry_count; i++)
        crest_alloc_free(source->entries[i]);
    crest_alloc_free(source->entries);
    *source = (crest_event_source){.file = -1};
}

int crest_event_source_look(crest_event_source *source)
{
    crest_event_file_header now;
    if (!source_pread(source->file, &now, sizeof now, 0) || now.file_id != source->header.file_id ||
        !source_bounds(&now) || now.ring_bytes != source->header.ring_bytes)
        return 0;
    source->header = now;
    source_end_texts(&source->header);
    return 1;
}

uint64_t crest_event_source_rings(const crest_event_source *source)
{
    uint64_t given = source->header.rings_given;
    return given < source->header.rings_max ? given : source->header.rings_max;
}

/* ---- the directory ---- */

/* Copies the text at *at, which ends before `end`, as valid UTF-8; NULL when it does not end. */
static const char *source_text(const char **at, const char *end, char **into)
{
    const char *nul = memchr(*at, '\0', (size_t)(end - *at));
    if (nul == NULL)
        return NULL;
    const char *text = *into;
    size_t length = crest_utf8_copy(*at, *into, SOURCE_GROWTH * (size_t)(nul - *at) + 1, NULL);
    *into += length + 1;
    *at = nul + 1;
    return text;
}

static int source_field(const crest_event_record *record, unsigned i, crest_event_field *field)
{
    field->type = record->field[i].type;
    field->bound = record->field[i].bound;
    return field->type > CREST_EVENT_NONE && field->type < CREST_EVENT_TYPE_COUNT &&
           field->bound <= CREST_EVENT_BOUND_MAX;
}

/* An entry of the record; NULL when that is none, or without memory. */
static crest_event_entry *source_entry(const crest_event_record *record)
{
    const char *at = (const char *)(record + 1), *end = (const char *)record + record->bytes;
    if (record->severity >= CREST_SEVERITY_COUNT || record->detail >= CREST_DETAIL_COUNT ||
        record->privacy > CREST_CONFIDENTIAL || record->field_count > CREST_EVENT_FIELDS_MAX)
        return NULL;
    crest_event_entry *entry =
        crest_alloc(1, sizeof *entry + SOURCE_GROWTH * (size_t)(end - at) + 32);
    if (entry == NULL)
        return NULL;
    char *into = entry->text;
    entry->info = (crest_event_info){.number = record->number,
                                     .severity = (crest_severity)record->severity,
                                     .detail = (crest_detail)record->detail,
                                     .privacy = (crest_privacy)record->privacy,
                                     .field_count = record->field_count,
                                     .fields = entry->fields};
    entry->info.name = source_text(&at, end, &into);
    entry->info.doc = entry->info.name != NULL ? source_text(&at, end, &into) : NULL;
    int whole = entry->info.doc != NULL;
    for (unsigned i = 0; whole && i < record->field_count; i++) {
        whole = source_field(record, i, &entry->fields[i]);
        entry->fields[i].name = whole ? source_text(&at, end, &into) : NULL;
        whole = entry->fields[i].name != NULL;
    }
    if (whole)
        return entry;
    crest_alloc_free(entry);
    return NULL;
}

/* Room for an event's number; 0 without memory. */
static int source_room(crest_event_source *source, size_t number)
{
    if (number > source->entry_room) {
        size_t room = source->entry_room != 0 ? 2 * source->entry_room : 64;
        while (room < number)
            room *= 2;
        crest_event_entry **entries = crest_alloc(room, sizeof(crest_event_entry *));
        if (entries == NULL)
            return 0;
        if (source->entry_count != 0)
            memcpy(entries, source->entries, source->entry_count * sizeof *entries);
        crest_alloc_free(source->entries);
        source->entries = entries;
        source->entry_room = room;
    }
    while (source->entry_count < number)
        source->entries[source->entry_count++] = NULL;
    return 1;
}

static void source_enter(crest_event_source *source, const crest_event_record *record)
{
    size_t words = record->bytes / 8;
    if (record->check != crest_event_check((const uint64_t *)(const void *)record + 2, words - 2) ||
        record->number == 0 || record->number > CREST_EVENTS_MAX ||
        !source_room(source, record->number) || source->entries[record->number - 1] != NULL)
        return;
    source->entries[record->number - 1] = source_entry(record);
    source->known += source->entries[record->number - 1] != NULL;
}

void crest_event_source_learn(crest_event_source *source)
{
    uint64_t used = source->header.directory_used;
    if (used > source->header.directory_bytes)
        used = source->header.directory_bytes;
    union {
        crest_event_record record;
        uint64_t words[SOURCE_RECORD_BYTES_MAX / 8];
    } piece;
    while (source->directory_read + sizeof piece.record <= used) {
        uint64_t offset = CREST_EVENT_PAGE + source->directory_read;
        if (!source_pread(source->file, &piece, sizeof piece.record, offset))
            return;
        uint64_t bytes = piece.record.bytes;
        if (bytes < sizeof piece.record || bytes % 8 != 0 ||
            bytes > used - source->directory_read) {
            source->directory_read = used; /* no further record can be found */
            return;
        }
        if (bytes <= sizeof piece && source_pread(source->file, &piece, bytes, offset)) {
            piece.record.bytes = (uint32_t)bytes;
            source_enter(source, &piece.record);
        }
        source->directory_read += bytes;
    }
}

const crest_event_entry *crest_event_source_entry(const crest_event_source *source, uint64_t number)
{
    return number - 1 < source->entry_count ? source->entries[number - 1] : NULL;
}

/* ---- rings ---- */

static uint64_t source_ring_offset(const crest_event_source *source, uint64_t ring)
{
    return source->header.rings_offset + ring * source->header.ring_stride;
}

int crest_event_source_ring(const crest_event_source *source, uint64_t ring,
                            crest_event_ring *header)
{
    return source_pread(source->file, header, sizeof *header, source_ring_offset(source, ring));
}

int crest_event_source_read(const crest_event_source *source, uint64_t ring, uint64_t position,
                            char *into, uint64_t bytes)
{
    uint64_t size = source->header.ring_bytes, at = position & (size - 1);
    uint64_t events = source_ring_offset(source, ring) + CREST_EVENT_RING_HEADER_BYTES;
    uint64_t first = bytes < size - at ? bytes : size - at;
    return source_pread(source->file, into, first, events + at) &&
           source_pread(source->file, into + first, bytes - first, events);
}
