/* SPDX-License-Identifier: Apache-2.0 */
/*
 * State files from any bytes: a sentence, or series, operations, spans and a page. The file's
 * layout hash is made right, and checks of records are, so that more than the header is looked at.
 */
#include "fuzz_input.h"
#include "state/state_format.h"

#include <crest/state.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int fuzz_write(void *context, const void *bytes, size_t length)
{
    (void)bytes;
    *(size_t *)context += length;
    return 0;
}

/* Makes the checks of records right in the bytes behind the header. */
static void fuzz_mend(unsigned char *bytes, size_t size)
{
    for (size_t at = CREST_STATE_HEADER_BYTES; at + sizeof(crest_state_record) <= size;) {
        crest_state_record *record = (crest_state_record *)(void *)(bytes + at);
        if (record->bytes < sizeof *record || record->bytes % 8 != 0 || record->bytes > size - at)
            break;
        record->check = crest_state_check(record->type, record + 1, record->bytes - sizeof *record);
        at += record->bytes;
    }
}

/* A file with one extent of records, which are the input. */
static void fuzz_file(const char *path, const uint8_t *data, size_t size)
{
    size_t bytes = CREST_STATE_HEADER_BYTES + 2 * CREST_STATE_PAGE + size;
    unsigned char *file = calloc(1, bytes);
    crest_state_header *header = (crest_state_header *)(void *)file;
    crest_state_extent *extents = (crest_state_extent *)(void *)(file + CREST_STATE_PAGE);
    memcpy(header->magic, CREST_STATE_MAGIC, sizeof header->magic);
    header->version = CREST_STATE_VERSION;
    header->byte_order = CREST_STATE_BYTE_ORDER;
    header->layout = CREST_STATE_LAYOUT;
    header->phase = CREST_STATE_LIVE;
    header->extents = 3;
    header->file_id = 1;
    uint64_t records = size & ~UINT64_C(7);
    extents[0] = (crest_state_extent){.offset = CREST_STATE_HEADER_BYTES,
                                      .bytes = records,
                                      .used = records,
                                      .kind = CREST_STATE_DIRECTORY};
    /* cells are the same bytes: addresses lead into records */
    extents[1] = (crest_state_extent){.address = 4096,
                                      .offset = CREST_STATE_HEADER_BYTES,
                                      .bytes = records,
                                      .kind = CREST_STATE_CELLS};
    extents[2] = extents[0];
    extents[2].kind = CREST_STATE_SPANS;
    memcpy(file + CREST_STATE_HEADER_BYTES, data, size);
    fuzz_mend(file, CREST_STATE_HEADER_BYTES + records);
    FILE *made = fopen(path, "w");
    FUZZ_WANTS(made != NULL && fwrite(file, 1, bytes, made) == bytes && fclose(made) == 0);
    free(file);
}

/* Reads what the span points to. */
static size_t fuzz_span(const crest_span *span)
{
    size_t bytes = strlen(span->name) + strlen(span->status_message);
    for (size_t i = 0; i < span->attribute_count; i++) {
        bytes += strlen(span->attributes[i].key);
        if (span->attributes[i].type == CREST_SPAN_TEXT)
            bytes += strlen(span->attributes[i].value.s);
    }
    for (size_t i = 0; i < span->event_count; i++)
        bytes += strlen(span->events[i].name);
    FUZZ_WANTS(span->kind < CREST_SPAN_KIND_COUNT && span->kept_why < CREST_SPAN_WHY_COUNT);
    return bytes;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    crest_error error = {0};
    crest_remains *remains;
    snprintf(path, sizeof path, "/dev/shm/crest-fuzz-%d", (int)getpid());
    fuzz_file(path, data, size);
    crest_status status = crest_remains_read(path, &remains, &error);
    unlink(path);
    FUZZ_WANTS((status == CREST_OK) == (error.message[0] == '\0'));
    if (remains == NULL)
        return 0;
    size_t written = 0;
    crest_series_view view;
    crest_remains_op op;
    crest_span span;
    char id[CREST_OP_TEXT_BYTES];
    for (size_t i = 0; crest_remains_series(remains, i, &view) == CREST_OK; i++)
        written += strlen(view.name);
    for (size_t i = 0; crest_remains_in_flight(remains, i, &op) == CREST_OK; i++)
        written += strlen(op.timer) + crest_op_format(&op.op, id, sizeof id);
    for (size_t i = 0; crest_remains_span(remains, i, &span) == CREST_OK; i++)
        written += fuzz_span(&span) + crest_op_format(&span.op, id, sizeof id);
    for (int format = 0; format <= CREST_FORMAT_PROMETHEUS_PROTOBUF; format++)
        (void)crest_remains_write(remains, (crest_format)format, fuzz_write, &written, &error);
    crest_remains_free(remains);
    return 0;
}
