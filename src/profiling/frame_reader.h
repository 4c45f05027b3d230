/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads numbers of DWARF one after the other, within bounds. A read past the end, or of memory that
 * is not there, gives 0 and sets `failed`, which the caller looks at in the end.
 */
#ifndef CREST_PROFILING_FRAME_READER_H
#define CREST_PROFILING_FRAME_READER_H

#include "profiling/checked_memory.h"

/* DWARF's numbers of registers. */
enum {
    CREST_REGISTER_RBX = 3,
    CREST_REGISTER_RBP = 6,
    CREST_REGISTER_RSP = 7,
    CREST_REGISTER_R12 = 12,
    CREST_REGISTER_RIP = 16,
    CREST_REGISTER_COUNT = 17
};

typedef struct crest_frame_reader {
    crest_checked_memory *memory;
    uint64_t at, end;
    int failed;
} crest_frame_reader;

static inline uint64_t crest_frame_number(crest_frame_reader *reader, unsigned bytes)
{
    uint64_t value = 0;
    if (reader->failed || reader->at > reader->end || reader->end - reader->at < bytes ||
        !crest_checked_number(reader->memory, reader->at, bytes, &value)) {
        reader->failed = 1;
        return 0;
    }
    reader->at += bytes;
    return value;
}

/* Numbers of any length, seven bits a byte. */
static inline uint64_t crest_frame_uleb(crest_frame_reader *reader)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        uint64_t byte = crest_frame_number(reader, 1);
        value |= (byte & 0x7f) << shift;
        if ((byte & 0x80) == 0)
            return value;
    }
    reader->failed = 1;
    return 0;
}

static inline int64_t crest_frame_sleb(crest_frame_reader *reader)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        uint64_t byte = crest_frame_number(reader, 1);
        value |= (byte & 0x7f) << shift;
        if ((byte & 0x80) != 0)
            continue;
        if ((byte & 0x40) != 0 && shift + 7 < 64)
            value |= ~UINT64_C(0) << (shift + 7);
        return (int64_t)value;
    }
    reader->failed = 1;
    return 0;
}

/* A pointer under an encoding DW_EH_PE_…: absolute or relative to itself. Others fail. */
static inline uint64_t crest_frame_pointer(crest_frame_reader *reader, unsigned encoding)
{
    uint64_t from = reader->at, value = 0;
    switch (encoding & 0x0f) {
    case 0x00: /* absptr */
    case 0x04: /* udata8 */
    case 0x0c: value = crest_frame_number(reader, 8); break;
    case 0x02: value = crest_frame_number(reader, 2); break;
    case 0x03: value = crest_frame_number(reader, 4); break;
    case 0x0a: value = (uint64_t)(int64_t)(int16_t)crest_frame_number(reader, 2); break;
    case 0x0b: value = (uint64_t)(int64_t)(int32_t)crest_frame_number(reader, 4); break;
    default: reader->failed = 1; break;
    }
    if ((encoding & 0x70) == 0x10)
        value += from;
    else if ((encoding & 0x70) != 0)
        reader->failed = 1;
    return value;
}

static inline void crest_frame_skip(crest_frame_reader *reader, uint64_t bytes)
{
    if (reader->failed || reader->at > reader->end || reader->end - reader->at < bytes)
        reader->failed = 1;
    else
        reader->at += bytes;
}

#endif
