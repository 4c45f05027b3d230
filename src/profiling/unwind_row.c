/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From an instruction to its row. See unwind_row.h.
 */
#include "profiling/unwind_row.h"
#include "profiling/frame_expression.h"

#include <stddef.h>

/* Operations interpreted for a row, and rows remembered within a function. */
#define ROW_OPERATIONS_MAX 2048u
#define ROW_REMEMBERED_MAX 8u
/* Entries of a search table: more than the largest programs have. */
#define ROW_TABLE_MAX (UINT64_C(1) << 26)

/* What is said of the return address. */
enum { ROW_RETURN_USUAL, ROW_RETURN_NONE, ROW_RETURN_ELSEWHERE };

typedef struct row_state {
    crest_unwind_row row;
    int return_address;
} row_state;

typedef struct row_program {
    crest_frame_reader reader; /* at the next operation; ends with the instructions */
    uint64_t code_align;
    int64_t data_align;
    unsigned encoding; /* of addresses */
    int has_data, is_signal;
    uint64_t pc; /* whose row is wanted */
    uint64_t at; /* the address that the operations have come to */
    row_state now, first;
    row_state remembered[ROW_REMEMBERED_MAX];
    unsigned remembered_count, operations;
    int broken;
} row_program;

/* An operand that counts in units of the data alignment; wraps, where a table is broken. */
static int64_t row_times(const row_program *program, uint64_t operand)
{
    return (int64_t)(operand * (uint64_t)program->data_align);
}

/* ---- rules ---- */

static int row_kept_index(uint64_t number)
{
    if (number == CREST_REGISTER_RBX)
        return 0;
    if (number == CREST_REGISTER_RBP)
        return 1;
    return number >= CREST_REGISTER_R12 && number < CREST_REGISTER_R12 + 4
               ? (int)(number - CREST_REGISTER_R12 + 2)
               : -1;
}

/* The register is saved at `bytes` from the CFA, or from the CFA's own register. */
static void row_saved(row_program *program, uint64_t number, int64_t bytes, int by_base)
{
    crest_unwind_row *row = &program->now.row;
    int index = row_kept_index(number);
    if (number == CREST_REGISTER_RIP)
        program->now.return_address =
            bytes == -8 && !by_base ? ROW_RETURN_USUAL : ROW_RETURN_ELSEWHERE;
    if (index < 0)
        return;
    int64_t words = bytes / 8;
    int good = bytes % 8 == 0 && words > INT16_MIN && words <= INT16_MAX && (by_base || words != 0);
    row->saved[index] = good ? (int16_t)words : CREST_UNWIND_LOST;
    row->by_base =
        (uint8_t)((row->by_base & ~(1u << index)) | (unsigned)(by_base && good) << index);
}

static void row_rule(row_program *program, uint64_t number, int16_t rule)
{
    int index = row_kept_index(number);
    if (number == CREST_REGISTER_RIP)
        program->now.return_address = ROW_RETURN_NONE;
    if (index < 0)
        return;
    program->now.row.saved[index] = rule;
    program->now.row.by_base &= (uint8_t) ~(1u << index);
}

/* As the function began. */
static void row_restore(row_program *program, uint64_t number)
{
    int index = row_kept_index(number);
    if (number == CREST_REGISTER_RIP)
        program->now.return_address = program->first.return_address;
    if (index < 0)
        return;
    program->now.row.saved[index] = program->first.row.saved[index];
    program->now.row.by_base = (uint8_t)((program->now.row.by_base & ~(1u << index)) |
                                         (program->first.row.by_base & (1u << index)));
}

static void row_cfa(row_program *program, uint64_t base, int64_t offset)
{
    crest_unwind_row *row = &program->now.row;
    if (base >= CREST_REGISTER_RIP || offset > INT32_MAX || offset < INT32_MIN) {
        program->broken = 1;
        return;
    }
    row->kind = CREST_UNWIND_CFA;
    row->base = (uint8_t)base;
    row->offset = (int32_t)offset;
}

static void row_cfa_expression(row_program *program)
{
    crest_unwind_row *row = &program->now.row;
    crest_frame_value value;
    if (!crest_frame_expression(&program->reader, program->pc, &value) ||
        value.base == CREST_FRAME_NO_REGISTER || value.second < INT16_MIN ||
        value.second > INT16_MAX) {
        row->kind = CREST_UNWIND_NONE; /* until another rule comes */
        return;
    }
    row_cfa(program, value.base, value.offset);
    if (value.deref)
        row->kind = CREST_UNWIND_DEREF;
    row->second = (int16_t)value.second;
}

/* The register lies at an address that an expression gives: from the CFA's own register, as in
 * functions that align their stack. */
static void row_saved_expression(row_program *program, uint64_t number)
{
    crest_frame_value value;
    if (crest_frame_expression(&program->reader, program->pc, &value) && !value.deref &&
        value.base == program->now.row.base)
        row_saved(program, number, value.offset, 1);
    else
        row_rule(program, number, CREST_UNWIND_LOST);
}

static void row_remember(row_program *program)
{
    if (program->remembered_count == ROW_REMEMBERED_MAX)
        program->broken = 1;
    else
        program->remembered[program->remembered_count++] = program->now;
}

