/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Expressions of DWARF, as far as call frame information has them: a register and a constant, once
 * dereferenced. Everything that depends on the instruction only is worked out here, so that a PLT's
 * expression, which looks at the instruction's address, becomes a constant.
 */
#ifndef CREST_PROFILING_FRAME_EXPRESSION_H
#define CREST_PROFILING_FRAME_EXPRESSION_H

#include "profiling/frame_reader.h"

#define CREST_FRAME_NO_REGISTER 0xffu
/* Operations of an expression at most. */
#define CREST_FRAME_OPERATIONS_MAX 32u

/* offset; register + offset; *(register + offset) + second */
typedef struct crest_frame_value {
    unsigned base; /* CREST_FRAME_NO_REGISTER: a constant */
    int deref;
    int64_t offset, second;
} crest_frame_value;

/* Reads the expression's length and the expression, for the instruction at `pc`; the reader stands
 * behind it afterwards. 0: it is broken, or has no such value. */
int crest_frame_expression(crest_frame_reader *reader, uint64_t pc, crest_frame_value *value);

#endif
