/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables of unwinding from any bytes: a row, or none, and nothing is read beside them. The first
 * byte says which instruction is asked for; the rest is what lies at the module's .eh_frame_hdr.
 */
#include "fuzz_input.h"
#include "profiling/unwind_row.h"

#define FUZZ_AT UINT64_C(0x400000)
#define FUZZ_CODE (FUZZ_AT + 0x1000)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_input input = {data, data + size};
    uint64_t pc = FUZZ_CODE + fuzz_byte(&input), bytes = (uint64_t)(input.end - input.at);
    /* memory of just that size, so that a byte behind it is seen to be read */
    uint8_t *tables = malloc(bytes + 1);
    memcpy(tables, input.at, bytes);
    crest_checked_memory memory = {FUZZ_AT, FUZZ_AT + bytes, (uint64_t)(uintptr_t)tables - FUZZ_AT,
                                   0};
    crest_unwind_row row;
    crest_unwind_row_find(&memory, FUZZ_AT, FUZZ_AT, FUZZ_AT + bytes, pc, &row);
    FUZZ_WANTS(row.kind <= CREST_UNWIND_END);
    FUZZ_WANTS(row.base < CREST_REGISTER_RIP);
    FUZZ_WANTS(memory.from == FUZZ_AT && memory.to == FUZZ_AT + bytes);
    free(tables);
    return 0;
}
