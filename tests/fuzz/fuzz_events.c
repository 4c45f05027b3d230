/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of events from any bytes: a reader says events, or none, and ends; read + lost is what the
 * file says was written. The header is made right, and checks of the directory's records are, so
 * that more than the header is looked at. The first byte says how much of the input is directory;
 * the rest is a ring's header and its events.
 */
#include "events/event_format.h"
#include "fuzz_input.h"

#include <crest/event_lines.h>
#include <crest/event_reader.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FUZZ_RING CREST_EVENT_RING_BYTES_MIN
/* Of a file of this size no reader has to tell more. */
#define FUZZ_EVENTS_MAX (2 * FUZZ_RING / 16)

/* Makes the checks of records right. */
static void fuzz_mend(unsigned char *bytes, size_t size)
{
    for (size_t at = 0; at + sizeof(crest_event_record) <= size;) {
        crest_event_record *record = (crest_event_record *)(void *)(bytes + at);
        if (record->bytes < sizeof *record || record->bytes % 8 != 0 || record->bytes > size - at)
            break;
        record->check =
            crest_event_check((const uint64_t *)(const void *)record + 2, record->bytes / 8 - 2);
        at += record->bytes;
    }
}

static void fuzz_file(const char *path, const uint8_t *data, size_t size)
{
    size_t directory = size > 0 ? (size_t)8 * data[0] : 0;
    data += size > 0;
    size -= size > 0;
    directory = directory < size ? directory : size & ~(size_t)7;
    size_t rings = CREST_EVENT_PAGE + directory;
    size_t bytes = rings + CREST_EVENT_RING_HEADER_BYTES + FUZZ_RING;
    unsigned char *file = calloc(1, bytes);
    FUZZ_WANTS(file != NULL);
    crest_event_file_header *header = (crest_event_file_header *)(void *)file;
    memcpy(header->magic, CREST_EVENT_MAGIC, sizeof header->magic);
    header->version = CREST_EVENT_VERSION;
    header->byte_order = CREST_EVENT_BYTE_ORDER;
    header->file_id = 1;
    header->directory_bytes = header->directory_used = directory;
    header->rings_offset = rings;
    header->ring_bytes = FUZZ_RING;
    header->ring_stride = CREST_EVENT_RING_HEADER_BYTES + FUZZ_RING;
    header->rings_max = header->rings_given = 1;
    header->phase = CREST_EVENT_LIVE;
    memcpy(file + CREST_EVENT_PAGE, data, directory);
    fuzz_mend(file + CREST_EVENT_PAGE, directory);
    /* the ring: a head, and the rest of the input as events; the last words are its marks */
    crest_event_ring *ring = (crest_event_ring *)(void *)(file + rings);
    size_t left = size - directory;
    uint64_t head[3] = {0};
    memcpy(head, data + directory, left < sizeof head ? left : sizeof head);
    size_t used = left < sizeof head ? left : sizeof head;
    ring->head.position = head[0] & ~UINT64_C(7);
    ring->head.events = head[1];
    ring->head.sum = ring->head.position ^ ring->head.events;
    ring->reserved = head[2] != 0 ? head[2] : ring->head.position;
    left -= used;
    memcpy(ring->mark, data + directory + used,
           left < sizeof ring->mark ? left : sizeof ring->mark);
    memcpy((unsigned char *)ring + CREST_EVENT_RING_HEADER_BYTES, data + directory + used,
           left < FUZZ_RING ? left : FUZZ_RING);
    FILE *made = fopen(path, "w");
    FUZZ_WANTS(made != NULL && fwrite(file, 1, bytes, made) == bytes && fclose(made) == 0);
    free(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64], line[4096];
    crest_error error = {0};
    crest_event_reader *reader;
    crest_event_view event;
    crest_event_reader_totals totals;
    snprintf(path, sizeof path, "/dev/shm/crest-fuzz-events-%d", (int)getpid());
    fuzz_file(path, data, size);
    crest_status status = crest_event_reader_open(path, &reader, &error);
    unlink(path);
    FUZZ_WANTS((status == CREST_OK) == (error.message[0] == '\0'));
    if (reader == NULL)
        return 0;
    size_t told = 0;
    while (crest_event_reader_next(reader, &event)) {
        FUZZ_WANTS(event.value_count == event.info->field_count);
        FUZZ_WANTS(crest_event_line_text(&event, line, sizeof line) == strlen(line));
        FUZZ_WANTS(++told <= FUZZ_EVENTS_MAX);
    }
    crest_event_reader_totals_read(reader, &totals);
    FUZZ_WANTS(totals.read_bytes + totals.lost_bytes <= totals.written_bytes);
    crest_event_reader_free(reader);
    return 0;
}
