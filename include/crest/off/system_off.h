/* SPDX-License-Identifier: Apache-2.0 */
/* What system.h has with CREST_DISABLE; made by scripts/make-off, not by hand. */
#ifndef CREST_SYSTEM_OFF_H
#define CREST_SYSTEM_OFF_H

#pragma GCC system_header

CREST_BEGIN_C

CREST_API crest_system *crest_system_start(const crest_system_options *options,
        crest_error *error)
{
    (void)options;
    crest_off_fine(error);
    return CREST_NOTHING_(crest_system);
}

CREST_API crest_status crest_system_check(const crest_system_options *options, crest_error *error)
{
    (void)options;
    crest_off_fine(error);
    return CREST_OK;
}

CREST_API crest_status crest_system_stop(crest_system *system)
{
    (void)system;
    return CREST_OK;
}

CREST_API size_t crest_system_list(const crest_system *system, crest_system_state *states,
        size_t room)
{
    (void)system, (void)states, (void)room;
    return 0;
}

CREST_END_C

#endif
