/* SPDX-License-Identifier: Apache-2.0 */
/* What coverage.h has with CREST_DISABLE; made by scripts/make-off, not by hand. */
#ifndef CREST_COVERAGE_OFF_H
#define CREST_COVERAGE_OFF_H

#pragma GCC system_header

CREST_BEGIN_C

CREST_API crest_coverage *crest_coverage_new(crest_timer *timer,
        const crest_coverage_options *options, crest_error *error)
{
    (void)timer, (void)options;
    crest_off_fine(error);
    return CREST_NOTHING_(crest_coverage);
}

CREST_API void crest_coverage_free(crest_coverage *coverage)
{
    (void)coverage;
}

CREST_API crest_status crest_coverage_begin(crest_coverage *coverage, crest_op op,
        uint64_t wall_ns)
{
    (void)coverage, (void)op, (void)wall_ns;
    return CREST_OK;
}

CREST_API crest_status crest_coverage_add(crest_coverage *coverage, const crest_op *op,
        unsigned node, uint64_t wall_ns)
{
    (void)coverage, (void)op, (void)node, (void)wall_ns;
    return CREST_OK;
}

CREST_API crest_status crest_coverage_add_after(crest_coverage *coverage, const crest_op *op,
        unsigned node, int64_t after_ns)
{
    (void)coverage, (void)op, (void)node, (void)after_ns;
    return CREST_OK;
}

CREST_API crest_status crest_coverage_cancel(crest_coverage *coverage, const crest_op *op)
{
    (void)coverage, (void)op;
    return CREST_OK;
}

CREST_API void crest_coverage_read(crest_coverage *coverage, crest_coverage_state *state)
{
    (void)coverage;
    if (state != NULL)
        __builtin_memset((void *)state, 0, sizeof *state);
}

CREST_END_C

#endif