static void row_recall(row_program *program)
{
    if (program->remembered_count == 0)
        program->broken = 1;
    else
        program->now = program->remembered[--program->remembered_count];
}

/* ---- operations ---- */

static void row_operation_cfa(row_program *program, unsigned operation)
{
    crest_frame_reader *reader = &program->reader;
    uint64_t number;
    switch (operation) {
    case 0x0c: /* def_cfa */
        number = crest_frame_uleb(reader);
        row_cfa(program, number, (int64_t)crest_frame_uleb(reader));
        break;
    case 0x0d: /* def_cfa_register */
        row_cfa(program, crest_frame_uleb(reader), program->now.row.offset);
        break;
    case 0x0e: /* def_cfa_offset */
        row_cfa(program, program->now.row.base, (int64_t)crest_frame_uleb(reader));
        break;
    case 0x0f: row_cfa_expression(program); break;
    case 0x12: /* def_cfa_sf */
        number = crest_frame_uleb(reader);
        row_cfa(program, number, row_times(program, (uint64_t)crest_frame_sleb(reader)));
        break;
    default: /* def_cfa_offset_sf */
        row_cfa(program, program->now.row.base,
                row_times(program, (uint64_t)crest_frame_sleb(reader)));
        break;
    }
}

static void row_operation_register(row_program *program, unsigned operation)
{
    crest_frame_reader *reader = &program->reader;
    uint64_t number = crest_frame_uleb(reader);
    switch (operation) {
    case 0x05: /* offset_extended */
        row_saved(program, number, row_times(program, crest_frame_uleb(reader)), 0);
        break;
    case 0x06: row_restore(program, number); break;
    case 0x07: row_rule(program, number, CREST_UNWIND_LOST); break;
    case 0x08: row_rule(program, number, CREST_UNWIND_SAME); break;
    case 0x10: row_saved_expression(program, number); break;
    case 0x11: /* offset_extended_sf */
        row_saved(program, number, row_times(program, (uint64_t)crest_frame_sleb(reader)), 0);
        break;
    case 0x16: /* val_expression */
        crest_frame_skip(reader, crest_frame_uleb(reader));
        row_rule(program, number, CREST_UNWIND_LOST);
        break;
    case 0x2f: /* GNU_negative_offset_extended */
        row_saved(program, number, (int64_t)(0 - crest_frame_uleb(reader)), 0);
        break;
    default: /* register, val_offset, val_offset_sf: in another register, or no address */
        (void)crest_frame_uleb(reader);
        row_rule(program, number, CREST_UNWIND_LOST);
        break;
    }
}

static void row_operation_low(row_program *program, unsigned operation)
{
    switch (operation) {
    case 0x00: break; /* nop */
    case 0x02: program->at += crest_frame_number(&program->reader, 1) * program->code_align; break;
    case 0x03: program->at += crest_frame_number(&program->reader, 2) * program->code_align; break;
    case 0x04: program->at += crest_frame_number(&program->reader, 4) * program->code_align; break;
    case 0x0a: row_remember(program); break;
    case 0x0b: row_recall(program); break;
    case 0x0c:
    case 0x0d:
    case 0x0e:
    case 0x0f:
    case 0x12:
    case 0x13: row_operation_cfa(program, operation); break;
    case 0x05:
    case 0x06:
    case 0x07:
    case 0x08:
    case 0x09:
    case 0x10:
    case 0x11:
    case 0x14:
    case 0x15:
    case 0x16:
    case 0x2f: row_operation_register(program, operation); break;
    case 0x2e: (void)crest_frame_uleb(&program->reader); break; /* GNU_args_size */
    default: program->broken = 1; break;
    }
}

/* Interprets operations up to the end of the reader, or to the address that is wanted. 0 when they
 * are broken. */
static int row_interpret(row_program *program)
{
    crest_frame_reader *reader = &program->reader;
    while (reader->at < reader->end && program->at <= program->pc) {
        unsigned operation = (unsigned)crest_frame_number(reader, 1), low = operation & 0x3f;
        if (++program->operations > ROW_OPERATIONS_MAX)
            return 0;
        switch (operation & 0xc0) {
        case 0x40: program->at += low * program->code_align; break;
        case 0x80: row_saved(program, low, row_times(program, crest_frame_uleb(reader)), 0); break;
        case 0xc0: row_restore(program, low); break;
        default: row_operation_low(program, operation); break;
        }
        if (program->broken || reader->failed)
            return 0;
    }
    return 1;
}

/* ---- entries ---- */

/* Reads an entry's length; the reader then ends with the entry. 0: it is none. */
static int row_entry(crest_frame_reader *reader, uint64_t at, uint64_t high)
{
    reader->at = at;
    reader->end = high;
    reader->failed = 0;
    uint64_t length = crest_frame_number(reader, 4);
    if (length == 0xffffffff)
        length = crest_frame_number(reader, 8);
    if (reader->failed || length == 0 || length > high - reader->at)
        return 0;
    reader->end = reader->at + length;
    return 1;
}

