/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One row of unwinding: how to get from a frame to its caller's, at one instruction. It is found in
 * a module's .eh_frame_hdr, as it lies in memory, by interpreting the call frame information of the
 * one function that holds the instruction. Nothing is built beforehand: the rows of a large program
 * would be many megabytes.
 *
 *     crest_unwind_row row;
 *     crest_unwind_row_find(&memory, header, low, high, pc, &row);
 *
 * x86-64. Pure but for the memory that it reads, which may hold anything: it is fuzzed. Any signal
 * handler. Sources: DWARF 5, 6.4; the Linux Standard Base, 10.6 (.eh_frame and .eh_frame_hdr);
 * System V ABI, AMD64 supplement, 3.6 (numbers of registers).
 */
#ifndef CREST_PROFILING_UNWIND_ROW_H
#define CREST_PROFILING_UNWIND_ROW_H

#include "profiling/frame_reader.h"

/* The registers that callees keep: rbx, rbp, r12 to r15. */
#define CREST_UNWIND_KEPT 6u

typedef enum crest_unwind_kind {
    CREST_UNWIND_NONE,   /* nothing is known of this instruction */
    CREST_UNWIND_CFA,    /* CFA = register + offset */
    CREST_UNWIND_DEREF,  /* CFA = *(register + offset) + second */
    CREST_UNWIND_SIGNAL, /* the kernel's frame of a signal handler: a ucontext lies at rsp */
    CREST_UNWIND_END     /* the outermost frame */
} crest_unwind_kind;

/* Of `saved`: the caller's value is the present one; it is not known. */
#define CREST_UNWIND_SAME 0
#define CREST_UNWIND_LOST INT16_MIN

typedef struct crest_unwind_row {
    int32_t offset;
    uint8_t kind;    /* a crest_unwind_kind */
    uint8_t base;    /* the CFA's register */
    uint8_t by_base; /* bit i: saved[i] counts from the register `base`, not from the CFA */
    uint8_t unused;
    int16_t second;
    int16_t saved[CREST_UNWIND_KEPT]; /* where, in words from the CFA */
    int16_t unused_too;
} crest_unwind_row;

/* The register that saved[i] is about. */
static inline unsigned crest_unwind_kept_register(unsigned index)
{
    return index == 0   ? CREST_REGISTER_RBX
           : index == 1 ? CREST_REGISTER_RBP
                        : CREST_REGISTER_R12 - 2 + index;
}

/*
 * Fills *row for the instruction at `pc` of the module whose .eh_frame_hdr lies at `header`, and
 * whose memory is [low, high): tables are read there only. The row is CREST_UNWIND_NONE where the
 * module says nothing of the instruction, or something broken or not understood.
 */
void crest_unwind_row_find(crest_checked_memory *memory, uint64_t header, uint64_t low,
                           uint64_t high, uint64_t pc, crest_unwind_row *row);

#endif
