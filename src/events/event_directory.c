/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing what events are into the file. See event_directory.h.
 */
#include "events/event_directory.h"
#include "base/atomic.h"

#include <string.h>

static crest_event_file_header *directory_header;
static uint32_t directory_running;

static size_t directory_text(char *memory, size_t at, const char *text)
{
    size_t bytes = strlen(text) + 1;
    if (memory != NULL)
        memcpy(memory + at, text, bytes);
    return at + bytes;
}

/* The record of an event; returns its bytes. `memory` NULL: only counts them. */
static size_t directory_record(uint32_t number, const crest_event_declaration *from, char *memory)
{
    size_t at = sizeof(crest_event_record);
    at = directory_text(memory, at, from->name);
    at = directory_text(memory, at, from->doc);
    for (unsigned i = 0; i < from->field_count; i++)
        at = directory_text(memory, at, from->fields[i].name);
    size_t bytes = (at + 7) / 8 * 8;
    if (memory == NULL)
        return bytes;
    memset(memory + at, 0, bytes - at);
    crest_event_record *record = (crest_event_record *)(void *)memory;
    memset(record, 0, sizeof *record);
    record->bytes = (uint32_t)bytes;
    record->number = number;
    record->severity = from->severity;
    record->detail = from->detail;
    record->privacy = from->privacy;
    record->field_count = from->field_count;
    for (unsigned i = 0; i < from->field_count; i++) {
        record->field[i].type = from->fields[i].type;
        record->field[i].bound =
            from->fields[i].bound != 0 || (from->fields[i].type != CREST_EVENT_TEXT &&
                                           from->fields[i].type != CREST_EVENT_BYTES)
                ? from->fields[i].bound
                : CREST_EVENT_BOUND_DEFAULT;
    }
    record->check = crest_event_check((const uint64_t *)(void *)memory + 2, bytes / 8 - 2);
    return bytes;
}

void crest_event_directory_of(crest_event_file_header *header)
{
    directory_header = header;
}

void crest_event_directory_add(uint32_t number, const crest_event_declaration *declaration)
{
    crest_event_file_header *header = directory_header;
    if (header == NULL)
        return;
    uint64_t used = crest_atomic_load(&header->directory_used);
    size_t bytes = directory_record(number, declaration, NULL);
    if (bytes > header->directory_bytes - used) {
        crest_atomic_add(&header->records_refused, 1);
        return;
    }
    directory_record(number, declaration, (char *)header + CREST_EVENT_PAGE + used);
    /* partner: readers, in other processes */
    crest_atomic_store_release(&header->directory_used, used + bytes);
}

void crest_events_running_set(int running)
{
    crest_atomic_store32(&directory_running, (uint32_t)running);
}

int crest_events_running(void)
{
    return crest_atomic_load32(&directory_running) != 0;
}
