/* SPDX-License-Identifier: Apache-2.0 */
/* What stamp.h has with CREST_DISABLE; made by scripts/make-off, not by hand. */
#ifndef CREST_STAMP_OFF_H
#define CREST_STAMP_OFF_H

#pragma GCC system_header

CREST_BEGIN_C

CREST_API crest_status crest_stamp_make(crest_op op, crest_stamp *stamp, crest_error *error)
{
    (void)op;
    if (stamp != NULL)
        __builtin_memset((void *)stamp, 0, sizeof *stamp);
    crest_off_fine(error);
    return CREST_OK;
}

CREST_API crest_status crest_stamp_make_at(crest_op op, uint64_t wall_ns, uint64_t clock_error_ns,
        crest_stamp *stamp, crest_error *error)
{
    (void)op, (void)wall_ns, (void)clock_error_ns;
    if (stamp != NULL)
        __builtin_memset((void *)stamp, 0, sizeof *stamp);
    crest_off_fine(error);
    return CREST_OK;
}

CREST_API crest_status crest_stamp_read(const void *bytes, size_t size, crest_stamp_view *view,
        crest_error *error)
{
    (void)bytes, (void)size;
    if (view != NULL)
        __builtin_memset((void *)view, 0, sizeof *view);
    return crest_error_set(error, CREST_INVALID_ARGUMENT, "CREST_DISABLE");
}

CREST_API int crest_stamp_names(const crest_stamp_view *view, const crest_op *op)
{
    (void)view, (void)op;
    return 0;
}

CREST_API crest_status crest_stamp_relay(const crest_stamp_view *view,
        const crest_peer_clock *from, crest_stamp *stamp)
{
    (void)view, (void)from;
    if (stamp != NULL)
        __builtin_memset((void *)stamp, 0, sizeof *stamp);
    return CREST_OK;
}

CREST_API crest_status crest_stamp_record(crest_timer *propagation, const crest_stamp_view *view,
        const crest_peer_clock *from, crest_outcome outcome, const crest_op *op,
        crest_propagation *result)
{
    (void)propagation, (void)view, (void)from, (void)outcome, (void)op;
    if (result != NULL)
        __builtin_memset((void *)result, 0, sizeof *result);
    return CREST_NOT_FOUND;
}

CREST_API crest_status crest_stamp_record_at(crest_timer *propagation, uint64_t received_ns,
        const crest_stamp_view *view, const crest_peer_clock *from, crest_outcome outcome,
        const crest_op *op, crest_propagation *result)
{
    (void)propagation, (void)received_ns, (void)view, (void)from, (void)outcome, (void)op;
    if (result != NULL)
        __builtin_memset((void *)result, 0, sizeof *result);
    return CREST_NOT_FOUND;
}

CREST_END_C

#endif