/* Reads the common entry, up to its operations, which it runs: how each function begins. */
static int row_common(row_program *program, uint64_t at, uint64_t high)
{
    crest_frame_reader *reader = &program->reader;
    char text[8];
    unsigned length = 0;
    if (!row_entry(reader, at, high) || crest_frame_number(reader, 4) != 0)
        return 0;
    uint64_t version = crest_frame_number(reader, 1);
    while (length < sizeof text && (text[length] = (char)crest_frame_number(reader, 1)) != '\0')
        length++;
    if (length == sizeof text || (version != 1 && version != 3))
        return 0;
    program->code_align = crest_frame_uleb(reader);
    program->data_align = crest_frame_sleb(reader);
    uint64_t return_register =
        version == 1 ? crest_frame_number(reader, 1) : crest_frame_uleb(reader);
    uint64_t data_end = 0;
    for (unsigned i = 0; i < length; i++) {
        if (text[i] == 'z') {
            uint64_t bytes = crest_frame_uleb(reader);
            program->has_data = 1;
            data_end = reader->at + bytes;
        } else if (text[i] == 'R') {
            program->encoding = (unsigned)crest_frame_number(reader, 1);
        } else if (text[i] == 'P') {
            unsigned encoding = (unsigned)crest_frame_number(reader, 1);
            (void)crest_frame_pointer(reader, encoding & 0x7f);
        } else if (text[i] == 'L') {
            (void)crest_frame_number(reader, 1);
        } else if (text[i] == 'S') {
            program->is_signal = 1;
        } else if (text[i] != 'B') {
            return 0;
        }
    }
    if (program->has_data) {
        if (data_end < reader->at || data_end > reader->end)
            return 0;
        reader->at = data_end;
    }
    if (reader->failed || return_register != CREST_REGISTER_RIP)
        return 0;
    program->at = program->pc; /* all of them count */
    int good = row_interpret(program);
    program->first = program->now;
    return good;
}

/* Runs the function's entry at `at`. 0 when it does not hold pc, or is broken. */
static int row_function(row_program *program, uint64_t at, uint64_t low, uint64_t high)
{
    crest_frame_reader *reader = &program->reader, own = *reader;
    if (!row_entry(&own, at, high))
        return 0;
    uint64_t from = own.at, back = crest_frame_number(&own, 4), common = from - back;
    if (own.failed || back == 0 || common < low || common >= high ||
        !row_common(program, common, high))
        return 0;
    uint64_t begin = crest_frame_pointer(&own, program->encoding);
    uint64_t bytes = crest_frame_pointer(&own, program->encoding & 0x0f);
    if (program->has_data)
        crest_frame_skip(&own, crest_frame_uleb(&own));
    if (own.failed || program->pc < begin || program->pc - begin >= bytes)
        return 0;
    *reader = own;
    program->at = begin;
    return row_interpret(program);
}

/* The last entry of the search table whose function begins at or before pc; 0: there is none.
 * Source: Linux Standard Base 5.0, 10.6.2. */
static uint64_t row_search(crest_frame_reader *reader, uint64_t header, uint64_t pc)
{
    uint64_t versions = crest_frame_number(reader, 4);
    /* version 1; .eh_frame relative to itself, 4 bytes; 4 bytes of count; a table of pairs of 4
       bytes relative to the header: what all linkers write */
    if (versions != 0x3b031b01)
        return 0;
    (void)crest_frame_number(reader, 4);
    uint64_t count = crest_frame_number(reader, 4), table = reader->at, low = 0;
    if (reader->failed || count > ROW_TABLE_MAX)
        return 0;
    for (uint64_t high = count; low < high;) {
        uint64_t middle = low + (high - low) / 2;
        reader->at = table + middle * 8;
        if (header + (uint64_t)(int64_t)(int32_t)crest_frame_number(reader, 4) <= pc)
            low = middle + 1;
        else
            high = middle;
        if (reader->failed)
            return 0;
    }
    if (low == 0)
        return 0;
    reader->at = table + (low - 1) * 8 + 4;
    uint64_t entry = header + (uint64_t)(int64_t)(int32_t)crest_frame_number(reader, 4);
    return reader->failed ? 0 : entry;
}

void crest_unwind_row_find(crest_checked_memory *memory, uint64_t header, uint64_t low,
                           uint64_t high, uint64_t pc, crest_unwind_row *row)
{
    row_program program;
    *row = (crest_unwind_row){.kind = CREST_UNWIND_NONE};
    if (header < low || header >= high)
        return;
    __builtin_memset(&program, 0, offsetof(row_program, remembered));
    program.remembered_count = program.operations = 0;
    program.broken = 0;
    program.reader = (crest_frame_reader){memory, header, high, 0};
    program.pc = pc;
    uint64_t entry = row_search(&program.reader, header, pc);
    if (entry < low || entry >= high || !row_function(&program, entry, low, high))
        return;
    if (program.is_signal)
        row->kind = CREST_UNWIND_SIGNAL;
    else if (program.now.return_address == ROW_RETURN_NONE)
        row->kind = CREST_UNWIND_END;
    else if (program.now.return_address == ROW_RETURN_USUAL)
        *row = program.now.row;
}
