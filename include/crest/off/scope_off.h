/* SPDX-License-Identifier: Apache-2.0 */
/* What scope.h has with CREST_DISABLE; made by scripts/make-off, not by hand. */
#ifndef CREST_SCOPE_OFF_H
#define CREST_SCOPE_OFF_H

#pragma GCC system_header

CREST_BEGIN_C

CREST_API crest_time_scope crest_time_scope_begin(crest_timer *timer, crest_op op,
        const crest_outcome *outcome)
{
    crest_time_scope nothing;
    (void)timer, (void)op, (void)outcome;
    __builtin_memset((void *)&nothing, 0, sizeof nothing);
    return nothing;
}

CREST_API void crest_time_scope_record(const crest_time_scope *scope, crest_outcome outcome)
{
    (void)scope, (void)outcome;
}

CREST_API void crest_time_scope_end(crest_time_scope *scope)
{
    (void)scope;
}

CREST_END_C

#endif
